# SPDX-License-Identifier: BSD-3-Clause
"""Saves a model and callbacks along a stream, and resumes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from streamtopics.saving.files import PARTS, sync_folder
from streamtopics.saving.models import LoadError, load, save
from streamtopics.streams.batches import DOCUMENTS_SEEN, Learner, count_of
from streamtopics.streams.stream import BatchInfo
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import steps_of

NAMES = "checkpoint-*.model"
# Kept checkpoints, in case the disk damages the newest.
N_KEPT = 3


class Resumed(NamedTuple):
    """A model saved by a `Checkpointer`, as returned by `resume`.

    Attributes
    ----------
    model, callbacks : estimator, tuple
        The saved model; and the saved callbacks, in the order of ``Checkpointer(also=...)``.
    n_batches : int
        Number of learnt minibatches; pass the number to `stream` as `skip`.
    """

    model: Any
    callbacks: tuple[Any, ...]
    n_batches: int


class Checkpointer:
    """A callback of `stream` that saves the model, to resume after an interruption.

    Make this the last callback of `stream`. The folder keeps the last three checkpoints, numbered
    from 1. A checkpoint of the last minibatch is also written at the end of the stream, even after
    an error. Exception: no such checkpoint is written if the model has learnt more than this
    callback was told, for example if an earlier callback failed.

    Parameters
    ----------
    path : str or path-like
        A folder for this stream.
    every : int, default=100
        Number of minibatches between checkpoints.
    also : sequence, default=()
        Other callbacks of the stream to save with the model.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.streams import Checkpointer, resume, stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = stream(SVBLDA(2), [np.eye(9)], callbacks=[Checkpointer(folder)])
    ...     again = resume(folder)
    >>> again.n_batches, again.model.n_documents_seen_
    (1, 9)
    """

    def __init__(
        self, path: str | os.PathLike[str], *, every: int = 100, also: Sequence[Any] = ()
    ) -> None:
        check_integer(every=every)
        self.path, self.every, self.also = Path(path), every, tuple(also)
        self._last: tuple[BatchInfo, Any] | None = None
        self._saved: BatchInfo | None = None

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Save a checkpoint, if due."""
        self._last = info, learnt_by(model)
        if info.batch % self.every == 0:
            self._write(model, info)

    def finish(self, model: Learner) -> None:
        """Save a checkpoint at the end of the stream."""
        if self._last is None:
            return
        info, learnt = self._last
        # Another stream may have a minibatch of the same number.
        if info is not self._saved and learnt == learnt_by(model):
            self._write(model, info)

    def _write(self, model: Learner, info: BatchInfo) -> None:
        if not self.path.is_dir():
            self.path.mkdir(parents=True, exist_ok=True)
            # Safe against a power cut.
            sync_folder(self.path.parent)
        # A killed process may have left one temporary folder, never two.
        self._remove_earlier()
        number = 1 + max((number for number, _ in checkpoints_in(self.path)), default=0)
        kept = Resumed(model, self.also, info.batch)
        save(kept, self.path / f"checkpoint-{number:09d}.model")
        self._saved = info
        self._remove_earlier()

    def _remove_earlier(self) -> None:
        for part in self.path.glob(PARTS):
            part.unlink(missing_ok=True)
        for _, old in checkpoints_in(self.path)[:-N_KEPT]:
            old.unlink(missing_ok=True)


def resume(path: str | os.PathLike[str], trusted: Sequence[str | type] = ()) -> Resumed | None:
    """Return the newest checkpoint in a folder.

    Parameters
    ----------
    path : str or path-like
        The folder of a `Checkpointer`.
    trusted : sequence of str or type, default=()
        As in `streamtopics.load`.

    Returns
    -------
    resumed : Resumed or None
        None if the folder has no checkpoint. If the newest checkpoint is damaged, the previous one
        is returned, with a warning. Continue by ``stream(resumed.model, batches,
        skip=resumed.n_batches)``: the model becomes bit for bit that of an uninterrupted stream.
    """
    errors: list[LoadError | OSError] = []
    for _, file in reversed(checkpoints_in(Path(path))):
        try:
            found: Resumed = load(file, trusted)
        except (LoadError, OSError) as error:
            errors.append(error)
            continue
        for reason in errors:
            warnings.warn(f"{reason}. {file} is used, the one before", UserWarning, stacklevel=2)
        return found
    if errors:
        listed = "\n".join(map(str, errors))
        raise LoadError(f"none of the checkpoints in {path} can be loaded:\n{listed}")
    return None


def checkpoints_in(folder: Path) -> list[tuple[int, Path]]:
    paths: list[Path] = []
    with suppress(FileNotFoundError):  # not for unreadable folders: a stream would begin anew
        paths = [path for path in folder.iterdir() if path.match(NAMES)]
    found = [(path.stem.removeprefix("checkpoint-"), path) for path in paths]
    return sorted((int(number), path) for number, path in found if number.isdecimal())


def learnt_by(model: Learner) -> list[Any]:
    names = ("n_batch_iter_", *DOCUMENTS_SEEN)
    return [count_of(step, name) for _, step in steps_of(model) for name in names]
