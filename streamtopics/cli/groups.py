# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs have."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from streamtopics.cli.types import (
    encoding,
    non_negative_float,
    numbers,
    one_number,
    positive,
    positive_float,
    setting,
    share,
    threads,
)

MAX_LINE = 2**24
FORMATS = ("lines", "documents", "jsonl", "json", "csv", "tsv", "parquet")


def add_reading(one: ArgumentParser) -> None:
    """Add how files are read."""
    add = one.add_argument_group("reading").add_argument
    add(
        "--format",
        choices=FORMATS,
        help="of the files; documents is a plain text each (by name; of - lines)",
    )
    add("--text-key", default="text", metavar="KEY", help='field or column of texts ("text")')
    add("--time-key", metavar="KEY", help="field or column of times: dates, years, seconds")
    add(
        "--encoding", type=encoding, default="utf-8", metavar="NAME",
        help="of the files, such as latin-1 (utf-8)",
    )  # fmt: skip
    add(
        "--max-line", type=positive, default=MAX_LINE, metavar="N",
        help="most bytes of a line, or characters of a row of a table (16777216)",
    )  # fmt: skip
    add("--skip-bad", action="store_true", help="leave out and count what cannot be read")


def add_counting(one: ArgumentParser) -> None:
    """Add which words have a column."""
    add = one.add_argument_group("words").add_argument
    add("--max-words", type=positive, default=20_000, metavar="N", help="vocabulary (20000)")
    add("--min-documents", type=positive, default=5, metavar="N", help="of a word (5)")
    add(
        "--max-share", type=positive_float, default=1.0, metavar="X",
        help="share of the documents beyond which a word is too common (1, no limit)",
    )  # fmt: skip
    add(
        "--shortest", type=positive, default=3, metavar="N",
        help="letters of a word, at least; words are runs of letters (3)",
    )  # fmt: skip
    add("--keep-stop-words", action="store_true", help="keep English function words")


def add_model(one: ArgumentParser, several: str = "") -> None:
    """Add what learns."""
    add = one.add_argument_group("model").add_argument
    add(
        "--topics", type=numbers if several else one_number, metavar="N", default=(),
        help=f"number of topics (20){several}",
    )  # fmt: skip
    add("--estimator", default="", metavar="NAME", help="such as GibbsOnlineEM (StreamingLDA)")
    add(
        "--set", type=setting, action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator, such as kappa=0.5; as often as you like",
    )  # fmt: skip
    add("--jobs", type=threads, default=-1, metavar="N", help="threads; -1 is all (-1)")
    add("--seed", type=int, default=0, metavar="N", help="of the random start (0)")


def add_seeds(one: ArgumentParser, more: str = "") -> None:
    """Add names of topics with their words."""
    one.add_argument(
        "--seeds", type=Path, metavar="FILE",
        help=f'topics with names: {{"name": ["word", ...], ...}}{more}',
    )  # fmt: skip


def add_tables(one: ArgumentParser) -> None:
    """Add what tables show."""
    add = one.add_argument
    add("--words", type=positive, default=10, metavar="N", help="words to show of a topic (10)")
    add_relevance(one)


def add_relevance(one: ArgumentParser) -> None:
    """Add which words stand for a topic."""
    one.add_argument(
        "--relevance", type=share, default=0.4, metavar="X",
        help="1 shows words by probability; less, those that other topics lack (0.4)",
    )  # fmt: skip


def add_prior(one: ArgumentParser) -> None:
    """Add what is known before, of StreamingLDA; any of them boosts the prior along the stream."""
    add = one.add_argument_group("knowledge before, kept by boosting the prior").add_argument
    add("--prior", choices=["flat", "zipf"], help="word prior (flat)")
    add(
        "--prior-mass", type=positive_float, metavar="X",
        help="pseudo-counts of the prior for each topic (0.05 for each word)",
    )  # fmt: skip
    add(
        "--boosting-scale", type=non_negative_float, metavar="S",
        help="prior pseudo-counts added for each token (0.1, where a prior is given)",
    )  # fmt: skip
    add("--rounds", type=positive, metavar="N", help="over each minibatch (1)")
    add(
        "--document-prior", type=positive_float, metavar="X",
        help="pseudo-count of each topic in a document; less means fewer topics in each "
        "(3 / the number of topics, which is learnt on the way)",
    )  # fmt: skip
