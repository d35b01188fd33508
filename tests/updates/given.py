# SPDX-License-Identifier: BSD-3-Clause
"""Statistics that are given, in the place of a local step."""

import numpy as np


def given(statistics):
    """A `learn` that says the same whatever it sees."""

    def learn(view, *, warm=False):
        return statistics

    return learn


def take(rule, posterior, learn, state=None):
    """Blend one minibatch in; the state after it."""
    blend, state = rule.step(posterior, learn, state)
    posterior.blend(blend)
    return state


def dense(statistics, n_words):
    """The counts of all words, of which most may have none."""
    out = np.zeros((n_words, statistics.counts.shape[1]))
    out[statistics.words] = statistics.counts
    return out
