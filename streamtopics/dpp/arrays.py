# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays that the modules of this package share."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.floating[Any]]
Places: TypeAlias = NDArray[np.integer[Any]]
Points: TypeAlias = NDArray[Any] | sparse.csr_matrix  # One row, or one number, for each point.
