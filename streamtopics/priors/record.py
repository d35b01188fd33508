# SPDX-License-Identifier: BSD-3-Clause
"""A short representation for records that hold many words."""

import reprlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import islice
from typing import Any

MOST_SHOWN = 6


class PriorRecord:
    """Base of the records: shows the fields that were set, long ones cut short."""

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.default is MISSING or getattr(self, field.name) is not field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    """A representation of few entries; those of a mapping in their order."""
    if not isinstance(value, Mapping):
        return reprlib.repr(value)
    shown = [f"{key!r}: {reprlib.repr(item)}" for key, item in islice(value.items(), MOST_SHOWN)]
    return "{" + ", ".join(shown + ["..."] * (len(value) > MOST_SHOWN)) + "}"
