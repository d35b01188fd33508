# SPDX-License-Identifier: BSD-3-Clause
"""Plain Python twin of left-to-right evaluation, and the exact likelihood."""

import numpy as np

from tests.reference import lda

MASK = (1 << 64) - 1


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Stream:
    """SplitMix64 from a state."""

    def __init__(self, state):
        self.state = state

    def uniform(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return (mix(self.state) >> 11) / 2.0**53


def token_probabilities(weights, tokens, alpha, n_resampled, seed, n_particles):
    """p[r, n], for the tokens in the order drawn from the seed."""
    tokens = list(tokens)
    stream = Stream(mix(seed))
    for n in range(len(tokens) - 1, 0, -1):
        j = int(stream.uniform() * (n + 1))
        tokens[n], tokens[j] = tokens[j], tokens[n]
    out = np.empty((n_particles, len(tokens)))
    for r in range(n_particles):
        stream = Stream(mix((seed + r + 1) & MASK))
        z, counts = [], np.zeros(len(alpha))

        def draw(token, counts=counts, stream=stream):
            running = np.cumsum(weights[token] * (alpha + counts))
            k = np.searchsorted(running[:-1], stream.uniform() * running[-1], side="right")
            return int(k), running[-1]

        for n, token in enumerate(tokens):
            earlier = range(n) if n_resampled < 0 else range(n_resampled if n else 0)
            for j in earlier:
                i = j if n_resampled < 0 else int(stream.uniform() * n)
                counts[z[i]] -= 1
                z[i] = draw(tokens[i])[0]
                counts[z[i]] += 1
            k, total = draw(token)
            out[r, n] = total / (alpha.sum() + n)
            z.append(k)
            counts[k] += 1
    return out


def log_likelihood(tokens, topic_word, alpha):
    """log p(tokens) as a sequence, by summing over all assignments of topics."""
    return lda.log_likelihood(tokens, alpha, topic_word)
