# SPDX-License-Identifier: BSD-3-Clause
"""Types of the parameters that several estimators have."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.priors import Symmetric, WordPrior

RandomState = int | np.random.RandomState | None
# Pseudo-counts by word: a number or an array, or what makes one when a model is fitted.
WordPriorLike = ArrayLike | WordPrior | Callable[..., Any] | None
DocTopicPriorLike = ArrayLike | Symmetric | None
# Counts of words in documents, or in sentences with their documents.
MatrixLike = ArrayLike | sparse.spmatrix | sparse.sparray
SentencesLike = MatrixLike | Sequence[MatrixLike]
OptionalArray = ArrayLike | None
