# SPDX-License-Identifier: BSD-3-Clause
"""Memory of worker processes that is kept for the next minibatch instead of given back at once."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache

# Of Dask's nannies by default, in bytes; another one is the user's own choice.
DASK_TRIM_THRESHOLD = "65536"
# Parameters of mallopt, and the values that glibc goes up to by itself where nothing is set.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_MMAP_THRESHOLD = 2**25


@cache
def keep_memory() -> bool:
    """Keep freed memory where Dask's settings have it given back at once; return whether it is.

    With these settings each array of more than 128 kB is new memory of the operating system, which
    takes longer than to learn from it: minibatches take about twice as long. The limits that are
    set for the whole process are those that glibc comes to by itself in others. Nothing is done
    where there are other settings, or no glibc.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != DASK_TRIM_THRESHOLD:
        return False
    with suppress(AttributeError, OSError, TypeError):  # No glibc.
        mallopt = ctypes.CDLL(None).mallopt
        return bool(
            mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
            and mallopt(M_TRIM_THRESHOLD, 2 * LARGEST_MMAP_THRESHOLD)
        )
    return False
