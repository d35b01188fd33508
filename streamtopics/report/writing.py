# SPDX-License-Identifier: BSD-3-Clause
"""The HTML page of a report."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamtopics.report.data import Report

# Most bytes of a page, for any corpus.
MOST_BYTES = 2_000_000
SLOT = re.compile(r"\{\{(\w+)\}\}")


def page(data: Report) -> bytes:
    """Return a report as HTML. Documents are left out until at most 2,000,000 bytes remain."""
    content = _filled(data)
    while len(content) > MOST_BYTES:
        data, before = _less(data), len(content)
        content = _filled(data)
        if len(content) >= before:
            raise ValueError(
                f"without documents the page has {before:,} bytes, of at most {MOST_BYTES:,}; pass "
                f"n_topics={len(data.topics) // 2}"
            )
    return content


def _filled(data: Report) -> bytes:
    style, script = _resource("page.css"), _resource("page.js")
    slots = {
        "title": escape(data.title),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": _json(data),
    }
    # One pass, so filled-in text is not scanned again.
    filled = SLOT.sub(lambda slot: slots[slot.group(1)], _resource("page.html"))
    return filled.encode("utf-8", "replace")


def _resource(name: str) -> str:
    return files("streamtopics.report").joinpath(name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


def _json(data: object) -> str:
    """Data as text that can neither end the script element nor begin a comment."""
    text = json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars
    )
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _less(data: Report) -> Report:
    """The report without words for the search only, or with half of the documents."""

    def halves(ones: list[Any]) -> list[Any]:
        return [replace(one, documents=one.documents[: len(one.documents) // 2]) for one in ones]

    if data.more_words:
        return replace(data, more_words=[])
    return replace(
        data, topics=halves(data.topics), findings=halves(data.findings), alarms=halves(data.alarms)
    )
