# SPDX-License-Identifier: BSD-3-Clause
"""What is called along a stream, and what it is told of each minibatch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BatchInfo:
    """A minibatch that a model has just learnt from.

    Attributes
    ----------
    batch : int
        Its place in the stream, from 1.
    X : object
        The minibatch as the model was given it: counts, or texts for a pipeline.
    time : object
        When it is from; None where the stream does not say.
    n_documents : int
        Documents in it.
    n_tokens : float
        Tokens in it, of the words that the model knows.
    n_documents_seen : int
        Documents of the stream so far, these included.
    n_tokens_seen : float
        Tokens of the stream so far, these included.
    score : float
        Held-out score of the minibatch before it was learnt, nats per token; NaN where it was not
        asked for or there was nothing to score.
    """

    batch: int
    X: Any
    time: Any
    n_documents: int
    n_tokens: float
    n_documents_seen: int
    n_tokens_seen: float
    score: float


# Called as callback(model, info) after each minibatch; True ends the stream.
OnBatch = Callable[[Any, BatchInfo], bool | None]
