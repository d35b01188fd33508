# SPDX-License-Identifier: BSD-3-Clause
"""Shows how far a stream has come: a bar by tqdm where it is installed, or else a line."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Any

import numpy as np

from streamtopics.streams.callbacks import BatchInfo
from streamtopics.streams.learners import names_of
from streamtopics.utils.checks import check_integer
from streamtopics.utils.progress import Progress, running_mean
from streamtopics.utils.steps import last_step


class ProgressReport:
    """Shows documents, tokens per second and the score, while a stream is learnt.

    With tqdm installed (``pip install tqdm``) it is tqdm's bar, a widget in a
    notebook; without, a line on standard error like that of ``fit(verbose=1)``.

    Parameters
    ----------
    total : int or None, default=None
        Documents in the stream, where that is known; it is needed for a bar and the time left.
    title : str, default="stream"
        What stands before it.

    Attributes
    ----------
    n_documents : int
        Documents of the stream so far, those included that a `DriftMonitor` still holds back.

    Notes
    -----
    The score is shown where it is taken, as by ``stream(..., score=True)``, as a running mean in
    which each minibatch counts a fifth.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import ProgressReport, stream
    >>> X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
    >>> report = ProgressReport(total=300)
    >>> model = stream(SVBLDA(5, random_state=0), iter_minibatches(X), callbacks=[report])
    >>> report.n_documents
    300
    """

    def __init__(self, total: int | None = None, title: str = "stream") -> None:
        if total is not None:
            check_integer(total=total)
        if not isinstance(title, str):
            raise TypeError(f"title must be a str; got {title!r}")
        self.total, self.title = total, title
        self.n_documents = 0
        self._line: Progress | Bar | None = None

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Show that a minibatch was learnt.

        Parameters
        ----------
        model : estimator
            Asked whether documents are rows: those of models with `groups` may be several.
        info : BatchInfo
            Of the minibatch.
        """
        n_documents = _n_given(model, info)
        self.n_documents += n_documents
        if self._line is None:
            # How long the first minibatch took is not known, so it counts for no speed.
            self._line = new_line(self.title, self.total, self.n_documents)
            self._line.score(info.score)
            return
        self._line.score(info.score)
        self._line.advance(n_documents, 0.0 if np.isnan(info.n_tokens) else info.n_tokens)

    def finish(self, model: Any) -> None:
        """End the line; a stream that goes on has another one.

        Parameters
        ----------
        model : estimator
            Not looked at.
        """
        line, self._line = self._line, None
        if line is not None:
            line.finish()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a stream that goes on needs: all but the line on the screen."""
        return {**vars(self), "_line": None}


def _n_given(model: Any, info: BatchInfo) -> int:
    """Documents that came with a minibatch, also if some are learnt later."""
    if "groups" in names_of(last_step(model), "partial_fit"):
        return info.n_documents
    if hasattr(info.X, "shape"):
        return int(info.X.shape[0])
    return len(info.X) if hasattr(info.X, "__len__") else info.n_documents


class Bar:
    """A bar by tqdm, as `Progress` draws a line."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._tokens, self._score = bar, 0.0, np.nan
        self._started = time.monotonic()

    def score(self, value: float) -> None:
        """Take in a held-out score."""
        self._score = running_mean(self._score, value)

    def advance(self, documents: int, tokens: float) -> None:
        """Count what was learnt from."""
        self._tokens += tokens
        speed = self._tokens / max(time.monotonic() - self._started, 1e-9)
        score = "" if np.isnan(self._score) else f", score {self._score:.3f}"
        self._bar.set_postfix_str(f"{speed:,.0f} tokens/s{score}", refresh=False)
        self._bar.update(documents)

    def finish(self) -> None:
        """Draw it a last time."""
        self._bar.close()


class Quiet:
    """A file that does not mind when nobody reads it any more, under which a bar would fail."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, if anybody reads."""
        with suppress(OSError, ValueError):
            self._file.write(text)

    def flush(self) -> None:
        """Show what was written."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def new_line(title: str, total: int | None, n_documents: int) -> Progress | Bar:
    """Return a bar, or a line without tqdm, that begins at some documents."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        line = Progress(title, total, enabled=True)
        line.advance(n_documents, 0.0)
        return line
    bar = tqdm(
        desc=title,
        total=total,
        initial=n_documents,
        unit=" documents",
        file=Quiet(sys.stderr),
        disable=sys.stderr is None,
        dynamic_ncols=True,
    )
    return Bar(bar)
