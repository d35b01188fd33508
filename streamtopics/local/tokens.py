# SPDX-License-Identifier: BSD-3-Clause
"""Tokens for the samplers, which move whole ones, out of counts that may be fractions."""

import numpy as np

from streamtopics.messages import Minibatch

MOST_TOKENS = 1024
# Counts this little above a whole number, as a part of it, are that number.
ROUNDING = 1e-6


def cut(minibatch: Minibatch) -> tuple[np.ndarray, np.ndarray]:
    """Cut each entry of the minibatch into tokens of equal weight.

    A count c is ceil(c) tokens of equal weight, but at most 1024.

    Returns
    -------
    n_tokens : ndarray of shape (nnz,), int32
    token_weight : ndarray of shape (nnz,), float64
    """
    whole = np.ceil(minibatch.counts * (1 - ROUNDING))
    n_tokens = np.minimum(whole, MOST_TOKENS).astype(np.int32)
    return n_tokens, minibatch.counts / np.maximum(n_tokens, 1.0)
