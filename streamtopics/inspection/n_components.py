# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of models with different numbers of topics."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from streamtopics.metrics import (
    log_predictive_probability,
    relevant_words,
    topic_coherence,
    topic_diversity,
)
from streamtopics.text import NamedCounts
from streamtopics.utils.checks import check_integer
from streamtopics.utils.parallel import workers
from streamtopics.utils.steps import counted, last_step
from streamtopics.utils.structure import (
    check_structure,
    holds_text,
    is_frame,
    is_sparse,
    take_rows,
    text_names,
)

# Tokens added to word frequencies; range of compared numbers, and least gain to exceed a number.
SMOOTHING, REACH, TOLERANCE = 0.02, 3, 0.05


class NComponentsRow(NamedTuple):
    """Results for one number of topics, means over the parts of the corpus."""

    n_components: int
    score: float  #: Nats per held-out token, by `log_predictive_probability`
    score_error: float  #: Standard error over the splits
    gain: float  #: Score less the score of the words' frequencies alone
    coherence: float  #: NPMI of the topics' top words over the held-out documents
    diversity: float  #: Share of distinct words among the top words
    #: Share of documents in the same topic of two models, beyond chance: 1 for all, 0 for none
    stability: float
    seconds: float  #: Of one `fit`

    @property
    def worth(self) -> float:
        """Gain times stability, in nats per held-out token; 0 if the gain is within the error."""
        return self.gain * max(self.stability, 0.0) if self.gain > self.score_error else 0.0


@dataclass(frozen=True)
class NComponentsComparison:
    """Result of `compare_n_components`; `print` shows a table, `plot_n_components` a picture.

    ``pandas.DataFrame(found.rows)`` has a row for each number of topics.
    """

    rows: tuple[NComponentsRow, ...]

    @property
    def best(self) -> int:
        """The number of topics with the highest score; of equal scores the smallest number."""
        return max(self.rows, key=lambda row: row.score).n_components

    @property
    def chosen(self) -> int:
        """The recommended number of topics, by the rule in the notes of `compare_n_components`."""
        return next(row.n_components for i, row in enumerate(self.rows) if self._stands_out(i))

    def _stands_out(self, i: int) -> bool:
        row, reach = self.rows[i], REACH * self.rows[i].n_components
        near = (*self.rows[i + 1 : i + 2], *(r for r in self.rows[i:] if r.n_components <= reach))
        return all(other.worth <= (1.0 + TOLERANCE) * row.worth for other in near)

    def __str__(self) -> str:
        lines = [
            f"{'topics':>6}  {'score':>8} {'+-':>6}  {'gain':>6}  {'stability':>9}  {'worth':>6}  "
            f"{'coherence':>9}  {'diversity':>9}  {'seconds':>7}"
        ]
        for row in self.rows:
            mark = "  chosen" if row.n_components == self.chosen else ""
            lines.append(
                f"{row.n_components:>6}  {row.score:>8.4f} {row.score_error:>6.4f}  "
                f"{row.gain:>6.3f}  {row.stability:>9.3f}  {row.worth:>6.3f}  "
                f"{row.coherence:>9.3f}  {row.diversity:>9.3f}  {row.seconds:>7.2f}{mark}"
            )
        if self.chosen == self.rows[-1].n_components:
            lines.append("The largest number was chosen: more might be better still; try some.")
        return "\n".join(lines)


def compare_n_components(
    estimator: BaseEstimator,
    X: Any,
    n_components: Iterable[int] = (10, 20, 50, 100),
    *,
    n_splits: int = 3,
    n_words: int = 10,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> NComponentsComparison:
    """Fit models with different numbers of topics; compare prediction, coherence and stability.

    The documents are divided at random into `n_splits` parts. For each number of topics and each
    part, a model learns from all other parts and is scored on this part. The parts and seeds are
    the same for all numbers of topics.

    Parameters
    ----------
    estimator : estimator
        A topic model of this package or of scikit-learn with the parameter `n_components`, learning
        from counts alone; a pipeline with such a last step; or a `TopicStream`. Clones are fitted.
    X : {array-like, sparse matrix} of shape (n_documents, n_features), or sequence of str
        Word counts; or texts for a pipeline, with a new vocabulary for each part.
    n_components : iterable of int, default=(10, 20, 50, 100)
        Numbers of topics to compare.
    n_splits : int, default=3
        Number of parts, at least 2. Compare stability only between results with equal `n_splits`:
        with more parts, two models share more documents.
    n_words : int, default=10
        Top words per topic for coherence and diversity, at least 2.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts and models.
    n_jobs : int or None, default=None
        Number of threads, at most `n_splits`. Results except `seconds` are the same for any number.

    Returns
    -------
    found : NComponentsComparison

    Notes
    -----
    The worth of K topics, with the stability kappa(K) explained below, is

        (score(K) - score of word frequencies without topics) kappa(K).

    ``found.chosen`` is the smallest K such that neither the next tried number nor any tried number
    up to 3 K has a worth more than 5 % higher. The documents may have more topics. The score alone
    keeps rising with K, and the stability alone falls from the smallest K on.

    kappa(K) measures how far two models with K topics agree, beyond chance, on the most probable
    topics of the documents learnt by only one of the two: Cohen's kappa, averaged over pairs. The
    topics of a pair are matched for the largest agreement. Documents without words are left out.

    References
    ----------
    J. Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20, 37-46 (kappa).

    T. Lange, V. Roth, M. L. Braun, J. M. Buhmann (2004). Stability-based validation of clustering
    solutions. Neural Computation 16, 1299-1323 (labels matched, and compared with chance).

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
    [0.7, 1.0, 0.8]
    """
    check_integer(least=2, n_splits=n_splits)
    check_structure(X, "compare_n_components")
    if is_sparse(X):
        X = X.tocsr()
    elif not is_frame(X) and (names := text_names(X)) is not None:
        X = NamedCounts.of(X, names)
    elif not is_frame(X):
        X = np.asarray(X, dtype=object) if holds_text(X) else np.asarray(X)
    generator = check_random_state(random_state)
    order = generator.permutation(X.shape[0])
    parts = [np.sort(order[i::n_splits]) for i in range(n_splits)]
    seeds = generator.randint(np.iinfo(np.int32).max, size=n_splits)
    # Without a number 0 is refused.
    rows, numbers = [], {*n_components} or {0}
    for number in numbers:
        check_integer(n_components=number)
    with workers(n_jobs) as pool:
        for number in sorted(numbers):
            jobs = [
                (_candidate(estimator, number, int(seed)), X, part, n_words)
                for part, seed in zip(parts, seeds, strict=True)
            ]
            found = pool.share(_measure, jobs)
            table = np.array([one[:5] for one in found]).T
            error = float(table[0].std(ddof=1) / np.sqrt(n_splits))
            score, gain, coherence, diversity, seconds = table.mean(axis=1).tolist()
            kappas = []
            for i, j in combinations(range(n_splits), 2):
                both = np.concatenate([parts[i], parts[j]])
                kappas.append(matched_kappa(found[i].topics[both], found[j].topics[both]))
            stability = float(np.mean(kappas))
            rows.append(NComponentsRow(
                number, score, error, gain, coherence, diversity, stability, seconds,
            ))  # fmt: skip
    return NComponentsComparison(tuple(rows))


class _Measurement(NamedTuple):
    score: float
    gain: float
    coherence: float
    diversity: float
    seconds: float
    topics: np.ndarray


def _candidate(estimator: BaseEstimator, number: int, seed: int) -> Any:
    model: Any = clone(estimator)
    path, step = "", model
    while isinstance(step, Pipeline):
        name, step = step.steps[-1]
        path += f"{name}__"
    if getattr(step, "model", None) is not None:
        path += "model__"  # of a TopicStream
    seeds = {f"{path}random_state": seed} if f"{path}random_state" in model.get_params() else {}
    return model.set_params(**{f"{path}n_components": number}, **seeds)


def _measure(estimator: Any, X: Any, part: np.ndarray, n_words: int) -> _Measurement:
    own = np.ones(X.shape[0], dtype=bool)
    own[part] = False
    learnt, held_out = take_rows(X, np.flatnonzero(own)), take_rows(X, part)
    start = perf_counter()
    estimator.fit(learnt)
    seconds = perf_counter() - start
    # Of a pipeline, with the words of this fit.
    learnt, held_out, X = (counted(estimator, some) for some in (learnt, held_out, X))
    estimator = last_step(estimator)
    score = log_predictive_probability(estimator, held_out)
    if np.isnan(score):
        raise ValueError(
            f"a part of X, of {len(part)} documents, has no token to predict; pass more documents "
            "or longer ones, or fewer n_splits"
        )
    counts = np.asarray(learnt.sum(axis=0), dtype=np.float64).reshape(1, -1) + SMOOTHING
    one_topic = SimpleNamespace(components_=counts, transform=lambda X: np.ones((X.shape[0], 1)))
    gain = score - log_predictive_probability(one_topic, held_out)
    top = relevant_words(np.asarray(estimator.components_), n_words=n_words)
    coherence = float(topic_coherence(top, held_out).mean())
    topics = np.asarray(estimator.transform(X)).argmax(axis=1)
    topics[np.asarray(X.sum(axis=1)).ravel() == 0] = -1
    return _Measurement(score, gain, coherence, topic_diversity(top), seconds, topics)


def matched_kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa of two models' topics of the same documents, after matching the topics.

    Documents with the topic -1 are left out.
    """
    both = sparse.coo_matrix((np.ones(len(one)), (one + 1, other + 1))).toarray()[1:, 1:]
    both /= max(both.sum(), 1.0)
    match = linear_sum_assignment(both, maximize=True)
    chance = float(both.sum(axis=1)[match[0]] @ both.sum(axis=0)[match[1]])
    return float((both[match].sum() - chance) / (1 - chance)) if chance < 1 else 0.0
