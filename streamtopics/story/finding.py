# SPDX-License-Identifier: BSD-3-Clause
"""A finding, and its sentence."""

from __future__ import annotations

from html import escape
from re import sub
from typing import NamedTuple


class Finding(NamedTuple):
    """A change or a difference; `str` makes a sentence.

    Attributes
    ----------
    kind : {"grown", "fallen", "new", "gone", "changed", "more", "less"}
        What happened; "changed" is about a topic's words. "more" and "less" compare a group with
        others.
    topic : int or None
        Row of the topic in the model; None for words of several topics.
    word : str or None
        Word of the share; None if the share is the topic's.
    words, came, left : tuple of str
        Words of the topic, words that became more frequent, and words that became less frequent.
    when : str
        The stretch of time, for example "in October 2025"; empty for a group.
    periods : tuple of (int, int)
        First and last period of the stretch; (-1, -1) for a group.
    group : str or None
    share : float
        Share of the documents in the stretch or group.
    interval : tuple of (float, float)
        95 % interval of the share.
    share_before : float
        Share of all other documents; for a group, of other documents of the same periods. For a
        word of a group: the usual share in the periods of the group, times the ratio of the
        documents with the word to the usual number, both in all other groups.
    n_documents, n_all : int
        Documents of the stretch or group with the word or main topic, and all its documents.
    surprise, p : float
        Distance from the usual in standard deviations, and the probability by chance.
    documents : tuple of int
        Places of typical documents in the sample, the most typical first.
    quote : str
        The beginning of the first of these documents.
    """

    kind: str
    topic: int | None
    word: str | None
    words: tuple[str, ...]
    came: tuple[str, ...]
    left: tuple[str, ...]
    when: str
    periods: tuple[int, int]
    group: str | None
    share: float
    interval: tuple[float, float]
    share_before: float
    n_documents: int
    n_all: int
    surprise: float
    p: float
    documents: tuple[int, ...] = ()
    quote: str = ""

    @property
    def n_moved(self) -> float:
        """Number of documents above, or below, the expectation by the share elsewhere."""
        return abs(self.share - self.share_before) * self.n_all

    def __str__(self) -> str:
        return sentence(self)


class Findings(tuple[Finding, ...]):
    """Findings in order; `print` shows one finding a line, and notebooks a list."""

    def __str__(self) -> str:
        lines = [f"{i}. {finding}" for i, finding in enumerate(self, start=1)]
        return "\n".join(lines) or "Nothing stands out."

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{_in_html(finding)}</li>" for finding in self)
        return f"<ol>{lines}</ol>" if lines else f"<p>{self}</p>"


def _in_html(finding: Finding) -> str:
    """The sentence, with emphasis on the words of its topic."""
    return sub(r"\*(.+?)\*", r"<em>\1</em>", escape(str(finding)), count=1)


def sentence(one: Finding) -> str:
    """A finding in one to three sentences."""
    topic, came, left = (", ".join(words) for words in (one.words, one.came, one.left))
    low, high = one.interval
    interval = f"95 % interval {low:.1%} to {high:.1%}"
    counted = f"{one.n_documents:,} of {one.n_all:,} documents"
    moved = {"grown": "rose", "fallen": "fell"}.get(one.kind, f"is {one.kind}")
    if one.word is not None:
        share = f"“{one.word}” is in {counted} ({one.share:.1%}; {interval})"
        other = f"otherwise in {one.share_before:.1%}"
    else:
        share = f"{one.share:.1%} on average ({interval}; the main topic of {counted})"
        other = f"otherwise {one.share_before:.1%}"
    if one.group is not None:
        subject = topic if one.word is None else came if one.kind == "more" else left
        text = f"{one.group} has {one.kind} of *{subject}*: {share}, {other}."
    elif one.kind == "changed":
        words = f"{came} came, {left} went"
        text = f"*{topic}* has changed its words {one.when}: {words}; {share}, {other}."
    else:
        subject = topic if one.word is None else came or left
        text = f"*{subject}* {moved} {one.when}: {share}, {other}."
    if one.word is None or one.kind == "less":
        text += f" More frequent: {came}." if came else ""
    if one.word is None or one.kind == "more":
        text += f" Less frequent: {left}." if left else ""
    return f"{text} For example: “{one.quote}”" if one.quote else text
