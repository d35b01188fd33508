# SPDX-License-Identifier: BSD-3-Clause
"""Data frames of topics, of documents, and of any table of the package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from streamtopics.inspection.documents import SharesOverTime, topic_shares
from streamtopics.inspection.n_components import NComponentsComparison
from streamtopics.inspection.tables import topic_table
from streamtopics.utils.checks import check_integer, check_one_of

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")


def to_frame(
    table: Iterable[Any] | SharesOverTime | NComponentsComparison, *, backend: Backend = "pandas"
) -> Any:
    """Return a table of the package as a data frame.

    Parameters
    ----------
    table : iterable of named tuples, SharesOverTime or NComponentsComparison
        Rows of `topic_table`, `documents_of`, `posterior_table`, `drift_report` and others, at
        least one; or what `shares_over_time` or `compare_n_components` returns.
    backend : {"pandas", "polars", "pyarrow"}, default="pandas"
        Library of the frame, which must be installed, as must be narwhals, which makes it (the
        extra `frames`; newer versions of scikit-learn bring it).

    Returns
    -------
    frame : DataFrame or Table
        A row for each row and a column for each field. Of `SharesOverTime` a row for each time
        and topic: `time`, `topic`, `share` and `n_documents` of that time.

    Raises
    ------
    ImportError
        If the library is not installed.
    TypeError, ValueError
        If `table` has no rows, or they are no named tuples of one kind; or if `backend` is another
        one.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import documents_of, to_frame
    >>> X = [[4, 0, 1], [0, 2, 2], [1, 9, 0]]
    >>> to_frame(documents_of(SVBLDA(1).fit(X), X, n_documents=2))
       topic  document  share
    0      0         0    1.0
    1      0         1    1.0
    """
    check_one_of(BACKENDS, backend=backend)
    if isinstance(table, SharesOverTime):
        return _framed(_by_time_and_topic(table), backend)
    rows = list(table.rows if isinstance(table, NComponentsComparison) else table)
    kinds = {type(row) for row in rows}
    if len(kinds) != 1 or not hasattr(rows[0], "_fields"):
        raise TypeError(
            "table must have rows, all of one kind of named tuples, such as those of "
            f"topic_table(model); got {table!r:.60}"
        )
    columns = {name: [getattr(row, name) for row in rows] for name in rows[0]._fields}
    return _framed(columns, backend)


def topic_frame(
    estimator: Any,
    feature_names: Any = None,
    n_words: int = 10,
    *,
    relevance: float = 1.0,
    backend: Backend = "pandas",
) -> Any:
    """Return a data frame of topics, the heaviest first: weight, share of the prior and words.

    Parameters
    ----------
    estimator, feature_names, n_words, relevance
        As in `topic_table`.
    backend : {"pandas", "polars", "pyarrow"}, default="pandas"
        As in `to_frame`.

    Returns
    -------
    frame : DataFrame or Table
        With the fields of `TopicRow`.

    Raises
    ------
    ImportError, TypeError, ValueError
        As `topic_table` and `to_frame`.
    """
    return to_frame(
        topic_table(estimator, feature_names, n_words, relevance=relevance), backend=backend
    )


def document_frame(
    estimator: Any, X: Any, *, n_topics: int = 1, backend: Backend = "pandas"
) -> Any:
    """Return a data frame of the heaviest topics of each document.

    Parameters
    ----------
    estimator : object
        A fitted estimator or pipeline whose `transform` returns shares of topics.
    X : object
        Documents as `estimator.transform` takes them. For the shares of all topics use
        ``estimator.set_output(transform="pandas")``.
    n_topics : int, default=1
        Topics of each document.
    backend : {"pandas", "polars", "pyarrow"}, default="pandas"
        As in `to_frame`.

    Returns
    -------
    frame : DataFrame or Table
        Columns `document`, `topic` and `share`; `n_topics` rows for each document, or as many as
        there are topics.

    Raises
    ------
    ImportError, TypeError, ValueError
        As `documents_of` and `to_frame`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import document_frame
    >>> X = [[4, 0, 1], [0, 2, 2]]
    >>> document_frame(SVBLDA(1).fit(X), X)
       document  topic  share
    0         0      0    1.0
    1         1      0    1.0
    """
    check_integer(n_topics=n_topics)
    check_one_of(BACKENDS, backend=backend)
    shares = topic_shares(estimator, X)
    topics = np.argsort(-shares, axis=1, kind="stable")[:, :n_topics]
    columns = {
        "document": np.repeat(np.arange(len(shares)), topics.shape[1]),
        "topic": topics.ravel(),
        "share": np.take_along_axis(shares, topics, axis=1).ravel(),
    }
    return _framed(columns, backend)


def _by_time_and_topic(found: SharesOverTime) -> dict[str, Any]:
    """Columns of a row for each time and topic."""
    n_times, n_topics = found.shares.shape
    return {
        "time": [time for time in found.times for _ in range(n_topics)],
        "topic": np.tile(np.arange(n_topics), n_times),
        "share": found.shares.ravel(),
        "n_documents": np.repeat(found.n_documents, n_topics),
    }


def _framed(columns: dict[str, Any], backend: Backend) -> Any:
    """A frame of the library asked for."""
    try:
        import narwhals

        return narwhals.from_dict(columns, backend=backend).to_native()
    except ImportError as error:
        raise ImportError(
            f"a frame of {backend} needs {error.name or backend}; run `pip install narwhals "
            f"{backend}`"
        ) from error
