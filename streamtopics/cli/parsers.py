# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the command and their options; nothing heavy is imported for `--help`."""

from __future__ import annotations

import ast
import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple, TypeAlias

from streamtopics import __version__

FORMATS = ("lines", "documents", "jsonl", "json", "csv", "tsv", "parquet", "xlsx")
DESCRIPTION = """\
Find the topics of texts, keep them up to date, and apply them to other texts.

Without a verb it is `fit`; without anything, `fit` of the documentation strings
of the installed scientific Python packages.
"""
FILES = """\
Files: plain text with a document on each line, JSON lines (.jsonl) or an array
(.json) with a field "text", tables (.csv, .tsv, .parquet, .xlsx) with a column "text",
each of them perhaps compressed (.gz, .bz2, .xz, .zst), folders of such files with
the folders in them, or - for standard input.
"""
HELP = "\n`streamtopics VERB --help` tells the options of a verb.\n"


# The values of options


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
    """Return numbers with commas between them, by size and each once."""
    return tuple(sorted({positive(one) for one in text.split(",")}))


def setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a parameter, as in ``kappa=0.5``; words are texts."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name=value, such as kappa=0.5")
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return name, ast.literal_eval(value)
    return name, value


# Options: name, how its value is read (choices, or None of a flag), default, metavar and help


Option: TypeAlias = tuple[str, Any, Any, str, str]
NO_PROGRESS: Option = ("--quiet", None, False, "", "no progress on standard error")
TRUST: Option = (
    "--trust",
    names,
    [],
    "NAME,...",
    "what a model may name that is not of streamtopics",
)
WORDS = ("--words", positive, 10, "N", "words to show of a topic (10)")
TITLE: Option = ("--title", str, None, "TEXT", "of the report")
REPORT: tuple[Option, ...] = (
    ("--report", Path, None, "FILE", "write a report, as .html"), TITLE,
)  # fmt: skip
RELEVANCE = (
    "--relevance", share, 0.6, "X",
    "1 shows words by probability; less, those that other topics lack (0.6)",
)  # fmt: skip
READING = (
    ("--format", FORMATS, None, "", "of the files; documents is a plain text each (by name)"),
    ("--sep", str, None, "C", "between the fields of a table (a comma, semicolon, tab or bar)"),
    ("--text-key", str, "text", "KEY", 'field or column of texts; a.b is b in a ("text")'),
    ("--time-key", str, None, "KEY", "field or column of times: dates, years, seconds"),
    ("--time-format", str, None, "F", "of dates, such as %%d.%%m.%%Y (2003-05-17)"),
    ("--encoding", str, "utf-8", "NAME", "of the files, such as latin-1 (utf-8)"),
    ("--skip-bad", None, False, "", "leave out and count what cannot be read"),
)  # fmt: skip
ID = ("--id-key", str, None, "KEY", "field or column that comes out as id")
KEEP: Option = (
    "--keep", names, [], "KEY,...", "fields or columns that come out again beside the topics",
)  # fmt: skip
LABELS: tuple[Option, ...] = (
    ID, ("--group-key", str, None, "KEY", "field or column of groups to compare"),
)  # fmt: skip
MODEL: tuple[Option, ...] = (
    ("--topics", numbers, (), "N",
     "number of topics (20); for `fit` several, as 10,20,50, of which it takes the best"),
    ("--estimator", str, "", "NAME", "such as GibbsOnlineEM (StreamingLDA)"),
    ("--set", setting, [], "NAME=VALUE",
     "a parameter of the estimator, such as kappa=0.5; as often as you like"),
    ("--seeds", Path, None, "FILE",
     'topics with names: {"name": ["word", ...], ...}; a stream keeps its first vocabulary'),
    ("--max-words", positive, 20_000, "N", "vocabulary (20000)"),
    ("--min-documents", positive, 5, "N", "of a word (5)"),
    ("--max-share", share, 1.0, "X", "of the documents, in which a word may be (1, no limit)"),
    ("--shortest", positive, None, "N",
     "letters of a word; words are runs of letters (3; with --tokenizer 2)"),
    ("--stop-words", str, "english", "FILE|LANGUAGE|none",
     "words to leave out: one on each line of a file, or those of a language (english)"),
    ("--tokenizer", str, None, "NAME", "module:function that cuts texts, such as jieba:lcut"),
    ("--phrases", None, False, "", "count two words that belong together as one, as credit card"),
)  # fmt: skip
FIT = (
    *MODEL,
    ("--max-iter", positive, None, "N", "passes over the documents"),
    ("--batch-size", positive, None, "N", "documents (of the estimator; 2500)"),
    ("--vocabulary-from", positive, 100_000, "N",
     "documents that are learnt together; more of them stream (100000)"),
    ("--model", Path, None, "FILE", "write what was learnt, for the other verbs"),
    *REPORT,
    ("--topics-out", Path, None, "FILE", "write the topics, as .csv, .json or .jsonl"),
    ("--documents-out", Path, None, "FILE",
     "write the topics of each document, as .csv or .jsonl"),
    *LABELS, KEEP, WORDS, RELEVANCE, NO_PROGRESS, *READING,
)  # fmt: skip
UPDATE = (
    ("--model", Path, None, "FILE", "write it here, in place of the same file"),
    *LABELS, NO_PROGRESS, *READING,
)  # fmt: skip
APPLY = (
    ("--output", Path, None, "FILE", "as .jsonl or .csv (JSON lines on standard output)"),
    ("--leading", positive, 3, "N", "topics of a document (3)"),
    RELEVANCE, ID, KEEP, *READING,
)  # fmt: skip
SHOW = (("--json", None, False, "", "as JSON"), WORDS, RELEVANCE)
WATCH = (
    ("--model", Path, ..., "MODEL", "write it here; it has checkpoints beside it"),
    ("--every", positive, 10, "N", "minibatches to a checkpoint, a model and a report (10)"),
    *REPORT,
    ("--batch-size", positive, 1000, "N", "documents (1000)"),
    ("--idle", partial(share, most=1e9), None, "S",
     "seconds without anything new after which it ends (never)"),
    *MODEL, *LABELS, *READING,
)  # fmt: skip
EDIT = (("--model", Path, None, "FILE", "write it here, in place of the same file"),)
SUMMARIZE = (("--sentences", positive, 5, "N", "to pick (5)"), *READING)
PAGE = (("--output", Path, ..., "PAGE", "as .html"), TITLE, *LABELS, *READING)


# Verbs


class Verb(NamedTuple):
    """A verb: its module, what it takes beside options, what it does, an example, and options."""

    module: str
    usage: str  # with MODEL, a file of `fit --model`, and FILE, FILE ... or [FILE ...]
    about: str
    example: str
    options: tuple[Option, ...]


VERBS = {
    "fit": Verb(
        "fit", "[FILE ...]",
        "Find the topics of files. It shows their words and a few documents of each. Up to "
        "--vocabulary-from documents are learnt together; more stream through once, with a "
        "vocabulary that follows them. Every tenth of the first documents is held out, to tell "
        "how well the topics predict.",
        "fit news.jsonl.gz --topics 30 --model news.model --report news.html", FIT,
    ),
    "update": Verb(
        "apply", "MODEL FILE ...",
        "Let a model learn from new files. It tells how well it predicted them before, and which "
        "topics have changed most.",
        "update news.model today.jsonl", UPDATE,
    ),
    "apply": Verb(
        "apply", "MODEL FILE ...",
        "Write the leading topics of each document, a line for each. A short text often has nearly "
        "all of its share in one topic, which is no measure of certainty.",
        "apply news.model today.csv --text-key body --id-key id --output topics.csv", APPLY,
    ),
    "show": Verb(
        "apply", "MODEL", "Show the topics of a model, its parameters, and what it has seen.",
        "show news.model --words 20", SHOW,
    ),
    "watch": Verb(
        "watch", "FILE --model MODEL",
        "Follow a file that grows, or standard input, in minibatches. Each is scored before it is "
        "learnt, tested for a change of the stream, and told of in a line. The model is kept in "
        "checkpoints, from which the command goes on. It ends with standard input, or by Ctrl-C.",
        "watch - --model app.model --report app.html", WATCH,
    ),
    "summarize": Verb(
        "apply", "FILE ...",
        "Pick sentences that are central and differ. Each comes with the number of documents that "
        "it stands for.",
        "summarize reviews.csv --text-key review --sentences 8", SUMMARIZE,
    ),
    "score": Verb(
        "apply", "MODEL FILE ...",
        "Tell how well a model predicts texts. A fifth of the words of each document is held out, "
        "and predicted from the others.",
        "score news.model next-week.jsonl", READING,
    ),
    "edit": Verb(
        "apply", "MODEL EDITS",
        "Merge, split, name, hide and lock topics, or move their words, as a file of edits says. "
        "It is written by a report, or by `streamtopics.editing.edits_to_json`.",
        "edit news.model edits.json", EDIT,
    ),
    "report": Verb(
        "fit", "MODEL [FILE ...] --output PAGE",
        "Write a page for a browser of a saved model, with documents of the files.",
        "report news.model news.jsonl.gz --output news.html", PAGE,
    ),
}  # fmt: skip


def parser() -> ArgumentParser:
    """Return the options of the command line."""
    how: Any = {"formatter_class": RawDescriptionHelpFormatter}
    result = ArgumentParser("streamtopics", description=DESCRIPTION, epilog=FILES + HELP, **how)
    result.color = False  # type: ignore[attr-defined,unused-ignore]
    result.add_argument("--version", action="version", version=f"streamtopics {__version__}")
    verbs = result.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in VERBS.items():
        one = verbs.add_parser(
            name,
            help=verb.about.partition(".")[0],
            usage=f"%(prog)s {verb.usage} [OPTION ...]",
            description=fill(verb.about, 80),
            epilog=f"{FILES}\nExample: streamtopics {verb.example}\n",
            **how,
        )
        one.color = False  # type: ignore[attr-defined,unused-ignore]
        if verb.usage.startswith("MODEL"):
            one.add_argument("model_file", type=Path, metavar="MODEL", help="of `fit --model`")
        if "EDITS" in verb.usage:
            one.add_argument("edits", type=Path, metavar="EDITS", help="as JSON; see below")
        if "FILE ..." in verb.usage:
            nargs = "*" if "[FILE" in verb.usage else "+"
            one.add_argument("files", nargs=nargs, metavar="FILE", help="documents; see below")
        elif "FILE" in verb.usage:
            one.add_argument("file", metavar="FILE", help="lines of text or JSON, or -")
        for option in (*verb.options, TRUST) if "MODEL" in verb.usage else verb.options:
            _add(one, option)
        one.set_defaults(files=None, max_iter=None, id_key=None, group_key=None, keep=[])
    return result


def _add(one: ArgumentParser, option: Option) -> None:
    name, kind, default, metavar, about = option
    how: dict[str, Any] = {"type": kind, "metavar": metavar, "default": default}
    if kind is None:
        how = {"action": "store_true"}
    elif isinstance(kind, tuple):
        how = {"choices": kind}
    elif kind is setting:
        how |= {"action": "append"}
    elif default is ...:
        how |= {"default": None, "required": True}
    one.add_argument(name, help=about, **how)
