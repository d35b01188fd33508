# SPDX-License-Identifier: BSD-3-Clause
"""Batches of sets of equal size, for batched linear algebra."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from streamtopics.dpp.arrays import Floats, Places, Points, products
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.measures.base import as_rows
from streamtopics.dpp.sets import PointSets
from streamtopics.kernels import dpp as kernels
from streamtopics.utils.parallel import MOST_PARTS, SERIAL, Workers

MOST_ENTRIES, LEAST_SIDE = 2**16, 16


@dataclass(frozen=True, eq=False)
class SetBatch:
    """A batch of m sets of n points each, without padding."""

    places: Places  # Among all sets.
    points: slice  # Rows of the part.
    gram: Floats  # Phi_X Phi_X', (m, n, n).
    log_p: Floats  # (m, n), in nats.

    def of(self, rows: Floats) -> Floats:
        """Return the rows of these sets, (m, n, k), out of all rows of the part."""
        return rows[self.points].reshape(*self.log_p.shape, rows.shape[1])


@dataclass(frozen=True, eq=False)
class Part:
    """Sets of similar size for one job, with the features Phi of their points."""

    Phi: Points
    batches: tuple[SetBatch, ...]

    @property
    def places(self) -> Places:
        return np.concatenate([batch.places for batch in self.batches])

    def embed(self, U: Floats) -> Floats:
        """Return ``Z = Phi U``; the bits of a row do not depend on other rows."""
        if hasattr(self.Phi, "toarray"):
            return np.asarray(self.Phi @ U)
        return products(self.Phi[:, None, :], U)[:, 0]


@dataclass(frozen=True, eq=False)
class SetBatches:
    """All sets in parts, and the workers that share the parts."""

    measure: BaseMeasure
    sets: PointSets
    parts: tuple[Part, ...]
    workers: Workers = SERIAL

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def n_sets(self) -> int:
        return len(self.sets)

    @cached_property
    def log_repeats(self) -> Floats:
        """Sum of log m! over the points of each set, for a point with m copies."""
        points, sizes = self.measure.canonical(self.sets.points), self.sets.sizes
        rows = as_rows(points if points.ndim == 2 else points[:, None])
        key = rows @ np.random.default_rng(0).random(rows.shape[1])
        owner = np.repeat(np.arange(self.n_sets), sizes)
        order = np.lexsort((key, owner))
        key = key[order]
        after = np.flatnonzero((key[1:] == key[:-1]) & (owner[1:] == owner[:-1])) + 1
        differences = rows[order[after]] - rows[order[after - 1]]
        is_first = np.ones(len(owner), dtype=bool)
        is_first[after[differences.getnnz(axis=1) == 0]] = False
        first = np.flatnonzero(is_first)
        logs: Floats = gammaln(np.diff(first, append=len(owner)) + 1.0)
        return np.bincount(owner[first], logs, self.n_sets).astype(np.float64)

    @property
    def mean_size(self) -> float:
        return float(sum(part.Phi.shape[0] for part in self) / max(self.n_sets, 1))

    def fill(self, rows: Floats, function: Callable[..., Floats], *rest: Any) -> Floats:
        """Fill the rows of sets by `function(part, *rest)`."""
        found = self.workers.share(function, [(part, *rest) for part in self])
        for part, values in zip(self, found, strict=True):
            rows[part.places] = values
        return rows


def batch_sets(measure: BaseMeasure, sets: PointSets, workers: Workers = SERIAL) -> SetBatches:
    """Return the sets in batches, the smallest first, with features and Gram matrices."""
    order, points = _by_size(sets)
    Phi, log_p = measure.features(points), measure.log_p(points)
    if not hasattr(Phi, "toarray"):
        Phi = np.ascontiguousarray(Phi)  # A row then lies in one piece.
    sizes = sets.sizes[order]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    parts = []
    for cut in _parts(sizes):
        some = slice(ends[cut.start], ends[cut.stop])
        rows = Phi[some]
        parts.append(Part(rows, tuple(_batches(order[cut], sizes[cut], rows, log_p[some]))))
    return SetBatches(measure, sets, tuple(parts), workers)


def _by_size(sets: PointSets) -> tuple[Places, Points]:
    sizes = sets.sizes
    if (sizes[1:] >= sizes[:-1]).all():
        return np.arange(len(sizes)), sets.points
    order = np.argsort(sizes, kind="stable")
    sizes = sizes[order]
    starts = np.repeat(sets.indptr[order] - np.cumsum(sizes) + sizes, sizes)
    return order, sets.points[starts + np.arange(len(starts))]


def _parts(sizes: Places) -> Iterator[slice]:
    """Yield slices of the sets, at most 32, of about equal cost."""
    cost = np.cumsum(np.maximum(sizes, LEAST_SIDE) ** 2)
    least = max(MOST_ENTRIES, cost[-1:].sum() / MOST_PARTS)
    ends = np.flatnonzero(np.diff(cost // least, append=-1)) + 1
    start = 0
    for end in ends[: len(sizes)]:
        yield slice(start, end)
        start = end


def _batches(places: Places, sizes: Places, Phi: Points, log_p: Floats) -> Iterator[SetBatch]:
    """Yield batches of sets of equal size, small enough for a cache."""
    first = 0
    groups = np.unique(sizes, return_index=True, return_counts=True)
    for n, start, count in zip(*groups, strict=True):
        step = max(1, MOST_ENTRIES // max(n, LEAST_SIDE) ** 2)
        for some in np.split(places[start : start + count], range(step, count, step)):
            points = slice(first, first + len(some) * n)
            shape = (len(some), int(n))
            yield SetBatch(
                some, points, _gram_matrices(Phi, points, *shape), log_p[points].reshape(shape)
            )
            first = points.stop


def _gram_matrices(Phi: Points, points: slice, m: int, n: int) -> Floats:
    if not hasattr(Phi, "toarray"):
        rows = Phi[points].reshape(m, n, Phi.shape[1])
        return products(rows, rows.transpose(0, 2, 1))
    out = np.empty((m, n, n))
    indptr = Phi.indptr[points.start : points.stop + 1]
    kernels.grams(indptr, Phi.indices, Phi.data, Phi.shape[1], out)
    return out
