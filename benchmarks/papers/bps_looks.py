# SPDX-License-Identifier: BSD-3-Clause
"""Where streams are looked at: after some minibatches, the first and the last among them."""

from collections.abc import Iterator

import numpy as np

MOST = 10


def minibatches(n: int, size: int) -> Iterator[tuple[slice, bool, str, int]]:
    """Minibatches of n rows: their rows, whether to look after them, the moment, rows seen."""
    starts = range(0, n, size)
    last = len(starts) - 1
    looked = set(np.linspace(0, last, min(last + 1, MOST)).round().astype(int).tolist())
    for batch, start in enumerate(starts):
        end = min(start + size, n)
        yield slice(start, end), batch in looked, {0: "first", last: "last"}.get(batch, ""), end
