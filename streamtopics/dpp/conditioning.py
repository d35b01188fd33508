# SPDX-License-Identifier: BSD-3-Clause
"""The rest of a set of which some points are given.

If Y is in X, the other points are a process of the same kind, with

    A' = A - A Phi_Y' (Diag(delta) + Phi_Y A Phi_Y')^-1 Phi_Y A,

delta the noise with respect to p; p cancels. A' = F' F'', F' = F C, with A = F F' and
C C' = I - F'Phi_Y' (Diag(delta) + Phi_Y F F'Phi_Y')^-1 Phi_Y F.

Source: Borodin and Rains (2005), "Eynard-Mehta theorem, Schur process, and their Pfaffian
analogs", proposition 1.2, by a Schur complement.
"""

import numpy as np

from streamtopics.dpp.arrays import Points
from streamtopics.dpp.kernel import Kernel, Process


def condition(process: Process, points: Points) -> Process:
    """Return the process of the further points, given that these are in the set.

    Counting noise takes the given points out of the ground set; Background noise may give them
    again. Points of probability 0, such as twice the same without noise, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Counting, Items, Kernel, Process
    >>> from streamtopics.dpp.conditioning import condition
    >>> from streamtopics.dpp.marginal import marginals
    >>> kernel = Kernel([[1.0, 0.0], [1.0, 0.1], [0.0, 3.0]], [1.0, 1.0])
    >>> process = Process(Items.of(3), kernel, Counting(0.0))
    >>> items = np.arange(3)
    >>> marginals(process, items).round(2)
    array([0.33, 0.33, 0.9 ])
    >>> marginals(condition(process, np.array([0])), items).round(2)  # Item 1 is like item 0.
    array([0. , 0. , 0.9])
    """
    measure, noise = process.measure, process.noise
    left = noise.remove(measure, points)
    F = process.kernel.root
    Z = measure.features(points) @ F
    delta = noise.diagonal(measure.log_p(points))
    lengths = np.sqrt(delta + (Z**2).sum(axis=1))
    unit = np.where(lengths > 0, lengths, 1.0)
    Z = Z / unit[:, None]
    correlation = np.diag(delta / unit**2) + Z @ Z.T
    values, vectors = np.linalg.eigh(correlation)
    if (values <= 4 * len(values) * np.finfo(float).eps).any():
        raise ValueError(
            f"the {len(values)} given points have probability 0: with respect to p the smallest "
            f"eigenvalue of their correlations is {values[0]:g}. Give each point once, none "
            "without features, and not more than the rank; or give the noise a positive level"
        )
    whitened = vectors.T @ Z / np.sqrt(values)[:, None]
    # The root of I - W'W comes from the singular values s of W: (1 - s^2)^{1/2}.
    _, s, R = np.linalg.svd(whitened, full_matrices=False)
    U = F - ((F @ R.T) * (1 - np.sqrt(np.maximum((1 - s) * (1 + s), 0.0)))) @ R
    return Process(left, Kernel(U, np.ones(U.shape[1])), noise)
