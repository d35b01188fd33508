# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays that the modules of this package share."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Places: TypeAlias = NDArray[np.integer[Any]]
# Rows or numbers of the kind that a measure has, dense or sparse: their type hangs on its own.
Points: TypeAlias = Any
