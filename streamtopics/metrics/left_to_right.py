# SPDX-License-Identifier: BSD-3-Clause
"""Left-to-right evaluation: the probability of whole documents, estimated by particles.

Products over all tokens are averaged over the particles. Averages for each token, as published, do
not tend to the likelihood.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.validation import check_array

from streamtopics.kernels import left_to_right as kernel
from streamtopics.metrics.predictive import MOST_SEED, check_width, row_hash
from streamtopics.utils.checks import (
    MOST_PARTICLES,
    SUM_TOLERANCE,
    check_integer,
    check_not_masked,
    floats,
)
from streamtopics.utils.parallel import workers
from streamtopics.utils.structure import check_reach, to_csr

MOST_PROBABILITIES = 1 << 26  # of a document, 512 MiB
MOST_RESAMPLED = 10_000


class Likelihood(NamedTuple):
    """Log likelihoods of documents and their standard errors, both in nats."""

    log_likelihood: np.ndarray
    standard_error: np.ndarray


def left_to_right(
    X: object,
    topic_word: ArrayLike,
    doc_topic_prior: ArrayLike,
    *,
    split_prior: ArrayLike | None = None,
    n_particles: int = 100,
    n_resampled: int | None = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Likelihood:
    """Estimate the log likelihood of whole documents under given topics.

    The estimate of the likelihood is unbiased, and does not depend on a model's inference method.
    The time for a token is proportional to n_particles * (n_resampled + 1) * n_components.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Whole numbers of tokens; at most 67,108,864 / `n_particles` per document.
    topic_word : array-like of shape (n_components, n_features)
        Word probabilities of the topics; rows sum to 1.
    doc_topic_prior : float or array-like of shape (n_components,)
        Dirichlet parameter of the topic proportions of documents.
    split_prior : array-like of shape (2,) or None, default=None
        If given, the last topic has the proportion p ~ Beta(split_prior[1], split_prior[0]). The
        other topics share 1 - p, with `doc_topic_prior` of shape (n_components - 1,).
    n_particles : int, default=100
        Number of samples of a document's topics, at most a million. The standard error is about
        proportional to 1 / sqrt(n_particles).
    n_resampled : int or None, default=5
        Number of earlier tokens, at most 10,000, whose topics are drawn again before each token.
        None draws all earlier topics again, as in Wallach et al.
    random_state : int, default=0
        Seed. The result for a document does not depend on other documents.
    n_jobs : int or None, default=None
        Number of threads; results are the same for any number.

    Returns
    -------
    log_likelihood : ndarray of shape (n_documents,)
        In nats, for the tokens as a sequence; 0 for a document without tokens.
    standard_error : ndarray of shape (n_documents,)
        In nats, reliable only if well below 1; NaN for one particle.

    References
    ----------
    H. Wallach, I. Murray, R. Salakhutdinov, D. Mimno (2009). Evaluation methods for
    topic models. ICML, 1105-1112.

    W. Buntine (2009). Estimating likelihoods for topic models. ACML, 51-64.

    Examples
    --------
    >>> from streamtopics.metrics import left_to_right
    >>> topics = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    >>> result = left_to_right([[1, 0, 1]], topics, 0.5, n_particles=2000)
    >>> float(result.log_likelihood[0].round(1))  # the exact value is log(1 / 32)
    -3.5
    """
    check_integer(most=MOST_PARTICLES, n_particles=n_particles)
    if n_resampled is not None:
        check_integer(least=0, most=MOST_RESAMPLED, n_resampled=n_resampled)
    check_integer(least=0, most=MOST_SEED, random_state=random_state)
    n_apart = 0 if split_prior is None else 1
    topic_word, alpha = _check_topics(topic_word, doc_topic_prior, n_apart)
    omega = None if split_prior is None else _check_prior(split_prior, "split_prior", 2)
    X = _check_whole(X, topic_word.shape[1], n_particles)
    word_topic = np.ascontiguousarray(topic_word.T)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    seeds = row_hash(X, rows, random_state)
    resampled = -1 if n_resampled is None else n_resampled

    def evaluate(d: int) -> tuple[float, float]:
        span = slice(X.indptr[d], X.indptr[d + 1])
        counts = X.data[span].astype(np.int64)
        tokens = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        out = np.empty((int(n_particles), len(tokens)))
        weights = word_topic[X.indices[span]]
        kernel.token_probabilities(weights, tokens, alpha, resampled, int(seeds[d]), out, omega)
        return _product(out)

    with workers(n_jobs) as pool:
        results = pool.share(evaluate, ((d,) for d in range(X.shape[0])))
    return Likelihood(*np.array(results, dtype=np.float64).reshape(-1, 2).T)


def _product(p: np.ndarray) -> tuple[float, float]:
    """log mean_r prod_n p[r, n], and the standard error by the delta method."""
    with np.errstate(divide="ignore"):
        log_weight = np.log(p).sum(axis=1)
    top = log_weight.max()
    if top == -np.inf:
        return -np.inf, np.nan
    weight = np.exp(log_weight - top)
    error = weight.std(ddof=1) / weight.mean() / len(p) ** 0.5 if len(p) > 1 else np.nan
    return float(logsumexp(log_weight) - np.log(len(p))), float(error)


def _check_topics(
    topic_word: ArrayLike, doc_topic_prior: ArrayLike, n_apart: int
) -> tuple[np.ndarray, np.ndarray]:
    check_not_masked(topic_word, "left_to_right", "topic_word")
    topics: np.ndarray = check_array(
        topic_word, dtype=np.float64, input_name="topic_word", ensure_min_samples=1 + n_apart
    )
    if (topics < 0).any() or np.abs(topics.sum(axis=1) - 1).max() > SUM_TOLERANCE:
        raise ValueError("the rows of topic_word must be distributions; pass topic_word_")
    return topics, _check_prior(doc_topic_prior, "doc_topic_prior", len(topics) - n_apart)


def _check_prior(prior: ArrayLike, name: str, n: int) -> np.ndarray:
    checked: np.ndarray = np.broadcast_to(floats(prior, name), n).copy()
    if not (np.isfinite(checked).all() and (checked > 0).all()):
        raise ValueError(f"{name} must be positive and finite; got {checked}")
    return checked


def _check_whole(X: object, n_features: int, n_particles: int) -> sparse.csr_matrix:
    counts = to_csr(X, "left_to_right", default=np.float64).astype(np.float64)
    check_reach(counts, "left_to_right")
    counts.sum_duplicates()
    counts.eliminate_zeros()
    check_width(counts, n_features)
    most = MOST_PROBABILITIES // int(n_particles)
    longest = np.asarray(counts.sum(axis=1)).max(initial=0)
    if longest > most or (counts.data != np.floor(counts.data)).any():
        raise ValueError(
            f"X must hold whole numbers of tokens, and {n_particles} particles can read {most} "
            f"in a document; the longest has {longest:.16g}. Round X, or pass fewer n_particles"
        )
    return counts
