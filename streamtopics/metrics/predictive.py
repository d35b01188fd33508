# SPDX-License-Identifier: BSD-3-Clause
"""Log predictive probability by document completion, and perplexity."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, check_non_negative

from streamtopics.utils.checks import check_integer, check_number
from streamtopics.utils.steps import counted, last_step
from streamtopics.utils.structure import check_reach, check_structure, is_sparse, text_names, to_csr

HELD_OUT_SHARE = 5
TOKEN_PARTS = 1 << 16
PROPORTIONS_TOLERANCE = 1e-3
MONITOR_SIZE = 256
ENTRIES_AT_ONCE = 1 << 16
MOST_SEED = 2**63 - 1


def completion_split(
    X: sparse.csr_matrix, random_state: int = 0
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Split the tokens of each document into observed and held-out tokens, about 4 : 1.

    Every fifth token, in the order of columns, is held out. A hash of the document and the seed
    chooses the first of these tokens, so other documents do not change the split.

    Parameters
    ----------
    X : sparse matrix of shape (n_documents, n_features), CSR
        Token counts, also fractions. Of fractions below 1 less than a fifth is held out.
    random_state : int, default=0
        Seed.

    Returns
    -------
    observed, held_out : CSR matrices of the shape and dtype of X (int64 for booleans)
        The sum of both is X.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from streamtopics.metrics import completion_split
    >>> observed, held_out = completion_split(csr_matrix([[4.0, 6.0, 0.0], [0.0, 3.0, 2.0]]))
    >>> held_out.sum(axis=1).ravel().tolist()  # 2 of 10 tokens, and 1 of 5
    [[2.0, 1.0]]
    """
    return split_by(X, random_state)


def split_by(
    X: sparse.csr_matrix, random_state: int, keys: np.ndarray | None = None
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Split as `completion_split` does; hash columns by `keys` instead of numbers if given."""
    check_integer(least=0, most=MOST_SEED, random_state=random_state)
    X = to_csr(X, "completion_split", default=None).copy()
    check_reach(X, "completion_split")
    if X.dtype == bool:
        X = X.astype(np.int64)
    X.sum_duplicates()
    X.eliminate_zeros()
    counts = X.data.astype(np.float64)
    # Sums of multiples of a power of two are exact, for any earlier rows.
    sums = np.concatenate([[0.0], np.cumsum(np.rint(counts * TOKEN_PARTS) / TOKEN_PARTS)])
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    before_row = sums[X.indptr[:-1]][row]
    first = (row_hash(X, row, random_state, keys) >> np.uint64(33))[row] % np.uint64(HELD_OUT_SHARE)
    until = np.floor((sums[1:] - before_row + first) / HELD_OUT_SHARE)
    since = np.floor((sums[:-1] - before_row + first) / HELD_OUT_SHARE)
    held_out = np.minimum(until - since, counts).astype(X.dtype)
    parts = []
    for data in (X.data - held_out, held_out):
        part = sparse.csr_matrix((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]


def row_hash(
    X: sparse.csr_matrix, row: np.ndarray, seed: int, keys: np.ndarray | None = None
) -> np.ndarray:
    """A 64-bit hash of each row of X, from the seed, the counts and the columns or keys."""
    places = X.indices if keys is None else keys[X.indices]
    entries = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    entries ^= X.data.astype(np.float64).view(np.uint64) * np.uint64(0xD1342543DE82EF95)
    total = np.full(X.shape[0], np.uint64(seed) + np.uint64(1), dtype=np.uint64)
    np.add.at(total, row, entries)
    return (total ^ (total >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


def token_log_probability(
    doc_topic: np.ndarray, topic_word: np.ndarray, X: sparse.csr_matrix
) -> np.ndarray:
    """Log probability of all tokens of each row of X, in nats, of shape (n_documents,)."""
    logs = xlogy(X.data, token_probability(doc_topic, topic_word, X))
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    # Without an entry the sums would be integer counts.
    return np.bincount(row, weights=logs, minlength=X.shape[0]).astype(np.float64, copy=False)


def token_probability(
    doc_topic: np.ndarray, topic_word: np.ndarray, X: sparse.csr_matrix
) -> np.ndarray:
    word_topic = np.ascontiguousarray(topic_word.T)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    probability = np.empty(X.nnz)
    for start in range(0, X.nnz, ENTRIES_AT_ONCE):
        span = slice(start, start + ENTRIES_AT_ONCE)
        probability[span] = np.einsum(
            "ik,ik->i", doc_topic[row[span]], word_topic[X.indices[span]], dtype=np.float64
        )
    return probability


def per_token(log_probability: np.ndarray, n_tokens: float) -> float:
    return float(log_probability.sum()) / n_tokens if n_tokens > 0 else np.nan


def log_predictive_probability(estimator: object, X: object, *, random_state: int = 0) -> float:
    """Return the log predictive probability per held-out token, by document completion.

    The topic proportions theta of a document are inferred from four fifths of the tokens, the
    observed tokens of `completion_split`. The counts n_w of the held-out tokens are scored by

        sum_w n_w log sum_k E[theta_k] E[beta_kw],

    with beta_kw the probability of word w in topic k. A background of this package's models is one
    more topic, with a share of each document. Scores of different models, numbers of topics
    and packages are comparable if the documents and columns are the same.

    Parameters
    ----------
    estimator : object
        A fitted topic model, or a pipeline with a topic model as last step. A model of another
        package needs `transform`, which returns topic proportions, and `components_`, proportional
        to word probabilities, as in scikit-learn's `LatentDirichletAllocation`.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Token counts, also fractions; or texts for a pipeline with a vectorizer.
    random_state : int, default=0
        Seed of the split. `score` of this package's estimators uses the seed 0.

    Returns
    -------
    score : float
        Mean over all held-out tokens, in nats per token; higher is better. -inf if a held-out token
        has probability 0; NaN without held-out tokens.

    References
    ----------
    H. M. Wallach, I. Murray, R. Salakhutdinov, D. Mimno (2009). Evaluation
    methods for topic models. ICML, 1105-1112 (document completion).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from streamtopics.metrics import log_predictive_probability
    >>> X = np.random.default_rng(0).poisson(2.0, size=(60, 20))  # 20 words of equal probability
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> bool(np.isclose(log_predictive_probability(model, X), -np.log(20), atol=0.2))
    True
    """
    X, estimator = counted(estimator, X), last_step(estimator)
    counts = to_csr(X, "log_predictive_probability")
    check_width(counts, check_components(estimator).shape[1])
    check_same_names(estimator, X)
    observed, held_out = completion_split(counts, random_state)
    found = held_out_log_probability(estimator, with_names_of(X, observed, estimator), held_out)
    return per_token(found, float(held_out.data.sum(dtype=np.float64)))


def held_out_log_probability(
    estimator: Any, observed: Any, held_out: sparse.csr_matrix
) -> np.ndarray:
    """Log probability of each document's held-out tokens, in nats, of shape (n_documents,)."""
    own = getattr(estimator, "held_out_log_probability", None)
    if own is not None:
        return np.asarray(own(observed, with_names_of(observed, held_out, estimator)))
    components = check_components(estimator)
    words = np.unique(held_out.indices)
    topic_word = components[:, words] / components.sum(axis=1, keepdims=True)
    doc_topic = _proportions(estimator, observed)
    with np.errstate(divide="ignore"):
        return token_log_probability(doc_topic, topic_word, held_out[:, words])


def check_same_names(model: object, X: Any) -> None:
    names, known = text_names(X), getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and not np.array_equal(names, known):
        raise ValueError("The feature names should match those that were passed during fit.")


def unlike_known(estimator: object, X: object, known: object, reject: float) -> np.ndarray:
    """Find documents that are less probable than nearly all known documents.

    For a document of n tokens with log probability log p under the model,

        z = (log p - n mu) / sqrt(n),

    where mu is the mean log probability of a token in the m known documents with words. With n_z
    known documents of an equal or smaller z, a document is unlike them if n_z + 1 is at most
    ``reject (m + 1)``. Documents without words are always unlike. For any model, the expected share
    of unlike documents among new documents with words, drawn like the known ones, is at most
    `reject` (a split conformal test). A long document on another subject is usually found, a text
    of ten words hardly ever.

    Parameters
    ----------
    estimator : object
        As for `log_predictive_probability`.
    X, known : {array-like, sparse matrix} of shape (n_documents, n_features)
        Word counts of the documents to test, and of known documents. The model must not have learnt
        from `known`.
    reject : float
        Largest expected share of unlike documents among documents with words, in [0, 1]. Below
        1 / (1 + m), only documents without words are unlike.

    Returns
    -------
    unlike : ndarray of shape (n_documents,), bool
        Whether each document of X is unlike the known documents.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> from streamtopics import StreamingMixture
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.metrics import unlike_known
    >>> X = make_lda_corpus(n_documents=900, n_features=200, random_state=0).X
    >>> other = make_lda_corpus(n_documents=100, n_features=200, random_state=1).X
    >>> model = StreamingMixture(5, random_state=0).fit(X[:600])
    >>> known, like = X[700:], X[600:700]
    >>> [float(unlike_known(model, some, known, 0.1).mean()) for some in (like, other)]
    [0.07, 1.0]
    """
    check_number(least=0, most=1, reject=reject)
    z, mean = _standardised(estimator, known, None)
    mine, _ = _standardised(estimator, X, mean)
    usual = np.sort(z[~np.isnan(z)])
    rank = 1 + np.searchsorted(usual, mine, side="right")
    return np.asarray((rank <= reject * (1 + len(usual))) | np.isnan(mine))


def _standardised(estimator: object, X: object, mean: float | None) -> tuple[np.ndarray, float]:
    """z of `unlike_known`, NaN for documents without a word, and mu."""
    X, estimator = counted(estimator, X), last_step(estimator)
    check_same_names(estimator, X)
    # In one dtype, since equal documents must have the same z.
    counts = to_csr(X, "unlike_known", "X").astype(np.float64)
    n_tokens = np.asarray(counts.sum(axis=1)).ravel()
    found = held_out_log_probability(estimator, with_names_of(X, counts, estimator), counts)
    ok = np.isfinite(found)
    mean = float(found[ok].sum() / max(n_tokens[ok].sum(), 1.0)) if mean is None else mean
    z = (found - n_tokens * mean) / np.sqrt(np.maximum(n_tokens, 1e-300))
    return np.where(n_tokens > 0, z, np.nan), mean


def perplexity(estimator: object, X: object, *, random_state: int = 0) -> float:
    """Return the perplexity of held-out tokens: exp(-`log_predictive_probability`).

    Perplexity is the number of equally likely words among which a token would be as hard to guess;
    lower is better. If all words have the same probability, perplexity is the number of features.

    Parameters
    ----------
    estimator, X, random_state
        As in `log_predictive_probability`.

    Returns
    -------
    perplexity : float
        inf if a held-out token has probability 0, NaN without held-out tokens.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.metrics import perplexity
    >>> X = [[5, 5, 5, 5]] * 100  # four words of equal probability
    >>> round(perplexity(SVBLDA(1, random_state=0).fit(X), X), 3)
    4.0
    """
    return float(np.exp(-log_predictive_probability(estimator, X, random_state=random_state)))


def check_width(counts: sparse.csr_matrix, n_features: int) -> None:
    if counts.shape[1] != n_features:
        raise ValueError(f"X has {counts.shape[1]} features, but the topics have {n_features}")


def check_components(estimator: Any) -> np.ndarray:
    """`components_` of a fitted topic model as float64; refused if a topic has no weight."""
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    return check_weights(estimator.components_, "components_")


def check_weights(weights: Any, name: str) -> np.ndarray:
    check_structure(weights, "a measure of topics", name)
    checked: np.ndarray = check_array(weights, dtype=np.float64, input_name=name)
    check_non_negative(checked, name)
    mass = checked.sum(axis=1)
    if not (np.isfinite(mass) & (mass > 0)).all():
        raise ValueError(f"{name} must have a finite mass in each row; got {mass}")
    return checked


def with_names_of(X: Any, part: Any, model: object) -> Any:
    """A matrix with the column names of X, in a form that the model knows."""
    names = text_names(X)
    if names is None:
        return part
    if is_sparse(X) or hasattr(model, "held_out_log_probability"):
        part.feature_names = np.array(names, dtype=object)
        return part
    if hasattr(X, "sparse"):
        return type(X).sparse.from_spmatrix(part, columns=names)
    columns = dict(zip(names, part.toarray().T, strict=True))
    return getattr(type(X), "from_pydict", type(X))(columns)


def _proportions(estimator: Any, X: Any) -> np.ndarray:
    doc_topic = np.asarray(estimator.transform(X)) if X.shape[0] else np.empty((0, 1))
    if (doc_topic < 0).any() or not np.allclose(
        doc_topic.sum(axis=1), 1, rtol=0, atol=PROPORTIONS_TOLERANCE
    ):
        raise ValueError("estimator.transform must give proportions, rows that sum to 1")
    return doc_topic
