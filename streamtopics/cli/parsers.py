# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the command and their options; nothing heavy is imported for `--help`."""

from __future__ import annotations

import ast
import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path
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


class Verb(NamedTuple):
    """A verb: its module, one line on it, its usage, more on it, and an example."""

    module: str
    help: str
    usage: str  # argparse would list all options, also where one of them is wrong
    about: str
    example: str


VERBS = {
    "fit": Verb(
        "fit", "find the topics of files", "[FILE ...]",
        """\
Find the topics of files, and show their words and a few documents of each.

Up to --vocabulary-from documents are learnt together, as often as is good for that
many; more than that stream through once, with a vocabulary that follows them. Every
tenth of the first documents is held out, to tell how well the topics predict.
""",
        "fit news.jsonl.gz --topics 30 --model news.model --report news.html",
    ),
    "update": Verb(
        "apply", "let a model learn from new files", "MODEL FILE ...",
        """\
Let a model learn from new files, and tell how well it predicted them before, and
which topics have changed most. The file of the model is replaced as a whole, or not
at all.
""",
        "update news.model today.jsonl",
    ),
    "apply": Verb(
        "apply", "tell the topics of texts, a line for each", "MODEL FILE ...",
        """\
Write the leading topics of each document, a line for each, as the documents are read.

A short text often has nearly all of its share in one topic, which is no measure of
certainty. A text without a known word has the shares of a document that nothing is known of.
""",
        "apply news.model today.csv --text-key body --id-key id --output topics.csv",
    ),
    "show": Verb(
        "apply", "show what a model has learnt", "MODEL",
        "Show the topics of a model, its parameters, and what it has seen.\n",
        "show news.model --topic 3",
    ),
    "watch": Verb(
        "watch", "follow a file that grows, or standard input", "FILE --model MODEL",
        """\
Follow a file that grows, or standard input, in minibatches. Each is scored before it
is learnt, tested for a change of the stream, and told of in a line. The model is kept
in checkpoints, from which the command goes on where it stopped. It ends with standard
input, or by Ctrl-C.
""",
        "watch - --model app.model --report app.html",
    ),
    "summarize": Verb(
        "apply", "pick the sentences that stand for many documents", "FILE ...",
        """\
Pick sentences that are central and differ from each other, each with the number of
documents that it stands for.
""",
        "summarize reviews.csv --text-key review --sentences 8",
    ),
    "score": Verb(
        "apply", "tell how well a model predicts texts", "MODEL FILE ...",
        """\
Tell how well a model predicts texts that it has not learnt: a fifth of the words of
each document is held out, and predicted from the others.
""",
        "score news.model next-week.jsonl",
    ),
    "report": Verb(
        "fit", "write a page for a browser of a saved model", "MODEL [FILE ...] --output PAGE",
        """\
Write a page of the topics of a model, with documents of the files, as `fit --report`
does; with --time-key also when they are from. Of more than 5,000 documents it takes a
random sample, and says so; the shares over time are of all documents.
""",
        "report news.model news.jsonl.gz --output news.html",
    ),
}  # fmt: skip


def parser() -> ArgumentParser:
    """Return the options of the command line."""
    result = ArgumentParser(
        prog="streamtopics",
        description=DESCRIPTION,
        epilog=FILES + SAY_MORE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    result.color = False  # type: ignore[attr-defined,unused-ignore]
    result.add_argument("--version", action="version", version=f"streamtopics {__version__}")
    verbs = result.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in VERBS.items():
        one = verbs.add_parser(
            name,
            help=verb.help,
            usage=f"%(prog)s {verb.usage} [OPTION ...]",
            description=verb.about,
            epilog=("" if name == "show" else FILES + "\n")
            + f"Example: streamtopics {verb.example}\n",
            formatter_class=RawDescriptionHelpFormatter,
        )
        one.color = False  # type: ignore[attr-defined,unused-ignore]
        ADDERS[name](one)
    return result


# The values of options


def _number(text: str, kind: type = int, least: float = 0, most: float = 2**31 - 1) -> Any:
    """Return a number within limits; the least one too, if it is not 1 of whole numbers."""
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        what = "whole number" if kind is int else "number"
        raise ArgumentTypeError(f"{text!r} is not a {what} from {least:g} to {most:,}")
    return value


whole = _number
positive = partial(_number, least=1)
amount = partial(_number, kind=float, least=1e-9)
share = partial(_number, kind=float, most=1)


def numbers(text: str) -> tuple[int, ...]:
    """Return numbers that have commas between them, by size and each once."""
    return tuple(sorted({positive(one) for one in text.split(",")}))


def one_number(text: str) -> tuple[int, ...]:
    """Return one number, as `numbers` does."""
    return (positive(text),)


def encoding(text: str) -> str:
    """Return the name of an encoding that there is."""
    try:
        b"text".decode(text)
    except LookupError:
        raise ArgumentTypeError(f"{text!r} is no encoding that Python knows") from None
    except ValueError:
        pass  # as of UTF-16, of which this is none
    return text


def separator(text: str) -> str:
    r"""Return one character; a tab may be written as \t."""
    text = "\t" if text == "\\t" else text
    if len(text) != 1:
        raise ArgumentTypeError(f"{text!r} is not one character")
    return text


def setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a parameter, as in ``kappa=0.5``; words are texts."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name=value, such as kappa=0.5")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


# Options that several verbs have


def _add_reading(one: ArgumentParser) -> None:
    add = one.add_argument_group("reading").add_argument
    add("--format", choices=FORMATS,
        help="of the files; documents is a plain text each (by name; of - lines)")  # fmt: skip
    add("--sep", type=separator, metavar="C", help="between the fields of a table (, or a tab)")
    add("--text-key", default="text", metavar="KEY",
        help='field or column of texts; a.b is b within a ("text")')  # fmt: skip
    add("--time-key", metavar="KEY", help="field or column of times: dates, years, seconds")
    add("--time-format", metavar="F", help="of dates, such as %%d.%%m.%%Y (2003-05-17)")
    add("--encoding", type=encoding, default="utf-8", metavar="NAME",
        help="of the files, such as latin-1 (utf-8)")  # fmt: skip
    add("--skip-bad", action="store_true", help="leave out and count what cannot be read")


def _add_columns(one: ArgumentParser) -> None:
    add = one.add_argument
    add("--id-key", metavar="KEY", help="field or column that comes out as id")
    add("--keep", type=lambda text: text.split(","), default=[], metavar="KEY,...",
        help="fields or columns that come out again beside the topics")  # fmt: skip


def _add_counting(one: ArgumentParser) -> None:
    add = one.add_argument_group("words").add_argument
    add("--max-words", type=positive, default=20_000, metavar="N", help="vocabulary (20000)")
    add("--min-documents", type=positive, default=5, metavar="N", help="of a word (5)")
    add("--max-share", type=share, default=1.0, metavar="X",
        help="share of the documents beyond which a word is too common (1, no limit)")  # fmt: skip
    add("--shortest", type=positive, default=3, metavar="N",
        help="letters of a word, at least; words are runs of letters (3)")  # fmt: skip
    add("--keep-stop-words", action="store_true", help="keep English function words")


def _add_model(one: ArgumentParser, more: str = "", of_seeds: str = "") -> None:
    add = one.add_argument_group("model").add_argument
    add("--topics", type=numbers if more else one_number, metavar="N", default=(),
        help=f"number of topics (20){more}")  # fmt: skip
    add("--estimator", default="", metavar="NAME", help="such as GibbsOnlineEM (StreamingLDA)")
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator, such as kappa=0.5; as often as you like")  # fmt: skip
    add("--seeds", type=Path, metavar="FILE",
        help=f'topics with names: {{"name": ["word", ...], ...}}{of_seeds}')  # fmt: skip
    add("--jobs", type=int, default=-1, metavar="N", help="threads; -1 is all (-1)")
    add("--seed", type=int, default=0, metavar="N", help="of the random start (0)")


def _add_words(one: ArgumentParser, n: int = 10) -> None:
    add = one.add_argument
    add("--words", type=positive, default=n, metavar="N", help=f"words to show of a topic ({n})")
    add("--relevance", type=share, default=0.4, metavar="X",
        help="1 shows words by probability; less, those that other topics lack (0.4)")  # fmt: skip


def _add_files(one: ArgumentParser, model: bool = True, files: str = "+") -> None:
    if model:
        one.add_argument(
            "model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written"
        )
    if files:
        one.add_argument("files", nargs=files, metavar="FILE", help="documents; see below")


def _add_quiet(one: ArgumentParser) -> None:
    one.add_argument("--quiet", action="store_true", help="no progress on standard error")


# The options of each verb


def _fit(one: ArgumentParser) -> None:
    add = one.add_argument
    _add_files(one, model=False, files="*")
    _add_model(one, "; of several, as 10,20,50, the smallest that predicts as well as the best")
    add("--max-iter", type=positive, metavar="N", help="passes over the documents")
    _add_words(one)
    _add_reading(one)
    _add_counting(one)
    add("--batch-size", type=positive, metavar="N", help="documents (of the estimator; 2500)")
    add("--vocabulary-from", type=positive, default=100_000, metavar="N",
        help="documents that are learnt together; more of them stream (100000)")  # fmt: skip
    add("--model", type=Path, metavar="FILE", help="write what was learnt, for the other verbs")
    add("--report", type=Path, metavar="FILE",
        help="write a report, as .html, of a sample of the documents")  # fmt: skip
    add("--topics-out", type=Path, metavar="FILE", help="write topics, as .csv, .json or .jsonl")
    add("--documents-out", type=Path, metavar="FILE",
        help="write the topics of each document, as .csv or .jsonl")  # fmt: skip
    _add_columns(one)
    _add_quiet(one)


def _update(one: ArgumentParser) -> None:
    add = one.add_argument
    _add_files(one)
    add("--model", type=Path, metavar="FILE", help="write it here, in place of the same file")
    add("--batch-size", type=positive, default=2500, metavar="N", help="documents (2500)")
    add("--words", type=positive, default=6, metavar="N", help="words to show of each topic (6)")
    _add_reading(one)
    _add_quiet(one)


def _apply(one: ArgumentParser) -> None:
    add = one.add_argument
    _add_files(one)
    add("--output", type=Path, default=Path("-"), metavar="FILE",
        help="as .jsonl or .csv (- is standard output)")  # fmt: skip
    add("--output-format", choices=["jsonl", "csv"], help="(by the name of the output, or jsonl)")
    add("--leading", type=positive, default=3, metavar="N", help="topics of a document (3)")
    _add_words(one, 4)
    _add_columns(one)
    add("--batch-size", type=positive, default=1000, metavar="N", help="documents at once (1000)")
    _add_reading(one)


def _show(one: ArgumentParser) -> None:
    add = one.add_argument
    _add_files(one, files="")
    add("--topic", type=whole, metavar="K", help="one topic, with more words")
    add("--json", action="store_true", help="as JSON")
    _add_words(one)


def _watch(one: ArgumentParser) -> None:
    add = one.add_argument
    add("file", metavar="FILE", help="lines of text or JSON; - is standard input")
    add("--model", type=Path, required=True, metavar="FILE",
        help="write the model here; its checkpoints are in FILE.checkpoints")  # fmt: skip
    add("--every", type=positive, default=10, metavar="N",
        help="minibatches from one checkpoint, model and report to the next (10)")  # fmt: skip
    add("--report", type=Path, metavar="FILE", help="write a report, as .html, along the way")
    add("--batch-size", type=positive, default=1000, metavar="N", help="documents (1000)")
    add("--seconds", type=amount, default=60.0, metavar="S",
        help="after which a smaller minibatch will do (60)")  # fmt: skip
    add("--poll", type=amount, default=1.0, metavar="S", help="between two looks (1)")
    add("--idle", type=amount, metavar="S",
        help="end when a file has nothing new for so long (never)")  # fmt: skip
    add("--alarm", type=partial(share, most=0.5), default=0.01, metavar="P",
        help="false alarms per minibatch; 0 for no alarms (0.01)")  # fmt: skip
    _add_model(one, of_seeds="; the vocabulary is then that of the first minibatch")
    _add_reading(one)
    _add_counting(one)


def _summarize(one: ArgumentParser) -> None:
    _add_files(one, model=False)
    one.add_argument("--sentences", type=positive, default=5, metavar="N", help="to pick (5)")
    _add_reading(one)


def _score(one: ArgumentParser) -> None:
    _add_files(one)
    _add_reading(one)


def _report(one: ArgumentParser) -> None:
    _add_files(one, files="*")
    one.add_argument("--output", type=Path, required=True, metavar="PAGE", help="as .html")
    _add_reading(one)


ADDERS = {
    "fit": _fit, "update": _update, "apply": _apply, "show": _show, "watch": _watch,
    "summarize": _summarize, "score": _score, "report": _report,
}  # fmt: skip
