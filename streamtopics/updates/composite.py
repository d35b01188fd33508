# SPDX-License-Identifier: BSD-3-Clause
"""Several minibatches as one update, taken in by a posterior that has gone on meanwhile.

Minibatches that are learnt one after another from a posterior lam_v, on another machine, leave

    lam = R_v lam_v + G + P eta + X xi,

with R_v the product of what the steps retain. The posterior that takes them in has seen other
minibatches since, so that the same steps would have other sizes now: with R_t and w_t the shares
retained and the weights of new statistics as they would be after lam_t,

    lam <- R_t lam_t + (w_t / w_v) (G + X xi) + P_t eta.

Weights within G stay as they were.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.posteriors import Blend
from streamtopics.posteriors.protocol import Counters


@dataclass(frozen=True)
class Composite:
    """Minibatches that were learnt one after another, as one update of what they started from.

    Attributes
    ----------
    blend : Blend
        The update.
    before : Counters
        Of the posterior that the first of them was learnt from.
    alpha : ndarray of shape (n_components,)
        Dirichlet parameter of the documents' topic proportions then.
    states : tuple (object, object)
        State of the rule before the first and after the last of them.
    """

    blend: Blend
    before: Counters
    alpha: np.ndarray
    states: tuple[Any, Any]

    def is_of(self, now: Counters) -> bool:
        """Whether the first of them was learnt from a posterior with these counters."""
        return self.before.n_learnt == now.n_learnt
