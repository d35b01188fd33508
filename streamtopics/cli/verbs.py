# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the command and their options, without heavy imports."""

from __future__ import annotations

import ast
import codecs
import math
from argparse import ArgumentTypeError
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

FORMATS = ("lines", "documents", "jsonl", "json", "csv", "tsv", "parquet", "xlsx")
DESCRIPTION = """\
Find the topics of texts, keep them up to date, and apply them to other texts.

Without a verb it is `fit`; without anything, `fit` of the documentation strings
of the installed scientific Python packages.
"""
FILES = """\
Files: plain text with a document on each line, JSON lines (.jsonl) or an array
(.json) with a field "text", tables (.csv, .tsv, .parquet, .xlsx) with a column "text",
all but .parquet and .xlsx perhaps compressed (.gz, .bz2, .xz, .zst), folders of such
files with the folders in them, or - for standard input.
"""


def _number(text: str, kind: type = int, least: float = 0, most: float = 2**31 - 1) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        what = "whole number" if kind is int else "number"
        raise ArgumentTypeError(f"{text!r} is not a {what} from {least:g} to {most:,}")
    return value


positive = partial(_number, least=1)
share = partial(_number, kind=float, most=1)
names = partial(str.split, sep=",")


def numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted({positive(one) for one in text.split(",")}))


def setting(text: str) -> tuple[str, Any]:
    """Name and value of a parameter, as in ``kappa=0.5``."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not name=value, such as kappa=0.5")
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return name, ast.literal_eval(value)
    return name, value


def encoding(text: str) -> str:
    try:
        codecs.lookup(text)
    except LookupError as error:
        raise ArgumentTypeError(f"{text!r} is not an encoding, such as utf-8 or cp1252") from error
    return text


def character(text: str) -> str:
    if len(text) != 1:
        raise ArgumentTypeError(f"{text!r} is not one character, such as ';'")
    return text


# Name, reader of the value (choices, or None for a flag), default (... if required), metavar, help.
Option: TypeAlias = tuple[str, Any, Any, str, str]
FROM: Option = ("model_file", Path, None, "MODEL", "of `fit --model`")
SOME: Option = ("files", str, "+", "FILE", "documents; see below")
ANY: Option = ("files", str, "*", "FILE", "documents; see below")
QUIET: Option = ("--quiet", None, False, "", "no progress on standard error")
TRUST: Option = ("--trust", names, [], "NAME,...", "what a model may name of other packages")
WORDS: Option = ("--words", positive, 10, "N", "words to show of a topic (10)")
TITLE: Option = ("--title", str, None, "TEXT", "of the report")
REPORT: Option = ("--report", Path, None, "FILE", "write a report, as .html")
RELEVANCE: Option = ("--relevance", share, 0.6, "X", "1 orders words by probability alone (0.6)")
READING: tuple[Option, ...] = (
    ("--format", FORMATS, None, "", "of the files; documents is a plain text each (by name)"),
    ("--sep", character, None, "C", "between the fields of a table (a comma, semicolon, tab, bar)"),
    ("--text-key", str, "text", "KEY", 'field or column of texts; a.b is b in a ("text")'),
    ("--time-key", str, None, "KEY", "field or column of times: dates, years, seconds"),
    ("--time-format", str, None, "F", "of dates, such as %%d.%%m.%%Y (2003-05-17)"),
    ("--encoding", encoding, None, "NAME", "of the files, such as latin-1 (utf-8)"),
    ("--skip-bad", None, False, "", "leave out and count what cannot be read"),
)
ID: Option = ("--id-key", str, None, "KEY", "field or column that comes out as id")
KEEP: Option = ("--keep", names, [], "KEY,...", "fields or columns that come out beside the topics")
LABELS = (ID, ("--group-key", str, None, "KEY", "field or column of groups to compare"))
TARGET: Option = ("--model", Path, None, "FILE", "write it here, in place of the same file")
MODEL: tuple[Option, ...] = (
    ("--topics", numbers, (), "N", "their number (20); of several, as 10,20, `fit` chooses one"),
    ("--estimator", str, "", "NAME", "such as GibbsOnlineEM (StreamingLDA)"),
    ("--set", setting, [], "NAME=VALUE", "of the estimator, as kappa=0.5, as often as you like"),
    ("--seeds", Path, None, "FILE", 'topics with names: {"name": ["word", ...], ...}'),
    ("--max-words", positive, 20_000, "N", "vocabulary (20000)"),
    ("--min-documents", positive, 5, "N", "of a word (5)"),
    ("--max-share", share, 1.0, "X", "of the documents, in which a word may be (1, no limit)"),
    ("--shortest", positive, None, "N", "letters of a word (3; with --tokenizer 2)"),
    ("--stop-words", str, "english", "FILE|LANGUAGE|none", "words to leave out (english)"),
    ("--tokenizer", str, None, "NAME", "module:function that cuts texts, such as jieba:lcut"),
    ("--phrases", None, False, "", "count two words that belong together as one, as credit card"),
)  # fmt: skip
FIT = (
    ANY, *MODEL,
    ("--max-iter", positive, None, "N", "passes over the documents"),
    ("--batch-size", positive, None, "N", "documents; by default as the estimator, or 2500"),
    ("--vocabulary-from", positive, 100_000, "N", "documents that are learnt together (100000)"),
    ("--model", Path, None, "FILE", "write what was learnt, for the other verbs"),
    REPORT, TITLE,
    ("--topics-out", Path, None, "FILE", "write the topics, as .csv, .json or .jsonl"),
    ("--documents-out", Path, None, "FILE", "write topics of documents, as .csv or .jsonl"),
    *LABELS, KEEP, WORDS, RELEVANCE, QUIET, *READING,
)  # fmt: skip
APPLY = (
    FROM, SOME,
    ("--output", Path, None, "FILE", "as .jsonl or .csv (JSON lines on standard output)"),
    ("--leading", positive, 3, "N", "topics of a document (3)"),
    RELEVANCE, ID, KEEP, TRUST, *READING,
)  # fmt: skip
WATCH = (
    ("file", str, None, "FILE", "lines of text or JSON, or -"),
    ("--model", Path, ..., "MODEL", "write it here; it has checkpoints beside it"),
    ("--every", positive, 10, "N", "minibatches to a checkpoint, a model and a report (10)"),
    REPORT, TITLE,
    ("--batch-size", positive, 1000, "N", "documents (1000)"),
    ("--idle", partial(share, most=1e9), None, "S", "end after so many seconds without news"),
    *MODEL, *LABELS, TRUST, *READING,
)  # fmt: skip


class Verb(NamedTuple):
    module: str
    usage: str
    about: str
    options: tuple[Option, ...]


VERBS = {
    "fit": Verb(
        "fit", "[FILE ...]",
        "Find the topics of files. More than --vocabulary-from documents stream through once. "
        "Every tenth of the first documents is held out, to tell how well the topics predict.",
        FIT,
    ),
    "update": Verb(
        "apply", "MODEL FILE ...",
        "Let a model learn from new files. It tells how well it predicted them before, and which "
        "topics have changed most.",
        (FROM, SOME, TARGET, *LABELS, QUIET, TRUST, *READING),
    ),
    "apply": Verb(
        "apply", "MODEL FILE ...",
        "Write the leading topics of each document, a line for each. A short text often has nearly "
        "all of its share in one topic, which is no measure of certainty.", APPLY,
    ),
    "show": Verb(
        "apply", "MODEL", "Show the topics of a model, its parameters, and what it has seen.",
        (FROM, ("--json", None, False, "", "as JSON"), WORDS, RELEVANCE, TRUST),
    ),
    "watch": Verb(
        "watch", "FILE --model MODEL",
        "Follow a file that grows, or standard input, in minibatches. Each is scored and tested "
        "for a change of the stream, and then learnt. The command goes on from its checkpoints.",
        WATCH,
    ),
    "summarize": Verb(
        "apply", "FILE ...",
        "Pick sentences that are central and differ; each document counts for the closest.",
        (SOME, ("--sentences", positive, 5, "N", "to pick (5)"), *READING),
    ),
    "score": Verb(
        "apply", "MODEL FILE ...", "Tell how well a model predicts a fifth of the words of texts.",
        (FROM, SOME, TRUST, *READING),
    ),
    "edit": Verb(
        "apply", "MODEL EDITS", "Merge, split, name, hide and lock topics, or move their words.",
        (FROM, ("edits", Path, None, "EDITS", "written by a report"), TARGET, TRUST),
    ),
    "report": Verb(
        "fit", "MODEL [FILE ...] --output PAGE",
        "Write a page for a browser of a saved model, with documents of the files.",
        (FROM, ANY, ("--output", Path, ..., "PAGE", "as .html"), TITLE, *LABELS, TRUST, *READING),
    ),
}  # fmt: skip
