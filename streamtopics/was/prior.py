# SPDX-License-Identifier: BSD-3-Clause
import numpy as np


def stick_parameters(a, b, n=None):
    a, b = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (a, b))
    n = max(len(a), len(b)) if n is None else n
    return tuple(np.append(x, np.full(max(0, n - len(x)), x[-1]))[:n] for x in (a, b))
