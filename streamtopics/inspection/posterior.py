# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what a small Bayesian model has learnt, with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted


class PosteriorRow(NamedTuple):
    """One number of a model under its posterior.

    Attributes
    ----------
    block : str
        Part of the model, such as "components".
    parameter : str
        What it is, such as "mean" or "precision".
    place : tuple of int
        Where in the block: of a mixture the group, the component and the feature.
    feature : str or None
        The column of X that it belongs to, or "intercept"; None where it belongs to none.
    mean, deviation : float
        Posterior mean and standard deviation; NaN or infinite where there is none.
    low, high : float
        Ends of the interval.
    """

    block: str
    parameter: str
    place: tuple[int, ...]
    feature: str | None
    mean: float
    deviation: float
    low: float
    high: float


def posterior_table(
    estimator: Any, feature_names: Any = None, *, interval: float = 0.95
) -> list[PosteriorRow]:
    """Return posterior means, standard deviations and intervals of a `StreamingBayes`.

    Parameters
    ----------
    estimator : StreamingBayes
        Fitted.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns; None is those that the estimator was fitted with, or "x0", "x1"
        and so on.
    interval : float, default=0.95
        Posterior probability between `low` and `high`; as much is below as above.

    Returns
    -------
    table : list of PosteriorRow
        A row for each number of the model; as a frame by `pandas.DataFrame(table)`. Each row is
        of the number alone: how numbers depend on each other is left out. Intervals of a mixture
        are too narrow where its components overlap; see :doc:`/user_guide/asking` for wider ones.

    Raises
    ------
    TypeError
        If `estimator` is no `StreamingBayes`.
    ValueError
        If `interval` is not between 0 and 1, or `feature_names` do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.inspection import posterior_table
    >>> from streamtopics.models import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1))
    >>> y = 2 * X[:, 0] + 1 + 0.5 * rng.normal(size=100)
    >>> model = StreamingBayes(LinearRegression()).fit(X, y)
    >>> for row in posterior_table(model, ["dose"]):
    ...     print(f"{row.feature or row.parameter:9} {row.mean:.2f} {row.low:.2f} {row.high:.2f}")
    dose      2.01 1.90 2.11
    intercept 0.97 0.87 1.08
    precision 3.54 2.63 4.57
    """
    if isinstance(estimator, type) or not hasattr(type(estimator), "n_samples_seen_"):
        raise TypeError(f"estimator must be a fitted StreamingBayes; got {estimator!r:.60}")
    if not (isinstance(interval, Real) and 0 < interval < 1):
        raise ValueError(f"interval must be between 0 and 1, for example 0.95; got {interval!r}")
    check_is_fitted(estimator)
    names = _names(estimator, feature_names)
    model, posterior = estimator.model_, estimator.posterior_
    etas = estimator._whole(lambda: {name: posterior[name].copy() for name in posterior.blocks})
    rows: list[PosteriorRow] = []
    for name, block in posterior.blocks.items():
        of_block = names if name in model.by_feature else None
        for parameter, law in block.family.marginals(etas[name]).items():
            origin = getattr(model, "origins", {}).get((name, parameter), 0.0)
            low, high = law.interval(float(interval))
            figures = (law.mean() + origin, law.std(), low + origin, high + origin)
            rows += _rows(name, parameter, of_block, [np.asarray(x, np.float64) for x in figures])
    return rows


def _rows(
    block: str, parameter: str, names: list[str] | None, figures: list[np.ndarray]
) -> Iterator[PosteriorRow]:
    """Rows of the numbers of one kind in a block, the last axis by name where it has names."""
    for place in product(*map(range, figures[0].shape)):
        # The noise of a regression belongs to no column.
        feature = names[place[-1]] if names and place else None
        yield PosteriorRow(block, parameter, place, feature, *(float(x[place]) for x in figures))


def _names(estimator: Any, feature_names: Any) -> list[str]:
    """The names of the columns, and of an intercept after them."""
    n = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n)])
    names = [str(name) for name in feature_names]
    if len(names) != n:
        raise ValueError(f"feature_names must be those of {n} columns; got {len(names)}")
    group = getattr(estimator.model_, "group_column", None)
    if group is not None:
        # It is no feature of the components.
        del names[group]
    return [*names, "intercept"]
