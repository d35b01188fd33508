# SPDX-License-Identifier: BSD-3-Clause
"""The splitter of sentences in Python, in regular expressions and string methods."""

import re

from streamtopics.text.splitting import (
    CLOSING,
    ITEM_MARKS,
    ITEM_NUMBER,
    LINE_MARKS,
    MARKS,
    NEVER_FIRST,
    OPENING,
    WIDE_CLOSING,
    WIDE_ENDS,
    is_abbreviated,
)

DIGITS = "0123456789"
# Empty lines; the start of an item of a list.
CUTS = re.compile(rf"\n\s*\n|\n(?=[^\S\n]*[{re.escape(ITEM_MARKS)}][^\S\n])")
WIDE = re.compile(rf"[{WIDE_ENDS}]+[{re.escape(WIDE_CLOSING)}]*")


def split_sentences(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    has_capitals = text != text.lower()
    sentences = []
    for part in CUTS.split(WIDE.sub(r"\g<0>\n\n", lines)):
        sentences += _sentences_of_part(part.split(), has_capitals)
    return sentences


def _sentences_of_part(tokens: list[str], has_capitals: bool) -> list[str]:
    sentences, start = [], 0
    for n in range(1, len(tokens)):
        is_number = n - start == 1 and ITEM_NUMBER.fullmatch(tokens[start]) is not None
        if not is_number and _ends(tokens[n - 1], tokens[n], has_capitals):
            sentences.append(" ".join(tokens[start:n]))
            start = n
    return [*sentences, " ".join(tokens[start:])] if tokens else []


def _ends(token: str, following: str, has_capitals: bool) -> bool:
    """Whether a sentence ends between two tokens of a line."""
    body = token.rstrip(CLOSING)
    if body[-1:].isdigit() and token.endswith("]"):
        body = body.rstrip(DIGITS + "[]")  # without the mark of a note: "end.[1]"
    stem = body.rstrip(MARKS)
    marks = body[len(stem) :]
    head = following.lstrip(OPENING)
    if not marks or (not head and following.strip(LINE_MARKS)) or head[:1] in NEVER_FIRST:
        return False
    small = has_capitals and head[:1].islower()
    if marks != "." and not marks.strip(".\u2026"):
        return has_capitals and not small
    if marks != ".":
        return body == token or not small
    if small or (head[:1].isdigit() and following[0] in "(["):
        return False
    return not is_abbreviated(stem, head, has_capitals)
