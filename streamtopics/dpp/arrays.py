# SPDX-License-Identifier: BSD-3-Clause
"""Types and handling of arrays that the modules of this package share."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Places: TypeAlias = NDArray[np.integer[Any]]
# Rows or numbers of the kind that a measure has, dense or sparse: their type hangs on its own.
Points: TypeAlias = Any


def dense(x: Any) -> Floats:
    """Return an array, of one itself or of a sparse matrix."""
    found: Floats = x.toarray() if hasattr(x, "toarray") else x
    return found


def products(A: Floats, B: Floats) -> Floats:
    """Return A B of each pair of matrices, in the bits that it has wherever these lie in memory.

    Of a matrix and a single column, BLAS without AVX rounds as its vectors are aligned.
    """
    if B.shape[-1] == 1:
        column: Floats = np.einsum("...ij,...jk->...ik", A, B)
        return column
    found: Floats = A @ B
    return found


def squares(x: Any) -> Any:
    """Return the squares of the entries of an array or a sparse matrix."""
    return x.multiply(x) if hasattr(x, "multiply") else x**2
