# SPDX-License-Identifier: BSD-3-Clause
"""Checks of parameters; the only module with scikit-learn's own checks."""

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils.validation import check_array

from streamtopics.base.frame import StreamingEstimator
from streamtopics.priors import MASS_PER_WORD, Columns, Symmetric, resolved
from streamtopics.utils.checks import LEAST_PRIOR as LEAST_PRIOR
from streamtopics.utils.checks import MOST_DOCUMENTS, MOST_WHOLE
from streamtopics.utils.checks import MOST_PRIOR as MOST_PRIOR
from streamtopics.utils.structure import check_structure

POSITIVE_INT = Interval(Integral, 1, MOST_WHOLE, closed="both")
BOOSTING_SCALE = Interval(Real, 0, 1e10, closed="both")
PSEUDO_COUNTS = [Interval(Real, LEAST_PRIOR, MOST_PRIOR, closed="both"), "array-like"]
WORD_PRIOR = [None, *PSEUDO_COUNTS, HasMethods("resolve"), callable]

COMMON_CONSTRAINTS = {
    "n_components": [POSITIVE_INT],
    "doc_topic_prior": [None, Symmetric, *PSEUDO_COUNTS],
    "topic_word_prior": WORD_PRIOR,
    "boosted_prior": WORD_PRIOR,
    "kappa": [Interval(Real, 0, 1, closed="both")],
    "tau": [Interval(Real, 0, np.inf, closed="left")],
    "n_documents": [None, Interval(Integral, 1, MOST_DOCUMENTS, closed="both")],
    "n_sweeps": [POSITIVE_INT],
    "n_start_rounds": [POSITIVE_INT],
    "update_each_sweep": ["boolean"],
    "n_rounds": [POSITIVE_INT],
    "start": "no_validation",
    "update": "no_validation",
    "inference": "no_validation",
    "view": "no_validation",
    "doc_topic_prior_update": "no_validation",
    "boosting_scale": [BOOSTING_SCALE],
    "boosting_norm": [StrOptions({"whole", "topic"})],
    "max_local_iter": [POSITIVE_INT],
    "tol": [Interval(Real, 0, np.inf, closed="left")],
    "local_tol": [Interval(Real, 0, np.inf, closed="left")],
    "batch_size": [POSITIVE_INT],
    "max_iter": [POSITIVE_INT],
    "n_jobs": [None, Integral],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


def check_prior(prior: object, name: str, shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
    check_structure(prior, "a model", name)
    checked: np.ndarray = check_array(
        prior, ensure_2d=False, dtype=np.float64, input_name=name, allow_nd=True, copy=True
    )
    fits = checked.shape in shapes.values()
    if not (fits and checked.min() >= LEAST_PRIOR and checked.max() <= MOST_PRIOR):
        expected = " or ".join(f"{shape} {what}" for what, shape in shapes.items())
        raise ValueError(
            f"{name} must have shape {expected} and lie in [{LEAST_PRIOR:g}, {MOST_PRIOR:g}]; it "
            f"has shape {checked.shape} and goes from {checked.min(initial=np.inf):g} to "
            f"{checked.max(initial=-np.inf):g}. A small value such as 1e-8 excludes a word"
        )
    return checked


def check_topic_word_prior(
    prior: object,
    name: str,
    n_components: int | None,
    n_features: int,
    components: str = "n_components",
) -> np.ndarray:
    """The prior by word, (n_features or 1, n_components or 1).

    n_components, in messages `components`, is None if all topics share one prior.
    """
    if prior is None:
        prior = MASS_PER_WORD
    if isinstance(prior, Real):
        return check_prior([prior], name, {"(1,)": (1,)}).reshape(1, 1)
    shapes: dict[str, tuple[int, ...]] = {"(n_features,)": (n_features,)}
    if n_components is not None:
        shapes[f"({components}, n_features)"] = (n_components, n_features)
    return np.ascontiguousarray(np.atleast_2d(check_prior(prior, name, shapes)).T)


def check_word_prior(
    estimator: StreamingEstimator,
    name: str,
    X: sparse.csr_matrix,
    n_components: int | None,
    components: str = "n_components",
    *,
    y: np.ndarray | None = None,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """The estimator's prior of this name for the columns of X, as in `check_topic_word_prior`."""
    given = getattr(estimator, name)
    columns = Columns(X, estimator._names_seen, n_components, y, classes)
    if callable(given):
        columns.counts(name)
    prior = resolved(given, columns)
    if prior is None and given is not None:
        raise TypeError(f"{name}={given!r} returned None, not an array of pseudo-counts")
    return check_topic_word_prior(prior, name, n_components, X.shape[1], components)
