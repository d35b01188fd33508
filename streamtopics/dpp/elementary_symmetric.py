# SPDX-License-Identifier: BSD-3-Clause
"""Elementary symmetric polynomials of eigenvalues, and subsets drawn with them.

e_m(lam) is the sum over subsets of size m of the product of their lam. All is in
logarithms, where sums of positive terms lose nothing and nothing overflows.

Source: Kulesza and Taskar (2012), "Determinantal point processes for machine learning",
algorithms 7 and 8.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from streamtopics.dpp.arrays import Floats, Places


def log_elementary(values: Floats, most: int) -> Floats:
    """Return log e_m of the first i values, none negative, in nats.

    Entry (i, m) of shape (n + 1, most + 1); -inf where there is no such subset.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.elementary_symmetric import log_elementary
    >>> np.exp(log_elementary(np.array([2.0, 3.0]), 2)[-1]).round(6)  # 1, 2 + 3, 2 * 3
    array([1., 5., 6.])
    """
    table = np.full((len(values) + 1, most + 1), -np.inf)
    table[:, 0] = 0.0
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    for i, log_value in enumerate(log_values):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], log_value + table[i, :-1])
    return table


def draw_subsets(values: Floats, sizes: Places, rng: Generator) -> NDArray[np.bool_]:
    """Draw a subset of each size m, with probability its product over e_m.

    At least m values are positive, none negative. Returns whether each value is taken, of shape
    (n_subsets, n).

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.elementary_symmetric import draw_subsets
    >>> rng = np.random.default_rng(0)
    >>> chosen = draw_subsets(np.array([1.0, 1.0, 2.0]), np.full(10000, 2), rng)
    >>> chosen.mean(axis=0).round(1)  # Of 1 + 2 + 2 in all, 3, 3 and 4 have the item.
    array([0.6, 0.6, 0.8])
    """
    table = log_elementary(values, int(sizes.max(initial=0)))
    chosen = np.zeros((len(sizes), len(values)), dtype=bool)
    left = sizes.copy()
    with np.errstate(divide="ignore"):
        log_values = np.log(values)
    for i in range(len(values) - 1, -1, -1):
        rows = np.flatnonzero(left)
        m = left[rows]
        log_share = log_values[i] + table[i, m - 1] - table[i + 1, m]
        taken = rows[rng.random(len(rows)) < np.exp(log_share)]
        chosen[taken, i] = True
        left[taken] -= 1
    return chosen
