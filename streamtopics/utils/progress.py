# SPDX-License-Identifier: BSD-3-Clause
"""Progress of `fit` or a stream: a bar, or lines of `logging`."""

import logging
import sys
import time
from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np

# For the whole package.
LOG = logging.getLogger("streamtopics")


class Progress(AbstractContextManager["Progress"]):
    """A bar by tqdm: documents, tokens per second and a running mean of the held-out score.

    Without a bar the log has a line at the end (INFO) and for each minibatch (DEBUG).
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        *,
        enabled: bool = True,
        n_done: int = 0,
        units: tuple[str, str] = ("documents", "tokens"),
    ):
        self._bar: Any = None
        self._units, self._tokens, self._score = units, 0.0, np.nan
        self._title, self._n_done = title, n_done
        self._started = time.monotonic()
        if enabled and sys.stderr is not None:
            # The import takes a tenth of a second, only needed for a bar.
            from tqdm.auto import tqdm

            with suppress(OSError, ValueError):
                self._bar = tqdm(
                    desc=title, total=total, initial=n_done, unit=f" {units[0]}", dynamic_ncols=True
                )

    def update(self, documents: int, tokens: float) -> None:
        self._tokens += tokens
        self._n_done += documents
        if self._bar is None:
            LOG.debug("%s", self)
        else:
            # Standard error may have been closed.
            with suppress(OSError, ValueError):
                self._bar.set_postfix_str(self._speed(), refresh=False)
                self._bar.update(documents)

    def _speed(self) -> str:
        speed = self._tokens / max(time.monotonic() - self._started, 1e-9)
        score = "" if np.isnan(self._score) else f", {self._score:.3f} nats/token"
        return f"{speed:,.0f} {self._units[1]}/s{score}"

    def __str__(self) -> str:
        return f"{self._title}: {self._n_done:,} {self._units[0]}, {self._speed()}"

    def score(self, value: float) -> None:
        """Add a held-out score; NaN is ignored."""
        if not np.isnan(value):
            self._score = value if np.isnan(self._score) else 0.8 * self._score + 0.2 * value

    def finish(self) -> None:
        if self._bar is None:
            LOG.info("%s", self)
        else:
            with suppress(OSError, ValueError):
                self._bar.close()

    def __exit__(self, *error: object) -> None:
        self.finish()
