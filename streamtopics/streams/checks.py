# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the parameters of what goes along a stream."""

from typing import Any

import numpy as np

from streamtopics.utils.checks import is_number
from streamtopics.utils.structure import has_entries


def check_not_negative(name: str, value: Any) -> None:
    """Refuse what is no finite number of at least 0."""
    if not is_number(value):
        raise TypeError(f"{name} must be a number; got {value!r}")
    if not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be finite and at least 0; got {value!r}")


def check_callables(name: str, values: Any) -> None:
    """Refuse what is no sequence of callbacks, such as one of them by itself."""
    if not has_entries(values):
        raise TypeError(
            f"{name} must be a sequence of callbacks, such as [ScoreHistory()]; got {values!r}"
        )
