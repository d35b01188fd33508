# SPDX-License-Identifier: BSD-3-Clause
"""Effects of users and items on ratings: a ridge regression that can continue on a stream.

A rating of item c by user u is ``y = mu + a_u + b_c + noise``. The effects minimise

    sum_d (y_d - mu - a_u - b_c)^2 + n (mu - mu')^2
        + sum_u (penalty + n_u) (a_u - a'_u)^2 + sum_c (penalty + n_c) (b_c - b'_c)^2

Primed values and the numbers n of ratings come from earlier minibatches, taken as independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import ndtr

# A rating this little below the average of its user is not below: as a share of the spread of
# ratings and, for rounding, of the average.
TOLERANCE, PRECISION = 1e-9, 16 * np.finfo(float).eps
LEAST_DEVIATION = np.finfo(float).tiny ** 0.5
MOST_STEPS = 1000


@dataclass(frozen=True)
class Table:
    """Rows of `values`, (n, m), by sorted unique `labels` of int64 or str."""

    _holds = "labels: any N; values: N *"
    labels: np.ndarray
    values: np.ndarray

    def places(self, labels: np.ndarray | None, n: int = 0) -> np.ndarray:
        """Return the row of each label, -1 if unknown; n times -1 without labels."""
        if labels is None or not len(self.labels):
            return np.full(n if labels is None else len(labels), -1)
        found = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return np.where(self.labels[found] == labels, found, -1)

    def lookup(self, labels: np.ndarray | None, default: np.ndarray) -> np.ndarray:
        """Return the first columns by label; for unknown labels the rows of `default`."""
        out, places = default.copy(), self.places(labels, len(default))
        out[places >= 0] = self.values[places[places >= 0], : default.shape[1]]
        return out

    def extended(self, labels: np.ndarray) -> Table:
        union = np.union1d(self.labels, labels) if len(self.labels) else np.unique(labels)
        values = np.zeros((len(union), self.values.shape[1]))
        if len(self.labels):
            values[np.searchsorted(union, self.labels)] = self.values
        return Table(union, values)

    def replaced(self, places: np.ndarray, values: np.ndarray) -> Table:
        out = self.values.copy()
        out[places] = values
        return Table(self.labels, out)


def empty_table(n_columns: int) -> Table:
    return Table(np.empty(0, dtype=np.int64), np.zeros((0, n_columns)))


@dataclass(frozen=True)
class Effects:
    """The mean rating, and the effect and number of ratings of each user and item."""

    _holds = "mean:; n: >=0; n_positive: >=0; squares: >=0"
    mean: float
    users: Table
    items: Table
    n: float
    n_positive: float  # Ratings not below the average of their user.
    squares: float  # Sum of squared residuals.

    @property
    def deviation(self) -> float:
        return (self.squares / self.n) ** 0.5 if self.n else 0.0


NO_EFFECTS = Effects(0.0, empty_table(2), empty_table(2), 0.0, 0.0, 0.0)

Labels = np.ndarray | None


def learn_effects(
    before: Effects, y: np.ndarray, users: Labels, items: Labels, penalty: float
) -> tuple[Effects, np.ndarray]:
    """Return the effects with further ratings, and the `reduced_ratings`."""
    n = len(y)
    if n == 0:
        return before, np.zeros(0, dtype=np.int8)
    parts = [_part(before.users, users, n), _part(before.items, items, n)]
    previous = [table.values[rows] for table, rows, _ in parts]
    # Nothing but rounding depends on where the first mean starts.
    mean = before.mean if before.n else float(y.mean())
    start = np.concatenate([[mean], *[own[:, 0] for own in previous]])
    weight = np.concatenate([[before.n], *[penalty + own[:, 1] for own in previous]])
    ones = sparse.csr_matrix(np.ones((n, 1)))
    design = sparse.hstack([ones, *[own for *_, own in parts]], format="csr")
    effects = start + _solve(design, y - design @ start, weight)
    after = np.column_stack([effects, np.asarray(design.sum(axis=0)).ravel()])
    _, *found = np.split(after, [1, 1 + len(previous[0])])
    changed = []
    for (table, rows, _), own, old in zip(parts, found, previous, strict=True):
        own[:, 1] += old[:, 1]
        changed.append(table.replaced(rows, own))
    squares = before.squares + float(((y - design @ effects) ** 2).sum())
    n_all, n_positive, (of_users, of_items) = before.n + n, before.n_positive, changed
    learnt = Effects(float(effects[0]), of_users, of_items, n_all, n_positive, squares)
    signs = reduced_ratings(learnt, y, users)
    n_positive += np.count_nonzero(signs > 0)
    return replace(learnt, n_positive=float(n_positive)), signs


def _part(table: Table, labels: Labels, n: int) -> tuple[Table, np.ndarray, sparse.csr_matrix]:
    """Return a table with further labels, the rows that occur, and their indicator matrix."""
    if labels is None:
        return table, np.empty(0, int), sparse.csr_matrix((n, 0))
    table = table.extended(labels)
    rows, own = np.unique(table.places(labels), return_inverse=True)
    design = sparse.csr_matrix((np.ones(n), (np.arange(n), own)), shape=(n, len(rows)))
    return table, rows, design


def _solve(design: sparse.csr_matrix, residual: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return ``(Z' Z + diag(weight))^-1 Z' residual``, by conjugate gradients."""
    by_column = design.T.tocsr()
    diagonal = np.asarray(by_column.multiply(by_column).sum(axis=1)).ravel() + weight
    n = len(weight)
    system = LinearOperator((n, n), lambda x: by_column @ (design @ x) + weight * x, dtype=float)
    scaled = LinearOperator((n, n), lambda x: x / diagonal, dtype=float)
    return cg(system, by_column @ residual, rtol=1e-12, atol=0.0, maxiter=MOST_STEPS, M=scaled)[0]


def effects_of(table: Table, labels: np.ndarray | None, n: int) -> np.ndarray:
    return table.lookup(labels, np.zeros((n, 1)))[:, 0]


def reduced_ratings(effects: Effects, y: np.ndarray, users: np.ndarray | None) -> np.ndarray:
    """Return 1 if a rating is at least the average of its user, mu + a_u, else -1."""
    expected = effects.mean + effects_of(effects.users, users, len(y))
    spread = np.abs(y - effects.mean).max(initial=0.0)
    tolerance = TOLERANCE * spread + PRECISION * np.abs(expected)
    return np.where(y - expected >= -tolerance, 1, -1).astype(np.int8)


def probability_of_positive(effects: Effects, items: np.ndarray | None, n: int) -> np.ndarray:
    """Return ``P(b_c + noise >= 0)``; for unknown items the share of positive ratings."""
    share = effects.n_positive / effects.n if effects.n else 0.5
    tolerance = TOLERANCE * effects.deviation + PRECISION * abs(effects.mean) + 10 * LEAST_DEVIATION
    margin = effects_of(effects.items, items, n) + tolerance
    deviation = max(effects.deviation, LEAST_DEVIATION)
    return np.where(effects.items.places(items, n) < 0, share, ndtr(margin / deviation))
