# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the command and their options; nothing heavy is imported for `--help`."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from streamtopics import __version__
from streamtopics.cli.groups import (
    add_counting,
    add_model,
    add_prior,
    add_reading,
    add_relevance,
    add_seeds,
    add_tables,
)
from streamtopics.cli.types import non_negative, positive, positive_float, share

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
HELP = {
    "fit": "find the topics of files",
    "update": "let a model learn from new files",
    "apply": "tell the topics of texts, a line for each",
    "show": "show what a model has learnt",
    "watch": "follow a file that grows, or standard input",
    "summarize": "pick the sentences that stand for many documents",
    "score": "tell how well a model predicts texts",
    "report": "write a page for a browser of a saved model",
}
# What stands behind the verb; argparse would list all options, also where one of them is wrong.
USAGE = {
    "fit": "[FILE ...]",
    "update": "MODEL FILE ...",
    "apply": "MODEL FILE ...",
    "show": "MODEL",
    "watch": "FILE --model MODEL",
    "summarize": "FILE ...",
    "score": "MODEL FILE ...",
    "report": "MODEL [FILE ...] --output PAGE",
}
VERBS = frozenset(HELP)
EXAMPLES = {
    "fit": "streamtopics fit news.jsonl.gz --topics 30 --model news.model --report news.html",
    "update": "streamtopics update news.model today.jsonl",
    "apply": "streamtopics apply news.model today.csv --text-key body --output topics.csv",
    "show": "streamtopics show news.model --topic 3",
    "watch": "tail -F app.log | streamtopics watch - --model app.model --report app.html",
    "summarize": "streamtopics summarize reviews.csv --text-key review --sentences 8",
    "score": "streamtopics score news.model next-week.jsonl",
    "report": "streamtopics report news.model news.jsonl.gz --output news.html",
}
ABOUT = {
    "fit": """\
Find the topics of files, and show their words and a few documents of each.

Up to --vocabulary-from documents are learnt together, as often as is good for that
many; more than that stream through once, with a vocabulary that follows them. Every
tenth of the first documents is held out, to tell how well the topics predict.
""",
    "update": """\
Let a model learn from new files, and tell how well it predicted them before, and
which topics have changed most. The file of the model is replaced as a whole, or not
at all.
""",
    "apply": """\
Write the leading topics of each document, a line for each, as the documents are read.

A short text often has nearly all of its share in one topic, which is no measure of
certainty. A text without a known word has the shares of a document that nothing is known of.
""",
    "show": "Show the topics of a model, its parameters, what it has seen, and its versions.\n",
    "watch": """\
Follow a file that grows, or standard input, in minibatches. Each is scored before it
is learnt, tested for a change of the stream, and told of in a line. The model is kept
in checkpoints, from which the command goes on where it stopped. It ends with standard
input, or by Ctrl-C.
""",
    "summarize": """\
Pick sentences that are central and differ from each other, each with the number of
documents that it stands for.
""",
    "score": """\
Tell how well a model predicts texts that it has not learnt: a fifth of the words of
each document is held out, and predicted from the others.
""",
    "report": """\
Write a page of the topics of a model, with documents of the files, as `fit --report`
does; with --time-key also when they are from. Of more than 5,000 documents it takes a
random sample, and says so; the shares over time are of all documents.
""",
}


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
    for verb, add in ADDERS.items():
        one = verbs.add_parser(
            verb,
            help=HELP[verb],
            usage=f"%(prog)s {USAGE[verb]} [OPTION ...]",
            description=ABOUT[verb],
            epilog=("" if verb == "show" else FILES + "\n") + f"Example: {EXAMPLES[verb]}\n",
            formatter_class=RawDescriptionHelpFormatter,
        )
        one.color = False  # type: ignore[attr-defined,unused-ignore]
        add(one)
    return result


def _fit(one: ArgumentParser) -> None:
    add = one.add_argument
    add("files", nargs="*", metavar="FILE", help="documents to read; see below")
    add_model(one, "; of several, as 10,20,50, the smallest that predicts as well as the best")
    add_seeds(one)
    add("--max-iter", type=positive, metavar="N", help="passes over the documents")
    add_tables(one)
    add_prior(one)
    add_reading(one)
    add_counting(one)
    add("--batch-size", type=positive, metavar="N", help="documents (of the estimator; 2500)")
    add(
        "--vocabulary-from", type=positive, default=100_000, metavar="N",
        help="documents that are learnt together; more of them stream (100000)",
    )  # fmt: skip
    add("--model", type=Path, metavar="FILE", help="write what was learnt, for the other verbs")
    add(
        "--report", type=Path, metavar="FILE",
        help="write a report, as .html, of a sample of the documents that were learnt from",
    )  # fmt: skip
    add("--picture", type=Path, metavar="FILE", help="write a picture of the topics, as .png ...")
    add(
        "--topics-out", type=Path, metavar="FILE", help="write the topics, as .csv, .json or .jsonl"
    )
    add("--documents-out", type=Path, metavar="FILE",
        help="write the topics of each document, as .csv or .jsonl")  # fmt: skip
    _add_quiet(one)


def _update(one: ArgumentParser) -> None:
    add = one.add_argument
    add("model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written")
    add("files", nargs="+", metavar="FILE", help="documents to learn from; see below")
    add("--model", type=Path, metavar="FILE", help="write it here, in place of the same file")
    add("--batch-size", type=positive, default=2500, metavar="N", help="documents (2500)")
    add("--words", type=positive, default=6, metavar="N", help="words to show of each topic (6)")
    add_seeds(one, "; those that the model was begun with")
    add_reading(one)
    _add_quiet(one)


def _apply(one: ArgumentParser) -> None:
    add = one.add_argument
    add("model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written")
    add("files", nargs="+", metavar="FILE", help="documents; see below")
    add("--output", default="-", metavar="FILE", help="as .jsonl or .csv (- is standard output)")
    add("--output-format", choices=["jsonl", "csv"], help="(by the name of the output, or jsonl)")
    add("--leading", type=positive, default=3, metavar="N", help="topics of a document (3)")
    add("--words", type=positive, default=4, metavar="N", help="words that name a topic (4)")
    add_relevance(one)
    add("--batch-size", type=positive, default=1000, metavar="N", help="documents at once (1000)")
    add_reading(one)


def _show(one: ArgumentParser) -> None:
    add = one.add_argument
    add("model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written")
    add("--topic", type=non_negative, metavar="K", help="one topic, with more words")
    add("--json", action="store_true", help="as JSON")
    add_tables(one)


def _watch(one: ArgumentParser) -> None:
    add = one.add_argument
    add("file", metavar="FILE", help="lines of text or JSON; - is standard input")
    add("--model", type=Path, required=True, metavar="FILE",
        help="write the model here at the end; one that is there is gone on with")  # fmt: skip
    add("--checkpoints", type=Path, metavar="FOLDER", help="(the name of the model.checkpoints)")
    add("--every", type=positive, default=10, metavar="N", help="minibatches to a checkpoint (10)")
    add("--report", type=Path, metavar="FILE", help="write a report, as .html, along the way")
    add("--report-every", type=positive, default=10, metavar="N", help="minibatches to one (10)")
    add("--batch-size", type=positive, default=1000, metavar="N", help="documents (1000)")
    add("--seconds", type=positive_float, default=60.0, metavar="S",
        help="after which a smaller minibatch will do (60)")  # fmt: skip
    add("--poll", type=positive_float, default=1.0, metavar="S", help="between two looks (1)")
    add("--idle", type=positive_float, metavar="S",
        help="end when a file has nothing new for so long (never)")  # fmt: skip
    add("--alarm", type=share, metavar="P",
        help="false alarms per minibatch; at most 0.5, 0 for no alarms; checkpoints keep theirs "
        "(0.01)")  # fmt: skip
    add_model(one)
    add_seeds(one, "; the vocabulary is then that of the first minibatch")
    add_reading(one)
    add_counting(one)


def _summarize(one: ArgumentParser) -> None:
    add = one.add_argument
    add("files", nargs="+", metavar="FILE", help="documents; see below")
    add("--sentences", type=positive, default=5, metavar="N", help="to pick (5)")
    add_reading(one)


def _score(one: ArgumentParser) -> None:
    add = one.add_argument
    add("model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written")
    add("files", nargs="+", metavar="FILE", help="documents; see below")
    add_reading(one)


def _report(one: ArgumentParser) -> None:
    add = one.add_argument
    add("model_file", type=Path, metavar="MODEL", help="a file that `fit --model` has written")
    add("files", nargs="*", metavar="FILE", help="documents to show; see below")
    add("--output", type=Path, required=True, metavar="PAGE", help="as .html")
    add_reading(one)


def _add_quiet(one: ArgumentParser) -> None:
    one.add_argument("--quiet", action="store_true", help="no progress on standard error")


ADDERS: dict[str, Any] = {
    "fit": _fit,
    "update": _update,
    "apply": _apply,
    "show": _show,
    "watch": _watch,
    "summarize": _summarize,
    "score": _score,
    "report": _report,
}
