# SPDX-License-Identifier: BSD-3-Clause
"""All documents of a report, which shows a sample of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamtopics.cli.reading import cut, records, texts_of
from streamtopics.cli.telling import complain
from streamtopics.datasets import Record, Skipped
from streamtopics.report.documents import whole_of
from streamtopics.report.settings import Whole
from streamtopics.utils.times import LEAST, Periods, periods_of

AT_ONCE = 2500


def periods_to_show(times: Any) -> Periods | None:
    """Return periods of times, or None where these cannot be read, and say so."""
    try:
        return periods_of(times, LEAST)
    except (TypeError, ValueError) as error:
        complain(f"note: the report has no times: {error}")
        return None


def read_whole(options: Namespace, model: Any, kept: list[Record] | None = None) -> Whole | None:
    """Read all documents again for a report, or take those that were kept.

    None if they cannot be read twice, as from standard input.
    """
    files = [Path(name) for name in options.files]
    if kept is None and not all(file.is_file() or file.is_dir() for file in files):
        return None

    def again() -> Iterable[Record]:
        return records(options, Skipped()) if kept is None else kept

    timed = bool(options.files and options.time_key)
    periods = periods_to_show([record.time for record in again()]) if timed else None
    return whole_of(model, (texts_of(batch) for batch in cut(again(), AT_ONCE)), periods)
