# SPDX-License-Identifier: BSD-3-Clause
"""Splits documents in order of time, those of one time on one side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator, TimeSeriesSplit

from streamtopics.utils.checks import check_integer, check_not_masked, plain
from streamtopics.utils.structure import number_of_rows
from streamtopics.utils.times import read_times


class TimeSplit(BaseCrossValidator):
    """Splits documents in order of time, those of one time on one side, for `GridSearchCV`.

    It does with distinct times what :class:`~sklearn.model_selection.TimeSeriesSplit` does with
    rows: each split trains on all that came before what it tests on. The times of the documents
    are passed as `groups`: numbers, or dates such as ``dates.astype("datetime64[M]")`` and
    "2003-05"; ordered categories of pandas and an Enum of polars are in their own order. Dates
    such as "05/17/2003" are read if one of all has a day above 12, which tells what comes first.
    Documents need not be in order.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits; there must be more distinct times than this.
    max_train_size : int or None, default=None
        Times to train on at most, the last ones; None for all.
    test_size : int or None, default=None
        Times to test on in each split; None for their number over ``n_splits + 1``, rounded down.
    gap : int, default=0
        Times that are left out between the two.

    See Also
    --------
    prequential_score : Trains once, and tests on every minibatch.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.streams import TimeSplit
    >>> months = np.array(["2024-02", "2024-01", "2024-01", "2024-03", "2024-03"])
    >>> for train, test in TimeSplit(n_splits=2).split(months, groups=months):
    ...     print(train, test)
    [1 2] [0]
    [1 2 0] [3 4]
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        max_train_size: int | None = None,
        test_size: int | None = None,
        gap: int = 0,
    ) -> None:
        check_integer(n_splits=n_splits)
        if max_train_size is not None:
            check_integer(max_train_size=max_train_size)
        if test_size is not None:
            check_integer(test_size=test_size)
        check_integer(least=0, gap=gap)
        self.n_splits, self.max_train_size = n_splits, max_train_size
        self.test_size, self.gap = test_size, gap

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to train and to test on.

        Parameters
        ----------
        X : object of length n_documents
            The documents; only their number counts.
        y : None
            Ignored.
        groups : array-like of shape (n_documents,)
            The time of each document.

        Yields
        ------
        train, test : ndarray of int
            Rows, in order of time; of one time in their order in X.

        Raises
        ------
        ValueError
            If times lack, cannot be read, are not one to a document, or are too few.
        TypeError
            If times are of several kinds, or neither numbers nor dates.
        """
        n_documents = number_of_rows(X)
        times, place = np.unique(check_times(groups, n_documents), return_inverse=True)
        n_splits, gap, test_size = int(self.n_splits), int(self.gap), plain(self.test_size)
        fold = TimeSeriesSplit(
            n_splits, max_train_size=plain(self.max_train_size), test_size=test_size, gap=gap
        )
        n_needed = 1 + gap + n_splits * (test_size or 1)
        if len(times) < n_needed:
            raise ValueError(
                f"groups has {len(times)} distinct times, but {self!r} needs at least {n_needed}; "
                "use fewer splits, or finer times"
            )
        order = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place[order], np.arange(len(times) + 1))
        for train, test in fold.split(times):
            yield (
                order[bounds[train[0]] : bounds[train[-1] + 1]],
                order[bounds[test[0]] : bounds[test[-1] + 1]],
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        n_splits : int
        """
        return self.n_splits


def check_times(times: Any, n_documents: int) -> np.ndarray:
    """Return the times of documents as an array, each of which can be put in order."""
    if times is None:
        raise ValueError(
            "TimeSplit needs the times of the documents as groups, such as "
            "search.fit(X, groups=months)"
        )
    check_not_masked(times, "TimeSplit", "groups")
    try:
        found = read_times(times)
    except (TypeError, ValueError) as error:
        raise type(error)(f"groups must be times of one kind: {error}") from error
    if found.shape != (n_documents,):
        raise ValueError(
            f"groups must have a time for each of {n_documents} documents; got an array of shape "
            f"{found.shape}"
        )
    if not (found == found).all():
        raise ValueError(
            f"groups has no time for document {int(np.argmin(found == found))}; leave out "
            "documents without one"
        )
    return found
