# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a report: its documents, times and tracker, and how much of them is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from streamtopics.utils.checks import is_number, is_whole
from streamtopics.utils.times import Periods, ShareSums


class Whole(NamedTuple):
    """All documents, of which a report shows a sample: what is known of them.

    `holders` is how many have each word; `shares` are of those of each of `periods`.
    """

    n_documents: int
    holders: Any = None
    periods: Periods | None = None
    shares: ShareSums | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportSettings:
    """The parameters of `report` beside the first two, under their names and with its defaults.

    Raises
    ------
    TypeError, ValueError
        If a number, the title or the date is wrong; the message names it.

    Examples
    --------
    >>> from streamtopics.report import ReportSettings
    >>> ReportSettings(title="Weather", n_words=8).n_words
    8
    """

    feature_names: Any = None
    X: Any = None
    texts: Iterable[str] | None = None
    times: Any = None
    titles: Iterable[str] | None = None
    tracker: Any = None
    alarms: Any = None
    scores: Mapping[str, Any] | None = None
    labels: Sequence[Any] | None = None
    title: str | None = None
    date: str | None = None
    sampled_from: int | Whole | None = None
    intake: Mapping[str, str] | None = None
    n_words: int = 15
    n_documents: int = 5
    n_topics: int = 200
    relevance: float = 0.6

    def __post_init__(self) -> None:
        for name, least, most in (
            ("n_words", 1, 50),
            ("n_documents", 0, 50),
            ("n_topics", 1, 1000),
        ):
            value = getattr(self, name)
            if not (is_whole(value) and least <= int(value) <= most):
                raise ValueError(
                    f"{name} must be a whole number from {least} to {most}; got {value!r}"
                )
        whole = self.sampled_from
        is_one = isinstance(whole, Whole) or (is_whole(whole) and int(whole) >= 1)
        if whole is not None and not is_one:
            raise ValueError(
                f"sampled_from must be a number of documents, 1 or more, or None; got {whole!r:.60}"
            )
        share = self.relevance
        if not (is_number(share) and 0 <= float(share) <= 1):
            raise ValueError(f"relevance must be in [0, 1]; got {share!r}")
        for name in ("title", "date"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be a str or None; got {value!r:.60}")
