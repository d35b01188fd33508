# SPDX-License-Identifier: BSD-3-Clause
"""Labels of topics that stay as long as the topics do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.dpp.summarizer import DPPSummarizer
from streamtopics.inspection.documents import documents_of
from streamtopics.inspection.tables import TopicRow, model_and_names, topic_table
from streamtopics.utils.checks import SUM_TOLERANCE, check_integer, is_number, is_whole
from streamtopics.utils.steps import steps_before
from streamtopics.utils.structure import from_arrow, has_entries

# Words that a label remembers of its topic, and documents that evidence is taken from.
N_REMEMBERED, N_DOCUMENTS = 50, 20


class TopicLabel(NamedTuple):
    """A label of a topic, and what the topic was like when it got it.

    Attributes
    ----------
    topic : int
        Its place in the model.
    label : str
        What `label_topics` was given for it.
    words : tuple of str
        The topic's 50 most probable words then.
    probabilities : tuple of float
        Their probabilities then.
    """

    topic: int
    label: str
    words: tuple[str, ...]
    probabilities: tuple[float, ...]


def label_topics(
    estimator: Any,
    label: Callable[[list[str], list[str]], str],
    feature_names: Any = None,
    *,
    X: Any = None,
    texts: Sequence[str] | None = None,
    before: Sequence[TopicLabel] = (),
    change: float = 0.3,
    n_words: int = 10,
    n_sentences: int = 3,
) -> list[TopicLabel]:
    """Label each topic by a function of yours, and keep labels while topics stay as they are.

    Parameters
    ----------
    estimator : object
        A fitted estimator of topics, or a pipeline that ends in one, as in `topic_table`.
    label : callable
        ``label(words, sentences) -> str``: by hand, by a rule or by another program. It gets the
        words that tell most of a topic, and sentences of documents in which it is large.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`; None takes the words of a pipeline.
    X : object, default=None
        Documents that sentences are taken from, as `estimator.transform` takes them: counts. A
        pipeline needs none beside `texts`.
    texts : sequence of str, default=None
        Their texts; without them there are no sentences.
    before : sequence of TopicLabel, default=()
        The labels so far, of this model at an earlier time. Those of topics that have changed
        little are kept, and `label` is not called for them.
    change : float, default=0.3
        A topic has changed when more than this share of the probability that its 50 most probable
        words had, when its label was given, has left them.
    n_words : int, default=10
        Words that `label` gets.
    n_sentences : int, default=3
        Sentences that `label` gets at most: those of a digest of the topic's 20 leading
        documents (`DPPSummarizer.digest`).

    Returns
    -------
    labels : list of TopicLabel
        One for each topic, in the order of the model. Pass them as `before` next time.

    Raises
    ------
    TypeError, ValueError
        If `label` is not callable or returns no str, `texts` are not those of `X`, or an
        argument is out of its range.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import label_topics
    >>> model = SVBLDA(n_components=1).partial_fit([[4, 0, 1], [0, 2, 2]])
    >>> names = ["sea", "sky", "sun"]
    >>> labels = label_topics(model, lambda words, sentences: "/".join(words[:2]), names)
    >>> labels[0].label
    'sea/sun'
    >>> model = model.partial_fit([[0, 1, 2]])
    >>> label_topics(model, lambda words, sentences: "another", names, before=labels)[0].label
    'sea/sun'
    """
    if not callable(label):
        raise TypeError(f"label must be callable as label(words, sentences) -> str; got {label!r}")
    if not (is_number(change) and 0 <= change <= 1):
        raise ValueError(f"change must be in [0, 1], for example 0.3; got {change!r}")
    check_integer(n_words=n_words, n_sentences=n_sentences)
    texts = from_arrow(texts)
    _check_texts(texts)
    if X is None and steps_before(estimator):
        X = texts
    if (X is None) != (texts is None):
        raise ValueError(
            "X and texts go together; give both, or neither, or texts alone with a pipeline"
        )
    table = sorted(topic_table(estimator, feature_names, max(n_words, N_REMEMBERED)))
    olds: list[Any] = list(before) if has_entries(before) else [before]
    if not all(isinstance(old, TopicLabel) for old in olds):
        raise TypeError(f"before must be what label_topics returned; got {olds!r:.60}")
    for old in olds:
        _check_label(old)
    known = {old.topic: old for old in olds if old.topic < len(table)}
    left = _shares_left(estimator, feature_names, known)
    new = [row for row in table if left.get(row.topic, np.inf) > change]
    evidence = _evidence(estimator, X, texts, new, n_sentences)
    for row in new:
        given = label([str(word) for word in row.words[:n_words]], evidence.get(row.topic, []))
        if not isinstance(given, str):
            raise TypeError(f"label must return a str; got {given!r:.60} for topic {row.topic}")
        words = tuple(str(word) for word in row.words[:N_REMEMBERED])
        remembered = tuple(row.probabilities[:N_REMEMBERED])
        known[row.topic] = TopicLabel(row.topic, given, words, remembered)
    return [known[row.topic] for row in table]


def _check_texts(texts: Any) -> None:
    """Refuse what is no sequence of texts."""
    if texts is None:
        return
    is_sequence = isinstance(texts, Collection) and has_entries(texts)
    # Sets have no order, by which texts would meet the rows of X.
    if not is_sequence or isinstance(texts, set | frozenset) or getattr(texts, "ndim", 1) != 1:
        raise TypeError(f"texts must be a sequence of str, such as a list; got {texts!r:.60}")
    if wrong := [text for text in texts if not isinstance(text, str)]:
        raise TypeError(f"texts must be a sequence of str, but one is {wrong[0]!r:.60}")


def _check_label(old: TopicLabel) -> None:
    """Refuse a label that no topic can have had."""
    words, probabilities = old.words, old.probabilities
    fits = (
        is_whole(old.topic)
        and old.topic >= 0
        and isinstance(old.label, str)
        and isinstance(words, list | tuple)
        and isinstance(probabilities, list | tuple)
        and len(words) == len(probabilities)
        and all(isinstance(word, str) for word in words)
        and all(is_number(p) and 0 <= p <= 1 + SUM_TOLERANCE for p in probabilities)
        and sum(probabilities) > 0
    )
    if not fits:
        raise ValueError(
            "before must hold labels of a topic from 0 on, with a str as label, and words with as "
            f"many probabilities, not all of them 0; got {old!r:.200}"
        )


def _shares_left(
    estimator: Any, feature_names: Any, known: dict[int, TopicLabel]
) -> dict[int, float]:
    """The share of probability that has left the words which labels were given for, by topic."""
    if not known:
        return {}
    model, feature_names = model_and_names(estimator, feature_names)
    names, topic_word = model._column_names(feature_names), model.topic_word_
    wanted = {word for old in known.values() for word in old.words}
    column = {str(name): j for j, name in enumerate(names) if str(name) in wanted}
    found = {}
    for topic, old in known.items():
        pairs = zip(old.words, old.probabilities, strict=True)
        kept = sum(min(p, topic_word[topic, column[w]]) for w, p in pairs if w in column)
        found[topic] = 1 - kept / sum(old.probabilities)
    return found


def _evidence(
    estimator: Any, X: Any, texts: Sequence[str] | None, rows: list[TopicRow], n_sentences: int
) -> dict[int, list[str]]:
    """Sentences of the leading documents, by topic."""
    if texts is None or not rows:
        return {}
    found = documents_of(estimator, X, n_documents=N_DOCUMENTS)
    n = np.shape(X)[0] if hasattr(X, "shape") else len(X)
    if len(texts) != n:
        raise ValueError(f"texts must be those of the {n} documents; got {len(texts)}")
    # By their places, whatever index a series has.
    texts = list(texts)
    digester = DPPSummarizer()
    return {
        row.topic: [
            chosen.sentence
            for chosen in digester.digest(
                [texts[place.document] for place in found if place.topic == row.topic],
                n_sentences=n_sentences,
            )
        ]
        for row in rows
    }
