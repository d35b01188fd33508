# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of the documentation that are made from the package.

python doc/tables.py
"""

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import streamtopics
from streamtopics.estimators.presets import PLAIN, ROWS, Preset
from streamtopics.utils.records import is_record

METHODS = Path(__file__).parent / "user_guide" / "methods_table.inc"
COLUMNS = ("name", "method", "source", "update", "inference", "view", "prior of documents", "also")
PARTS = ("update", "inference", "view", "doc_topic_prior_update")
ROUNDS = ("n_rounds", "warm_rounds")


def main() -> None:
    """Write all tables."""
    METHODS.write_text(methods(), encoding="utf-8")


def methods() -> str:
    """Return the table of the methods of the literature, in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :class: methods", ""]
    for row in (COLUMNS, *map(cells, ROWS)):
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def cells(row: Preset) -> tuple[str, ...]:
    """Return the cells of a method's row."""
    has_class = hasattr(streamtopics, row.name)
    name = f":class:`~streamtopics.{row.name}`" if has_class else f"``{row.name}``"
    given = {"doc_topic_prior_update": "fixed_point"} | row.parameters
    parts = [f"``{shown(given[part])}``" for part in PARTS]
    rounds = {name: getattr(given["schedule"], name) for name in ROUNDS}
    also = [f"``{key}={value}``" for key, value in rounds.items() if value != getattr(PLAIN, key)]
    return name, row.title, row.source, *parts, ", ".join(also)


def shown(value: Any) -> str:
    """Return a record as one would write it: without what is the default."""
    if not is_record(value):
        return str(value)
    given, by_place = [], True
    for field in fields(value):
        own = getattr(value, field.name)
        by_place = by_place and field.default is MISSING
        if own != field.default:
            given.append(shown(own) if by_place else f"{field.name}={shown(own)}")
    return f"{type(value).__name__}({', '.join(given)})"


if __name__ == "__main__":
    main()
