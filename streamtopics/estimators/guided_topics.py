# SPDX-License-Identifier: BSD-3-Clause
"""Topics that have names: guided by words, and by labels where there are some."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import INFERENCE, UPDATES, Composition, suited_doc_topic
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.checks import MOST_WHOLE, is_masked, is_whole, warn_once
from streamtopics.local import Hinted, LocalStep, OneTopic, Told, Variational
from streamtopics.local.minibatches import minibatch_of
from streamtopics.messages import Minibatch
from streamtopics.models.sources import HintedStart
from streamtopics.models.views import mean
from streamtopics.priors import Columns, SeedWords
from streamtopics.priors.columns import Vocabulary, check_words, word_columns
from streamtopics.structure import is_missing
from streamtopics.typing import RandomState
from streamtopics.updates.rule import Rule
from streamtopics.validation import COMMON_CONSTRAINTS, Interval, StrOptions

# How documents are read where those learnt from have one topic each.
READING = Variational()


class SeedRow(NamedTuple):
    """A seed word after learning, for people or for a DataFrame."""

    topic: str
    word: str
    rank: int
    probability: float
    own_share: float


@dataclass(frozen=True, eq=False)
class HintedDocuments(Documents):
    """Documents with hints of their topics.

    Attributes
    ----------
    seed_words : sparse matrix of shape (n_features, n_components)
        Pseudo-tokens of the topics that a token of a word brings with it.
    distinct : bool
        Whether a word counts once in a document.
    """

    seed_words: sparse.csr_matrix = field(kw_only=True)
    distinct: bool = field(kw_only=True)

    @property
    def minibatch(self) -> Minibatch:
        """The documents over their own words, with hints."""
        return _hinted(self.X, self.distinct, self.seed_words, self.columns["labels"])

    def cut(self, size: int) -> Iterator[Self]:
        """Batches of `size` documents, in order; a rest of less than half goes with the last."""
        starts = [*range(0, self.n_documents, size)]
        if len(starts) > 1 and 2 * (self.n_documents - starts[-1]) < size:
            starts.pop()
        for bounds in pairwise([*starts, self.n_documents]):
            yield self.part(*bounds)


@documented
class GuidedTopics(StreamingTopicModel):
    """Topics with names, each known by a few words; `predict` tells the name of a document.

    Learning starts from the documents that hold seed words, as a naive Bayes classifier trained
    on them would. Then the others take part, each with the topics that its words make probable,
    while documents with seed words stay divided as these are. Labels of some documents, if there
    are any, count as many seed words would. A document is read as a mixture of the topics, in
    which a seed word counts for its topic beyond its token.

    Parameters
    ----------
    seeds : mapping of str to list of str
        Words of each topic, by its name: two to five that are common, and hardly said of the
        other topics, do well.
    n_unseeded : int, default=0
        Further topics without seeds, which take documents from the others.
    seed_weight : float, default=2.0
        Pseudo-tokens of its topic that a seed word brings to a document.
    seed_strength : float, default=20.0
        Pseudo-counts that the seeds of a topic have in it together, in tokens.
    label_weight : float, default=20.0
        Pseudo-tokens of its topic that a label brings to a document in learning, against those
        of its seed words.
    distinct_words : bool, default=True
        Whether a word counts once in a document however often it is there: the second time it
        says less. `score` counts all tokens.
    missing : {"error", "ignore"}, default="error"
        What to do with a seed word that is in no column.
    vocabulary : mapping of word to column, sequence of words by column or None, default=None
        The words, for counts whose columns have no names. None takes the names of the
        columns, as a data frame and the counts of `streamtopics.text.NamedVectorizer` have them.
    update : {"online_em", "svb", "bps", "power_prior", "population_vb", "svi"} or Rule, \
            default="online_em"
        How the topics take in a minibatch; see `streamtopics.updates`.
    inference : {"one_topic", "gibbs", "variational"} or LocalStep, default="one_topic"
        How the topics of a document are found in learning. With one topic a document, those with
        seed words or labels have the topics of these in learning, and `transform` is variational;
        with the others, seed words and labels are pseudo-tokens among the document's words.
    topic_word_prior : float, default=0.3
        Pseudo-count of every word in every topic, in tokens.
    n_start_rounds : int, default=5
        Rounds in each of the first three minibatches.
    batch_size : int, default=20000
        Documents in a minibatch of `fit`; a last one of less than half as many is joined to the
        one before. The first is what learning starts from, so that it should have many documents
        that hold seed words.
    max_iter : int, default=3
        Passes of `fit` over the corpus.
    {common_parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Names of the topics, sorted, as scikit-learn's scorers expect: the columns of
        `predict_proba`.
    topic_names_ : ndarray of shape (n_classes,)
        The same in the order of `seeds`, which is that of the topics: the k-th is the name of
        ``components_[k]`` and of column k of `transform`. The topics without seeds come after
        them.
    {mean_components}
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
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import GuidedTopics
    >>> from streamtopics.text import NamedVectorizer
    >>> texts = ["a ship on the deep sea", "waves and a ship", "a plane in the blue sky",
    ...          "clouds and a plane"] * 50
    >>> model = make_pipeline(
    ...     NamedVectorizer(CountVectorizer(stop_words="english")),
    ...     GuidedTopics({"water": ["sea"], "air": ["sky"]}, random_state=0),
    ... ).fit(texts)
    >>> model.predict(["waves", "clouds"])
    array(['water', 'air'], dtype=object)
    """

    _holds = "_commit.posterior: V K; _seed_words: V K"
    _records: ClassVar[dict[str, dict[str, Any]]] = {
        "update": UPDATES,
        "inference": INFERENCE | {"one_topic": OneTopic(1.0)},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "seeds": "no_validation",
        "n_unseeded": [Interval(Integral, 0, MOST_WHOLE, closed="both")],
        "seed_weight": [Interval(Real, 0, 1e6, closed="both")],
        "seed_strength": [Interval(Real, 0, 1e10, closed="neither")],
        "label_weight": [Interval(Real, 0, 1e6, closed="both")],
        "distinct_words": ["boolean"],
        "missing": [StrOptions({"error", "ignore"})],
        "vocabulary": "no_validation",
        "topic_word_prior": [Interval(Real, 1e-10, 1e10, closed="both")],
    }
    classes_: np.ndarray
    topic_names_: np.ndarray

    def __init__(
        self,
        seeds: Mapping[str, Collection[str]],
        n_unseeded: int = 0,
        *,
        seed_weight: float = 2.0,
        seed_strength: float = 20.0,
        label_weight: float = 20.0,
        distinct_words: bool = True,
        missing: Literal["error", "ignore"] = "error",
        vocabulary: Vocabulary | None = None,
        update: str | Rule = "online_em",
        inference: str | LocalStep = "one_topic",
        topic_word_prior: float = 0.3,
        n_start_rounds: int = 5,
        batch_size: int = 20_000,
        max_iter: int = 3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.seeds = seeds
        self.n_unseeded = n_unseeded
        self.seed_weight = seed_weight
        self.seed_strength = seed_strength
        self.label_weight = label_weight
        self.distinct_words = distinct_words
        self.missing = missing
        self.vocabulary = vocabulary
        self.update = update
        self.inference = inference
        self.topic_word_prior = topic_word_prior
        self.n_start_rounds = n_start_rounds
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a corpus, in minibatches of `batch_size` rows, in order.

        Forgets what was learnt before. When it is interrupted, or comes to a minibatch
        that has no finite answer, the model has learnt from the minibatches before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts, whose columns have names: a data frame, or the counts of
            `streamtopics.text.NamedVectorizer`.
        y : array-like of shape (n_documents,), default=None
            Names of topics of documents, as far as they are known, and None elsewhere; masked
            entries are None.

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(self, X: Any, y: Any = None, *, time: Any = None) -> Self:
        """Learn from one minibatch: one step of the update rule.

        When it fails nothing has changed. The first call fixes the seeds and the columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts.
        y : array-like of shape (n_documents,), default=None
            As in `fit`.
        time : object, default=None
            When the documents are from: kept for `drift_report`.

        {returns_self}
        """
        return self._partial_fit(X=X, y=y, time=time)

    def _read(
        self, method: str, *, reset: bool, X: Any, y: Any = None, time: Any = None
    ) -> HintedDocuments:
        counts = self._counts(X, method, reset=reset)
        if reset:
            self.topic_names_ = np.array(list(self.seeds), dtype=object)
            self.classes_ = np.sort(self.topic_names_)
            self._seeds = _frozen(self.seeds)
            self._seed_words = self._columns_of_seeds(counts)
        labels = self._labels(y, counts.shape[0], f"{type(self).__name__}.{method}")
        known = self.seed_weight * self._seed_words
        distinct, columns = self.distinct_words, {"labels": labels}
        return HintedDocuments(counts, columns, time, seed_words=known, distinct=distinct)

    def _columns_of_seeds(self, X: sparse.csr_matrix) -> sparse.csr_matrix:
        """Ones for the columns of the seeds, of shape (n_features, n_components)."""
        names = getattr(self, "feature_names_in_", None)
        seeds = SeedWords(
            self.seeds, 1.0, base=1e-3, missing=self.missing, vocabulary=self.vocabulary
        )
        marked = seeds.resolve(Columns(X, names, self.n_components))
        if marked.shape[1] != X.shape[1]:
            raise ValueError(
                f"vocabulary must have a word for each of the {X.shape[1]} columns of X; it has "
                f"{marked.shape[1]}"
            )
        seeded = marked > 0.5
        lacking = self.topic_names_[~seeded[: len(self.topic_names_)].any(axis=1)]
        if len(lacking):
            warn_once(
                f"no seed of {lacking.tolist()[:5]} is in a column of X, so that nothing tells "
                "these topics apart; give them other words",
                UserWarning,
            )
        return sparse.csr_matrix(seeded.T.astype(np.float64))

    def _labels(self, y: Any, n_documents: int, caller: str) -> sparse.csr_matrix:
        """Pseudo-tokens that labels bring, of shape (n_documents, n_components)."""
        shape = n_documents, self.n_components
        if y is None:
            return sparse.csr_matrix(shape)
        # Masked entries become None.
        y = np.asarray(y.tolist() if is_masked(y) else y, dtype=object)
        if y.shape != (n_documents,):
            raise ValueError(
                f"y, passed to {caller}, must have a label or None for each of the {n_documents} "
                f"documents; it has shape {y.shape}"
            )
        places = {name: place for place, name in enumerate(self.topic_names_)}
        given = [(d, label) for d, label in enumerate(y) if not is_missing(label)]
        if strange := sorted({str(label) for _, label in given if label not in places}):
            raise ValueError(
                f"y has the labels {strange[:5]}, which are not among the topics {list(places)}; "
                "use their names, and None for documents without a label"
            )
        rows = [d for d, _ in given]
        columns = [places[label] for _, label in given]
        weights = np.full(len(rows), float(self.label_weight))
        return sparse.csr_matrix((weights, (rows, columns)), shape)

    # Reading

    def predict(self, X: Any) -> np.ndarray:
        """Name of the seeded topic that has the greatest share of each document.

        {X}

        Returns
        -------
        names : ndarray of shape (n_documents,), object
        """
        shares = self.predict_proba(X)
        found: np.ndarray = self.classes_[shares.argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> np.ndarray:
        """Shares of the seeded topics in documents, among themselves.

        {X}

        Returns
        -------
        shares : ndarray of shape (n_documents, n_classes)
            Columns in the order of `classes_`, which is sorted. Rows sum to 1.
        """
        seeded = self._shares(X, "predict_proba")[:, np.argsort(self.topic_names_)]
        found: np.ndarray = seeded / seeded.sum(axis=1, keepdims=True)
        return found

    def seed_report(self) -> list[SeedRow]:
        """Return the rank and the share of each seed word in its topic.

        Returns
        -------
        report : list of SeedRow
            A row for each seed that is in a column: its `rank` among the most probable words of
            its topic, from 1, and `probability` there; `own_share`, how much of its expected
            occurrences falls to its topic: below one half the word is ambiguous. As a frame by
            `pandas.DataFrame(report)`.
        """
        check_is_fitted(self)
        topics, weights = self.topic_word_, self.topic_weights_
        names, rows = self._column_names(None), []
        for column, topic in zip(*self._seed_words.nonzero(), strict=True):
            own = topics[topic, column]
            said = topics[:, column] * weights
            rank = 1 + int(np.sum(topics[topic] > own))
            share = float(said[topic] / said.sum()) if said.sum() > 0 else np.nan
            name = str(self.topic_names_[topic])
            rows.append(SeedRow(name, names[column], rank, float(own), share))
        return sorted(rows, key=lambda row: (list(self.topic_names_).index(row.topic), row.rank))

    # Hooks

    def _column_names(self, feature_names: Any) -> np.ndarray:
        if feature_names is None and self.vocabulary is not None:
            columns = word_columns(self.vocabulary)
            feature_names = sorted(columns, key=columns.__getitem__)
        return super()._column_names(feature_names)

    @property
    def n_components(self) -> int:  # type: ignore[override]
        """Number of topics, with those that have no seeds."""
        n_seeded = len(self.seeds) if isinstance(self.seeds, Mapping) else 0
        return n_seeded + (int(self.n_unseeded) if is_whole(self.n_unseeded) else 0)

    @property
    def doc_topic_prior(self) -> None:
        """None: the documents' prior is learnt from its default on."""

    def _started(self) -> dict[str, Any]:
        return {"n_unseeded": self._n_features_out - len(self._seeds)}

    def _minibatch(self, X: sparse.csr_matrix) -> Minibatch:
        return _hinted(X, self.distinct_words, self.seed_weight * self._seed_words)

    def _check_parameters(self) -> None:
        if not isinstance(self.seeds, Mapping) or not self.seeds:
            raise ValueError(f"seeds must map names of topics to words; got {self.seeds!r}")
        # Numbers would be taken for the places of topics.
        if strange := [name for name in self.seeds if not isinstance(name, str)]:
            raise TypeError(f"the names of topics in seeds must be str; got {strange[:5]!r}")
        step = self._record("inference", self.inference)
        known = isinstance(step, LocalStep) and not isinstance(step, type)
        if not known or step.n_background or not {"log_theta", "shares"} & step.reports:
            raise ValueError(
                "inference must be 'one_topic', 'gibbs', 'variational', or a record such as "
                "Gibbs(n_sweeps=10) of a local step without a background that reports log_theta "
                f"or shares; got {self.inference!r}; for one topic a document use OneTopic(1.0)"
            )
        super()._check_parameters()

    def _check_continuable(self) -> None:
        if _frozen(self.seeds) != self._seeds:
            raise ValueError(
                f"seeds are {self.seeds!r} now, but the model was started with {self._seeds!r}; "
                "set them back, or start anew with fit"
            )
        super()._check_continuable()

    def _check_mergeable(self, name: str, model: Any) -> None:
        if type(model) is type(self) and model.__sklearn_is_fitted__():
            own, others = (
                [(topic, sorted(words)) for topic, words in m._seeds.items()] for m in (self, model)
            )
            if others != own:
                raise ValueError(
                    f"{name} was started with the seeds {model._seeds!r}, this model with "
                    f"{self._seeds!r}; topics are merged by position, so start both with the same "
                    "names and words in the same order"
                )
        super()._check_mergeable(name, model)

    def _word_prior(self, X: sparse.csr_matrix) -> np.ndarray:
        prior = np.full((X.shape[1], self.n_components), float(self.topic_word_prior))
        rows, topics = self._seed_words.nonzero()
        n_words = np.maximum(np.bincount(topics, minlength=self.n_components), 1)
        prior[rows, topics] += (self.seed_strength / n_words)[topics]
        return prior

    def _composition(self) -> Composition:
        step = self._record("inference", self.inference)
        mixture = "shares" in step.reports
        return Composition(
            self._record("update", self.update),
            Told(step) if mixture else Hinted(step),
            mean,
            Hinted(READING) if mixture else None,
            suited_doc_topic(step),
            n_start_rounds=self.n_start_rounds,
            start=HintedStart(len(self.seeds)),
        )


def _hinted(
    X: sparse.csr_matrix,
    distinct: bool,
    seed_words: sparse.csr_matrix,
    labels: sparse.csr_matrix | None = None,
) -> Minibatch:
    """Documents with the hints of their seed words, and of their labels if there are any."""
    if distinct:
        X = sparse.csr_matrix((np.minimum(X.data, 1), X.indices, X.indptr), X.shape)
    hints = X @ seed_words
    hints = hints if labels is None else hints + labels
    return replace(minibatch_of(X), hints=sparse.csr_matrix(hints))


def _frozen(seeds: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """A copy of the seeds that nobody changes."""
    for name, words in seeds.items():
        check_words(f"the seeds of topic {name!r}", words)
    return {name: tuple(words) for name, words in seeds.items()}
