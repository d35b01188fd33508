# SPDX-License-Identifier: BSD-3-Clause
"""The Student t density: a Gaussian whose mean and precision are normal-gamma."""

import numpy as np
from scipy.special import gammaln

Numbers = float | np.ndarray


def log_student_t(x: Numbers, location: Numbers, degrees: Numbers, scale2: Numbers) -> np.ndarray:
    """Log density, in nats.

    Parameters
    ----------
    x, location, degrees, scale2 : array-like of shapes that broadcast
        `scale2` is the square of the scale.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.models.student_t import log_student_t
    >>> float(np.exp(log_student_t(0.0, 0.0, 1.0, 1.0)).round(4))  # 1 / pi
    0.3183
    """
    z2 = (x - location) ** 2 / (degrees * scale2)
    constant = gammaln((degrees + 1) / 2) - gammaln(degrees / 2)
    found: np.ndarray = constant - 0.5 * (
        np.log(np.pi * degrees * scale2) + (degrees + 1) * np.log1p(z2)
    )
    return found
