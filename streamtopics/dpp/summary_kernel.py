# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the sentences of a document, and greedy selection.

    L(x, y) = (q(x) q(y))^{power / 2} cos(x, y)

needs no training: q is the quality of a sentence, cos the cosine of word features weighted by
inverse document frequency. The kernel of Dupuy's thesis is learnt from a corpus by `LowRankDPP`,

    L(x, y) = (p(x) p(y))^{power / 2} phi(x)'A phi(y),

with p the law of independent words.

References
----------
Dupuy (2017), section 4.4; Chen, Zhang and Zhou (2018), "Fast greedy MAP inference for determinantal
point process to improve recommendation diversity".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamtopics.dpp.arrays import Floats, Places, Points, dense
from streamtopics.dpp.estimator import LowRankDPP
from streamtopics.dpp.kernel import Kernel

RELATIVE_GAIN = 1e-12


@dataclass(frozen=True, eq=False)
class Candidates:
    """Sentences to choose from. `quality` is reported; `log_quality` includes the power."""

    kernel: Kernel
    features: sparse.csr_matrix
    quality: Floats
    log_quality: Floats


def inverse_document_frequency(document_frequency: NDArray[np.int64], n_documents: int) -> Floats:
    """Return ``log((1 + N) / (1 + df)) + 1``, as in TfidfVectorizer."""
    return np.log((1 + n_documents) / (1 + document_frequency)) + 1


def plain_idf(document_frequency: NDArray[np.int64], n_documents: int) -> Floats:
    """Return ``log((2 + N) / (1 + df))``, almost 0 for words of all documents."""
    return np.log((2 + n_documents) / (1 + document_frequency))


def count_documents(documents: Iterable[sparse.csr_matrix], n_features: int) -> NDArray[np.int64]:
    found = np.zeros(n_features, dtype=np.int64)
    for X in documents:
        found[X.indices[X.data != 0]] += 1  # Once per document.
    return found


def weighted_units(X: sparse.csr_matrix, weights: Floats | None) -> sparse.csr_matrix:
    """Return weighted rows, scaled to length 1 unless empty, over the columns in use."""
    used, columns = np.unique(X.indices, return_inverse=True)
    data = X.data * (1.0 if weights is None else weights[used][columns])
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    squares = np.bincount(row, weights=data**2, minlength=X.shape[0])
    data = data / np.sqrt(np.where(squares > 0, squares, 1.0))[row]
    return sparse.csr_matrix((data, columns, X.indptr), shape=(X.shape[0], max(len(used), 1)))


def centrality(units: sparse.csr_matrix) -> Floats:
    """Return the cosine of each row with the mean of all rows, at least 0."""
    mean = np.asarray(units.sum(axis=0)).ravel()
    length = np.linalg.norm(mean)
    return np.asarray(np.maximum(units @ mean / (length if length > 0 else 1.0), 0.0))


def counts_of_nearest(
    chosen: sparse.csr_matrix, documents: list[sparse.csr_matrix], weights: Floats | None
) -> NDArray[np.int64]:
    """Count the documents nearest to each chosen sentence, by the cosine.

    Of equal sentences the first counts; if all cosines are 0, none.
    """
    n, lengths = chosen.shape[0], np.array([X.shape[0] for X in documents], dtype=np.intp)
    if not n or not lengths.sum():
        return np.zeros(n, dtype=np.int64)
    units = weighted_units(sparse.vstack([chosen, *documents], format="csr"), weights)
    similarity = (units[n:] @ units[:n].T).toarray()
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    nearest = np.maximum.reduceat(similarity, starts)
    nearest = nearest[nearest.max(axis=1) > 0]
    return np.bincount(nearest.argmax(axis=1), minlength=n)


def cosine_candidates(
    units: sparse.csr_matrix, quality: Floats, quality_power: float
) -> Candidates:
    same = Kernel(np.zeros((units.shape[1], 0)), np.zeros(0), gamma=1.0)
    logs = np.log(quality, where=quality > 0, out=np.zeros(len(quality)))
    # log q^{power / 2} for qualities q, -inf for q = 0.
    log_power = np.where(quality > 0, 0.5 * quality_power * logs, -np.inf)
    return Candidates(same, units, quality, log_power)


def distinct_units(sentences: Sequence[str]) -> sparse.csr_matrix:
    """Return features for sentences without any: a unit vector for each different text."""
    columns: dict[str, int] = {}
    texts = [sentence.strip() for sentence in sentences]
    codes = [columns.setdefault(text, len(columns)) if text else -1 for text in texts]
    rows = [row for row, code in enumerate(codes) if code >= 0]
    places = [code for code in codes if code >= 0]
    shape = (len(codes), max(len(columns), 1))
    return sparse.csr_matrix((np.ones(len(rows)), (rows, places)), shape=shape)


def known_sentences(documents: Iterable[sparse.csr_matrix]) -> list[sparse.csr_matrix]:
    """Return the sentences of each document with known words, as sets of words."""
    known: Iterator[Any] = (X[X.getnnz(axis=1) > 0] for X in documents)
    return [(X != 0).astype(np.float64) for X in known]


def thesis_candidates(model: LowRankDPP, X: sparse.csr_matrix, quality_power: float) -> Candidates:
    [theta] = np.asarray(model.transform(known_sentences([X])))
    process = model.process(theta)
    log_p, features = process.measure.log_p(X), process.measure.features(X)
    return Candidates(process.kernel, features, log_p, 0.5 * quality_power * log_p)


# Selection


@dataclass(frozen=True, eq=False)
class Selection:
    """Chosen points in order, and the gain of each in the log determinant, in nats."""

    chosen: Places
    log_gains: Floats


def greedy_map(
    kernel: Kernel, Phi: Points, *, n_points: int | None = None,
    log_quality: Floats | None = None, costs: Floats | None = None, budget: float | None = None,
) -> Selection:  # fmt: skip
    """Choose a set Y of points greedily: each point makes det L_Y as large as possible.

    L_Y has the entries ``L(x, y) = q(x) phi_x'A phi_y q(y)`` for x and y in Y; q(x) is the quality
    of x. The choice ends early if no point raises the rank of L_Y.

    Parameters
    ----------
    kernel : Kernel
        The matrix A.
    Phi : CSR matrix or ndarray of shape (n, V)
        Features phi_x of the points, as rows.
    n_points : int or None, default=None
        Maximal number of points; None is no limit.
    log_quality : ndarray of shape (n,) or None, default=None
        log q(x); -inf excludes a point. None is 0 for each point.
    costs, budget : ndarray of shape (n,) and float, or None, default=None
        Cost of each point, and maximal sum of costs. A point beyond the budget is skipped.

    Returns
    -------
    selection : Selection
        `chosen` has the rows of the chosen points in Phi, in order. `log_gains` has the increase of
        log det L_Y by each point, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Kernel
    >>> from streamtopics.dpp.summary_kernel import greedy_map
    >>> Phi = np.array([[2.0, 0.0], [1.9, 0.1], [0.0, 1.0]])
    >>> kernel = Kernel(np.zeros((2, 0)), [], gamma=1.0)
    >>> greedy_map(kernel, Phi, n_points=2).chosen  # Point 1 is like point 0.
    array([0, 2])
    """
    n = Phi.shape[0]
    left = 0.0 if costs is None or budget is None else float(budget)
    costs = np.zeros(n) if costs is None or budget is None else np.asarray(costs)
    log_quality = np.zeros(n) if log_quality is None else np.asarray(log_quality, dtype=np.float64)
    Z, norms2 = Phi @ kernel.scaled, kernel.norms2(Phi)
    distances, least = norms2.copy(), RELATIVE_GAIN * norms2
    factor = np.zeros((n if n_points is None else min(n, int(n_points)), n))
    free = np.isfinite(log_quality)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < len(factor):
        candidates = free & (distances > least) & (costs <= left)
        if not candidates.any():
            break
        gain = np.full(n, -np.inf)
        gain[candidates] = np.log(distances[candidates]) + 2 * log_quality[candidates]
        best, done = int(gain.argmax()), factor[: len(chosen)]
        row = Z @ Z[best] + kernel.gamma * (Phi @ dense(Phi[[best]]).ravel())
        factor[len(chosen)] = (row - done[:, best] @ done) / np.sqrt(distances[best])
        distances = distances - factor[len(chosen)] ** 2
        chosen.append(best)
        gains.append(gain[best])
        free[best] = False
        left -= costs[best]
    return Selection(np.array(chosen, dtype=np.intp), np.array(gains))
