# SPDX-License-Identifier: BSD-3-Clause
"""What a report shows of a stream: its last documents, and sums over all; kept with checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from streamtopics.cli.reading import texts_of, time_of
from streamtopics.datasets import Record
from streamtopics.periods import periods_of
from streamtopics.report import Whole
from streamtopics.shares import LEAST, ShareSums
from streamtopics.times import Times, read_times

N_SHOWN, MOST_CHARACTERS = 2000, 4_000_000
# Bins of time, as many as there are days in the weeks of a picture, and their lengths for dates.
MOST_BINS, MOST_LEVELS, LENGTHS = 560, 40, ("h", "D", "M", "Y")

# Texts, and their times: lists of what files can hold.
Recent = dict[str, list[Any]]


def nothing_recent() -> Recent:
    """Return the last documents of a stream that has none yet."""
    return {"texts": [], "times": []}


def add_recent(recent: Recent, records: Iterable[Record]) -> None:
    """Take in documents, and drop those that are too long ago, or too much."""
    texts, times = recent["texts"], recent["times"]
    for record in records:
        texts.append(record.text)
        times.append(time_of(record.time))
    del texts[:-N_SHOWN]
    size, n_dropped = sum(map(len, texts)), 0
    while size > MOST_CHARACTERS and n_dropped < len(texts) - 1:
        size -= len(texts[n_dropped])
        n_dropped += 1
    del texts[:n_dropped]
    del times[: len(times) - len(texts)]


def nothing_summed() -> dict[str, Any]:
    """Return the sums of a stream that has no document yet."""
    return {"problem": "", "level": 0, "order": "", "universal": False, "ids": [], "sums": None}


def add_shares(kept: dict[str, Any], records: list[Record], model: Any, tracker: Any) -> None:
    """Take a minibatch into the shares of topics over time, unless its times cannot be read."""
    if kept["problem"] or not records:
        return
    try:
        times = read_times([record.time for record in records], kept["order"])
        values = times.values.astype("M8[s]" if times.are_dates else np.float64)
        if kept["sums"] and kept["sums"][0].dtype != values.dtype:
            raise ValueError("times must be all numbers or all dates; write all in one way")
    except (TypeError, ValueError) as error:
        kept["problem"] = str(error)
        return
    X = model[:-1].transform(texts_of(records))
    known = (np.asarray(X.sum(axis=1)).ravel() > 0) & (values == values)
    shares = np.asarray(model.steps[-1][1].transform(X), np.float64)[known]
    before, sums = _of_the_same(kept, tracker, shares.shape[1], values.dtype)
    both = np.concatenate([before, values[known]])
    bins, of = np.unique(_floor(both, kept["level"]), return_inverse=True)
    while len(bins) > MOST_BINS and kept["level"] < MOST_LEVELS:
        kept["level"] += 1
        bins, of = np.unique(_floor(both, kept["level"]), return_inverse=True)
    sums = sums.joined(of[: len(before)], len(bins))
    sums.add(of[len(before) :], shares)
    kept["sums"] = [bins, sums.n, sums.sums, sums.squares]
    kept |= {"order": times.order, "universal": times.are_universal}


def _of_the_same(
    kept: dict[str, Any], tracker: Any, n_rows: int, dtype: Any
) -> tuple[np.ndarray, ShareSums]:
    """The bins and their sums; a row of the model that has become another topic begins anew."""
    ids = [int(one) for one in getattr(tracker, "ids_", ())][:n_rows]
    ids += [-1] * (n_rows - len(ids))
    ids = [one if one >= 0 else -1 - row for row, one in enumerate(ids)]
    row_of = {one: row for row, one in enumerate(kept["ids"])}
    rows = np.array([row_of.get(one, -1) for one in ids])
    kept["ids"] = ids
    if not kept["sums"]:
        return np.empty(0, dtype), ShareSums.zeros(0, n_rows)
    bins, n, *tables = kept["sums"]
    return bins, ShareSums(n, *(np.where(rows >= 0, table[:, rows], 0.0) for table in tables))


def _floor(values: np.ndarray, level: int) -> np.ndarray:
    """When the bins begin that times are in; of numbers they are tenfold at each level."""
    if values.dtype.kind == "M":
        return values.astype(f"M8[{LENGTHS[min(level, len(LENGTHS) - 1)]}]").astype("M8[s]")
    return values if not level else np.floor(values / 10.0 ** (level - 8)) * 10.0 ** (level - 8)


def whole_stream(kept: dict[str, Any], n_documents: int, holders: Any) -> Whole:
    """Return what a report says of all documents of a stream."""
    if kept["problem"] or not kept["sums"] or not len(kept["sums"][0]):
        return Whole(n_documents, holders)
    bins, *tables = kept["sums"]
    sums = ShareSums(*tables)
    times = Times(bins, kept["universal"], kept["order"])
    periods = periods_of(times, LEAST * len(bins) / sums.n.sum())
    return Whole(n_documents, holders, periods, sums.joined(periods.of, len(periods.labels)))
