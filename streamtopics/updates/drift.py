# SPDX-License-Identifier: BSD-3-Clause
"""Records of forgetting."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.posteriors import TOO_EXTREME, Blend, Posterior
from streamtopics.utils.times import without_pandas

KEPT_MINIBATCHES = 1000


@dataclass(frozen=True)
class Drift:
    """Share of each topic kept at a minibatch."""

    _holds = "retention: nan; effective_sample_size: nan"
    batch: int
    time: Any
    # (n_components,): shares, without the loss by growing weights
    retention: np.ndarray
    # (n_components,): mass of the posterior afterwards, in tokens, with the prior
    effective_sample_size: np.ndarray


def drift_of(posterior: Posterior, blend: Blend, time: object, n_hidden: int = 0) -> Drift:
    """Record of a blend, without the first `n_hidden` topics."""
    mass = posterior.after(blend).mass[n_hidden:]
    if not np.isfinite(mass).all():
        raise ValueError(TOO_EXTREME)
    kept = np.broadcast_to(np.asarray(blend.reported_retention, np.float64), posterior.n_nodes)
    return Drift(posterior.n_batches + 1, without_pandas(time), kept[n_hidden:].copy(), mass)


def kept_records(records: tuple[Drift, ...], record: Drift) -> tuple[Drift, ...]:
    return (*records[1 - KEPT_MINIBATCHES :], record)
