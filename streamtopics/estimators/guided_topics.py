# SPDX-License-Identifier: BSD-3-Clause
"""Topics with given names."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import (
    INFERENCE,
    PLAIN,
    UPDATES,
    Composition,
    auto_doc_topic,
    can_be_cut,
    traits_of,
)
from streamtopics.base.frame import check_unchanged
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import TopicCommit
from streamtopics.base.typing import MatrixLike, OptionalArray, RandomState
from streamtopics.base.validation import COMMON_CONSTRAINTS, POSITIVE_INT, Interval
from streamtopics.base.vector_topics import TakesVectors, check_name_vectors
from streamtopics.estimators.labels import codes_of, read_some_labels
from streamtopics.local import LocalStep, OneTopic, SemiSupervised, WithPseudoTokens
from streamtopics.local.hinted import OneOrMixed
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Minibatch
from streamtopics.models.lda import mean
from streamtopics.models.sources import HintedStart
from streamtopics.priors import Columns
from streamtopics.priors.columns import check_words, word_columns
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import MOST_WHOLE
from streamtopics.utils.records import keep

# Rounds in each of the first three minibatches, and over the beginning of a stream.
START_ROUNDS = 15
# Weight of the vector of a name, in documents.
NAME_DOCUMENTS = 30.0
BY_NAME = "the names have", "vectors and name_vectors go together, and are of one kind"


class SeedRow(NamedTuple):
    """Probability of a seed word in its topic."""

    topic: str
    word: str
    rank: int
    probability: float
    own_share: float


@dataclass(frozen=True, eq=False)
class HintedDocuments(Documents):
    # (n_features, n_components): pseudo-tokens of topics for each token of a word
    seed_words: sparse.csr_matrix = field(kw_only=True)
    # Most tokens of a word that count in a document
    most: int | None = field(kw_only=True)

    @property
    def minibatch(self) -> Minibatch:
        X = self.X
        if self.most is not None:
            X = sparse.csr_matrix((np.minimum(X.data, self.most), X.indices, X.indptr), X.shape)
        hints = X @ self.seed_words
        if "labels" in self.columns:
            hints = hints + self.columns["labels"]
        return replace(minibatch_of(X), hints=sparse.csr_matrix(hints), vectors=self.vectors)

    def cut(self, size: int) -> Iterator[Self]:
        """Yield batches; a rest of less than half joins the last."""
        n_parts = max(1, (2 * self.n_documents + size) // (2 * size))
        for bounds in pairwise([*range(0, n_parts * size, size), self.n_documents]):
            yield self.part(*bounds)


@documented
class GuidedTopics(TakesVectors):
    """Topics with given names, learnt from seed words, labels or embeddings of the names.

    Learning starts as naive Bayes on documents with seed words or labels. Then other documents join
    the topics by their words. `predict` returns the name of a document's topic.

    Parameters
    ----------
    seeds : mapping of str to list of str
        Seed words by the name of the topic; best are two to five words, common in the topic and
        rare in other topics. A word of several topics counts equally in each. Words without a
        column in X are ignored. The list may be empty if the topic has a vector or labels.
    n_unseeded : int, default=0
        Number of further topics, without names. Unnamed topics take some documents from named ones.
    name_vectors : mapping of str to array-like, array-like or None, default=None
        Embeddings of the names, by the same model as the `vectors` of documents in `fit`: by name,
        or as rows in the order of `seeds`. A row of zeros means no vector. Each vector weighs as
        much as 30 documents. With vectors `inference` must be "one_topic" or a `OneTopic`.
    seed_weight : float, default=2.0
        Pseudo-tokens of the topic that each occurrence of a seed word adds to a document.
    seed_strength : float, default=20.0
        Pseudo-count, in tokens, added to the prior of a topic and divided among its seed words.
    label_weight : float, default=20.0
        Pseudo-tokens of the topic that a label adds to a document.
    max_count : int or None, default=3
        Larger counts of a word in a document are replaced by this number, except for the held-out
        tokens of `score`. None keeps all counts.
    update : {"online_em", "svb", "bps", "power_prior", "population_vb", "svi"} or Rule, \
            default="online_em"
        How the topics learn a minibatch; see `streamtopics.updates`.
    inference : {"one_topic", "gibbs", "variational"} or LocalStep, default="one_topic"
        How the topics of a document are inferred. With "one_topic", documents with seed words or a
        label are learnt by topics in proportion to the topics' pseudo-tokens in the document,
        whatever the other words. With "gibbs" and "variational", the pseudo-tokens are added to the
        prior of the document's topic proportions.
    topic_word_prior : float, default=0.3
        Pseudo-count of every word in every topic, in tokens.
    n_start_documents : int, default=20000
        Number of documents from the beginning of a stream that the model keeps, also when saved.
        Each time the kept documents have grown by a tenth, `partial_fit` learns all of them again.
        With a rule that forgets, no documents are kept.
    batch_size : int, default=20000
        Documents in a minibatch of `fit`. The first minibatch should hold many seed words.
    {max_iter, common_parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Names of the topics, sorted, as in `predict_proba`.
    topic_names_ : ndarray of shape (n_classes,)
        Names in the order of `seeds`, as in `transform`.
    {mean_components}
        With a rule other than "online_em": pseudo-counts, as in `StreamingLDA`.
    {common_attributes}

    References
    ----------
    K. Nigam, A. McCallum, S. Thrun and T. Mitchell (2000), "Text classification from labeled and
    unlabeled documents using EM".

    J. Jagarlamudi, H. Daumé III and R. Udupa (2012), "Incorporating lexical priors into topic
    models".

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import GuidedTopics
    >>> from streamtopics.text import NamedVectorizer
    >>> texts = ["a ship on the deep sea", "waves and a ship", "a plane in the blue sky",
    ...          "clouds and a plane"] * 50
    >>> X = NamedVectorizer(CountVectorizer(stop_words="english")).fit_transform(texts)
    >>> GuidedTopics({"water": ["sea"], "air": ["sky"]}, random_state=0).fit(X).predict(X[:4])
    array(['water', 'water', 'air', 'air'], dtype=object)
    """

    _holds = "_commit.posterior: V K; _seed_words: V K"
    _records: ClassVar[dict[str, dict[str, Any]]] = {
        "update": UPDATES,
        "inference": INFERENCE | {"one_topic": OneTopic(1.0, 0.1)},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "seeds": "no_validation",
        "name_vectors": "no_validation",
        "n_unseeded": [Interval(Integral, 0, MOST_WHOLE, closed="both")],
        "seed_weight": [Interval(Real, 0, 1e6, closed="both")],
        "seed_strength": [Interval(Real, 0, 1e10, closed="neither")],
        "label_weight": [Interval(Real, 0, 1e6, closed="both")],
        "max_count": [POSITIVE_INT, None],
        "n_start_documents": [Interval(Integral, 0, MOST_WHOLE, closed="both")],
        "topic_word_prior": [Interval(Real, 1e-10, 1e10, closed="both")],
    }
    classes_: np.ndarray
    topic_names_: np.ndarray
    seeds: Mapping[str, Collection[str]]
    n_unseeded: int
    name_vectors: Mapping[str, Any] | Any
    seed_weight: float
    seed_strength: float
    label_weight: float
    max_count: int | None
    update: str | Rule
    inference: str | LocalStep
    topic_word_prior: float
    n_start_documents: int

    def __init__(
        self,
        seeds: Mapping[str, Collection[str]],
        n_unseeded: int = 0,
        *,
        name_vectors: Mapping[str, Any] | Any = None,
        seed_weight: float = 2.0,
        seed_strength: float = 20.0,
        label_weight: float = 20.0,
        max_count: int | None = 3,
        update: str | Rule = "online_em",
        inference: str | LocalStep = "one_topic",
        topic_word_prior: float = 0.3,
        n_start_documents: int = 20_000,
        batch_size: int = 20_000,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _read(
        self, method: str, *, reset: bool, X: object, y: Any = None, time: object = None,
        vectors: Any = None,
    ) -> HintedDocuments:  # fmt: skip
        counts = self._counts(X, method, reset=reset)
        if reset:
            self.topic_names_ = np.array(list(self.seeds), dtype=object)
            self.classes_ = np.sort(self.topic_names_)
            self._seeds, self._named = _frozen(self.seeds), self._name_vectors
        caller = f"{type(self).__name__}.{method}"
        labels = self._labels(y, counts.shape[0])
        if reset:
            self._seed_words = self._find_seeds(counts, labels)
        batch = HintedDocuments(
            counts, {"labels": labels}, time, method == "fit",
            seed_words=self.seed_weight * self._seed_words, most=self.max_count,
        )  # fmt: skip
        return self._with_vectors(batch, vectors, self._named.shape[1], caller, BY_NAME)

    @property
    def _name_vectors(self) -> np.ndarray:
        return check_name_vectors(self.name_vectors, [*self.seeds], type(self).__name__)

    def _prior_directions(self, vectors: np.ndarray, n_nodes: int) -> np.ndarray:
        prior = super()._prior_directions(vectors, n_nodes)
        known = np.flatnonzero(self._named.any(axis=1))
        prior[known, :-1] = self._named[known]
        prior[known] *= NAME_DOCUMENTS
        return prior

    def _find_seeds(self, X: sparse.csr_matrix, labels: sparse.csr_matrix) -> sparse.csr_matrix:
        """Part of each topic in each word."""
        known = Columns(X, self._names_seen)
        columns = word_columns(known.vocabulary("seeds")) if any(self._seeds.values()) else {}
        seeded = np.zeros((X.shape[1], self.n_components))
        for k, words in enumerate(self._seeds.values()):
            seeded[[columns[word] for word in words if word in columns], k] = 1.0
        strange = [word for words in self._seeds.values() for word in words if word not in columns]
        if strange:
            warnings.warn(
                f"the seeds {strange[:5]} are in no column of X and do not count; check the "
                "vectorizer's lower case and min_df",
                stacklevel=2,
            )
        named = (seeded.any(axis=0) | (labels.sum(axis=0).A1 > 0))[: len(self.topic_names_)]
        lacking = self.topic_names_[~(named | self._named.any(axis=1))]
        if len(lacking):
            warnings.warn(
                f"no seed of {lacking.tolist()[:5]} is in a column of X, and no document has such "
                "a label; give other words, or vectors in name_vectors",
                stacklevel=2,
            )
        return sparse.csr_matrix(seeded / np.maximum(seeded.sum(axis=1, keepdims=True), 1))

    def _labels(self, y: Any, n_documents: int) -> sparse.csr_matrix:
        remedy = "use their names, and None for documents without a label"
        labels = read_some_labels(y, n_documents)
        codes = codes_of(labels, self.topic_names_.tolist(), remedy)
        rows = np.flatnonzero(codes >= 0)
        weights = np.full(len(rows), float(self.label_weight))
        return sparse.csr_matrix((weights, (rows, codes[rows])), (n_documents, self.n_components))

    def predict(self, X: MatrixLike, *, vectors: OptionalArray = None) -> np.ndarray:
        """Return the name of the most probable named topic of each document.

        {X}
        {vectors}

        Returns
        -------
        names : ndarray of shape (n_documents,), object
        """
        shares = self.predict_proba(X, vectors=vectors)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: MatrixLike, *, vectors: OptionalArray = None) -> np.ndarray:
        """Return the proportions of the named topics in each document.

        {X}
        {vectors}

        Returns
        -------
        shares : ndarray of shape (n_documents, n_classes)
            Columns are in the order of `classes_`; rows sum to 1, without unnamed topics.
        """
        shares = self._shares(X, "predict_proba", vectors=vectors)
        seeded = np.maximum(shares[:, np.argsort(self.topic_names_)], np.finfo(shares.dtype).tiny)
        return np.asarray(seeded / seeded.sum(axis=1, keepdims=True))

    def seed_report(self) -> list[SeedRow]:
        """Return the probability of each seed word in its topic.

        Returns
        -------
        report : list of SeedRow
            A row for each seed word with a column in X; `pandas.DataFrame(report)` makes a table.
            `rank` is the place of the word by probability in the topic, from 1; `own_share` is the
            share of this topic in the word's tokens of all topics.
        """
        check_is_fitted(self)
        topics, weights = self._whole(lambda: (self.topic_word_, self.topic_weights_))
        names, rows = self._column_names(None), []
        for column, topic in zip(*self._seed_words.nonzero(), strict=True):
            own = topics[topic, column]
            said = topics[:, column] * weights
            rank = 1 + int(np.sum(topics[topic] > own))
            share = float(said[topic] / said.sum()) if said.sum() > 0 else np.nan
            name = str(self.topic_names_[topic])
            rows.append(SeedRow(name, names[column], rank, float(own), share))
        return sorted(rows, key=lambda row: (list(self.topic_names_).index(row.topic), row.rank))

    @property
    def n_components(self) -> int:  # type: ignore[override]
        """Number of topics, unnamed ones included."""
        return len(self.seeds) + int(self.n_unseeded)

    def _started(self) -> dict[str, Any]:
        return {"n_unseeded": self._n_features_out - len(self._seeds)}

    def _minibatch(self, X: sparse.csr_matrix) -> Minibatch:
        known = self.seed_weight * self._seed_words
        batch = HintedDocuments(X, {}, seed_words=known, most=self.max_count)
        return batch.minibatch

    def _check(self, before: TopicCommit | None) -> None:
        named = isinstance(self.seeds, Mapping) and len(self.seeds) > 0
        if not named or not all(isinstance(name, str) for name in self.seeds):
            raise TypeError(
                f"seeds must map names of topics, of type str, to words; got {self.seeds!r}"
            )
        step = self._record("inference", self.inference)
        known = isinstance(step, LocalStep if self.name_vectors is None else OneTopic)
        if not known or step.n_background or not {"log_theta", "shares"} & step.reports:
            raise ValueError(
                "inference must be 'one_topic', 'gibbs', 'variational', or a local step without a "
                "background that reports log_theta or shares, such as Gibbs(n_sweeps=10); with "
                "name_vectors 'one_topic' or OneTopic(1.0, vector_weight=0.3); got "
                f"{self.inference!r}"
            )
        if before is not None:
            check_unchanged("seeds", _frozen(self.seeds), self._seeds)
            check_unchanged("name_vectors", self._name_vectors.tolist(), self._named.tolist())
        super()._check(before)

    def _check_mergeable(self, name: str, model: Any) -> None:
        super()._check_mergeable(name, model)
        if [*model._seeds] != [*self._seeds]:
            raise ValueError(
                f"{name} was started with the names {[*model._seeds]}, this model with "
                f"{[*self._seeds]}; topics are merged by position"
            )

    def _word_prior(self, batch: Documents) -> np.ndarray:
        prior = np.full((batch.X.shape[1], self.n_components), float(self.topic_word_prior))
        n_words = np.maximum(self._seed_words.sum(axis=0).A1, 1e-300)
        prior += (self._seed_words @ sparse.diags(self.seed_strength / n_words)).toarray()
        return prior

    def _composition(self) -> Composition:
        step = self._record("inference", self.inference)
        mixture = "shares" in step.reports
        weight = step.vector_weight if isinstance(step, OneTopic) else 0.0
        update = self._record("update", self.update)
        adds = can_be_cut(update) and not traits_of(update).forgets
        n_start = self.n_start_documents if adds else 0
        return Composition(
            update,
            SemiSupervised(step) if mixture else WithPseudoTokens(step),
            mean,
            OneOrMixed(vector_weight=weight) if mixture else None,
            auto_doc_topic(step),
            HintedStart(len(self.seeds)),
            replace(PLAIN, n_start_rounds=START_ROUNDS, n_start_documents=n_start),
        )


def _frozen(seeds: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    for name, words in seeds.items():
        check_words(f"the seeds of topic {name!r}", words)
    return {name: tuple(sorted(words)) for name, words in seeds.items()}
