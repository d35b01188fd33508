# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of short texts."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from streamtopics.base.composition import STARTS, UPDATES, Composition, Schedule
from streamtopics.base.editable import Editable
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel, TopicCommit
from streamtopics.base.typing import MatrixLike, OptionalArray, RandomState, WordPriorLike
from streamtopics.base.validation import COMMON_CONSTRAINTS, POSITIVE_INT, Interval, StrOptions
from streamtopics.base.vector_topics import TakesVectors
from streamtopics.estimators.births_and_deaths import ReportsLifetimes, step_with_births
from streamtopics.local import OneTopic
from streamtopics.metrics.predictive import unlike_known
from streamtopics.models.lda import Start, mean
from streamtopics.posteriors import Blend
from streamtopics.updates import DirichletProcess, Shares
from streamtopics.updates.births import Lifetimes
from streamtopics.updates.doc_topic import FIXED
from streamtopics.updates.rule import Rule
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep


@documented
class StreamingMixture(ReportsLifetimes, TakesVectors, Editable):
    """Clusters of short texts: a mixture of multinomials with one topic for each document.

    A topic is a cluster of documents. A share of the words comes from a background common to all
    clusters, so words found in all texts hardly influence the clusters.

    {parameters, n_components, update}
    background : float, default=0.2
        Share of words from the background, in [0, 1); 0 is the Dirichlet multinomial mixture.
    topic_word_prior : float, array-like of shape (n_features,) or (n_components, n_features), \
            WordPrior or callable, default=0.02
        Dirichlet parameter of the clusters: a pseudo-count, in tokens, of every word.
    {boosted_prior}
    start : {"spectral", "noise"} or Start, default="spectral"
        As in `StreamingLDA`; ignored with `births`.
    schedule : Schedule or None, default=None
        As in `StreamingLDA`. With `births` and a rule that forgets, ``growth=None`` means 1.
    births : DirichletProcess or None, default=None
        How clusters are born and die, for example ``DirichletProcess()`` of `streamtopics.updates`;
        at most `n_components` live at once. A new cluster needs enough documents in one minibatch,
        so minibatches should be large. Rows of dead clusters are used again if the rule forgets,
        for example ``PowerPrior(Memory(10_000))``. None has neither births nor deaths.
    vector_weight : float, default=0.2
        Power, in [0, 1], to which the probability of a document's vector is raised. With 0
        `vectors` do not count; with 1 words hardly count.
    batch_size : int, default=3000
        Documents in a minibatch of `fit`.
    max_iter : int or "auto", default="auto"
        Passes of `fit` over the corpus. "auto" is 1 from 5,000 documents on, else 2.
    {common_parameters}

    {attributes, dirichlet_components}
    background_ : ndarray of shape (n_features,)
        Word probabilities of the background; NaN without a background.
    weights_ : ndarray of shape (n_components,)
        Share of each cluster in the documents; sums to 1. Later minibatches count more.
    births_ : list of TopicLifetime
        Records of the living and the last thousand dead clusters, in order of birth.
    n_alive_ : int
        Number of living clusters, if `births` is given.
    {drift_attributes, edit_attributes, common_attributes}

    References
    ----------
    J. Yin and J. Wang (2014), "A Dirichlet multinomial mixture model-based approach for short text
    clustering".

    J. Yin et al. (2018), "Model-based clustering of short text streams".

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import StreamingMixture
    >>> texts = ["a ship at sea today", "the deep sea and the ship today",
    ...          "a plane in the sky today", "the blue sky and a plane today"] * 50
    >>> X = CountVectorizer(stop_words="english").fit_transform(texts)
    >>> clusters = StreamingMixture(2, random_state=0).fit_predict(X)
    >>> bool(clusters[0] == clusters[1] != clusters[2] == clusters[3])
    True
    """

    _records: ClassVar[dict[str, dict[Any, Any]]] = StreamingTopicModel._records | {
        "update": UPDATES,
        "start": STARTS,
        "schedule": {None: Schedule()},
        "births": {},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "background": [Interval(Real, 0, 0.99, closed="both")],
        "max_iter": [POSITIVE_INT, StrOptions({"auto"})],
        "schedule": [Schedule, None],
        "births": [DirichletProcess, None],
        "vector_weight": [Interval(Real, 0, 1, closed="both")],
    }
    # All clusters are equally likely at first.
    doc_topic_prior = None
    _doc_topic_mass = 1.0
    update: str | Rule
    background: float
    start: str | Start
    schedule: Schedule | None
    vector_weight: float

    def __init__(
        self,
        n_components: int = 10,
        *,
        update: str | Rule = "svb",
        background: float = 0.2,
        topic_word_prior: WordPriorLike = 0.02,
        boosted_prior: WordPriorLike = None,
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        births: DirichletProcess | None = None,
        vector_weight: float = 0.2,
        batch_size: int = 3000,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _read(self, method: str, *, reset: bool, vectors: Any = None, **data: Any) -> Documents:
        batch = super()._read(method, reset=reset, **data)
        learnt = None if reset else self._commit.posterior.n_dimensions
        return self._with_vectors(batch, vectors, learnt, f"{type(self).__name__}.{method}")

    def fit_predict(
        self, X: MatrixLike, y: OptionalArray = None, *, vectors: OptionalArray = None
    ) -> np.ndarray:
        """Learn from a corpus and return the cluster of each document.

        {X, y_ignored, vectors}

        Returns
        -------
        clusters : ndarray of shape (n_documents,), int64
        """
        return self.fit(X, vectors=vectors).predict(X, vectors=vectors)

    def predict(
        self,
        X: MatrixLike,
        *,
        vectors: OptionalArray = None,
        reject: float = 0.0,
        known: OptionalArray = None,
    ) -> np.ndarray:
        """Return the most probable cluster of each document, or -1 for no cluster.

        {X, vectors}
        reject : float, default=0.0
            Largest expected share, in [0, 1), of documents with words, like `known`, that get -1. A
            document gets -1 without a known word, or if no cluster explains its words well; see
            `streamtopics.metrics.unlike_known`.
        known : {array-like, sparse matrix} of shape (n_known, n_features), default=None
            Documents that belong to the clusters, but were not learnt; needed with `reject`.

        Returns
        -------
        clusters : ndarray of shape (n_documents,), int64
        """
        found: np.ndarray = self._shares(X, "predict", vectors=vectors).argmax(axis=1)
        if known is not None:
            found[unlike_known(self, X, known, reject)] = -1
        elif reject != 0:
            raise ValueError(f"reject={reject!r} needs known documents that were not learnt")
        return found

    @property
    def weights_(self) -> np.ndarray:
        prior = self.doc_topic_prior_ + (not self.doc_topic_prior_.any())
        return np.asarray(prior / prior.sum())

    @property
    def background_(self) -> np.ndarray:
        if not self._n_hidden:
            return np.full(self.n_features_in_, np.nan)
        return self._whole(lambda: self._learnt.dense()[:, 0] / self._learnt.mass[0])

    @property
    def n_alive_(self) -> int:
        return len(self._lifetimes().alive)

    # Hooks

    def _check(self, before: TopicCommit | None) -> None:
        super()._check(before)
        if self.births is not None and self._composition().rule.for_part(0.5) is None:
            raise ValueError(
                f"births need a rule for parts of a minibatch, but {self.update!r} learns whole "
                "minibatches; use PowerPrior(Memory(10_000)) or births=None"
            )

    def _started(self) -> dict[str, Any]:
        return super()._started() | {"births": self._commit.update.births}

    def _first_doc_topic_prior(self) -> np.ndarray:
        if self.births is not None:
            return np.zeros(self.n_components)
        return super()._first_doc_topic_prior()

    def _start(self, batch: Documents) -> None:
        super()._start(batch)
        if self.births is None:
            return
        own = self._commit.posterior.eta[:, self._n_hidden :]
        if self.boosted_prior is not None or np.any(own != own[:, :1]):
            raise ValueError(
                "births give a cluster any free place, so clusters must share one prior; use one "
                "topic_word_prior for all and no boosted_prior, or births=None"
            )
        self._commit = replace(self._commit, lifetimes=Lifetimes(np.zeros(self.n_components)))

    def _stepped(
        self, composition: Composition, batch: Documents, pool: Workers
    ) -> tuple[Blend, dict[str, Any]]:
        if composition.births is None:
            return super()._stepped(composition, batch, pool)
        model = composition.model(self.seed_)
        return step_with_births(composition, self._commit, batch, model, pool)

    def _composition(self) -> Composition:
        return Composition(
            self._record("update", self.update),
            OneTopic(1.0 - float(self.background), float(self.vector_weight)),
            mean,
            doc_topic=Shares() if self.births is None else FIXED,
            start=self._record("start", self.start),
            schedule=self._record("schedule", self.schedule),
            births=self.births,
        )
