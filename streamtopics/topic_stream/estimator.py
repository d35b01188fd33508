# SPDX-License-Identifier: BSD-3-Clause
"""Topics and reports of raw text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, TransformerTags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import NO_WEIGHTS
from streamtopics.estimators import StreamingLDA
from streamtopics.kernels import rows as kernel
from streamtopics.story.cells import Cells
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.streams.batches import check_has_topics, seen_by
from streamtopics.streams.stream import BatchInfo, packed, unpacked
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline, stop_words
from streamtopics.text.languages import unspaced_script
from streamtopics.topic_stream.documents import (
    Documents,
    Kept,
    last_time,
    read_documents,
    sampled,
    texts_of,
)
from streamtopics.topic_stream.reports import ReportsDocuments
from streamtopics.updates.births import Lifetimes
from streamtopics.utils.output import LinksToReference, ShowsTopics
from streamtopics.utils.parallel import held
from streamtopics.utils.records import without_owner
from streamtopics.utils.structure import in_memory

# Documents whose topics are inferred at once.
AT_ONCE = 8192
# Words, documents of a word (or half of a small corpus), and number of words. A corpus gets twice
# as many columns as words, for new words, and at least LEAST_COLUMNS.
ROOM, LEAST_FEATURES = 2, 2000
LETTERS, MIN_DF, MAX_FEATURES = r"(?u)\b[^\W\d_]{3,}\b", 5, 20_000
Given = ParamSpec("Given")
One = TypeVar("One")


def _whole(
    learn: Callable[Concatenate[TopicStream, Given], TopicStream],
) -> Callable[Concatenate[TopicStream, Given], TopicStream]:
    """A method that learns in a copy and keeps it after success."""

    @wraps(learn)
    def learns(self: TopicStream, /, *args: Given.args, **given: Given.kwargs) -> TopicStream:
        with (
            held(self._locks()),
            config_context(enable_metadata_routing=False, transform_output="default"),
        ):
            other = copy(self)
            mine, its = self._parts(), other._parts()
            before = [dict(vars(part)) for part in its]
            learn(other, *args, **given)
            kernel.write([], [
                (vars(part), name, value)
                for part, learnt, old in zip(mine, its, before, strict=True)
                for name, value in vars(learnt).items()
                if name not in old or old[name] is not value
            ])  # fmt: skip
        return self

    return learns


class TopicStream(ShowsTopics, LinksToReference, ReportsDocuments, TransformerMixin, BaseEstimator):
    """Topics of raw text, with changes in time and between groups. Begin with this class.

    A stream counts words, learns topics, sums the shares of the topics by period and group, and
    keeps a sample of documents. `findings` lists changes, each as a sentence.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics; ignored with a `model`.
    model : estimator of topics or None, default=None
        Topic model, of which a clone is fitted. None is ``StreamingLDA(n_components,
        random_state=random_state)``.
    vectorizer : transformer or None, default=None
        Counter of words, of which a clone is used. None is a `StreamingCountVectorizer` of 20,000
        columns, for words of three letters or more in five documents or more, without English stop
        words. A given `StreamingCountVectorizer` needs `max_features`. `fit` makes twice as many
        columns as the corpus has words, for later words: 2,000 to `max_features` columns.
    n_documents : int, default=5000
        Size of the random sample of documents, for display and to check findings.
    error_rate : float in (0, 1), default=0.05
        Largest expected share of false findings among the findings (Benjamini and Hochberg 1995).
    random_state : int, default=0
        Seed of the topics and of the sample.
    n_jobs : int or None, default=None
        Number of threads; results are the same for any number.

    Attributes
    ----------
    pipeline_ : StreamingPipeline
        The fitted vectorizer and topic model.
    tracker_ : TopicTracker
        Words and shares of the topics along the stream.
    monitor_ : DriftMonitor
        The monitor's `alarms` tell which minibatches differ from earlier documents.
    n_documents_seen_, n_tokens_seen_ : int, float
        Numbers of documents, with documents not yet learnt, and of tokens of known words.

    Notes
    -----
    `fit` learns a corpus; `partial_fit` continues or begins a stream. To find alarms, a fifth of
    each minibatch is held back, and learnt eight minibatches later or in `finish`. A new minibatch
    is compared with the held-back documents.

    Examples
    --------
    >>> from streamtopics import TopicStream
    >>> texts = ["the ship sails at sea"] * 60 + ["the sun is in the sky"] * 60
    >>> times = ["2024-05-01"] * 40 + ["2024-06-01"] * 40 + ["2024-07-01"] * 40
    >>> stream = TopicStream(2).fit(texts, times=times)
    >>> sorted(sorted(words) for words in stream.top_words(2))
    [['sails', 'sea'], ['sky', 'sun']]
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = NO_WEIGHTS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "model": [None, HasMethods(["partial_fit", "transform"])],
        "vectorizer": [None, HasMethods(["fit", "transform"])],
        "n_documents": [Interval(Integral, 0, None, closed="left")],
        "error_rate": [Interval(Real, 0, 1, closed="neither")],
        "random_state": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        model: Any = None,
        vectorizer: Any = None,
        n_documents: int = 5000,
        error_rate: float = 0.05,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.vectorizer = vectorizer
        self.n_documents = n_documents
        self.error_rate = error_rate
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline) -> Self:
        """Return a stream that continues a pipeline. Earlier documents are not counted.

        Parameters
        ----------
        pipeline : Pipeline or StreamingPipeline
            A vectorizer and a topic model, each fitted or not. After `fit` of the pipeline, or
            if the vectorizer alone has learnt before (by `fit` or `partial_fit`), new words are
            ignored. A pipeline of more steps must be fitted.

        Examples
        --------
        >>> from streamtopics import StreamingLDA, TopicStream
        >>> from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
        >>> words = StreamingCountVectorizer(max_features=100)
        >>> pipeline = StreamingPipeline([("words", words), ("topics", StreamingLDA(2))])
        >>> stream = TopicStream.from_pipeline(pipeline.partial_fit(["the ship sails"] * 20))
        >>> stream.partial_fit(["the sun shines"] * 20).n_documents_seen_
        20
        """
        (_, words), *between, (_, topics) = pipeline.steps
        stream, begun = cls(model=topics, vectorizer=words), seen_by(pipeline).n_documents > 0
        if between and not (begun and _is_closed(words)):
            raise ValueError(
                "pipeline must be a vectorizer and a topic model, as words of a stream change "
                f"columns; got {len(pipeline.steps)} steps. Leave out {between[0][0]!r}"
            )
        if not begun:
            # A stream begins with a clone of the vectorizer, which would lose the words.
            frozen = FrozenEstimator(words)
            stream.vectorizer = frozen if frozen.__sklearn_is_fitted__() else words
            return stream
        if not isinstance(pipeline, StreamingPipeline) or _is_closed(words):
            # Only a vocabulary that began as a stream can continue.
            (name, _), *others = pipeline.steps
            pipeline = StreamingPipeline([(name, FrozenEstimator(words)), *others])
        stream._begin(pipeline)
        return stream

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also inner ones such as ``model__n_components`` of a given `model`."""
        now = self.get_params(deep=False) | params
        for name in params:
            part, _, inner = name.partition("__")
            if inner and now.get(part, self) is None:
                default = {"model": StreamingLDA, "vectorizer": StreamingCountVectorizer}[part]
                remedy = f"set {part} to an estimator first, such as {default.__name__}(...)"
                raise ValueError(f"{name} is a parameter of {part}, which is None; {remedy}")
        return super().set_params(**params)

    # Learning

    @_whole
    def fit(
        self,
        X: Iterable[str],
        y: object = None,
        *,
        times: Any = None,
        groups: Any = None,
        ids: Sequence[Any] | None = None,
        vectors: Any = None,
    ) -> Self:
        """Learn from a whole corpus.

        Parameters
        ----------
        X : iterable of str
            The texts.
        y : None
            Ignored.
        times, groups, ids : array-like of shape (n_documents,), default=None
            Time (date, text such as "2003-05-17", or number), group and id of each document.
            `documents` and the report show the ids.
        vectors : array-like of shape (n_documents, n_dimensions), default=None
            A vector of each document, for a `model` with vectors, such as `StreamingMixture`.

        Returns
        -------
        self : object
        """
        self._validate_params()
        documents = read_documents(X, times, groups, ids)
        texts, labels, *_ = documents
        if times is None:
            # The order of a corpus is no time: a corpus comes before all later documents.
            labels = labels._replace(times=np.full(len(texts), len(texts) - 1.0))
            documents = documents._replace(labels=labels)
        pipeline = self._new_pipeline(texts, len(texts))
        (_, words), (_, topics) = pipeline.steps
        is_open = _has_open_vocabulary(words)
        (words.partial_fit if is_open else words.fit)(texts, None)
        if is_open:
            # Columns without a word take a part of the topics.
            n_columns = max(LEAST_FEATURES, ROOM * len(words.vocabulary_))
            words = words.set_params(max_features=min(n_columns, words.max_features))
            words._vocabulary = None
            words.partial_fit(texts)
            pipeline._n_passed = words.n_documents_seen_
        counts = words.transform(texts)
        topics.fit(counts, **({} if vectors is None else {"vectors": vectors}))
        self._begin(pipeline)
        self._add(counts, documents)
        self._snapshot(texts, counts, last_time(labels))
        return self

    @_whole
    def partial_fit(
        self,
        X: Iterable[str],
        y: object = None,
        *,
        times: Any = None,
        groups: Any = None,
        ids: Sequence[Any] | None = None,
    ) -> Self:
        """Learn from a minibatch, in a stream or after a corpus.

        Parameters
        ----------
        X, y, times, groups, ids
            As in `fit`. Without times the order of the documents is the time.

        Returns
        -------
        self : object
        """
        self._validate_params()
        documents = self._read(X, times, groups, ids)
        texts, time = documents.texts, last_time(documents.labels)
        moves = self._begun and self._topics._commit.begun is not None
        if self._begun:
            self._carry(lambda: self.monitor_.learn(self.pipeline_, texts, time=time), texts)
        else:
            pipeline = self._new_pipeline(texts, None)
            monitor, words = DriftMonitor(random_state=self.random_state), pipeline.steps[0][1]
            if not _has_open_vocabulary(words):
                words.fit(texts, None)
            monitor.learn(pipeline, texts, time=time)
            self._begin(pipeline, monitor)
        # Seeded topics keep their places.
        moves = moves or self._topics._commit.begun is not None
        if moves and getattr(self._topics, "n_unseeded", True):
            raise ValueError(
                "topics change places over the first documents of model, and shares of topics "
                "would mix them; set its n_start_documents, or schedule__n_start_documents, to 0"
            )
        counts = self.pipeline_[:-1].transform(texts)
        self._add(counts, documents)
        self._snapshot(texts, counts, time)
        return self

    @_whole
    def add_documents(
        self,
        X: Iterable[str],
        *,
        times: Any = None,
        groups: Any = None,
        ids: Sequence[Any] | None = None,
    ) -> Self:
        """Count documents in shares, findings and the report, without learning from them.

        Parameters
        ----------
        X, times, groups, ids
            As in `partial_fit`.

        Returns
        -------
        self : object
        """
        check_is_fitted(self, "pipeline_")
        documents = self._read(X, times, groups, ids)
        self._carry(lambda: None, [])
        self._add(self.pipeline_[:-1].transform(documents.texts), documents)
        return self

    @_whole
    def finish(self) -> Self:
        """Learn from the documents held back for alarms, at the end of a stream; return self."""
        check_is_fitted(self, "pipeline_")
        self._carry(lambda: self.monitor_.finish(self.pipeline_), [])
        return self

    def _read(self, X: Iterable[str], times: Any, groups: Any, ids: Any) -> Documents:
        before = (self._sums[1].kind, self._n_documents) if self._begun else ()
        return read_documents(X, times, groups, ids, *before)

    def _carry(self, learn: Callable[[], None], texts: list[str]) -> None:
        """Learn, and carry the sums over to the new topics and words."""
        words, topics = self.pipeline_.steps[0][1], self._topics
        is_open = _has_open_vocabulary(words)
        n_before, lifetimes = words.n_documents_seen_ if is_open else 0, topics._commit.lifetimes
        cells = self._follow()
        learn()
        if lifetimes is not None:
            cells = cells.with_topics(_moved(lifetimes, topics._commit.lifetimes))
        if is_open:
            columns = words.changed_since(n_before)
            # Documents are learnt or held back; those of `texts` have not been added yet.
            held = [text for part in self.monitor_.documents for text in part]
            known, own = (
                np.ravel((words.transform(some)[:, columns] > 0).sum(axis=0)) if some else 0.0
                for some in (held, texts)
            )
            earlier = np.maximum(words.document_frequency_[columns] + known - own, 0.0)
            earlier *= min(1.0, self._n_documents / max(n_before, 1))
            cells = cells.without_words(columns, earlier)
        self._n_learnt = -1 if self._is_estimated else self._n_learnt
        self._sums = (tuple(getattr(topics, "edits_", ())), cells)

    def _new_pipeline(self, texts: list[str], n_documents: int | None) -> StreamingPipeline:
        """A pipeline for a corpus or, with None, a stream."""
        words, topics = self.vectorizer, self.model
        if words is None:
            least = MIN_DF if n_documents is None else min(MIN_DF, max(1, n_documents // 2))
            words = StreamingCountVectorizer(
                stop_words=stop_words("english"), token_pattern=LETTERS, min_df=least,
                max_features=MAX_FEATURES, dtype=np.float32, n_jobs=self.n_jobs,
            )  # fmt: skip
        if topics is None:
            topics = StreamingLDA(
                self.n_components, random_state=self.random_state, n_jobs=self.n_jobs
            )
        check_has_topics(topics)
        # Texts without spaces between words, cut by a pattern.
        own = {name.rpartition("__")[2]: value for name, value in words.get_params().items()}
        is_cut = own.get("analyzer") == "word" and own.get("token_pattern") and not own["tokenizer"]
        script, name = (is_cut and unspaced_script(texts)) or ("", "")
        if script:
            such = f", such as {name} (pip install {re.split('[.:]', name)[0]})" if name else ""
            said = f"the texts are in {script}, without spaces between words; use a tokenizer{such}"
            warnings.warn(said, stacklevel=4)
        return StreamingPipeline([("words", clone(words)), ("topics", clone(topics))])

    def _begin(self, pipeline: StreamingPipeline, monitor: DriftMonitor | None = None) -> None:
        self.pipeline_, self.tracker_ = pipeline, TopicTracker()
        self.monitor_ = monitor or DriftMonitor(random_state=self.random_state)
        topics = self._topics
        cells = Cells.empty(len(topics.topic_weights_), topics.n_features_in_)
        self._sums = (tuple(getattr(topics, "edits_", ())), cells)
        self._documents = ()
        self._n_documents, self._n_tokens, self._n_learnt = 0, 0.0, 0

    def _add(self, counts: Any, documents: Documents) -> None:
        topics, n, labels = self._topics, len(documents.texts), documents.labels
        edits, cells = self._sums
        for start in range(0, n, AT_ONCE):
            own = slice(start, start + AT_ONCE)
            X = counts[own]
            shares = np.asarray(topics.transform(X), np.float64)
            some = labels._replace(times=labels.times[own], groups=labels.groups[own])
            cells = cells.add(some, shares, sparse.csr_matrix(X))
        self._sums = (edits, cells)
        n_learnt = seen_by(self.pipeline_).n_documents
        is_same = self._n_documents == 0 or n_learnt == self._n_learnt
        self._n_learnt = n_learnt if is_same else -1
        seed = [self.random_state, self._n_documents]
        self._documents = sampled(self._documents, documents, seed, self.n_documents)
        self._n_documents += n
        self._n_tokens += float(counts.sum())

    def _snapshot(self, texts: list[str], counts: Any, time: object) -> None:
        seen, n, n_tokens = seen_by(self.pipeline_), len(texts), float(counts.sum())
        info = BatchInfo(self.tracker_.n_batches_ + 1, texts, time, n, n_tokens, *seen, np.nan)
        self.tracker_.on_batch(self.pipeline_, info)

    # Reading

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """Return the steps of `pipeline_`: names and estimators."""
        check_is_fitted(self, "pipeline_")
        return list(self.pipeline_.steps)

    def fit_transform(self, X: Iterable[str], y: object = None, **fit_params: Any) -> np.ndarray:
        """Call `fit`, and return `transform` of the same texts."""
        X = in_memory(X)
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: Iterable[str]) -> np.ndarray:
        """Return the shares of topics in texts, of shape (n_documents, n_components)."""
        check_is_fitted(self, "pipeline_")
        return np.asarray(self.pipeline_.transform(texts_of(X)))

    def score(self, X: Iterable[str], y: object = None) -> float:
        """Return the mean log probability of a held-out token, in nats; NaN without known words."""
        check_is_fitted(self, "pipeline_")
        return float(self.pipeline_.score(texts_of(X)))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return column names of `transform`, such as "streaminglda0"; `rename` keeps them."""
        return np.asarray(self._topics.get_feature_names_out())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    # Keeping

    def _parts(self) -> list[object]:
        if not self._begun:
            return [self]
        return [self, self.pipeline_, self.monitor_, self.tracker_, *dict(self.steps).values()]

    def __copy__(self) -> Self:
        with held(self._locks()):
            found = _shallow(self)
            if self._begun:
                found.pipeline_ = copy(self.pipeline_)
                found.monitor_, found.tracker_ = _shallow(self.monitor_), _shallow(self.tracker_)
        return found

    def check_held(self) -> None:
        """Raise ValueError if a loaded stream contradicts itself; called by `load`."""
        if self._begun:
            cells = self._sums[1]
            if (
                cells.holders.shape[1] != self._topics.n_features_in_
                or cells.n.sum() > self.n_documents_seen_
            ):
                raise ValueError("the sums are not those of the documents and words of the model")

    def __getstate__(self) -> dict[str, Any]:
        # Parts are read later than this state, and another thread may learn meanwhile.
        state = without_owner(self, super(TopicStream, copy(self)).__getstate__())
        if "_documents" in state:
            state["_documents"] = packed(state["_documents"], [])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_documents" in state:
            kept = tuple(Kept(*one) for one in unpacked(state["_documents"]))
            state = {**state, "_documents": kept}
        vars(self).update(state)


def _shallow(one: One) -> One:
    found = type(one).__new__(type(one))
    vars(found).update(vars(one))
    return found


def _moved(before: Lifetimes, after: Lifetimes) -> np.ndarray:
    """Part of each old topic in each new topic."""
    if len(before.ids):
        return np.equal.outer(before.ids, after.ids).astype(np.float64)
    # Rows stay; the row of a new topic may have been the row of another.
    born = [one.topic for one in after.alive if one.born > before.n_batches]
    return np.diag(1.0 - np.isin(np.arange(len(after.silence)), born))


def _has_open_vocabulary(words: object) -> bool:
    return isinstance(words, StreamingCountVectorizer) and words.vocabulary is None


def _is_closed(words: object) -> bool:
    return not (_has_open_vocabulary(words) and hasattr(words, "n_documents_seen_"))
