# SPDX-License-Identifier: BSD-3-Clause
"""Types of parameters shared by estimators."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from streamtopics.priors import Symmetric, WordPrior

RandomState = int | np.random.RandomState | None
# Pseudo-counts by word: a number, an array, or a maker of pseudo-counts at the fit.
WordPriorLike = ArrayLike | WordPrior | Callable[..., Any] | None
DocTopicPriorLike = ArrayLike | Symmetric | None
# Counts of words in documents, or in sentences with their documents.
MatrixLike = ArrayLike | sparse.spmatrix | sparse.sparray
SentencesLike = MatrixLike | Sequence[MatrixLike]
OptionalArray = ArrayLike | None
