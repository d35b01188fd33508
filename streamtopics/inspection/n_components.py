# SPDX-License-Identifier: BSD-3-Clause
"""Compares models of several numbers of topics over the same splits."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from streamtopics.checks import check_integer, check_seed, is_whole
from streamtopics.metrics import (
    log_predictive_probability,
    relevant_words,
    topic_coherence,
    topic_diversity,
    topic_stability,
)
from streamtopics.parallel import workers
from streamtopics.structure import check_structure, has_entries, is_sparse


class NComponentsRow(NamedTuple):
    """Figures of one number of topics, means over the splits.

    Attributes
    ----------
    n_components : int
    score : float
        Nats per held-out token, by `log_predictive_probability`.
    score_error : float
        Its standard error over the splits.
    coherence : float
        NPMI of the topics' top words over the held-out documents.
    diversity : float
        Share of distinct words among the top words.
    stability : float
        Mean Jaccard similarity of matched topics of two splits.
    seconds : float
        Of one `fit`.
    """

    n_components: int
    score: float
    score_error: float
    coherence: float
    diversity: float
    stability: float
    seconds: float


@dataclass(frozen=True)
class NComponentsComparison:
    """Result of `compare_n_components`; as a frame by ``pandas.DataFrame(found.rows)``.

    Attributes
    ----------
    rows : tuple of NComponentsRow
        By growing number of topics. As text by `str`, drawn by `plot_n_components`.
    """

    rows: tuple[NComponentsRow, ...]

    @property
    def best(self) -> int:
        """The number of topics with the highest score, of equal ones the smallest."""
        return max(self.rows, key=lambda row: row.score).n_components

    @property
    def chosen(self) -> int:
        """The smallest number within one standard error of the highest score.

        The error is that of the highest score (Breiman et al. 1984, section 3.4.3). On real
        corpora this is often the largest number tried: of 5 to 80 topics it was 80 on three of
        four corpora. Then the score has not settled the number; decide by reading the words.
        """
        top = max(self.rows, key=lambda row: row.score)
        least = top.score - top.score_error
        return next(row.n_components for row in self.rows if row.score >= least)

    def __str__(self) -> str:
        lines = [
            f"{'topics':>6}  {'score':>8} {'+-':>6}  {'coherence':>9}  {'diversity':>9}  "
            f"{'stability':>9}  {'seconds':>7}"
        ]
        for row in self.rows:
            mark = "  chosen" if row.n_components == self.chosen else ""
            lines.append(
                f"{row.n_components:>6}  {row.score:>8.4f} {row.score_error:>6.4f}  "
                f"{row.coherence:>9.3f}  {row.diversity:>9.3f}  {row.stability:>9.3f}  "
                f"{row.seconds:>7.2f}{mark}"
            )
        return "\n".join(lines)


def compare_n_components(
    estimator: Any,
    X: Any,
    n_components: Iterable[int] = (10, 20, 50, 100),
    *,
    n_splits: int = 3,
    n_words: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NComponentsComparison:
    """Fit models of several numbers of topics, and compare prediction, words and stability.

    The documents are dealt at random into `n_splits` parts. For each number, and each part, a
    model learns from the others, in their order, and is scored on the part; all numbers have
    the same parts and seeds.

    Parameters
    ----------
    estimator : estimator
        A topic model with the parameter `n_components` that learns from counts alone, of this
        package or of scikit-learn. It is cloned, not fitted.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Word counts.
    n_components : iterable of int, default=(10, 20, 50, 100)
        Numbers of topics.
    n_splits : int, default=3
        At least 2. Models of two parts share all of their documents but 2 / n_splits of all, so
        compare stability at one number of splits.
    n_words : int, default=10
        Top words of each topic, at least 2.
    random_state : int, RandomState instance or None, default=None
        Of the parts, and of the seeds of the models where they have a `random_state`.
    n_jobs : int or None, default=None
        Threads that fit models side by side, at most `n_splits` at once; all but `seconds` are
        the same for any number.

    Returns
    -------
    found : NComponentsComparison

    Raises
    ------
    TypeError
        If `estimator` has no parameter `n_components`, or `n_splits` or `n_words` is no integer.
    ValueError
        If a number of topics is no positive whole number, another is less than 2, there are more
        splits than documents, or a part has no token to predict.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression trees,
    section 3.4.3 (the rule of one standard error).

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.inspection import compare_n_components
    >>> X = make_lda_corpus(n_documents=1000, n_components=5, n_features=100, random_state=1).X
    >>> found = compare_n_components(StreamingLDA(), X, [2, 5, 10], random_state=0)
    >>> found.chosen
    5
    >>> [round(row.stability, 1) for row in found.rows]
    [0.4, 0.9, 0.6]
    """
    numbers = _check(estimator, n_components, n_splits, n_words)
    X = _indexable(X)
    if X.shape[0] < n_splits:
        raise ValueError(f"n_splits must be at most the {X.shape[0]} documents; got {n_splits}")
    check_seed(random_state)
    generator = check_random_state(random_state)
    order = generator.permutation(X.shape[0])
    parts = [np.sort(order[i::n_splits]) for i in range(n_splits)]
    seeds = generator.randint(np.iinfo(np.int32).max, size=n_splits)
    rows = []
    with workers(n_jobs) as pool:
        for number in numbers:
            jobs = [
                (_candidate(estimator, number, int(seed)), X, part, n_words)
                for part, seed in zip(parts, seeds, strict=True)
            ]
            rows.append(_row(number, pool.share(_measured, jobs), n_words))
    return NComponentsComparison(tuple(rows))


class _Measured(NamedTuple):
    """Figures of one model."""

    score: float
    coherence: float
    diversity: float
    seconds: float
    components: np.ndarray


def _check(estimator: Any, numbers: Any, n_splits: int, n_words: int) -> list[int]:
    """The numbers of topics, each once, by size."""
    if isinstance(estimator, type) or not hasattr(estimator, "n_components"):
        raise TypeError(
            "estimator must be a topic model with the parameter n_components, such as "
            f"StreamingLDA(); got {estimator!r:.60}. Of a Pipeline, pass the last step, and X as "
            "the steps before it give it"
        )
    check_integer(least=2, n_splits=n_splits, n_words=n_words)
    found = list(numbers) if has_entries(numbers) else [numbers]
    if not found or not all(is_whole(k) and int(k) >= 1 for k in found):
        raise ValueError(f"n_components must be positive whole numbers; got {numbers!r}")
    return sorted({int(k) for k in found})


def _indexable(X: Any) -> Any:
    """X such that some of its rows can be taken."""
    check_structure(X, "compare_n_components")
    if is_sparse(X):
        return X if X.format == "csr" else X.tocsr()
    try:
        X = X if hasattr(X, "iloc") else np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "X, passed to compare_n_components, must have rows of one length, a row for each "
            f"document; got {X!r:.60}"
        ) from error
    if len(X.shape) != 2:
        raise ValueError(
            "X, passed to compare_n_components, must be a matrix of documents by words; got the "
            f"shape {X.shape}"
        )
    return X


def _candidate(estimator: Any, number: int, seed: int) -> Any:
    model = clone(estimator).set_params(n_components=number)
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def _measured(estimator: Any, X: Any, part: np.ndarray, n_words: int) -> _Measured:
    """Fit a model to all but a part of the documents, and measure it on the part."""
    own = np.ones(X.shape[0], dtype=bool)
    own[part] = False
    rows = X.iloc if hasattr(X, "iloc") else X
    start = perf_counter()
    estimator.fit(rows[np.flatnonzero(own)])
    seconds = perf_counter() - start
    held_out, components = rows[part], np.asarray(estimator.components_)
    score = log_predictive_probability(estimator, held_out)
    if np.isnan(score):
        raise ValueError(
            f"a part of X, of {len(part)} documents, has no token to predict; pass more documents "
            "or longer ones, or fewer n_splits"
        )
    top = relevant_words(components, n_words=n_words)
    coherence = float(topic_coherence(top, held_out).mean())
    return _Measured(score, coherence, topic_diversity(top), seconds, components)


def _row(number: int, found: list[_Measured], n_words: int) -> NComponentsRow:
    scores, coherences, diversities, seconds = np.array([measured[:4] for measured in found]).T
    return NComponentsRow(
        number,
        float(scores.mean()),
        float(scores.std(ddof=1) / np.sqrt(len(scores))),
        float(coherences.mean()),
        float(diversities.mean()),
        topic_stability([measured.components for measured in found], n_words).mean,
        float(seconds.mean()),
    )
