# SPDX-License-Identifier: BSD-3-Clause
"""Saves and loads models."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from streamtopics.saving import container
from streamtopics.saving.checks import check_held
from streamtopics.saving.describing import Describer
from streamtopics.saving.errors import LoadError
from streamtopics.saving.files import replacing
from streamtopics.saving.rebuilding import Rebuilder
from streamtopics.saving.upgrades import upgraded
from streamtopics.utils.checks import path_of

MODEL = "model"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model in one file, from which `load` makes one that goes on to the same bits.

    The file is written beside, put on the disk, and then takes the place of the one before in
    one step: whatever stops the program, either is there whole.

    Parameters
    ----------
    model : estimator
        Of this package, fitted or not; a `StreamingPipeline` or scikit-learn's Pipeline of them,
        with vectorizers of this package or scikit-learn's.
    path : str or path-like
        Of the file. One that is there is replaced.

    Raises
    ------
    TypeError
        If the model, or something that it holds, cannot be kept, which is named: functions, and
        objects of classes that are not in the list `streamtopics.saving.known`. Nothing was
        written then.
    ValueError
        If what the model holds does not fit together, so that it could not be loaded.
    OSError
        If the file cannot be written, such as on a full disk. The one before is as it was.

    See Also
    --------
    load : Loads it.
    streamtopics.streams.Checkpointer : Saves a model along a stream.

    Notes
    -----
    What is kept is what pickle keeps: parameters, what was learnt and how much was seen, of one
    whole state, also while another thread learns. It takes the memory of the model once more.
    `random_state`, if it is a RandomState, is kept as it stands.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics import GibbsOnlineEM, load, save
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = GibbsOnlineEM(5, random_state=0).partial_fit(X[:300])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "topics.model")
    ...     again = load(Path(folder) / "topics.model")
    >>> a, b = model.partial_fit(X[300:]), again.partial_fit(X[300:])
    >>> bool((a.components_ == b.components_).all())
    True
    """
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"model must be an estimator; got {model!r}")
    write(model, path_of(path), kind=MODEL)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` has written.

    Nothing in the file is executed, and no class or function is looked up that is not in the
    list `streamtopics.saving.known`. The checksum tells damage, not who wrote the file: a model
    of somebody else may still say wrong things.

    Parameters
    ----------
    path : str or path-like
        Of the file.

    Returns
    -------
    model : estimator

    Raises
    ------
    LoadError
        A ValueError that names the file, what is wrong and what can be done: it is damaged, cut,
        of a later format, or has something in it that is not known or does not fit.
    OSError
        If there is no such file, or it cannot be read.
    MemoryError
        If there is not enough memory for it.

    See Also
    --------
    save : Saves it, with an example.
    """
    model = read(path_of(path), kind=MODEL)
    if not hasattr(model, "get_params"):
        raise LoadError(f"{path} holds a {type(model).__name__} in place of an estimator")
    return model


def write(
    value: Any, path: Path, *, kind: str, before: Callable[[bytes], None] | None = None
) -> None:
    """Save any value that can be described, as of a kind of file.

    `before`, if any, is called with the checksum before the file takes its place.
    """
    describer = Describer()
    value_described = describer.described(value, type(value).__name__)
    check_held(value)
    description = {"kind": kind, "versions": versions(), "value": value_described}
    with replacing(path) as send:
        checksum = container.write(send, description, describer.arrays)
        if before is not None:
            before(checksum)


def read(path: Path, *, kind: str) -> Any:
    """Load what `write` has saved."""
    with open(path, "rb", opener=_opened) as file:
        number, description, arrays = container.read(file, str(path))
    try:
        description = upgraded(description, number)
        if description["kind"] == kind:
            value = Rebuilder(arrays).value(description["value"])
            check_held(value)
            return value
    except MemoryError:
        # The file is not what is wrong.
        raise
    except Exception as error:
        wrote = description.get("versions")
        raise LoadError(
            f"{path} cannot be loaded: {error or type(error).__name__}; it was written with "
            f"{wrote}, this is {versions()}; use those versions, or save it again"
        ) from error
    raise LoadError(
        f"{path} holds a {description['kind']}, not a {kind}; load reads models, and "
        "streamtopics.streams.resume what a Checkpointer has written"
    )


def _opened(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def versions() -> dict[str, str]:
    """Versions of what a file is written with, for information."""
    return {
        # Not imported above: the package imports this.
        "streamtopics": import_module("streamtopics").__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
