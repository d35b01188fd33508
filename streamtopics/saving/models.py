# SPDX-License-Identifier: BSD-3-Clause
"""Saves and loads models, by skops."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

from streamtopics.saving.checks import check_held
from streamtopics.saving.files import replace_file
from streamtopics.saving.trusted import is_known

# Of a class that was made by Python code, whose objects are their attributes.
PYTHON_TYPE = 1 << 9


class LoadError(ValueError):
    """A file that cannot be loaded; the message names it, the error and the remedy."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to one file, in the format of `skops.io`. `load` restores it exactly.

    After a crash you have either the old file or the new one, never a mixture.

    Parameters
    ----------
    model : estimator
        Fitted or not; or a pipeline with vectorizers of this package or scikit-learn's. Rules,
        priors and other parts of your own must be classes or functions of a module, no lambdas.
    path : str or path-like
        The file, which is replaced if it exists.

    Examples
    --------
    >>> import tempfile
    >>> from streamtopics import GibbsOnlineEM, load, save
    >>> with tempfile.NamedTemporaryFile(suffix=".model") as file:
    ...     save(GibbsOnlineEM(5, random_state=0), file.name)
    ...     load(file.name)
    GibbsOnlineEM(n_components=5, random_state=0)
    """
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"model must be an estimator; got {model!r}")
    write(model, Path(path))


def load(path: str | os.PathLike[str], trusted: Sequence[str | type] = ()) -> Any:
    """Load a model that `save` has written.

    It executes only classes and functions of this package or in `trusted`.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str or type, default=()
        Other classes and functions, such as ``["adagrad.AdaGradVI"]``, and modules of families,
        to import. Name only what you know, for files that you trust.

    Returns
    -------
    model : estimator

    Raises
    ------
    LoadError
        If the file is damaged, or names something that is not trusted.
    """
    model = read(Path(path), trusted)
    if not hasattr(model, "get_params"):
        raise LoadError(
            f"{path} holds a {type(model).__name__} in place of an estimator; "
            "streamtopics.streams.resume reads what a Checkpointer has written"
        )
    return model


def write(value: Any, path: Path) -> None:
    """Save any value of which all parts can be saved."""
    skops = import_module("skops.io")
    check_held(value)
    content = BytesIO()
    skops.dump(value, content)
    for name in skops.get_untrusted_types(file=content):
        if not is_known(name) and not _can_be_found(name):
            raise TypeError(
                f"the model holds {name}, which cannot be kept in a file: only functions and "
                "classes of a module can; set it to None before, and again after loading"
            )
    with ZipFile(content, "a") as archive:
        archive.comment = b"streamtopics " + _version().encode()
    with replace_file(path) as send:
        send(content.getbuffer())


def read(path: Path, trusted: Sequence[str | type] = ()) -> Any:
    """Load what `write` has saved."""
    # Its import takes a second.
    skops = import_module("skops.io")
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of names, such as [{trusted!r}]; got {trusted!r}")
    given = [t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted]
    source, strange = "another program", []
    try:
        with ZipFile(path) as archive:
            source = archive.comment.decode() or source
        named = skops.get_untrusted_types(file=path)
        strange = [name for name in named if name not in given and not is_known(name)]
        for name in given:
            with suppress(AttributeError, ImportError, ValueError):  # Else of no use to the file.
                resolve_name(name)
        value = skops.load(path, trusted=[name for name in named if name not in strange])
        check_held(value)
    except (MemoryError, OSError):
        # The content is not what is wrong.
        raise
    except Exception as error:
        what = (
            f"cannot be loaded: {error or type(error).__name__}; it was written by {source}, this "
            f"is streamtopics {_version()}"
        )
        if isinstance(error, BadZipFile):
            what = f"is damaged or cut, or was not written by streamtopics.save ({error})"
        elif strange:
            what = (
                f"names {', '.join(strange)}, which are not of streamtopics; if you trust where "
                f"the file is from, load it with trusted={strange}, or by the command with --trust"
            )
        raise LoadError(f"{path} {what}") from error
    return value


def _can_be_found(name: str) -> bool:
    """Whether `read` could find a class or function, and make an instance without arguments."""
    if name.startswith(("streamtopics.", "numpy.")):
        return False
    try:
        found: Any = resolve_name(name)
        if isinstance(found, type):
            cast("Any", found).__new__(found)
    except (ImportError, AttributeError, TypeError, ValueError):
        return False
    return not isinstance(found, type) or bool(found.__flags__ & PYTHON_TYPE)


def _version() -> str:
    # Not imported above: the package imports this.
    version: str = import_module("streamtopics").__version__
    return version
