# SPDX-License-Identifier: BSD-3-Clause
"""Saves and loads models, by skops."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

from streamtopics.saving.checks import check_held
from streamtopics.saving.files import replacing
from streamtopics.saving.trusted import is_known

# Of a class that was made by Python code, whose objects are their attributes.
HEAP_TYPE = 1 << 9


class LoadError(ValueError):
    """A file that cannot be loaded; the message names it, what is wrong and what can be done."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model in one file, from which `load` makes one that goes on to the same bits.

    The file is written beside, put on the disk, and then takes the place of the one before in
    one step: whatever stops the program, either is there whole.

    Parameters
    ----------
    model : estimator
        Of this package, fitted or not; a `StreamingPipeline` or scikit-learn's Pipeline of them,
        with vectorizers of this package or scikit-learn's. Rules, priors, tokenizers and other
        parts of your own are kept by name, if they are classes or functions of a module.
    path : str or path-like
        Of the file. One that is there is replaced.

    Raises
    ------
    TypeError
        If something that the model holds cannot be kept, such as a lambda. Nothing was written.
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
    The format is that of `skops.io`, an archive of arrays and a description in JSON. What is kept
    is what pickle keeps, of one whole state, also while another thread learns. It takes the memory
    of the model up to twice once more.

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
    write(model, Path(path))


def load(path: str | os.PathLike[str], trusted: Sequence[str | type] = ()) -> Any:
    """Load a model that `save` has written.

    Nothing in the file is executed but the classes and functions that it names, which are those
    of this package and of `trusted`.

    Parameters
    ----------
    path : str or path-like
        Of the file.
    trusted : sequence of str or type, default=()
        Classes and functions that are not of this package, such as ``["adagrad.AdaGradVI"]``. Name
        only those that you know, of files that you trust.

    Returns
    -------
    model : estimator

    Raises
    ------
    LoadError
        A ValueError that names the file and what is wrong: it is damaged or cut, holds something
        that is not trusted, or what it holds does not fit together.
    OSError
        If there is no such file, or it cannot be read.

    See Also
    --------
    save : Saves it, with an example.
    """
    model = read(Path(path), trusted)
    if not hasattr(model, "get_params"):
        raise LoadError(
            f"{path} holds a {type(model).__name__} in place of an estimator; "
            "streamtopics.streams.resume reads what a Checkpointer has written"
        )
    return model


def write(value: Any, path: Path) -> None:
    """Save any value of which all parts can be kept."""
    skops = import_module("skops.io")
    check_held(value)
    content = BytesIO()
    skops.dump(value, content)
    for name in skops.get_untrusted_types(file=content):
        _check_can_be_named(name)
    with ZipFile(content, "a") as archive:
        archive.comment = b"streamtopics " + _version().encode()
    with replacing(path) as send:
        send(content.getbuffer())


def read(path: Path, trusted: Sequence[str | type] = ()) -> Any:
    """Load what `write` has saved."""
    # Takes a second, which who loads nothing need not wait for.
    skops = import_module("skops.io")
    given = [t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted]
    wrote = ""
    try:
        with ZipFile(path) as archive:
            wrote = archive.comment.decode()
        named = skops.get_untrusted_types(file=path)
        strange = [name for name in named if name not in given and not is_known(name)]
        if not strange:
            value = skops.load(path, trusted=named)
            check_held(value)
            return value
    except (MemoryError, OSError):
        # The content is not what is wrong.
        raise
    except BadZipFile as error:
        raise LoadError(
            f"{path} is damaged or cut, or was not written by streamtopics.save, such as a pickle "
            f"({error})"
        ) from error
    except Exception as error:
        raise LoadError(
            f"{path} cannot be loaded: {error or type(error).__name__}; it was written by "
            f"{wrote or 'another program'}, this is streamtopics {_version()}"
        ) from error
    raise LoadError(
        f"{path} names {', '.join(strange)}, which are not of streamtopics; if you trust where the "
        f"file is from, load it with trusted={strange}"
    )


def _check_can_be_named(name: str) -> None:
    """Refuse a class or function that could not be found, or made again, when it is loaded."""
    if is_known(name):
        return
    module, _, last = name.rpartition(".")
    try:
        found = getattr(import_module(module), last)
    except (ImportError, AttributeError):
        found = None
    is_opaque = isinstance(found, type) and not _can_be_made(found)
    if found is None or is_opaque or module.startswith(("streamtopics.", "numpy.")):
        raise TypeError(
            f"the model holds {name}, which cannot be kept in a file: only functions and classes "
            "that a module has by this name can; set it to None before, and again after loading"
        )


def _can_be_made(found: type) -> bool:
    """Whether an instance can be made without arguments, as is done in loading."""
    try:
        cast("Any", found).__new__(found)
    except TypeError:
        return False
    return bool(found.__flags__ & HEAP_TYPE)


def _version() -> str:
    # Not imported above: the package imports this.
    version: str = import_module("streamtopics").__version__
    return version
