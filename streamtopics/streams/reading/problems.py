# SPDX-License-Identifier: BSD-3-Clause
"""Errors of reading, which name the place and the remedy, and counts of what was skipped."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

SHOWN = 60
# What fields are mostly called, by the argument that asks for them.
USUAL = {
    "text_key": ("text", "body", "content", "message", "review", "comment", "description", "title"),
    "time_key": ("date", "time", "day", "year", "month", "timestamp", "created"),
}


class ReadingError(ValueError):
    """A file or a record that cannot be read as it was asked for.

    Parameters
    ----------
    reason : str
        In a few words, the same for all records of a kind; `Skipped` counts by it.
    place : str
        The file and the line.
    problem : str
        What is wrong there, in a sentence.
    setting : str, default=""
        Name of the argument of `read_records` that may help; none by default.
    value : object, default=None
        An example of a value of `setting`.
    """

    def __init__(
        self, reason: str, place: str, problem: str, setting: str = "", value: Any = None
    ) -> None:
        super().__init__(reason, place, problem, setting, value)
        self.reason = reason
        self.place = place
        self.problem = problem
        self.setting = setting
        self.value = value

    def __str__(self) -> str:
        return self._with_remedy(f"{self.setting}={self.value!r}")

    def for_command_line(self) -> str:
        """Return the message with the option of a command, such as ``--encoding latin-1``."""
        return self._with_remedy(f"--{self.setting.replace('_', '-')} {self.value}")

    def _with_remedy(self, remedy: str) -> str:
        told = f"{self.place}: {self.problem}"
        return f"{told}; pass {remedy}, for example" if self.setting else told


class Skipped:
    """Counts what readers left out, and why.

    Attributes
    ----------
    counts : dict of str to int
        How often, by reason, in the order in which they came first.
    first : dict of str to str
        The first place of each reason: a file, or a file and a line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics.datasets import Skipped, read_texts
    >>> path = Path(tempfile.mkdtemp(), "a.jsonl")
    >>> _ = path.write_text('{"text": "one"}\\n{"body": "two"}\\n')
    >>> skipped = Skipped()
    >>> list(read_texts(path, on_bad="skip", skipped=skipped))
    ['one']
    >>> skipped.counts
    {'no text': 1}
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, str] = {}

    @property
    def total(self) -> int:
        """Number of records, lines and files that were left out."""
        return sum(self.counts.values())

    def add(self, reason: str, place: str, n: int = 1) -> None:
        """Count `n` more, if any."""
        if n > 0:
            self.counts[reason] = self.counts.get(reason, 0) + n
            self.first.setdefault(reason, place)

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was skipped"
        said = (f"{n} {reason} (first: {self.first[reason]})" for reason, n in self.counts.items())
        return f"skipped {self.total}: " + ", ".join(said)


class Origin(NamedTuple):
    """The name of the file that records come from, and the unit that they are counted in."""

    name: str
    unit: str = "line"

    def place(self, number: int) -> str:
        """Name a record, for messages."""
        return f"{self.name}, {self.unit} {number}" if self.name else f"item {number} of source"


class How(NamedTuple):
    """Settings of a reader: fields, limits, and what is done about bad records."""

    text_key: str
    time_key: str | None
    keys: tuple[str, ...]
    format: str | None
    encoding: str
    max_line: int
    skip_bad: bool
    skipped: Skipped

    @property
    def names(self) -> list[str]:
        """The fields that are read, each once."""
        times = () if self.time_key is None else (self.time_key,)
        return list(dict.fromkeys((self.text_key, *times, *self.keys)))

    def bad(self, error: ReadingError) -> None:
        """Raise the error, or count it, as was asked for."""
        if not self.skip_bad:
            raise error
        self.skipped.add(error.reason, error.place)


def likely(name: str, names: Sequence[Any], setting: str) -> tuple[str, Any]:
    """Return a setting with the name that was meant, or "" and None where there is none.

    A close name, else a usual one; else the first one, if a text is looked for.
    """
    lower = {str(other).lower(): other for other in reversed(names)}
    near = get_close_matches(str(name).lower(), lower, n=1)
    usual = [n for part in USUAL.get(setting, ()) for n in lower if n.startswith(part)]
    usual += [n for part in USUAL.get(setting, ()) for n in lower if n.endswith(part)]
    first = list(names[:1]) if setting == "text_key" else []
    meant = [*(lower[found] for found in (*near, *usual)), *first]
    return (setting, meant[0]) if setting and meant else ("", None)


def twice(name: str, origin: Origin) -> ReadingError:
    """Return the error for a table with several columns of one name."""
    return ReadingError(
        "no column", origin.name,
        f"there is more than one column {name!r}, so which is meant is not known; give each "
        "another name, or leave out all but one",
    )  # fmt: skip


def shown(value: Any) -> str:
    """Return a short form of a value, for messages."""
    text = repr(value[: SHOWN + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
