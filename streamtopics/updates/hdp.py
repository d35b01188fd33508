# SPDX-License-Identifier: BSD-3-Clause
"""Updates of a hierarchical Dirichlet process: topics come and go, tables weigh them.

In the Chinese restaurant franchise a table of a document stands for one draw from the
weights pi of the topics, so that with S_k tables of topic k in all the documents

    (pi_1 .. pi_T, pi_u) ~ Dirichlet(S_1 .. S_T, concentration),

where pi_u is what is left for topics not represented. The running tables follow the
same affine rule as lam.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from streamtopics.messages import TableStatistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates.rule import Rule

# In tokens of a document; alpha of a topic that has hardly any tables stays above this.
LEAST_ALPHA = 1e-10

Weights = Callable[[np.ndarray, float], np.ndarray]


def mean_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """E[pi_k] under that Dirichlet: the M-step, and one that cannot lower the likelihood."""
    return tables / (tables.sum() + concentration)


def stick_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """prod of E[sticks] where pibar_k ~ Beta(1 + S_k, concentration + sum_{j>k} S_j)."""
    a = 1 + tables
    b = concentration + np.cumsum(tables[::-1])[::-1] - tables
    stick = a / (a + b)
    return stick * np.cumprod(np.append(1.0, 1 - stick[:-1]))


def apply_update(
    posterior: TopicPosterior,
    statistics: TableStatistics,
    rule: Rule,
    tables: np.ndarray,
    weights: Weights,
    b: float,
) -> tuple[TopicPosterior, Blend, np.ndarray, np.ndarray]:
    """A posterior that has the topics worth keeping, the blend for it, its tables and the topics.

    These are numbered as in the statistics. The posterior is the given one where the topics stay
    the same, and otherwise another, so that nothing has changed yet. `weights` makes pi of the
    running tables and of what those of one document count in them; alpha is b pi.
    """
    n_before = posterior.shape[1]
    topics = worth_keeping(posterior, statistics, rule)
    statistics = statistics.of(topics)
    if not np.array_equal(topics, np.arange(n_before)):
        known = topics < n_before
        places = np.where(known, topics, -1)
        posterior = posterior.with_topics(places, statistics.alpha)
        tables = np.where(known, tables[places], 0.0)
    blend, _ = rule.step(posterior, lambda _, warm=False: statistics, None)
    tables = blend.retain * tables + blend.gain * statistics.tables
    alpha = posterior.alpha
    if tables.any():
        alpha = np.maximum(b * weights(tables, float(blend.gain)), LEAST_ALPHA)
    return posterior, replace(blend, alpha=alpha), tables, topics


def worth_keeping(posterior: TopicPosterior, statistics: TableStatistics, rule: Rule) -> np.ndarray:
    """Topics that will have as much as one word of the minibatch counts, or the largest.

    The running mean stands for 1 / gain documents, so that it is a word in those. A
    minibatch without words drops none.
    """
    n_before = posterior.shape[1]
    if statistics.n_tokens == 0:
        return np.arange(n_before)
    blend, _ = rule.step(posterior, lambda _, warm=False: statistics, None)
    words = statistics.mass.copy()
    words[:n_before] += blend.retain * posterior.learnt_part / blend.gain
    return np.flatnonzero(words >= min(1.0, words.max()))
