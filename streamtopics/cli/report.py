# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics report`: a page for a browser of a saved model."""

from __future__ import annotations

from argparse import Namespace

from streamtopics.cli.fit import N_SAMPLE, write_report
from streamtopics.cli.models import load_model
from streamtopics.cli.reading import Sample, records
from streamtopics.cli.telling import tell_skipped
from streamtopics.cli.times import read_whole
from streamtopics.cli.writing import check_target
from streamtopics.datasets import Skipped


def run(options: Namespace) -> None:
    """Write the page, with a sample of the documents where there are files."""
    check_target(options.output, kept=[options.model_file, *options.files])
    model, skipped, sample = load_model(options.model_file), Skipped(), Sample(N_SAMPLE)
    if options.files:
        sample.add(records(options, skipped))
        tell_skipped(skipped)
        if not sample.n:
            raise ValueError("there are no documents to read; check the files")
    whole = (read_whole(options, model) if options.files else None) or sample.n
    write_report(options.output, model, sample, whole, bool(options.files and options.time_key))
    print(f"report written to {options.output}")
