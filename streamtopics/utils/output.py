# SPDX-License-Identifier: BSD-3-Clause
"""What estimators show: data frames with the labels of documents, and links to their pages."""

import sys
from importlib import import_module
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils._set_output import _get_output_config

from streamtopics.utils.structure import is_pandas, is_sparse

# The one place that says so; `Documentation` of the project's metadata has to be the same.
DOCUMENTATION = "https://streamtopics.github.io/streamtopics/"


class LinksToReference:
    """An estimator of ours whose HTML representation links to its page of the API reference."""

    _doc_link_module: ClassVar[str] = "streamtopics"
    _doc_link_template: ClassVar[str] = DOCUMENTATION + "api/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        kind = type(self)
        package, folder, *_ = kind.__module__.split(".")
        is_at_the_top = kind.__name__ in sys.modules[package].__all__
        return {"page": f"{package if is_at_the_top else f'{package}.{folder}'}.{kind.__name__}"}


def row_labels(X: object) -> Any:
    """The labels of the rows of X: of pandas, or of counts of such texts; None if it has none."""
    return getattr(X, "index", None) if is_pandas(X) or is_sparse(X) else None


def document_labels(X: object, groups: Any) -> Any:
    """The labels of documents: where rows of X are sentences, those of their first rows."""
    labels = row_labels(X)
    if groups is None or labels is None:
        return labels
    first: dict[Any, int] = {}
    for row, group in enumerate(groups):
        first.setdefault(group, row)
    return labels[[*first.values()]]


def outputs_pandas(estimator: object) -> bool:
    """Whether `transform` of this estimator was asked for data frames of pandas."""
    return bool(_get_output_config("transform", estimator)["dense"] == "pandas")


def labelled(estimator: object, values: np.ndarray, labels: object) -> np.ndarray:
    """Values as a data frame with these labels of rows, if one of pandas was asked for.

    The one that scikit-learn makes of counts has no labels, and would be joined by other rows.
    """
    if labels is None or not outputs_pandas(estimator):
        return values
    # scikit-learn names the columns of what is a data frame already.
    frame: Any = import_module("pandas").DataFrame(values, index=labels)
    return cast("np.ndarray", frame)
