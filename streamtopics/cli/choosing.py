# SPDX-License-Identifier: BSD-3-Clause
"""Chooses one of several numbers of topics."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import Any

from streamtopics.cli.telling import readers_may_go
from streamtopics.cli.words import fit_words, vectorizer_for
from streamtopics.inspection import compare_n_components

N_COMPARED = 20_000
LEAST = 3  # documents, one for each split


def choose(options: Namespace, made: Any, texts: list[str]) -> None:
    """Print figures of each number, and set the one that predicts well and is found again."""
    if len(options.topics) < 2:
        return
    if "n_components" not in made.get_params():
        raise ValueError(
            f"--topics takes one number with {type(made).__name__}, whose topics have names"
        )
    texts = texts[:N_COMPARED]
    if len(texts) < LEAST:
        raise ValueError(f"to compare numbers of topics takes {LEAST} documents; got {len(texts)}")
    words = vectorizer_for(options, len(texts))
    fit_words(words, texts)
    found = compare_n_components(
        made, words.transform(texts), options.topics, random_state=options.seed, n_jobs=options.jobs
    )
    made.set_params(n_components=found.chosen)
    with readers_may_go():
        print(re.sub(r"\bnan\b", "  -", str(found)))
        if found.chosen == options.topics[-1]:
            print("The largest number was chosen: more might be better still; try some.")
        print()
