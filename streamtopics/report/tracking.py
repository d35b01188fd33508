# SPDX-License-Identifier: BSD-3-Clause
"""Records of callbacks of a stream: identities of topics, news, and alarms.

They are asked for rows by the names of their methods, so that any object that has these serves.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

NEWS = "What is new in the second half"


class Happened(NamedTuple):
    """Records of one kind, with a heading; `kind` is "changes" or "alarms".

    Those `in_time` come in order of time, others in the order to be shown in.
    """

    heading: str
    kind: str
    argument: str
    records: Any
    in_time: bool = True


class TrackedShares(NamedTuple):
    """Shares of the rows of a model at several times, of shape (n_times, n_rows)."""

    times: list[Any]
    shares: np.ndarray


def tracked(tracker: Any) -> list[Happened]:
    """Rows of a tracker: as given, or its news of the second half of a stream and its topics."""
    if tracker is None:
        return []
    if not callable(getattr(tracker, "topics", None)):
        return [Happened("Births and changes", "changes", "tracker", tracker)]
    found = [Happened("Topics of the stream", "changes", "tracker", tracker.topics())]
    # While there is nothing to compare yet, a tracker says so by an error.
    with suppress(ValueError):
        news = tracker.news(tracker.n_batches_ // 2, unit="batch")
        found.insert(0, Happened(NEWS, "changes", "tracker", news, False))
    return found


def alarmed(alarms: Any) -> list[Happened]:
    """Alarms: rows as given, or those that a monitor has in `alarms_`, or in `alarms()`."""
    if alarms is None:
        return []
    if not isinstance(alarms, Iterable):
        alarms = getattr(alarms, "alarms_", getattr(alarms, "alarms", alarms))
        alarms = alarms() if callable(alarms) else alarms
    return [Happened("Alarms", "alarms", "alarms", alarms)]


def tracked_shares(tracker: Any, n_rows: int) -> TrackedShares | None:
    """Shares of topics along the stream by a tracker's `shares()` and `ids_`, or None."""
    if not callable(getattr(tracker, "shares", None)) or not hasattr(tracker, "ids_"):
        return None
    times, ids, shares = tracker.shares()
    if not len(times):
        return None
    found = np.zeros((len(times), n_rows))
    place = {int(one): column for column, one in enumerate(ids)}
    for row, one in enumerate(tracker.ids_[:n_rows]):
        if int(one) in place:
            found[:, row] = shares[:, place[int(one)]]
    return TrackedShares(list(times), found)
