# SPDX-License-Identifier: BSD-3-Clause
"""Copies of a model, each of which has to be the same as the model."""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from streamtopics import load, save


def pickled(model: Any) -> Any:
    """The model, pickled and read again."""
    return pickle.loads(pickle.dumps(model))


def saved(model: Any) -> Any:
    """The model, saved and loaded."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        save(model, path)
        return load(path)
