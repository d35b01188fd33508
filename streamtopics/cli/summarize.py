# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics summarize`: sentences that stand for many documents."""

from __future__ import annotations

from argparse import Namespace

from streamtopics import DPPSummarizer
from streamtopics.cli.reading import place_of, records, texts_of
from streamtopics.cli.tally import Tally
from streamtopics.cli.telling import counted, one_line


def run(options: Namespace) -> None:
    """Print the sentences, each with how many documents it stands for and where it is."""
    tally = Tally()
    found = list(records(options, tally.skipped))
    tally.add(None, texts_of(found))
    tally.tell()
    digest = DPPSummarizer().digest(texts_of(found), n_sentences=options.sentences)
    print(f"{counted(len(found), 'document')}; each sentence stands for so many of them:\n")
    for row in digest:
        place = place_of(found[row.document])
        print(f"{row.n_documents:>7,}  {one_line(row.sentence, 400)}  [{place}]")
