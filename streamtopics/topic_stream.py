# SPDX-License-Identifier: BSD-3-Clause
"""Topics of raw text, and all that goes along with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import wraps
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, TransformerTags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.editable import Editable
from streamtopics.base.frame import NO_WEIGHTS
from streamtopics.editing.records import Edit, EditStep, edits_of
from streamtopics.estimators import StreamingLDA
from streamtopics.inspection.periods import time_texts
from streamtopics.kernels import rows as kernel
from streamtopics.metrics import relevant_words
from streamtopics.report import Report, report
from streamtopics.story.cells import LEAST_OF_PERIOD, Cells, Labels, Totals, labels_of, positions
from streamtopics.story.findings import Findings, find, sample_of, topics_of
from streamtopics.story.shares import ShareRow, share_rows
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.streams.batches import check_has_topics, seen_by
from streamtopics.streams.stream import BatchInfo, packed, unpacked
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline, stop_words
from streamtopics.updates.births import Lifetimes
from streamtopics.utils.checks import check_integer, check_one_of
from streamtopics.utils.output import LinksToReference
from streamtopics.utils.parallel import WithCache, held, lock_of
from streamtopics.utils.structure import from_arrow, shape_of

# Documents whose topics are inferred at once, words of a topic, and those that name it.
AT_ONCE, N_WORDS, N_NAME, RELEVANCE = 8192, 10, 3, 0.6
# What is a word, documents that it is in (or half of a small corpus), and how many are counted.
# A corpus gets so many times as many columns as it has words, for new ones, and at least so many.
ROOM, LEAST_FEATURES = 2, 2000
LETTERS, MIN_DF, MAX_FEATURES = r"(?u)\b[^\W\d_]{3,}\b", 5, 20_000
# Names of columns without a word.
FREE = "<free "
Given = ParamSpec("Given")
One = TypeVar("One")


class Kept(NamedTuple):
    """A document that is kept to be shown.

    Attributes
    ----------
    text, time, group, id : str, str, str, object
        The time and the group are empty where they are not known.
    """

    text: str
    time: str
    group: str
    id: Any
    number: float  # of its span
    key: float  # at random, by which documents are kept


def _whole(
    learn: Callable[Concatenate[TopicStream, Given], TopicStream],
) -> Callable[Concatenate[TopicStream, Given], TopicStream]:
    """A method that learns in a copy, and hands all over at once when it has gone well."""

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


def _still(
    read: Callable[Concatenate[TopicStream, Given], One],
) -> Callable[Concatenate[TopicStream, Given], One]:
    """A method that reads, and waits for another thread that learns."""

    @wraps(read)
    def reads(self: TopicStream, /, *args: Given.args, **given: Given.kwargs) -> One:
        with held(self._locks()):
            return read(self, *args, **given)

    return reads


class TopicStream(LinksToReference, TransformerMixin, BaseEstimator, WithCache):
    """Topics of raw text, with what happens to them: the one object to begin with.

    It counts words, learns topics, follows these along the stream, adds up shares by period and by
    group, and keeps a sample of the documents. `findings` says in sentences what has changed.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    model : estimator of topics or None, default=None
        A clone of it learns; None is ``StreamingLDA(n_components, random_state=random_state)``.
        If given, its own `n_components` counts.
    vectorizer : transformer or None, default=None
        A clone of it counts words. None is a `StreamingCountVectorizer` of runs of three letters or
        more in five documents or more, without English stop words, of 20,000 columns. One of yours
        needs `max_features`, as new words get columns; `fit` takes twice those that it fills.
    n_documents : int, default=5000
        Documents that are kept to be shown, at random.
    error_rate : float in (0, 1), default=0.05
        Share of false findings that is expected (Benjamini and Hochberg 1995).
    random_state : int, default=0
        Seed of the topics and of the sample.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    pipeline_ : StreamingPipeline
        The fitted vectorizer and topic model.
    tracker_ : TopicTracker
        Follows the topics along the minibatches.
    monitor_ : DriftMonitor
        Its `alarms` say which minibatches of `partial_fit` differed from those before.
    n_documents_seen_, n_tokens_seen_ : int, float
        Documents, also those that are held back, and tokens of known words.

    Notes
    -----
    `fit` learns from a corpus at once, and `partial_fit` goes on from it or begins a stream. In
    both the vocabulary is open: new words get a column. `partial_fit` holds back a fifth of each
    minibatch for the alarm; they are learnt eight minibatches later, or by `finish`.

    Examples
    --------
    >>> from streamtopics import TopicStream
    >>> texts = ["the ship sails at sea"] * 60 + ["the sun is in the sky"] * 60
    >>> times = ["2024-05-01"] * 40 + ["2024-06-01"] * 40 + ["2024-07-01"] * 40
    >>> stream = TopicStream(2).fit(texts, times=times)
    >>> sorted(sorted(words) for words in stream.top_words(2))
    [['sails', 'sea'], ['sky', 'sun']]
    """

    pipeline_: StreamingPipeline
    tracker_: TopicTracker
    monitor_: DriftMonitor
    _n_documents: int
    _n_tokens: float
    # What was added up, of the topics after these edits
    _sums: tuple[tuple[Edit, ...], Cells]
    _documents: tuple[Kept, ...]
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
        """Return the stream of a pipeline, which goes on from what this has learnt.

        Parameters
        ----------
        pipeline : Pipeline or StreamingPipeline
            A vectorizer and a topic model, fitted or not. There may be steps between them if it is
            fitted and its vocabulary is closed.

        Returns
        -------
        stream : TopicStream

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
            return stream
        if isinstance(pipeline, StreamingPipeline) and not _is_closed(words):
            stream._begin(pipeline)
        else:
            # Only a vocabulary that began as a stream can go on.
            (name, _), *others = pipeline.steps
            stream._begin(StreamingPipeline([(name, FrozenEstimator(words)), *others]))
        return stream

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
        """Learn from a corpus, all at once.

        Parameters
        ----------
        X : iterable of str
            The texts.
        y : None
            Ignored.
        times, groups, ids : array-like of shape (n_documents,), default=None
            When each document is from: dates, or text such as "2003-05-17", or numbers; which
            product, country or author it is of; and its name, which findings lead back to.
        vectors : array-like of shape (n_documents, n_dimensions), default=None
            Sentence vectors, for a `model` such as `StreamingMixture` that learns from them too.

        Returns
        -------
        self : object
        """
        self._validate_params()
        texts, labels, names = _read(X, times, groups, ids, "", 0)
        if times is None:
            # The order of a corpus is no time: it comes before all that is learnt later.
            labels = labels._replace(times=np.zeros(len(texts)))
        pipeline = self._new_pipeline(len(texts))
        (_, words), (_, topics) = pipeline.steps
        is_open = _has_open_vocabulary(words)
        (words.partial_fit if is_open else words.fit)(texts)
        if is_open:
            # Columns without a word take a part of the topics.
            n_columns = max(LEAST_FEATURES, ROOM * len(words.vocabulary_))
            words = words.set_params(max_features=min(n_columns, words.max_features))
            words._vocabulary = None
            words.partial_fit(texts)
        counts = words.transform(texts)
        topics.fit(counts, **({} if vectors is None else {"vectors": vectors}))
        if is_open:
            pipeline._n_passed = words.n_documents_seen_
        self._begin(pipeline)
        self._add(counts, texts, labels, names)
        self._snapshot(texts, counts, None)
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
        """Learn from a minibatch of a stream, or of what comes after a corpus.

        Parameters
        ----------
        X, y, times, groups, ids
            As in `fit`. Without times documents are in the order in which they come.

        Returns
        -------
        self : object
        """
        self._validate_params()
        begun = hasattr(self, "pipeline_")
        kind, n_seen = (self._sums[1].kind, self.n_documents_seen_) if begun else ("", 0)
        texts, labels, names = _read(X, times, groups, ids, kind, n_seen)
        pipeline = self.pipeline_ if begun else self._new_pipeline(None)
        monitor = self.monitor_ if begun else DriftMonitor(random_state=self.random_state)
        words, time = pipeline.steps[0][1], _last(labels)
        if begun:
            self._carry(lambda: monitor.learn(pipeline, texts, time=time), texts)
        else:
            if not _has_open_vocabulary(words):
                words.fit(texts)
            monitor.learn(pipeline, texts, time=time)
            self._begin(pipeline, monitor)
        counts = pipeline[:-1].transform(texts)
        self._add(counts, texts, labels, names)
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
        """Add documents to the shares, findings and report, and learn nothing from them.

        Parameters
        ----------
        X, times, groups, ids
            As in `partial_fit`.

        Returns
        -------
        self : object
        """
        check_is_fitted(self, "pipeline_")
        kind, n_seen = self._sums[1].kind, self.n_documents_seen_
        texts, labels, names = _read(X, times, groups, ids, kind, n_seen)
        self._carry(lambda: None, [])
        self._add(self.pipeline_[:-1].transform(texts), texts, labels, names)
        return self

    @_whole
    def finish(self) -> Self:
        """Learn from the documents that the alarm has held back, at the end of a stream."""
        check_is_fitted(self, "pipeline_")
        self._carry(lambda: self.monitor_.finish(self.pipeline_), [])
        return self

    def _carry(self, learn: Callable[[], None], texts: list[str]) -> None:
        """Learn, and carry the sums over to the topics and words that there are then."""
        words, topics = self.pipeline_.steps[0][1], self._topics
        is_open = _has_open_vocabulary(words)
        n_before, lifetimes = words.n_documents_seen_ if is_open else 0, topics._commit.lifetimes
        cells = self._follow()
        learn()
        if lifetimes is not None:
            cells = cells.with_topics(_moved(lifetimes, topics._commit.lifetimes))
        if is_open:
            columns, _ = words.names_since(n_before)
            # Documents whose words are counted now have not been added yet.
            own = (words.transform(texts)[:, columns] > 0).sum(axis=0) if texts else 0.0
            earlier = np.maximum(words.document_frequency_[columns] - np.ravel(own), 0.0)
            cells = cells.without_words(columns, earlier)
        edits = topics.edits_ if isinstance(topics, Editable) else ()
        self._sums = (tuple(edits), cells)

    def _new_pipeline(self, n_documents: int | None) -> StreamingPipeline:
        """A pipeline that has learnt nothing, for a corpus of so many documents or a stream."""
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
        return StreamingPipeline([("words", clone(words)), ("topics", clone(topics))])

    def _begin(self, pipeline: StreamingPipeline, monitor: DriftMonitor | None = None) -> None:
        """Take over a pipeline that has learnt for the first time."""
        self.pipeline_, self.tracker_ = pipeline, TopicTracker()
        self.monitor_ = monitor or DriftMonitor(random_state=self.random_state)
        topics = self._topics
        self._sums = ((), Cells.empty(len(topics.topic_weights_), topics.n_features_in_))
        self._documents = ()
        self._n_documents, self._n_tokens = 0, 0.0

    @property
    def _topics(self) -> Any:
        """The fitted estimator of topics."""
        check_is_fitted(self, "pipeline_")
        return self.pipeline_.steps[-1][1]

    def _add(self, counts: Any, texts: list[str], labels: Labels, ids: Sequence[Any]) -> None:
        """Add documents to the sums and to the sample."""
        n_seen, topics, n = self.n_documents_seen_, self._topics, len(texts)
        edits, cells = self._sums
        for start in range(0, n, AT_ONCE):
            own = slice(start, start + AT_ONCE)
            X = counts[own]
            # A document without a known word has no topics.
            rows = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() > 0)
            if len(rows):
                shares = np.asarray(topics.transform(X), np.float64)[rows]
                groups = [labels.groups[start + row] for row in rows]
                some = Labels(labels.kind, labels.times[own][rows], groups)
                cells = cells.add(some, shares, sparse.csr_matrix(X)[rows])
        self._sums = (edits, cells)
        keys = np.random.default_rng([self.random_state, n_seen]).random(n)
        dates = [""] * n if labels.kind == "order" else time_texts(labels.times)
        numbers = positions(labels.times).tolist()
        found = map(Kept, texts, dates, labels.groups, ids, numbers, keys.tolist())
        self._documents = _sampled([*self._documents, *found], self.n_documents)
        self._n_documents, self._n_tokens = n_seen + n, self._n_tokens + float(counts.sum())

    def _snapshot(self, texts: list[str], counts: Any, time: object) -> None:
        """Take a snapshot of the topics behind documents that were learnt."""
        seen, n, n_tokens = seen_by(self.pipeline_), len(texts), float(counts.sum())
        info = BatchInfo(self.tracker_.n_batches_ + 1, texts, time, n, n_tokens, *seen, np.nan)
        self.tracker_.on_batch(self.pipeline_, info)

    # Reading

    @property
    def n_documents_seen_(self) -> int:
        """Documents, also those that are held back."""
        return self._n_documents

    @property
    def n_tokens_seen_(self) -> float:
        """Tokens of known words."""
        return self._n_tokens

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """The steps of `pipeline_`, so that all that takes a pipeline takes this, too."""
        check_is_fitted(self, "pipeline_")
        steps: list[tuple[str, Any]] = self.pipeline_.steps
        return steps

    @property
    def documents(self) -> list[Kept]:
        """The documents that are kept, in the order in which they came."""
        check_is_fitted(self, "pipeline_")
        return list(self._documents)

    def transform(self, X: Iterable[str]) -> np.ndarray:
        """Return the shares of topics in texts, of shape (n_documents, n_components)."""
        check_is_fitted(self, "pipeline_")
        shares: np.ndarray = self.pipeline_.transform(_texts_of(X))
        return shares

    def score(self, X: Iterable[str], y: object = None) -> float:
        """Return how well texts are predicted, in nats a token; NaN without a known word."""
        check_is_fitted(self, "pipeline_")
        return float(self.pipeline_.score(_texts_of(X)))

    def top_words(self, n_words: int = 10, *, relevance: float = RELEVANCE) -> list[list[str]]:
        """Return the words of each topic, the most telling first.

        Parameters
        ----------
        n_words : int, default=10
        relevance : float in [0, 1], default=0.6
            As in `streamtopics.metrics.relevant_words`; 1 orders words by probability.

        Returns
        -------
        words : list of n_components lists of str
        """
        topics, names = self._topics, self._names
        weights = topics.topic_weights_
        columns = relevant_words(topics.topic_word_, weights, 2 * n_words, relevance=relevance)
        each = [[str(names[column]) for column in own] for own in columns]
        return [[word for word in own if not word.startswith(FREE)][:n_words] for own in each]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return names of the columns of `transform`."""
        return np.asarray(self._topics.get_feature_names_out())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    @property
    def _names(self) -> np.ndarray:
        return np.asarray(self.pipeline_[:-1].get_feature_names_out())

    @_still
    def totals(self, least: float = LEAST_OF_PERIOD) -> Totals:
        """Return sums of shares by period and group, over all documents.

        Parameters
        ----------
        least : float, default=10
            Documents of a period in the mean, at least.

        Returns
        -------
        totals : Totals
        """
        return self._follow().totals(least)

    @_still
    def shares(self, by: str = "period", *, least: float = LEAST_OF_PERIOD) -> list[ShareRow]:
        """Return the shares of topics in all documents, with 95 % intervals.

        Parameters
        ----------
        by : {"period", "group", "both"}, default="period"
            What a row is of, beside a topic.
        least : float, default=10
            As in `totals`.

        Returns
        -------
        rows : list of ShareRow
            By topic; ``pandas.DataFrame(rows)`` makes a table of them.
        """
        check_one_of(("period", "group", "both"), by=by)
        names = [", ".join(words[:N_NAME]) for words in self._words()]
        return share_rows(
            self.totals(least), names, by_period=by != "group", by_group=by != "period"
        )

    def _words(self) -> list[list[str]]:
        """What each topic is called: its name, or its words."""
        words, topics = self.top_words(N_WORDS), self._topics
        if not isinstance(topics, Editable):
            return words
        given = edits_of(topics).labels.names_by_row
        return [[name] if name else own for name, own in zip(given, words, strict=True)]

    @_still
    def findings(self, n: int | None = 10) -> Findings:
        """Return what has changed along the stream, and what differs between groups.

        Parameters
        ----------
        n : int or None, default=10
            Findings, at most, the most surprising and largest first; None returns all.

        Returns
        -------
        findings : Findings
            A tuple of `Finding`; `str` of each is a sentence. A share `error_rate` of them is
            expected to be false.
        """
        if n is not None:
            check_integer(least=0, n=n)
        totals, kept, topics = self.totals(), self._documents, self._topics
        texts, numbers = [one.text for one in kept], np.array([one.number for one in kept])
        counts = self.pipeline_[:-1].transform(texts)
        sample = sample_of(
            totals, counts, topics.transform(counts), numbers, [one.group for one in kept], texts,
            self.tracker_.n_batches_ > 1,
        )  # fmt: skip
        told = topics_of(topics, self._words(), self._names)
        return Findings(find(totals, told, sample, self.error_rate)[:n])

    @_still
    def report(self, /, path: str | PathLike[str] | None = None, **how: Any) -> Report:
        """Write what was found as one HTML file that needs no network.

        Parameters
        ----------
        path : str or path, default=None
            Of the file, such as "topics.html", which is replaced; None writes none.
        **how
            Such as ``title`` or ``date``: see `streamtopics.report.report`. It takes the totals,
            findings, alarms and documents from here if they are not given.

        Returns
        -------
        report : Report
            What the page says, as plain values.
        """
        kept, totals = self.documents, self.totals()
        given: dict[str, Any] = {
            "totals": totals, "findings": self.findings(None), "tracker": self.tracker_,
            "alarms": self.monitor_, "sampled_from": self.n_documents_seen_,
            "title": f"What stands out in {self.n_documents_seen_:,} documents",
        }  # fmt: skip
        if kept:
            given["texts"] = [one.text for one in kept]
            given["titles"] = [
                one.id if isinstance(one.id, str) else f"document {one.id}" for one in kept
            ]
        if any(one.time for one in kept):
            given["times"] = [one.time or None for one in kept]
        if len(totals.groups) > 1:
            given["groups"] = [one.group for one in kept] or None
        own = {name: value for name, value in how.items() if value is not None}
        return report(self.pipeline_, path, **(given | own))

    def _follow(self) -> Cells:
        """The sums of the topics as they are, after the edits since the last minibatch."""
        topics, (done, cells) = self._topics, self._sums
        if not isinstance(topics, Editable):
            return cells
        steps, labels = edits_of(topics).steps, edits_of(topics).labels
        # Without those that were undone.
        pairs = enumerate(zip(done, topics.edits_, strict=False))
        n_done = next((i for i, (one, other) in pairs if one != other), min(len(done), len(steps)))
        if any(edit.kind in ("merge", "split") for edit in done[n_done:]):
            raise ValueError(
                "documents were added after an edit that was undone; add them to a copy that was "
                "saved before"
            )
        after = [*(step.before.topics for step in steps[1:]), labels.topics]
        for step, numbers in zip(steps[n_done:], after[n_done:], strict=False):
            cells = cells.with_topics(self._shares_after(step, numbers, labels.topics))
        return cells

    def _shares_after(
        self, step: EditStep, after: tuple[int, ...], now: tuple[int, ...]
    ) -> np.ndarray:
        """The part of each topic before an edit in each one after it, by their numbers."""
        before = step.before.topics
        parts = np.equal.outer(before, after).astype(np.float64)
        rows = step.before.rows(step.edit.topics)
        if step.edit.kind == "merge":
            parts[rows] = parts[rows[0]]
        if step.edit.kind == "split":
            new = [
                i for i, number in enumerate(after) if number == before[rows[0]] or i >= len(before)
            ]
            weights = np.ones(len(new))
            if {after[i] for i in new} <= {*now} and self._documents:
                shares = np.asarray(self.pipeline_.transform([d.text for d in self._documents]))
                weights = shares[:, [now.index(after[i]) for i in new]].sum(axis=0)
            parts[rows[0], new] = weights / weights.sum()
        return parts

    # Keeping

    def _locks(self) -> list[Any]:
        """The locks of this object, of its pipeline and, against edits meanwhile, of its topics."""
        if "pipeline_" not in vars(self):
            return [lock_of(self)]
        return [lock_of(self), *self.pipeline_._locks(), lock_of(self._topics)]

    def _parts(self) -> list[object]:
        """This object and all in it that learns."""
        if "pipeline_" not in vars(self):
            return [self]
        steps = [step for _, step in self.pipeline_.steps]
        return [self, self.pipeline_, self.monitor_, self.tracker_, *steps]

    def __copy__(self) -> Self:
        """Return a stream that begins where this one is, and learns by itself."""
        with held(self._locks()):
            found = _shallow(self)
            if "pipeline_" in vars(self):
                found.pipeline_ = copy(self.pipeline_)
                found.monitor_, found.tracker_ = _shallow(self.monitor_), _shallow(self.tracker_)
        return found

    def check_held(self) -> None:
        """Refuse sums of other words, or of more documents, than were seen."""
        if "pipeline_" in vars(self):
            cells = self._sums[1]
            if (
                cells.holders.shape[1] != self._topics.n_features_in_
                or cells.n.sum() > self.n_documents_seen_
            ):
                raise ValueError("the sums are not those of the documents and words of the model")

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the documents in one array."""
        state = dict(super().__getstate__())
        if "_documents" in state:
            state["_documents"] = packed(state["_documents"], [])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` has returned."""
        if "_documents" in state:
            kept = tuple(Kept(*one) for one in unpacked(state["_documents"]))
            state = {**state, "_documents": kept}
        vars(self).update(state)


def _shallow(one: One) -> One:
    """A copy of an object that shares its attributes."""
    found = type(one).__new__(type(one))
    vars(found).update(vars(one))
    return found


def _moved(before: Lifetimes, after: Lifetimes) -> np.ndarray:
    """The part of each topic before a minibatch in each one after it, if topics come and go."""
    if len(before.ids):
        return np.equal.outer(before.ids, after.ids).astype(np.float64)
    # Rows stay, and those of new topics may have been of others.
    born = [one.topic for one in after.alive if one.born > before.n_batches]
    return np.diag(1.0 - np.isin(np.arange(len(after.silence)), born))


def _has_open_vocabulary(words: object) -> bool:
    return isinstance(words, StreamingCountVectorizer) and words.vocabulary is None


def _is_closed(words: object) -> bool:
    """Whether the vocabulary of what has counted words is that of a corpus."""
    return not (_has_open_vocabulary(words) and hasattr(words, "n_documents_seen_"))


def _read(
    X: Iterable[str], times: Any, groups: Any, ids: Any, kind: str, n_seen: int
) -> tuple[list[str], Labels, list[Any]]:
    """Texts, their labels and ids, checked."""
    texts = _texts_of(X)
    n = len(texts)
    names = list(range(n_seen, n_seen + n)) if ids is None else list(from_arrow(ids))
    if len(names) != n:
        raise ValueError(f"ids must have an entry for each of the {n} documents; got {len(names)}")
    names = [int(one) if isinstance(one, np.integer) else one for one in names]
    names = [one if isinstance(one, int | str) else str(one) for one in names]
    return texts, labels_of(n, times, groups, kind, n_seen), names


def _texts_of(X: Iterable[str]) -> list[str]:
    """A list of texts, of which each is one."""
    if isinstance(X, str):
        raise TypeError("X must be a sequence of texts; got one text, so pass [text]")
    if len(shape_of(X) or ()) > 1:
        raise TypeError("X must be a sequence of texts; got a table, so pass one column")
    texts = list(from_arrow(X))
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"X must be texts; row {row} is {text!r:.50}. Leave it out, or pass ''")
    return texts


def _last(labels: Labels) -> Any:
    """The latest time, for the alarm and the tracker; None of documents without times."""
    known = labels.times[labels.times == labels.times]
    if labels.kind == "order" or not len(known):
        return None
    last = known.max()
    if labels.kind == "date":
        return last.astype("M8[us]").item()
    return int(last) if float(last).is_integer() else float(last)


def _sampled(documents: list[Kept], n: int) -> tuple[Kept, ...]:
    """The documents with the n largest keys, in order."""
    if len(documents) <= n:
        return tuple(documents)
    keys = np.array([one.key for one in documents])
    least = np.partition(keys, len(keys) - n)[len(keys) - n] if n else np.inf
    return tuple(one for one in documents if one.key >= least)
