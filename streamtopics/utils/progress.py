# SPDX-License-Identifier: BSD-3-Clause
"""A line on standard error that tells how far a long `fit` has come."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

WIDTH = 24
SECONDS_BETWEEN = 0.1


def running_mean(mean: float, value: float) -> float:
    """Return the mean with a further value, which counts a fifth; a NaN counts nothing."""
    if np.isnan(mean) or np.isnan(value):
        return mean if np.isnan(value) else value
    return 0.8 * mean + 0.2 * value


class Progress:
    """Documents done, tokens per second and the running held-out score.

    `units` are what it calls documents and tokens.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        enabled: bool,
        units: tuple[str, str] = ("documents", "tokens"),
    ):
        self._title, self._total, self._units = title, total, units
        self._enabled = enabled and sys.stderr is not None
        self._documents = 0
        self._tokens = 0.0
        self._score = np.nan
        self._started = time.monotonic()
        self._shown = -np.inf

    def advance(self, documents: int, tokens: float) -> None:
        """Count what was learnt from, and show it if it is time to."""
        self._documents += documents
        self._tokens += tokens
        now = time.monotonic()
        if self._enabled and now - self._shown > SECONDS_BETWEEN:
            self._shown = now
            self.show()

    def score(self, value: float) -> None:
        """Take in a held-out score, in nats per token; the line shows a running mean."""
        self._score = running_mean(self._score, value)

    def finish(self) -> None:
        """Draw the line a last time, and end it."""
        if self._enabled:
            self.show(end="\n")

    def show(self, end: str = "") -> None:
        """Draw the line."""
        seconds = time.monotonic() - self._started
        of = ""
        # A stream may go on beyond what was said of it, as under tqdm.
        if self._total and self._documents <= self._total:
            share = self._documents / self._total
            done = round(share * WIDTH)
            of = f"[{'#' * done}{'.' * (WIDTH - done)}] {share:4.0%} "
        score = "" if np.isnan(self._score) else f", {self._score:.3f} nats/token"
        documents, tokens = self._units
        # Of a stream of one minibatch there is none to tell.
        speed = f", {self._tokens / max(seconds, 1e-9):,.0f} {tokens}/s" if self._tokens else ""
        line = f"{self._title} {of}{self._documents:,} {documents}{speed}{score}"
        try:
            print(f"\r{line:<100}", end=end, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # nobody reads standard error any more
            self._enabled = False


@contextmanager
def progress(
    title: str,
    total: int | None,
    *,
    enabled: bool,
    units: tuple[str, str] = ("documents", "tokens"),
) -> Iterator[Progress]:
    """A progress line for the length of a `with` block; `total` in documents."""
    line = Progress(title, total, enabled, units)
    try:
        yield line
    finally:
        line.finish()
