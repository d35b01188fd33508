# SPDX-License-Identifier: BSD-3-Clause
"""Vectors that come with documents: the door that they are read through."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

NO_END = "to learn otherwise start anew with fit"


def check_vectors(vectors: Any, n_documents: int, learnt: int | None, caller: str) -> Any:
    """Vectors of documents scaled to length 1, 0 for a document without; None if there are none.

    Parameters
    ----------
    vectors : array-like of shape (n_documents, n_dimensions) or None
    n_documents : int
    learnt : int or None
        Dimensions of those learnt from so far, 0 if they were none; None before the first.
    caller : str
        For messages.
    """
    where = f"vectors, passed to {caller},"
    if vectors is None:
        if learnt and caller.endswith("fit"):
            raise ValueError(
                f"vectors, lacking in {caller}, must be passed where the model was started with "
                f"{said_of(learnt)}; a document without one has a row of NaN; {NO_END}"
            )
        return None
    try:
        found = check_array(
            vectors, dtype=(np.float64, np.float32), ensure_all_finite=False, ensure_min_samples=0,
            input_name="vectors",
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where} must be rows of numbers: {error}") from error
    if len(found) != n_documents:
        raise ValueError(
            f"{where} must have a row for each of the {n_documents} documents; it has {len(found)}"
        )
    if learnt is not None and found.shape[1] != learnt:
        raise ValueError(
            f"{where} has {found.shape[1]} dimensions, but the model was started with "
            f"{said_of(learnt)}; {NO_END}"
        )
    lacking = np.isnan(found).all(axis=1)
    odd = np.flatnonzero(~lacking & ~np.isfinite(found).all(axis=1))
    if len(odd):
        raise ValueError(
            f"{where} must be finite; row {odd[0]} is {found[odd[0]]!s:.60}; a document without a "
            "vector has a row of NaN alone, or of zeros"
        )
    found = np.where(lacking[:, None], found.dtype.type(0), found)
    # By the largest entry first: squares of large or small ones are infinite or 0.
    largest = np.maximum(found.max(axis=1), -found.min(axis=1))[:, None]
    np.divide(found, largest, out=found, where=largest > 0)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    np.divide(found, lengths, out=found, where=lengths > 0)
    return found


def said_of(n_dimensions: int) -> str:
    """Words for vectors of so many dimensions."""
    return f"vectors of {n_dimensions} dimensions" if n_dimensions else "no vectors"
