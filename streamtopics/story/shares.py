# SPDX-License-Identifier: BSD-3-Clause
"""Shares of topics by period and by group, as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from streamtopics.story.cells import Totals, interval_of, spread_each, spread_of


class ShareRow(NamedTuple):
    """The share of one topic in the documents of one period, group or both.

    Attributes
    ----------
    topic, name : int, str
        Row and name of the topic.
    period, group : str or None
        Names; None if the row is over all periods, or over all groups.
    n_documents : int
        Number of documents of the period and group.
    share, low, high : float
        Mean share, 0 in a document without a known word, and the 95 % interval: Wilson's interval
        of a proportion, made narrower because shares vary less than zeros and ones. NaN without
        documents.
    """

    topic: int
    name: str
    period: str | None
    group: str | None
    n_documents: int
    share: float
    low: float
    high: float


def share_rows(
    totals: Totals, names: Sequence[str], *, by_period: bool, by_group: bool
) -> list[ShareRow]:
    """Shares by period, by group or by both, by topic."""
    totals = totals if by_period else totals.of_all()
    summed = tuple(axis for axis, kept in enumerate((by_period, by_group)) if not kept)
    n, sums, squares = (
        values.sum(axis=summed, keepdims=True) for values in (totals.n, totals.sums, totals.squares)
    )
    spread = spread_of(*(each.reshape(n.size, *each.shape[2:]) for each in (n, sums, squares)))
    shares = sums / np.where(n > 0, n, np.nan)[..., None]
    low, high = interval_of(n[..., None], shares, spread_each(n, sums, squares, spread))
    periods = [period.label for period in totals.periods] if by_period else [None]
    groups = totals.groups if by_group else (None,)
    return [
        ShareRow(
            k, name, period, group, round(float(n[t, g])),
            float(shares[t, g, k]), float(low[t, g, k]), float(high[t, g, k]),
        )
        for k, name in enumerate(names)
        for t, period in enumerate(periods)
        for g, group in enumerate(groups)
    ]  # fmt: skip
