# SPDX-License-Identifier: BSD-3-Clause
"""What a report shows of a stream: its last documents, and sums over all; kept with checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamtopics.cli.reading import texts_of, time_of
from streamtopics.datasets import Record
from streamtopics.periods import LEAST, ShareSums, periods_of
from streamtopics.report.settings import Whole
from streamtopics.times import Times, read_times

N_SHOWN, MOST_CHARACTERS = 2000, 4_000_000
# Bins of time, as many as there are days in the weeks of a picture, and their lengths for dates.
MOST_BINS, MOST_LEVELS, LENGTHS = 560, 40, ("h", "D", "M", "Y")

# Texts and times of the last documents, and the number and the sums of shares of all.
Recent = dict[str, Any]


def nothing_recent() -> Recent:
    """Return what a report shows of a stream that has no document yet."""
    sums = {"problem": "", "level": 0, "order": "", "universal": False, "ids": [], "sums": None}
    return {"texts": [], "times": [], "n_documents": 0, **sums}


def add_recent(recent: Recent, records: list[Record]) -> None:
    """Take in documents, and drop those that are too long ago, or too much."""
    texts, times = recent["texts"], recent["times"]
    recent["n_documents"] += len(records)
    texts += texts_of(records)
    times += [time_of(record.time) for record in records]
    del texts[:-N_SHOWN]
    size, n_dropped = sum(map(len, texts)), 0
    while size > MOST_CHARACTERS and n_dropped < len(texts) - 1:
        size -= len(texts[n_dropped])
        n_dropped += 1
    del texts[:n_dropped]
    del times[: len(times) - len(texts)]


def add_shares(kept: Recent, records: list[Record], model: Any, tracker: Any) -> None:
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
    kept: Recent, tracker: Any, n_rows: int, dtype: Any
) -> tuple[np.ndarray, ShareSums]:
    """The bins and their sums; a row of the model that has become another topic begins anew."""
    ids = [-1 - row for row in range(n_rows)]
    for row, one in enumerate(getattr(tracker, "ids_", ())[:n_rows]):
        ids[row] = int(one) if one >= 0 else ids[row]
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


def whole_stream(kept: Recent, holders: Any) -> Whole:
    """Return what a report says of all documents of a stream."""
    whole = Whole(kept["n_documents"], holders)
    if kept["problem"] or not kept["sums"] or not len(kept["sums"][0]):
        return whole
    bins, *tables = kept["sums"]
    sums, times = ShareSums(*tables), Times(bins, kept["universal"], kept["order"])
    periods = periods_of(times, LEAST * len(bins) / sums.n.sum())
    return whole._replace(periods=periods, shares=sums.joined(periods.of, len(periods.labels)))
