# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the numbers that priors are made of."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.utils.checks import LEAST_PRIOR, MOST_PRIOR, floats, is_number, plain

# Mass of the default prior, in tokens for each word.
MASS_PER_WORD = 0.05


def check_positive(**values: Any) -> None:
    """Refuse what is no number of tokens that a prior can have."""
    for name, value in values.items():
        if not (is_number(value) and LEAST_PRIOR <= plain(value) <= MOST_PRIOR):
            raise ValueError(
                f"{name} must be a number in [{LEAST_PRIOR:g}, {MOST_PRIOR:g}]; got {value!r:.60}"
            )


def vector(given: ArrayLike, name: str, least: float) -> np.ndarray:
    """A number for each word, none of them less than `least`."""
    values = floats(given, name)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must have shape (n_features,); got {values.shape}")
    if not (np.isfinite(values).all() and (values >= least).all()):
        raise ValueError(
            f"{name} must be finite and at least {least:g}; the smallest is {values.min():g}"
        )
    return values
