# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics report`: a page for a browser of a saved model."""

from __future__ import annotations

from argparse import Namespace

from streamtopics.cli.fit import N_SAMPLE, write_report
from streamtopics.cli.models import load_model
from streamtopics.cli.reading import Sample, cut, records
from streamtopics.cli.tally import Tally
from streamtopics.cli.times import read_whole
from streamtopics.cli.writing import check_target


def run(options: Namespace) -> None:
    """Write the page, with a sample of the documents where there are files."""
    check_target(options.output, kept=[options.model_file, *options.files])
    model, tally, sample = load_model(options.model_file), Tally(), Sample(N_SAMPLE)
    if options.files:
        batches = tally.over(cut(records(options, tally.skipped), 1000), model.steps[0][1])
        for batch in batches:
            sample.add(batch)
        tally.tell()
    whole = (read_whole(options, model) if options.files else None) or sample.n
    timed = bool(options.files and options.time_key)
    write_report(options.output, model, sample, whole, timed, tally)
    print(f"report written to {options.output}")
