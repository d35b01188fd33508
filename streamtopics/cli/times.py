# SPDX-License-Identifier: BSD-3-Clause
"""The times of documents, as a report can show them."""

from __future__ import annotations

from typing import Any

from streamtopics.cli.telling import complain
from streamtopics.periods import periods_of


def times_to_show(times: list[Any], tell: bool = True) -> list[Any] | None:
    """Return the times, or None where they are neither dates nor numbers, and say so."""
    try:
        periods_of(times)
    except (TypeError, ValueError) as error:
        if tell:
            complain(f"note: the report has no times: {error}")
        return None
    return times
