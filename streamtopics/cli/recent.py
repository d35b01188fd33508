# SPDX-License-Identifier: BSD-3-Clause
"""What a report shows of a stream: its last documents, and sums over all; kept with checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamtopics.cli.reading import texts_of, time_of
from streamtopics.datasets import Record
from streamtopics.report.settings import Whole
from streamtopics.utils.times import LEAST, STEPS, ShareSums, periods_of, read_times

N_SHOWN, MOST_CHARACTERS = 2000, 4_000_000
# Bins of time, as many as there are days in the weeks of a picture. Those of dates are hours, days,
# months, years, tens and hundreds of years.
MOST_BINS, MOST_LEVELS, LENGTHS = 560, 40, [STEPS[i] for i in (0, 1, 3, 5, 7, 9)]

# Texts and times of the last documents, and the number and the sums of shares of all.
Recent = dict[str, Any]


def nothing_recent() -> Recent:
    """Return what a report shows of a stream that has no document yet."""
    sums = {"problem": "", "level": 0, "ids": [], "sums": None}
    return {"texts": [], "times": [], "n_documents": 0, "n_left_out": 0, **sums}


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
    """Take a minibatch into the shares of topics over time, or leave it out, and count that."""
    if not records:
        return
    try:
        values = read_times([record.time for record in records])
        values = values.astype("M8[s]") if values.dtype.kind == "M" else values
        if kept["sums"] and values.dtype != kept["sums"][0].dtype:
            raise ValueError("times must be all numbers or all dates; write all in one way")
    except (TypeError, ValueError) as error:
        kept |= {"problem": str(error), "n_left_out": kept["n_left_out"] + len(records)}
        kept["times"][-len(records) :] = [None] * min(len(records), len(kept["times"]))
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


def _floor(values: np.ndarray, level: int) -> Any:
    """When the bins begin that times are in; of numbers they are tenfold at each level."""
    if values.dtype.kind == "M":
        step = LENGTHS[min(level, len(LENGTHS) - 1)]
        return step.starts(step.of(values))
    if not level:
        return values
    # Only powers of ten above 1 are exact.
    power, (up, down) = 10.0 ** abs(level - 8), (np.multiply, np.divide)[:: 1 if level < 8 else -1]
    n = up(values, power)
    return down(np.floor(n + 1e-15 * abs(n)), power)


def whole_stream(kept: Recent, holders: Any) -> Whole:
    """Return what a report says of all documents of a stream."""
    whole = Whole(kept["n_documents"], holders)
    if not kept["sums"] or not len(kept["sums"][0]):
        return whole
    bins, *tables = kept["sums"]
    sums = ShareSums(*tables)
    periods = periods_of(bins, LEAST * len(bins) / sums.n.sum())
    return whole._replace(periods=periods, shares=sums.joined(periods.of, len(periods.labels)))
