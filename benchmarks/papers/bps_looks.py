# SPDX-License-Identifier: BSD-3-Clause
"""Where streams are looked at: after some minibatches, the first and the last among them."""

from collections.abc import Iterator

import numpy as np

MOST = 10


def looks(n_batches: int, most: int = MOST) -> set[int]:
    """Minibatches (0, 1, ...) after which a stream is looked at, spread evenly over it."""
    return set(np.linspace(0, n_batches - 1, min(n_batches, most)).round().astype(int).tolist())


def moment(batch: int, n_batches: int) -> str:
    """Whether a look is the first one or the last one."""
    return {0: "first", n_batches - 1: "last"}.get(batch, "")


def minibatches(n: int, size: int) -> Iterator[tuple[slice, bool, str, int]]:
    """Minibatches of n rows: their rows, whether to look after them, the moment, rows seen."""
    starts = range(0, n, size)
    looked = looks(len(starts))
    for batch, start in enumerate(starts):
        end = min(start + size, n)
        yield slice(start, end), batch in looked, moment(batch, len(starts)), end
