# SPDX-License-Identifier: BSD-3-Clause
"""Are posteriors and samplers calibrated? Truth and data are drawn from the model, again and again.

    python -m proof.calibration [--replicates N] [--only NAME] [--seed S]

Printed are a p-value for each statistic of each subject, and at the end a test of all of them
together: see `proof.calibration_tests` for what they test, and for the rate of false alarms,
which is 1 %. Where that fails, the exit code is 1. Rows marked "not exact" are approximations,
of which theory does not say that they are calibrated; they are shown, and do not count.

What is not here: WAS by way of its estimator, which sorts the words of a sentence, where the
law of WAS depends on their order (its sampler is here); topics that are learnt by variational
inference, online EM, Langevin dynamics or point estimates, with two topics or more; minibatches of
several documents under the HDP, of which each document is sampled once, given those before it.
"""

import argparse
import sys
import time
import zlib
from collections.abc import Sequence

import numpy as np

from proof import (
    calibration_draws,
    calibration_posteriors,
    calibration_samplers,
    calibration_sentences,
)
from proof.calibration_tests import FALSE_ALARMS, FEWEST, PValues, Subject, verdict
from proof.commands import at_least


def subjects() -> list[Subject]:
    """Everything that is tested."""
    rooms = calibration_posteriors, calibration_samplers, calibration_sentences, calibration_draws
    return [subject for room in rooms for subject in room.subjects()]


def rng_of(seed: int, name: str) -> np.random.Generator:
    """The random numbers of a subject, whatever the others are."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def tested(subject: Subject, seed: int, replicates: int | None) -> PValues:
    """Test a subject, and print its rows."""
    n, began = replicates or subject.replicates, time.process_time()
    found = subject.p_values(n, rng_of(seed, subject.name))
    seconds, note = time.process_time() - began, "" if subject.exact else "not exact"
    for statistic, p in found.items():
        print(f"| {subject.name} | {statistic} | {n} | {p:.4f} | {note} |", flush=True)
    print(f"{subject.name}: {seconds:.1f} s", file=sys.stderr)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--replicates",
        type=at_least(FEWEST),
        help=f"of each subject, {FEWEST} or more; default: its own number",
    )
    parser.add_argument("--only", default="", help="subjects with this in their names")
    parser.add_argument("--seed", type=at_least(0), default=0)
    options = parser.parse_args(arguments)
    chosen = [subject for subject in subjects() if options.only in subject.name]
    if not chosen:
        parser.error(f"no subject has {options.only!r} in its name")
    print("| subject | statistic | replicates | p | |\n|---|---|---|---|---|")
    found = {subject: tested(subject, options.seed, options.replicates) for subject in chosen}
    counted = {subject.name: p for subject, p in found.items() if subject.exact}
    if not counted:
        return 0
    of_all = verdict(counted, rng_of(options.seed, "verdict"))
    print(
        f"\n{sum(map(len, counted.values()))} p-values of {len(counted)} subjects: "
        f"uniform by Kolmogorov and Smirnov, p = {of_all.uniform:.4f}; the least times their "
        f"number {of_all.least:.4f}; alarm below {FALSE_ALARMS / 2:g} in either, which happens in "
        f"{FALSE_ALARMS:.0%} of the runs if all is right: "
        + ("calibrated" if of_all.calibrated else "NOT CALIBRATED")
    )
    return 0 if of_all.calibrated else 1


if __name__ == "__main__":
    sys.exit(main())
