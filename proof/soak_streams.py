# SPDX-License-Identifier: BSD-3-Clause
"""The streams of `proof.soak`: texts that drift, with odd documents, and who learns them."""

import pickle
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from math import ceil
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils.validation import check_is_fitted

from benchmarks.endless_text import EndlessText
from proof.soak_checks import wrong_proportions, wrong_topics
from streamtopics import HDPGibbsOnlineEM, StreamingLDA
from streamtopics.local import Gibbs
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import BPS, HierarchicalPowerPrior

# Documents of a minibatch, tokens of a document on average, columns.
DOCUMENTS, LENGTH, COLUMNS = 2000, 100, 20_000
# A change of all that is spoken of after each fifth of a stream; tokens that the text leaps over.
CHANGES, LEAP = 5, 50_000_000
# Every so many minibatches one has a document of LONG of its documents, is without a word, or is
# one document.
ENORMOUS, LONG, BARE, SINGLE = 40, 1000, 53, 29
ROWS = 50
SCORED = 100
# Seconds between calls of a reader; every so many of them it takes a copy of the model.
PAUSE, COPY = 0.02, 10
Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Way:
    """A stream.

    Attributes
    ----------
    name : str
    make : callable
        Returns the model that learns it, with a number of threads.
    share : float
        Of all tokens.
    seed : int
        Of its texts.
    n_documents : int
        Of a minibatch.
    n_columns : int
        Of its words.
    recycles : bool
        Whether columns change hands.
    part : int or None
        Documents of the parts that its model cuts a minibatch into, if it does.
    """

    name: str
    make: Callable[[int], Any]
    share: float
    seed: int
    n_documents: int = DOCUMENTS
    n_columns: int = COLUMNS
    recycles: bool = True
    part: int | None = 150

    @property
    def n_tokens(self) -> int:
        """Of a minibatch, on average."""
        return LENGTH * self.n_documents

    def n_batches(self, n_tokens: float) -> int:
        """Minibatches, where so many tokens of text are shared out among the streams."""
        return max(ROWS, int(self.share * n_tokens / self.n_tokens))


def pipeline(topics: Any, n_columns: int = COLUMNS) -> StreamingPipeline:
    """Words that come and go, and topics."""
    words = StreamingCountVectorizer(max_features=n_columns, half_life=50_000)
    return StreamingPipeline([("words", words), ("topics", topics)])


def presets(n_jobs: int) -> StreamingPipeline:
    """What is learnt by default, from texts, with 100 topics."""
    return pipeline(StreamingLDA(100, random_state=0, n_jobs=n_jobs))


def boosted(n_jobs: int) -> StreamingPipeline:
    """A boosted prior and the sampler."""
    topics = StreamingLDA(50, update=BPS(0.1), inference=Gibbs(), random_state=0, n_jobs=n_jobs)
    return pipeline(topics)


def forgetting(n_jobs: int) -> StreamingPipeline:
    """A power prior that learns how fast to forget."""
    topics = StreamingLDA(50, update=HierarchicalPowerPrior(), random_state=0, n_jobs=n_jobs)
    return pipeline(topics)


def growing(n_jobs: int) -> StreamingPipeline:
    """The sampler of the HDP, whose topics are born along the stream, over hashed words."""
    words = HashingVectorizer(n_features=COLUMNS, alternate_sign=False, norm=None)
    topics = HDPGibbsOnlineEM(5, random_state=0, n_jobs=n_jobs)
    return StreamingPipeline([("words", words), ("topics", topics)])


WAYS = {
    way.name: way
    for way in (
        Way("StreamingLDA", presets, 0.4, 1),
        Way("BPS, Gibbs", boosted, 0.25, 2),
        Way("power prior", forgetting, 0.25, 3),
        Way("HDP", growing, 0.1, 4, recycles=False, part=None),
    )
}


# Texts


def minibatch(way: Way, number: int, n_batches: int) -> list[str]:
    """The texts of a minibatch, the same whenever it is asked for."""
    text = EndlessText(1_000_003 * way.seed + number)
    text.n_tokens = number * way.n_tokens + LEAP * (CHANGES * number // n_batches)
    documents = text.documents(way.n_documents)
    documents[::37] = [""] * len(documents[::37])
    documents[1] = " . ? \u2028 " * 5
    documents[2] = "\u0130stanbul na\u00efve \U0001f600 " * 20
    if number % ENORMOUS == ENORMOUS - 1:
        documents[3] = " ".join(documents[-LONG:])
    if number % BARE == BARE - 1:
        return [""] * 10
    return documents[-1:] if number % SINGLE == SINGLE - 1 else documents


def yet_to_come(way: Way, number: int, n_batches: int) -> list[str]:
    """Some texts of the first minibatch from this one on that has words."""
    return minibatch(way, number + (number % BARE == BARE - 1), n_batches)[:SCORED]


def minibatches(way: Way, skip: int, n_batches: int) -> Iterator[list[str]]:
    """All minibatches; those that are passed over are not made."""
    for number in range(n_batches):
        yield [] if number < skip else minibatch(way, number, n_batches)


def is_row(batch: int, n_batches: int) -> bool:
    """Whether a model is checked after this minibatch; it is after the last."""
    return batch % max(1, n_batches // ROWS) == 0 or batch == n_batches


# Readers


class Reader:
    """A thread that asks a model for topics of texts and words of topics while it learns.

    What it finds wrong it sends at once, and ends.
    """

    def __init__(self, way: Way, model: Any, texts: list[str], send: Send) -> None:
        self.way, self.model, self.texts, self.send = way, model, texts, send
        self.transform_calls = self.n_documents = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._ended.wait(PAUSE):
            try:
                problem = self._problem() if self._has_begun() else ""
            except Exception as error:
                problem = f"a reader met {error!r:.500}"
            if problem:
                self.send({"problem": problem})
                return

    def _has_begun(self) -> bool:
        try:
            check_is_fitted(self.model.steps[-1][1])
        except NotFittedError:
            return False
        return True

    def _problem(self) -> str:
        topics = self.model.steps[-1][1]
        problem = wrong_proportions(self.model.transform(self.texts))
        self.transform_calls += 1
        topics.top_words(n_words=3)
        problem = problem or wrong_proportions(topics.topic_word_)
        if problem or self.transform_calls % COPY:
            return problem
        copy = pickle.loads(pickle.dumps(topics))
        before, self.n_documents = self.n_documents, copy.n_documents_seen_
        if self.n_documents < before:
            return f"{self.n_documents} documents seen after {before}"
        return wrong_topics(copy, seen_from(self.way, self.n_documents))


# Sizes


def seen_along(way: Way) -> Iterator[tuple[int, int]]:
    """Minibatches, or parts of them, and documents that a model has seen before each minibatch."""
    n_parts = n_documents = 0
    for number in count():
        yield n_parts, n_documents
        size = size_of(way, number)
        n_parts, n_documents = n_parts + ceil(size / (way.part or size)), n_documents + size


def seen_until(way: Way, n_batches: int) -> tuple[int, int]:
    """What a model has seen after so many minibatches of the stream."""
    return next(islice(seen_along(way), n_batches, None))


def seen_from(way: Way, n_documents: int) -> tuple[int, int]:
    """What a model has seen after the fewest minibatches that have at least so many documents."""
    return next(seen for seen in seen_along(way) if seen[1] >= n_documents)


def size_of(way: Way, number: int) -> int:
    """How many documents a minibatch has."""
    if number % BARE == BARE - 1:
        return 10
    return 1 if number % SINGLE == SINGLE - 1 else way.n_documents
