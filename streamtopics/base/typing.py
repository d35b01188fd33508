# SPDX-License-Identifier: BSD-3-Clause
"""Types of the parameters that several estimators have."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.priors import Symmetric, WordPrior

RandomState = int | np.random.RandomState | None
# Pseudo-counts by word: a number or an array, or what makes one when a model is fitted.
WordPriorLike = ArrayLike | WordPrior | Callable[..., Any] | None
DocTopicPriorLike = ArrayLike | Symmetric | None
