# SPDX-License-Identifier: BSD-3-Clause
"""How much of a true kernel a fit has found; for the figures of chapter 4 of Dupuy (2017).

The distance of the thesis compares spaces of columns,

    D(U, U*) = |U (U'U)^-1 U' U* - U*| / |U*|.

Of r random columns in V dimensions E D^2 is 1 - r / V, so that D is about the root of it: the
thesis prints 1 - r / V for the chance level of D itself. On items L and D L D, D a diagonal
of signs, are the same process, and U* can be found only up to signs of its rows:
`align_signs` chooses them for U, looking at U*, so that chance is lower there too.
"""

from dataclasses import replace

import numpy as np

from streamtopics.dpp.batches import SetBatches, batch_sets
from streamtopics.dpp.learning import Settings, active, fit, start
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.sets import PointSets
from tests.reference.dpp_sets import make_dpp_sets

MOST_ROUNDS = 100


def distance(U: np.ndarray, truth: np.ndarray) -> float:
    """D(U, U*), from 0 for a space that has that of U* in it to 1 for one orthogonal to it."""
    basis = space(U)
    return float(np.linalg.norm(basis @ (basis.T @ truth) - truth) / np.linalg.norm(truth))


def space(U: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns, which need not be independent."""
    basis, values, _ = np.linalg.svd(U, full_matrices=False)
    return basis[:, values > 1e-10 * values[:1].max(initial=0.0)]


def leading(scaled: np.ndarray, n_columns: int) -> np.ndarray:
    """The leading eigenvectors of Ut Ut'."""
    return np.linalg.svd(scaled, full_matrices=False)[0][:, :n_columns]


def align_signs(U: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """U with the signs of its rows for which D is least, or nearly.

    With Q a basis of U, D^2 falls with d'[(QQ') o (U* U*')] d over signs d, o entry by entry.
    The start is the signs of the leading eigenvector of L o L*, which is d if U fits; then one
    sign after another.
    """
    basis = space(U)
    gain = (basis @ basis.T) * (truth @ truth.T)
    np.fill_diagonal(gain, 0.0)
    _, vectors = np.linalg.eigh((U @ U.T) * (truth @ truth.T))
    signs = np.where(vectors[:, -1] < 0, -1.0, 1.0)
    for _ in range(MOST_ROUNDS):
        before = signs.copy()
        for i in range(len(signs)):
            signs[i] = 1.0 if gain[i] @ signs >= 0 else -1.0
        if (signs == before).all():
            break
    return signs[:, None] * U


def aligned_distance(U: np.ndarray, truth: np.ndarray) -> float:
    """D after `align_signs`."""
    return distance(align_signs(U, truth), truth)


def random_columns(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Gaussian columns, of which no likelihood knows anything."""
    return np.random.default_rng([seed, n_columns]).standard_normal((n_rows, n_columns))


def draw(n_train: int, n_test: int, ground_set: str, **how) -> tuple[Parameters, BaseMeasure, list]:
    """The truth, its measure, and sets to learn from and to test with, in batches.

    Keywords are those of `make_dpp_sets`. Where each set has its own theta, the truth has
    those of the first sets.
    """
    data = make_dpp_sets(n_train + n_test, ground_set, **how)
    theta = data.theta if data.theta.ndim == 1 else data.theta[:n_train]
    ends = [(0, n_train), (n_train, n_train + n_test)]
    parts = [batch_sets(data.measure, _some(data.sets, *end)) for end in ends]
    return Parameters(data.U, theta, data.gamma, data.noise), data.measure, parts


def _some(sets: PointSets, first: int, last: int) -> PointSets:
    indptr = sets.indptr[first : last + 1]
    return PointSets(sets.points[indptr[0] : indptr[-1]], indptr - indptr[0])


def learn(
    measure: BaseMeasure,
    data: SetBatches,
    parameters: Parameters,
    *,
    penalty: float,
    learn_gamma: bool = False,
    learn_level: bool = False,
    least_gain: float = 1e-3,
) -> Parameters:
    """U and theta by `fit`; gamma and the noise stay as they are, if not told otherwise.

    Until a round gains less than `least_gain`, in nats per set. With a penalty
    columns that vanish are taken out after each round, before their numbers underflow, and at
    the end.
    """
    settings = Settings(
        penalty=penalty, max_iter=1, n_embedding=50, n_theta=10, learn_gamma=learn_gamma,
        learn_level=learn_level,
    )  # fmt: skip
    for _ in range(MOST_ROUNDS):
        found = fit(data, parameters, settings)
        parameters = prune(found.parameters, tolerance=1e-6) if penalty else found.parameters
        if found.objective[0] - found.objective[-1] < least_gain:
            break
    return prune(parameters) if penalty else parameters


def prune(parameters: Parameters, *, tolerance: float = 1e-2) -> Parameters:
    """Take out the columns of less than `tolerance` times the strength of the strongest."""
    kept = active(parameters.U, parameters.theta, tolerance=tolerance)
    return replace(parameters, U=parameters.U[:, kept], theta=parameters.theta[..., kept])


def learn_from(
    measure: BaseMeasure,
    data: SetBatches,
    truth: Parameters,
    n_components: int,
    penalty: float,
    seed: int,
) -> Parameters:
    """`learn` from a random start, with gamma, the noise and the kind of theta of the truth."""
    rng = np.random.default_rng(seed)
    at = start(measure, n_components, data.mean_size, truth.noise, rng, gamma=truth.gamma)
    if not truth.shared:
        theta = np.ones((data.n_sets, n_components))
        at = Parameters(at.U, theta, at.gamma, at.noise)
    return learn(measure, data, at, penalty=penalty, least_gain=1e-3 if truth.shared else 1e-2)
