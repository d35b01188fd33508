# SPDX-License-Identifier: BSD-3-Clause
"""What a tracker keeps: snapshots that it takes of a model, thinned out, and topics with lives.

The use of topic k in documents is the expected number of their tokens that are of it,

    u_k = sum_d sum_w n_dw theta_dk phi_kw / sum_j theta_dj phi_jw,

theta by `transform`, phi the words' probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.base.topics import most_probable
from streamtopics.metrics.relevance import largest
from streamtopics.streams.batches import named
from streamtopics.utils.steps import counted, last_step, names_of
from streamtopics.utils.structure import for_scipy, is_sparse, number_of_rows, take_rows

# Numbers of words, and their weights.
Words = tuple[np.ndarray, np.ndarray]
# Most documents of a minibatch that are looked at.
MAX_DOCUMENTS = 100
# Rows of topics in a snapshot that have gone since the one before, for each that is there.
GONE_ROWS = 2
# The last snapshots, of which none is left out.
DENSE = 10
# Cells of words in documents times topics that are held at once.
CELLS = 1 << 20


class Position(NamedTuple):
    """A place in the stream: minibatches so far, the time of the last, and documents so far."""

    batch: int
    time: object
    n_documents: int


class KnownTopic(NamedTuple):
    """A topic from when it was first seen."""

    topic: int
    # Its row in the model at the last snapshot, -1 for none, and the snapshots that found it.
    row: int
    n_found: int
    # Means over the last snapshots, and over those at which it was in use.
    share: float
    usual: float
    born: Position
    last_seen: Position
    died: Position | None
    # Ids, -1 for none.
    split_from: int
    merged_into: int
    # At the last snapshot that found it; of a topic whose row became another one's, before.
    words: Words


class Snapshot(NamedTuple):
    """The topics at one position, and their use since the snapshot before."""

    position: Position
    # A table, see `layout`, of topics with a row, and then of those that had one since.
    topics: np.ndarray
    # Also of topics without an id.
    n_tokens: float


def layout(n_words: int) -> np.dtype[np.void]:
    """Columns of the topics in a snapshot; id, row and words are -1 where there is none.

    `use` are tokens, as estimated by the documents looked at, and `squares` the variances of these.
    `weights` are the probabilities of the words, scaled to sum to 1, `kept` their sum before.
    """
    table = (("words", np.int32, n_words), ("weights", float, n_words))
    numbers = (("use", float), ("squares", float), ("kept", float))
    return np.dtype([("id", np.int64), ("row", np.int64), *numbers, *table])


class State(NamedTuple):
    """All that a tracker has learnt, replaced as a whole."""

    now: Position
    # Learnt since the last snapshot that saw any.
    n_tokens: float
    # Of words by number.
    names: tuple[Any, ...]
    known: tuple[KnownTopic, ...]
    snapshots: tuple[Snapshot, ...]
    # Ids given so far, and rows of the model at the last snapshot.
    n_topics: int
    n_rows: int


# Kept snapshots


def thinned(snapshots: tuple[Snapshot, ...], n: int) -> tuple[Snapshot, ...]:
    """At most n snapshots: the first, the last ten, and in between the denser the more recent.

    The one to go is the one whose neighbours are closest to each other, as a share of how long
    ago it was. What was counted for it is added to the next one.
    """
    kept = list(snapshots)
    while len(kept) > n:
        places = np.array([snapshot.position.n_documents for snapshot in kept], np.float64)
        between = slice(1, len(kept) - DENSE)
        gaps = places[2 : len(kept) - DENSE + 1] - places[: len(kept) - DENSE - 1]
        out = 1 + int(np.argmin(gaps / np.maximum(places[-1] - places[between], 1.0)))
        kept[out : out + 2] = [_joined(kept[out], kept[out + 1])]
    return tuple(kept)


def _joined(first: Snapshot, second: Snapshot) -> Snapshot:
    """The second snapshot, with the use of both; topics that have gone in between come last."""
    before, topics = first.topics, second.topics.copy()
    own = np.isin(before["id"], topics["id"])
    place = {topic: i for i, topic in enumerate(topics["id"].tolist())}
    places = [place[topic] for topic in before["id"][own].tolist()]
    for name in ("use", "squares"):
        topics[name][places] += before[name][own]
    gone = before[~own & (before["use"] > 0)]
    most = GONE_ROWS * max(1, int(np.count_nonzero(topics["row"] >= 0)))
    gone = gone[np.sort(np.argsort(-gone["use"], kind="stable")[:most])]
    gone["row"] = -1
    n_tokens = first.n_tokens + second.n_tokens
    return Snapshot(second.position, np.concatenate([topics, gone]), n_tokens)


def words_of(topic: np.ndarray) -> Words:
    """The words of one topic of a snapshot, and their weights."""
    present = topic["words"] >= 0
    return topic["words"][present], topic["weights"][present]


def probabilities_in(*snapshots: Snapshot) -> dict[int, Words]:
    """The words of each topic in the last snapshot that has it, and their probabilities."""
    found = {}
    for snapshot in snapshots:
        for topic in snapshot.topics:
            words, weights = words_of(topic)
            found[int(topic["id"])] = words, topic["kept"] * weights
    return found


def compact(state: State) -> State:
    """The same, without the names of words that no topic has any more."""
    tables = [snapshot.topics.copy() for snapshot in state.snapshots]
    # The last place stands for -1, which is no word.
    has = np.zeros(len(state.names) + 1, np.bool_)
    for words in (*(t["words"] for t in tables), *(topic.words[0] for topic in state.known)):
        has[words] = True
    used = np.flatnonzero(has[:-1])
    if 2 * len(used) >= len(state.names):
        return state
    number = np.full(len(state.names) + 1, -1, np.int32)
    number[used] = np.arange(len(used))
    for table in tables:
        table["words"] = number[table["words"]]
    known = tuple(k._replace(words=(number[k.words[0]], k.words[1])) for k in state.known)
    kept = zip(state.snapshots, tables, strict=True)
    snapshots = tuple(snapshot._replace(topics=table) for snapshot, table in kept)
    names = tuple(state.names[i] for i in used.tolist())
    return state._replace(names=names, known=known, snapshots=snapshots)


# Reading a model


def read_topics(
    model: Any, documents: Any, n_words: int, number: dict[Any, int], feature_names: Any
) -> np.ndarray:
    """Read the topics of a model, a row each, and their use in some documents.

    `number` has the numbers of words, and takes in new ones.
    """
    topics = last_step(model)
    names = topics._column_names(names_of(model) if feature_names is None else feature_names)
    columns, weights = topics._whole(lambda: _leading(topics, n_words))
    n_topics, n = columns.shape
    words = [number.setdefault(name, len(number)) for name in names[columns.ravel()].tolist()]
    table = np.zeros(n_topics, layout(n_words))
    table["id"], table["row"], table["words"] = -1, np.arange(n_topics), -1
    table["words"][:, :n] = np.array(words, np.int32).reshape(columns.shape)
    table["kept"] = weights.sum(axis=1)
    table["weights"][:, :n] = weights / table["kept"][:, None]
    table["use"], table["squares"] = _use(topics, for_scipy(counted(model, documents)))
    return table


def sampled(X: Any, n: int, seed: int) -> Any:
    """Return n documents of a minibatch at random, in order."""
    n_documents = number_of_rows(X)
    if n_documents <= n:
        return X
    rows = np.sort(np.random.default_rng(seed).choice(n_documents, n, replace=False))
    if isinstance(X, list | tuple):
        return [X[i] for i in rows.tolist()]
    return take_rows(X.tocsr() if is_sparse(X) else X, rows)


def _leading(topics: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and probabilities of the most probable words."""
    first = topics._n_hidden
    if not hasattr(topics._learnt, "may_lead"):
        table = topics.topic_word_
        columns = np.array([largest(row, n) for row in table], dtype=np.intp)
        return columns, np.take_along_axis(table, columns, axis=1)
    columns = most_probable(topics._learnt, n)[first:]
    words, places = np.unique(columns, return_inverse=True)
    table = topics._topics_of(words)[first:]
    return columns, np.take_along_axis(table, places.reshape(columns.shape), axis=1)


def _use(topics: Any, counts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of each topic in documents, and the sum of their squares by document."""
    X = sparse.csr_matrix(counts)
    theta = np.asarray(topics.transform(named(topics, X)), np.float64)
    use, squares = np.zeros((2, theta.shape[1]))
    words, places = np.unique(X.indices.astype(np.int32, copy=False), return_inverse=True)
    if not len(words):
        return use, squares
    phi = topics._topics_of(words)[topics._n_hidden :].T
    step = max(1, CELLS // max(1, theta.shape[1] * (1 + len(places) // X.shape[0])))
    for start in range(0, X.shape[0], step):
        part = slice(X.indptr[start], X.indptr[min(start + step, X.shape[0])])
        lengths = np.diff(X.indptr[start : start + step + 1])
        shares = np.repeat(theta[start : start + step], lengths, axis=0) * phi[places[part]]
        total = np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        shares *= X.data[part][:, None] / total
        full = np.flatnonzero(lengths)
        of_documents = np.add.reduceat(shares, (np.cumsum(lengths) - lengths)[full], axis=0)
        use += of_documents.sum(axis=0)
        squares += (of_documents**2).sum(axis=0)
    return use, squares
