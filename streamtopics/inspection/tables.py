# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the topics of a model."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from streamtopics.metrics.relevance import relevant_words
from streamtopics.text.vocabulary import is_free
from streamtopics.utils.steps import last_step, names_of, steps_before


class TopicRow(NamedTuple):
    """A row of `topic_table`."""

    topic: int
    weight: float  #: Share of the tokens
    prior_retention: float  #: Share of the prior in the topic
    words: list[Any]
    probabilities: list[float]
    name: str = ""  #: Empty without a name


def topic_table(
    estimator: BaseEstimator,
    feature_names: ArrayLike | None = None,
    n_words: int = 10,
    *,
    relevance: float = 0.6,
) -> list[TopicRow]:
    """List the topics of a fitted model with leading words, the largest topic first.

    Topics hidden by `streamtopics.editing.hide`, and columns without a word, are left out.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics, or a pipeline with one as last step.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns. None takes the words of a pipeline, or the names seen in `fit`.
    n_words : int, default=10
        Words per topic.
    relevance : float in [0, 1], default=0.6
        1 ranks words by probability in the topic; smaller values prefer words rare in other topics.

    Returns
    -------
    table : list of TopicRow
        A row for each topic, for `format_topics` or `pandas.DataFrame`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import format_topics, topic_table
    >>> model = SVBLDA(n_components=1).fit([[4, 0, 1], [0, 2, 2]])
    >>> print(format_topics(topic_table(model, ["sea", "sky", "sun"], n_words=2)))
    topic  weight   prior  words
        0  100.0%    3.0%  sea sun
    """
    model, feature_names = model_and_names(estimator, feature_names)
    names = model._column_names(feature_names)
    weights, topic_word = model.topic_weights_, model.topic_word_
    retention = model.prior_retention_
    given = [str(name) for name in getattr(model, "topic_names_", ())]
    given += [""] * (len(weights) - len(given))
    columns = [
        [word for word in own if not is_free(names[word])]
        for own in relevant_words(topic_word, weights, n_words, relevance=relevance)
    ]
    return [
        TopicRow(
            int(k), float(weights[k]), float(retention[k]),
            names[columns[k]].tolist(), topic_word[k, columns[k]].tolist(), given[k],
        )
        for k in np.argsort(-weights, kind="stable")
        if k not in model.hidden_topics_
    ]  # fmt: skip


def format_topics(table: Sequence[TopicRow], width: int = 100) -> str:
    """Return rows of `topic_table` as text; lines are cut after at most `width` characters."""
    lines = [f"{'topic':>5}  {'weight':>6}  {'prior':>6}  words"]
    for row in table:
        words = f"{row.name}: " * bool(row.name) + " ".join(str(word) for word in row.words)
        line = f"{row.topic:>5}  {row.weight:>6.1%}  {row.prior_retention:>6.1%}  {words}"
        lines.append(line if len(line) <= width else line[: width + 1].rsplit(" ", 1)[0])
    return "\n".join(lines)


def topic_names(estimator: BaseEstimator) -> list[str]:
    """Names of the topics, or numbers for topics without a name."""
    model = last_step(estimator)
    given = [str(name) for name in getattr(model, "topic_names_", ())]
    columns = [str(name) for name in model.get_feature_names_out()][len(given) :]
    # scikit-learn's names for the columns of estimators without names.
    plain = type(model).__name__.lower()
    indexed = enumerate(columns, len(given))
    given = [name or f"topic {k}" for k, name in enumerate(given)]
    return given + [f"topic {k}" if name == f"{plain}{k}" else name for k, name in indexed]


def model_and_names(
    estimator: object, feature_names: ArrayLike | None = None
) -> tuple[Any, ArrayLike | None]:
    """The topic model at the end of a pipeline, and names of the columns or None."""
    model = last_step(estimator)
    if isinstance(model, type) or not {"topic_weights_", "prior_retention_"} <= {*dir(type(model))}:
        raise TypeError(
            "estimator must be a fitted topic model of streamtopics, such as SVBLDA, or a "
            f"pipeline with one as last step; got {estimator!r:.60}"
        )
    if feature_names is None and steps_before(estimator):
        feature_names = names_of(estimator)
    return model, feature_names
