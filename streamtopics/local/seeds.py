# SPDX-License-Identifier: BSD-3-Clause
"""Seeds and noise as functions of counters: no result depends on an order of drawing."""

import numpy as np

from streamtopics.kernels import minibatch as kernel
from streamtopics.messages import Minibatch

SIXTEEN_OF_32 = np.uint64(0x0000FFFF0000FFFF)


def standard_noise(seed: int, words: np.ndarray, n_components: int) -> np.ndarray:
    """Sums of four uniforms, standardised: hashes of (seed, word, topic)."""
    cells: np.ndarray = words.astype(np.uint64)[:, None] * np.uint64(n_components)
    cells = cells + np.arange(n_components, dtype=np.uint64)
    bits = mix(cells ^ mix(np.array([seed], dtype=np.uint64)))
    pairs = (bits & SIXTEEN_OF_32) + ((bits >> np.uint64(16)) & SIXTEEN_OF_32)
    uniforms = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    found: np.ndarray = (uniforms / 2.0**16 - 2.0) * 3.0**0.5
    return found


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), elementwise."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: np.ndarray = x ^ (x >> np.uint64(31))
    return found


def document_seeds(seed: int, n_before: int, n_documents: int) -> np.ndarray:
    """Seeds of the documents that come after `n_before` others of a stream."""
    found: np.ndarray = kernel.document_seeds(seed, n_before, n_documents)
    return found


def content_seeds(minibatch: Minibatch) -> np.ndarray:
    """Seeds that depend on what is in a document, in single precision, and on nothing else."""
    bits = minibatch.counts.astype(np.float32).astype(np.float64).view(np.uint64)
    entries = mix(bits ^ mix(minibatch.words.astype(np.uint64))[minibatch.indices])
    entries[minibatch.counts == 0] = 0
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return mix(np.diff(running[minibatch.indptr]))
