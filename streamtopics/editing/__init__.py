# SPDX-License-Identifier: BSD-3-Clause
"""Edits of a model's topics by people."""

from streamtopics.editing.journal import EditResult, apply_edits, edits_from_json, edits_to_json
from streamtopics.editing.records import Edit
from streamtopics.editing.topics import (
    EditError,
    exclude,
    hide,
    lock,
    merge,
    pull,
    rename,
    show,
    split,
    undo,
    unlock,
)

__all__ = [
    "Edit",
    "EditError",
    "EditResult",
    "apply_edits",
    "edits_from_json",
    "edits_to_json",
    "exclude",
    "hide",
    "lock",
    "merge",
    "pull",
    "rename",
    "show",
    "split",
    "undo",
    "unlock",
]
