# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the command and their options; nothing heavy is imported for `--help`."""

from __future__ import annotations

import ast
import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from streamtopics import __version__

FORMATS = ("lines", "documents", "jsonl", "json", "csv", "tsv", "parquet")
DESCRIPTION = """\
Find the topics of texts, keep them up to date, and apply them to other texts.

Without a verb it is `fit`; without anything, `fit` of the documentation strings
of the installed scientific Python packages.
"""
FILES = """\
Files: plain text with a document on each line, JSON lines (.jsonl) or an array
(.json) with a field "text", tables (.csv, .tsv, .parquet) with a column "text",
each of them perhaps compressed (.gz, .bz2, .xz, .zst), folders of such files with
the folders in them, or - for standard input.
"""
SAY_MORE = "\n`streamtopics VERB --help` tells the options of a verb.\n"


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
amount = partial(_number, kind=float, least=1e-9)
share = partial(_number, kind=float, most=1)


def numbers(text: str) -> tuple[int, ...]:
    """Return numbers that have commas between them, by size and each once."""
    return tuple(sorted({positive(one) for one in text.split(",")}))


def names(text: str) -> list[str]:
    """Return names that have commas between them."""
    return text.split(",")


def setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a parameter, as in ``kappa=0.5``; words are texts."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name=value, such as kappa=0.5")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


# Options


class Option(NamedTuple):
    """An option: how its value is read, or its choices, or None of a flag; `...` if it must be."""

    name: str
    kind: Callable[[str], Any] | tuple[str, ...] | None
    default: Any
    metavar: str
    help: str


QUIET = Option("--quiet", None, False, "", "no progress on standard error")
TRUST = Option(
    "--trust", names, [], "NAME,...", "what a model may name that is not of streamtopics"
)
RELEVANCE = Option(
    "--relevance", share, 0.4, "X",
    "1 shows words by probability; less, those that other topics lack (0.4)",
)  # fmt: skip
READING = (
    Option("--format", FORMATS, None, "",
           "of the files; documents is a plain text each (by name; of - lines)"),
    Option("--sep", str, None, "C", "between the fields of a table (a comma; a tab in .tsv)"),
    Option("--text-key", str, "text", "KEY", 'field or column of texts; a.b is b in a ("text")'),
    Option("--time-key", str, None, "KEY", "field or column of times: dates, years, seconds"),
    Option("--time-format", str, None, "F", "of dates, such as %%d.%%m.%%Y (2003-05-17)"),
    Option("--encoding", str, "utf-8", "NAME", "of the files, such as latin-1 (utf-8)"),
    Option("--skip-bad", None, False, "", "leave out and count what cannot be read"),
)  # fmt: skip
COLUMNS = (
    Option("--id-key", str, None, "KEY", "field or column that comes out as id"),
    Option("--keep", names, [], "KEY,...",
           "fields or columns that come out again beside the topics"),
)  # fmt: skip
COUNTING = (
    Option("--max-words", positive, 20_000, "N", "vocabulary (20000)"),
    Option("--min-documents", positive, 5, "N", "of a word (5)"),
    Option("--max-share", share, 1.0, "X",
           "share of the documents beyond which a word is too common (1, no limit)"),
    Option("--shortest", positive, 3, "N",
           "letters of a word, at least; words are runs of letters (3)"),
    Option("--keep-stop-words", None, False, "", "keep English function words"),
)  # fmt: skip
MODEL = (
    Option("--topics", numbers, (), "N",
           "number of topics (20); for `fit` several, as 10,20,50, of which it takes the best"),
    Option("--estimator", str, "", "NAME", "such as GibbsOnlineEM (StreamingLDA)"),
    Option("--set", setting, [], "NAME=VALUE",
           "a parameter of the estimator, such as kappa=0.5; as often as you like"),
    Option("--seeds", Path, None, "FILE",
           'topics with names: {"name": ["word", ...], ...}; a stream keeps its first vocabulary'),
    Option("--jobs", int, -1, "N", "threads; -1 is all (-1)"),
    Option("--seed", int, 0, "N", "of the random start (0)"),
)  # fmt: skip
FIT = (
    Option("--max-iter", positive, None, "N", "passes over the documents"),
    Option("--words", positive, 10, "N", "words to show of a topic (10)"),
    RELEVANCE,
    Option("--batch-size", positive, None, "N", "documents (of the estimator; 2500)"),
    Option("--vocabulary-from", positive, 100_000, "N",
           "documents that are learnt together; more of them stream (100000)"),
    Option("--model", Path, None, "FILE", "write what was learnt, for the other verbs"),
    Option("--report", Path, None, "FILE", "write a report, as .html, of a sample of documents"),
    Option("--topics-out", Path, None, "FILE", "write the topics, as .csv, .json or .jsonl"),
    Option("--documents-out", Path, None, "FILE",
           "write the topics of each document, as .csv or .jsonl"),
    *COLUMNS, QUIET,
)  # fmt: skip
UPDATE = (
    Option("--model", Path, None, "FILE", "write it here, in place of the same file"),
    Option("--batch-size", positive, 2500, "N", "documents (2500)"),
    Option("--words", positive, 6, "N", "words to show of each topic (6)"),
    QUIET,
)  # fmt: skip
APPLY = (
    Option("--output", Path, Path("-"), "FILE", "as .jsonl or .csv (- is standard output)"),
    Option("--output-format", ("jsonl", "csv"), None, "",
           "(by the name of the output, or jsonl)"),
    Option("--leading", positive, 3, "N", "topics of a document (3)"),
    Option("--words", positive, 4, "N", "words that name a topic (4)"),
    RELEVANCE, *COLUMNS,
    Option("--batch-size", positive, 1000, "N", "documents at once (1000)"),
)  # fmt: skip
SHOW = (
    Option("--topic", _number, None, "K", "one topic, with more words"),
    Option("--json", None, False, "", "as JSON"),
    Option("--words", positive, 10, "N", "words to show of a topic (10)"),
    RELEVANCE,
)  # fmt: skip
WATCH = (
    Option("--model", Path, ..., "MODEL", "write it here; it has checkpoints beside it"),
    Option("--every", positive, 10, "N", "minibatches to a checkpoint, a model and a report (10)"),
    Option("--report", Path, None, "FILE", "write a report, as .html, along the way"),
    Option("--batch-size", positive, 1000, "N", "documents (1000)"),
    Option("--seconds", amount, 60.0, "S", "after which a smaller minibatch will do (60)"),
    Option("--poll", amount, 1.0, "S", "between two looks (1)"),
    Option("--idle", amount, None, "S", "end when a file has nothing new for so long (never)"),
    Option("--alarm", partial(share, most=0.5), 0.01, "P",
           "false alarms per minibatch; 0 for no alarms (0.01)"),
)  # fmt: skip
SENTENCES = (Option("--sentences", positive, 5, "N", "to pick (5)"),)
PAGE = (Option("--output", Path, ..., "PAGE", "as .html"),)


# Verbs


class Verb(NamedTuple):
    """A verb: its module, its usage (argparse would list all options), what it does, and options.

    The usage has MODEL, a file of `fit --model`, and FILE, FILE ... or [FILE ...].
    """

    module: str
    usage: str
    about: str
    example: str
    options: tuple[Option, ...]


VERBS = {
    "fit": Verb(
        "fit", "[FILE ...]",
        "Find the topics of files. It shows their words and a few documents of each. Up to "
        "--vocabulary-from documents are learnt together, as often as is good for that many; more "
        "stream through once, with a vocabulary that follows them. Every tenth of the first "
        "documents is held out, to tell how well the topics predict.",
        "fit news.jsonl.gz --topics 30 --model news.model --report news.html",
        (*MODEL, *FIT, *READING, *COUNTING),
    ),
    "update": Verb(
        "apply", "MODEL FILE ...",
        "Let a model learn from new files. It tells how well it predicted them before, and which "
        "topics have changed most.",
        "update news.model today.jsonl", (*UPDATE, *READING),
    ),
    "apply": Verb(
        "apply", "MODEL FILE ...",
        "Write the leading topics of each document, a line for each. A short text often has nearly "
        "all of its share in one topic, which is no measure of certainty. A text without a known "
        "word has the shares of a document that nothing is known of.",
        "apply news.model today.csv --text-key body --id-key id --output topics.csv",
        (*APPLY, *READING),
    ),
    "show": Verb(
        "apply", "MODEL", "Show the topics of a model, its parameters, and what it has seen.",
        "show news.model --topic 3", SHOW,
    ),
    "watch": Verb(
        "watch", "FILE --model MODEL",
        "Follow a file that grows, or standard input, in minibatches. Each is scored before it is "
        "learnt, tested for a change of the stream, and told of in a line. The model is kept in "
        "checkpoints, from which the command goes on. It ends with standard input, or by Ctrl-C.",
        "watch - --model app.model --report app.html", (*WATCH, *MODEL, *READING, *COUNTING),
    ),
    "summarize": Verb(
        "apply", "FILE ...",
        "Pick sentences that are central and differ. Each comes with the number of documents that "
        "it stands for.",
        "summarize reviews.csv --text-key review --sentences 8", (*SENTENCES, *READING),
    ),
    "score": Verb(
        "apply", "MODEL FILE ...",
        "Tell how well a model predicts texts. A fifth of the words of each document is held out, "
        "and predicted from the others.",
        "score news.model next-week.jsonl", READING,
    ),
    "report": Verb(
        "fit", "MODEL [FILE ...] --output PAGE",
        "Write a page for a browser of a saved model, with documents of the files. It is that of "
        "`fit --report`; with --time-key it says when they are from.",
        "report news.model news.jsonl.gz --output news.html", (*PAGE, *READING),
    ),
}  # fmt: skip


def parser() -> ArgumentParser:
    """Return the options of the command line."""
    how: Any = {"formatter_class": RawDescriptionHelpFormatter}
    result = ArgumentParser("streamtopics", description=DESCRIPTION, epilog=FILES + SAY_MORE, **how)
    result.color = False  # type: ignore[attr-defined,unused-ignore]
    result.add_argument("--version", action="version", version=f"streamtopics {__version__}")
    verbs = result.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in VERBS.items():
        files = f"{FILES}\n" if "FILE" in verb.usage else ""
        one = verbs.add_parser(
            name,
            help=verb.about.partition(".")[0],
            usage=f"%(prog)s {verb.usage} [OPTION ...]",
            description=fill(verb.about, 80),
            epilog=f"{files}Example: streamtopics {verb.example}\n",
            **how,
        )
        one.color = False  # type: ignore[attr-defined,unused-ignore]
        if verb.usage.startswith("MODEL"):
            one.add_argument("model_file", type=Path, metavar="MODEL", help="of `fit --model`")
        if "FILE ..." in verb.usage:
            nargs = "*" if "[FILE" in verb.usage else "+"
            one.add_argument("files", nargs=nargs, metavar="FILE", help="documents; see below")
        elif "FILE" in verb.usage:
            one.add_argument("file", metavar="FILE", help="lines of text or JSON, or -")
        options = (*verb.options, TRUST) if "MODEL" in verb.usage else verb.options
        for option in options:
            _add(one, option)
    return result


def _add(one: ArgumentParser, option: Option) -> None:
    if option.kind is None:
        one.add_argument(option.name, action="store_true", help=option.help)
    elif isinstance(option.kind, tuple):
        one.add_argument(option.name, choices=option.kind, help=option.help)
    else:
        must = option.default is ...
        how: dict[str, Any] = {"type": option.kind, "metavar": option.metavar, "required": must}
        if option.kind is setting:
            how |= {"action": "append", "dest": "settings"}
        default = None if must else option.default
        one.add_argument(option.name, default=default, help=option.help, **how)
