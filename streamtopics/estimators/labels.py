# SPDX-License-Identifier: BSD-3-Clause
"""Checked labels of documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length

from streamtopics.utils.checks import check_not_masked, is_masked
from streamtopics.utils.structure import check_one_kind, is_missing


def read_labels(y: Any, n_documents: int, caller: str) -> np.ndarray:
    if y is None:
        raise ValueError(
            f"{caller} requires y to be passed, but the target y is None; pass the class of each "
            "row of X"
        )
    check_not_masked(y, caller, "y")
    y = np.asarray(y) if not hasattr(y, "shape") and not isinstance(y, list) else y
    check_one_kind(y if np.ndim(y) == 1 else np.ravel(y), "y", caller)
    labels: np.ndarray = _check_y(y)
    check_consistent_length(np.empty(n_documents), labels)
    if n_documents:
        check_classification_targets(labels)
    return labels


def read_some_labels(y: Any, n_documents: int) -> np.ndarray:
    if y is None:
        return np.full(n_documents, None)
    # Masked entries become None.
    labels = np.asarray(y.tolist() if is_masked(y) else y, dtype=object).ravel()
    check_consistent_length(np.empty(n_documents), labels)
    return labels


def codes_of(labels: np.ndarray, names: Sequence[Any], remedy: str) -> np.ndarray:
    """Indices of labels in `names`, -1 for a missing label."""
    places = {name: place for place, name in enumerate(names)}
    known = [label for label in labels.tolist() if not is_missing(label)]
    if strange := sorted({label for label in known if label not in places}, key=str):
        raise ValueError(f"y has the labels {strange[:5]}, not among {list(places)}; {remedy}")
    return np.array([places.get(label, -1) for label in labels.tolist()], np.int64)
