# SPDX-License-Identifier: BSD-3-Clause
"""A short representation for records that hold many words."""

import reprlib
from dataclasses import MISSING, fields


class PriorRecord:
    """Base of the records: shows the fields that were set, long ones cut short."""

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={reprlib.repr(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.default is MISSING or getattr(self, field.name) is not field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"
