# SPDX-License-Identifier: BSD-3-Clause
"""Data frames whose rows have the labels of the documents."""

from importlib import import_module
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils._set_output import _get_output_config


def row_labels(X: object) -> Any:
    """The labels of the rows of X: of pandas, or of counts of such texts; None if it has none."""
    return getattr(X, "index", None) if hasattr(X, "iloc") or sparse.issparse(X) else None


def document_labels(X: object, groups: Any) -> Any:
    """The labels of documents: where rows of X are sentences, those of their first rows."""
    labels = row_labels(X)
    if groups is None or labels is None:
        return labels
    first: dict[Any, int] = {}
    for row, group in enumerate(groups):
        first.setdefault(group, row)
    return labels[[*first.values()]]


def wants_pandas(estimator: object) -> bool:
    """Whether `transform` of this estimator was asked for data frames of pandas."""
    return bool(_get_output_config("transform", estimator)["dense"] == "pandas")


def labelled(estimator: object, values: np.ndarray, labels: object) -> np.ndarray:
    """Values as a data frame with these labels of rows, where one of pandas was asked for.

    scikit-learn makes one, but knows labels of data frames alone: rows of what is joined to it
    would be those of other documents.
    """
    if labels is None or not wants_pandas(estimator):
        return values
    # scikit-learn names the columns of what is a data frame already.
    frame: Any = import_module("pandas").DataFrame(values, index=labels)
    return cast("np.ndarray", frame)
