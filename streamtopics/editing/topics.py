# SPDX-License-Identifier: BSD-3-Clause
"""Edits of the topics of a fitted model. The model continues to learn from the stream.

Topics are rows of counts, so edits add, divide or move counts without losing a token. Numbers of
topics never change, and `n_components` stays, so a clone starts like the model. Undo applies all
edits but the last again, to the model before the first edit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.editable import Editable
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import check_column_names
from streamtopics.editing.changes import carried_out, taken_back
from streamtopics.editing.records import Edit, EditStep, Weighted, edits_of
from streamtopics.estimators import StreamingLDA
from streamtopics.metrics.relevance import most_probable
from streamtopics.streams.batches import named
from streamtopics.updates.doc_topic import FixedPoint, GammaPrior, Shares
from streamtopics.utils.checks import is_whole
from streamtopics.utils.parallel import lock_of
from streamtopics.utils.steps import check_not_frozen, counted, last_step, names_of
from streamtopics.utils.structure import column_names, to_csr

# Leading words to recognise a topic, least tokens for a split, and least share of a topic's part.
KEPT_WORDS, LEAST_TOKENS, LEAST_TOKEN = 30, 100.0, 1e-3


class EditError(ValueError):
    """Raised if the model does not allow an edit; the model is unchanged."""


def merge(model: BaseEstimator, topics: Sequence[int]) -> Edit:
    """Merge several topics into the first, which keeps its row, name and number.

    The merged topic has the tokens of all these topics, but the prior of the first alone. Rows
    below a removed row move up. Clusters of a `StreamingMixture` with `births` can be neither
    merged nor split.

    Parameters
    ----------
    model : estimator or pipeline
        A fitted `StreamingLDA`, an estimator derived from it, or a `StreamingMixture`; or a
        pipeline or `TopicStream` with such a model. The model is changed in place.
    topics : sequence of int
        Rows of two topics or more.

    Returns
    -------
    edit : Edit
        Also the last entry of the model's `edits_`.

    Examples
    --------
    >>> from streamtopics import StreamingLDA, editing
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(500, n_components=4, n_features=60, random_state=0).X
    >>> model = StreamingLDA(4, random_state=0).fit(X)
    >>> edit = editing.merge(model, [1, 3])
    >>> model.components_.shape
    (3, 60)
    >>> edit = editing.undo(model)
    >>> model.components_.shape
    (4, 60)
    """
    return edit_rows(model, "merge", topics)


@documented
def split(model: BaseEstimator, topic: int, X: object, *, n: int = 2) -> Edit:
    """Split one topic into several, learnt from documents.

    The largest of the new topics keeps the row, name and number; the smaller ones become the last
    rows.

    Parameters
    ----------
    model
        As in `merge`.
    topic : int
        Row of the topic.
    X : object
        Documents to learn from, in the form for the model's `transform`. Take some thousand
        documents with the topic.
    n : int, default=2
        Number of topics after the split.

    {returns_edit, fitted_example}
    >>> edit = editing.merge(model, [0, 1])
    >>> edit = editing.split(model, 0, X)
    >>> sorted(sorted(words) for words in model.top_words(n_words=2))
    [[0, 2], [1, 3]]
    """
    return edit_rows(model, "split", [topic], X=X, n=n)


@documented
def rename(model: BaseEstimator, topic: int, name: str) -> Edit:
    """Give a topic a name for tables, reports and plots; "" removes the name.

    Parameters
    ----------
    model, topic
        As in `split`.
    name : str

    {returns_edit, fitted_example}
    >>> editing.rename(model, 1, "billing").kind
    'rename'
    >>> model.topic_names_.tolist()
    ['', 'billing']
    """
    return edit_rows(model, "rename", [topic], name=name)


@documented
def hide(model: BaseEstimator, topics: int | Sequence[int]) -> Edit:
    """Leave topics out of tables, reports and plots; the model keeps the topics.

    Parameters
    ----------
    model
        As in `merge`.
    topics : int or sequence of int
        Rows of the topics.

    {returns_edit, fitted_example}
    >>> edit = editing.hide(model, 1)
    >>> model.hidden_topics_.tolist()
    [1]
    """
    return edit_rows(model, "hide", topics)


def show(model: BaseEstimator, topics: int | Sequence[int]) -> Edit:
    """Show hidden topics again; see `hide`."""
    return edit_rows(model, "show", topics)


@documented
def lock(model: BaseEstimator, topics: int | Sequence[int]) -> Edit:
    """Keep the word probabilities of topics fixed while the model learns.

    The shares of the topics in the documents still change.

    Parameters
    ----------
    model, topics
        As in `hide`. Clusters of a `StreamingMixture` with `births` cannot be locked.

    {returns_edit, fitted_example}
    >>> edit = editing.lock(model, [0, 1])
    >>> before = model.topic_word_
    >>> bool(abs(model.partial_fit([[9, 9, 9, 9]]).topic_word_ - before).max() < 1e-12)
    True
    """
    return edit_rows(model, "lock", topics)


def unlock(model: BaseEstimator, topics: int | Sequence[int]) -> Edit:
    """Let the word probabilities of locked topics change again; see `lock`."""
    return edit_rows(model, "unlock", topics)


@documented
def exclude(model: BaseEstimator, topic: int, words: Collection[str | int]) -> Edit:
    """Keep words out of a topic from now on: "not this word".

    The topic loses its tokens of each word, now and in later minibatches. The tokens go to the
    other topics, in proportion to their tokens of the word. Locked topics get no tokens.

    Parameters
    ----------
    model, topic
        As in `split`.
    words : collection
        Words of the vocabulary, or column numbers if columns have no names. The exclusion of a
        word ends if the vocabulary drops the word.

    {returns_edit, fitted_example}
    >>> row = int(model.topic_word_[:, 2].argmax())
    >>> editing.exclude(model, row, [2]).words
    (2,)
    >>> 2 in model.top_words(n_words=2, relevance=1)[row]
    False
    """
    return edit_rows(model, "exclude", [topic], words=words)


@documented
def pull(model: BaseEstimator, topic: int, words: Collection[str | int]) -> Edit:
    """Move all tokens of words to a topic: "this word belongs here".

    Most tokens of these words in later minibatches go to the topic too. Locked topics keep their
    tokens.

    Parameters
    ----------
    model, topic, words
        As in `exclude`. A word excluded from the topic is no longer excluded.

    {returns_edit, fitted_example}
    >>> row = int(model.topic_word_[:, 2].argmin())
    >>> edit = editing.pull(model, row, [2])
    >>> int(model.topic_word_[:, 2].argmax()) == row
    True
    """
    return edit_rows(model, "pull", [topic], words=words)


@documented
def undo(model: BaseEstimator) -> Edit:
    """Undo the last edit; the model is exactly as before the edit.

    If the model has learnt a minibatch since the edit, only some edits can be undone: `rename`,
    `hide`, `show`, `lock`, `unlock`, and `exclude` with words that the model never learnt.

    Parameters
    ----------
    model
        As in `merge`.

    Returns
    -------
    edit : Edit
        The undone edit.

    {fitted_example}
    >>> edit = editing.rename(model, 1, "billing")
    >>> editing.undo(model).name
    'billing'
    >>> model.edits_
    []
    """
    topics = editable(model)
    with lock_of(topics):
        edits = edits_of(topics)
        refuse((not edits.steps, "no edit is left to be undone"))
        last = edits.steps[-1]
        since = f"{last.edit.kind} cannot be undone: the model has learnt since"
        refuse(
            (last.moves and edits.base is None, f"{since}; load a model that was saved before it")
        )
        topics._commit = taken_back(topics._commit, edits)
    return last.edit


# How an edit is made


def refuse(*troubles: tuple[object, str]) -> None:
    if said := next((said for trouble, said in troubles if trouble), ""):
        raise EditError(said)


def editable(model: BaseEstimator) -> Editable:
    """The estimator of a model's topics, if the topics can be edited."""
    check_not_frozen(model)
    topics = last_step(model)
    cannot = f"the topics of {type(topics).__name__} cannot be edited"
    if not isinstance(topics, Editable):
        raise TypeError(
            f"{cannot}, because these are not rows of counts alone; use StreamingLDA or "
            "StreamingMixture"
        )
    check_is_fitted(topics)
    commit = topics._commit
    rule, doc_topic = commit.update.update, commit.update.doc_topic
    inner, memory = commit.state
    known = memory is None or isinstance(doc_topic, FixedPoint | GammaPrior | Shares)
    statistics = f"{rule} keeps statistics of minibatches, which would return"
    refuse(
        (commit.posterior.knows_nothing, f"{cannot}: it has learnt no words yet"),
        (inner is not None, f"{cannot}: {statistics}"),
        ("noise" in rule.traits.needs, f"{cannot}: {rule} adds noise to topics, and no counts"),
        (commit.average is not None, f"{cannot}: its topics are averages of iterates"),
        (not known, f"{cannot}: it is not known what {doc_topic} remembers of its topics"),
    )
    return topics


def leading_words(topics: Editable, names: np.ndarray, rows: Any = None) -> list[Weighted]:
    """Leading words of some rows, or of all."""
    store, leading = topics._commit.posterior._state.S, most_probable(topics._learnt, KEPT_WORDS)
    found, all_rows = list[Weighted](), np.arange(topics._n_hidden, len(leading))
    for row in all_rows if rows is None else all_rows[rows]:
        columns = leading[row][store.rows(leading[row])[:, row] > 0]
        p = topics._topics_of(columns)[row].tolist()
        words = zip(names[columns].tolist(), p, strict=True)
        found.append(tuple((word, float(f"{p:.4g}")) for word, p in words))
    return found


def edit_rows(
    model: BaseEstimator, kind: str, topics: int | Sequence[int], *,
    words: Collection[str | int] = (), X: object = None, n: int = 0, name: str = "",
) -> Edit:  # fmt: skip
    estimator = editable(model)
    with lock_of(estimator):
        commit, edits = estimator._commit, edits_of(estimator)
        numbers, names = edits.labels.topics, estimator._column_names(names_of(model))
        given = np.ravel(topics).tolist()
        wrong = not all(is_whole(row) and 0 <= row < len(numbers) for row in given)
        least, last = 1 + (kind == "merge"), len(numbers) - 1
        by_word, lists = kind in ("exclude", "pull"), not isinstance(words, str) and len(words)
        column = {word: i for i, word in enumerate(names.tolist())}
        unknown = [word for word in words if word not in column]
        others = {*numbers} - edits.labels.locked - {numbers[row] for row in given[:1] if not wrong}
        taken = edits.labels.excluded if kind == "exclude" else ()
        barred = [{topic for topic, c in taken if c == column.get(word)} for word in words]
        refuse(
            (
                commit.lifetimes is not None and kind in ("merge", "split", "lock"),
                f"{kind} is not for clusters that come and go; use births=None",
            ),
            (
                wrong or len({*given}) < max(least, len(given)),
                f"{kind} takes {('one', 'two')[least - 1]} or more different rows from 0 to "
                f"{last}; got {topics!r:.60}",
            ),
            (not isinstance(name, str), f"name must be a str; got {name!r:.60}"),
            (by_word and not lists, f"words must be a list of words; got {words!r:.60}"),
            (
                by_word and any(others <= own for own in barred),
                "there is no other topic that is not locked and may have the word",
            ),
            (by_word and unknown, f"words {unknown[:5]} have no column; leave them out"),
            (kind == "split" and X is None, "a split needs documents; pass them as X"),
            (kind == "split" and not (is_whole(n) and n >= 2), f"n must be at least 2; got {n!r}"),
        )
        rows = [int(row) for row in given]
        columns = tuple(sorted({column[word] for word in words})) if by_word else ()
        division = _division(model, estimator, rows[0], X, n) if kind == "split" else None
        edit = Edit(
            kind, tuple(numbers[row] for row in rows), (*leading_words(estimator, names, rows),),
            tuple(names[list(columns)].tolist()), name, int(n),
        )  # fmt: skip
        learnt = np.isin(columns, commit.posterior._state.S.words).any()
        moves = kind in ("merge", "split") or bool(learnt)
        step = EditStep(edit, edits.labels, columns, moves, division)
        estimator._commit = carried_out(commit, edits, step)
    return edit


def _division(model: BaseEstimator, topics: Editable, row: int, X: object, n: int) -> np.ndarray:
    """Share of each part in the topic's counts, by learnt word; the largest part first."""
    counts = counted(model, X)
    if column_names(counts) is not None:
        check_column_names(topics, counts, reset=False)
    counts = to_csr(counts, "split", default=np.float64)
    tokens, least = tokens_of(topics, counts, row), LEAST_TOKENS
    few = f"topic {row} has {tokens.sum():.0f} tokens in X, but a split needs {least:.0f}"
    refuse((tokens.sum() < least, f"{few}; pass more documents that have it"))
    parts = StreamingLDA(int(n), n_jobs=topics.n_jobs, random_state=topics.seed_).fit(tokens)
    store = topics._commit.posterior._state.S
    found = parts.components_[:, store.words].T
    found /= found.sum(axis=1, keepdims=True)
    sizes = store.rows(store.words)[:, topics._n_hidden + row] @ found
    refuse((not sizes.all(), f"topic {row} has learnt no words that could be divided; merge it"))
    return np.ascontiguousarray(found[:, np.argsort(-sizes, kind="stable")])


def tokens_of(topics: Editable, X: sparse.csr_matrix, row: int) -> sparse.csr_matrix:
    """Expected tokens of a topic, in the documents with at least one such token.

    A token of word w in document d is of topic k in proportion to theta_dk phi_kw, the proportion
    of the topic and the probability of the word.
    """
    X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    theta = np.asarray(topics.transform(named(topics, X)), np.float64)
    words, places = np.unique(X.indices, return_inverse=True)
    phi = topics._topics_of(words.astype(np.int32))[topics._n_hidden :]
    documents = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    total = np.full(X.nnz, np.finfo(np.float64).tiny)
    for k in range(len(phi)):
        total += theta[documents, k] * phi[k, places]
    tokens = X.data * theta[documents, row] * phi[row, places] / total
    X.data = np.where(tokens < LEAST_TOKEN, 0.0, tokens)
    X.eliminate_zeros()
    return X[X.sum(axis=1).A1 >= 1.0]
