# SPDX-License-Identifier: BSD-3-Clause
"""A rule that steps through a minibatch in parts, as one update.

Each part sees what the parts before it would make of the posterior. As every step is affine,
so are all of them together:

    retain_2 (retain_1 lam + gain_1 s_1 + prior_1 eta) + gain_2 s_2 + prior_2 eta.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, Learn, TopicPosterior
from streamtopics.posteriors.rows import add_scaled
from streamtopics.updates.rule import Rule

LEAST_KEPT = 1e-50

Share = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]


def in_parts(
    parts: Iterable[tuple[Rule, Learn]],
    scratch: TopicPosterior,
    words: np.ndarray,
    state: Any,
    share: Share,
) -> tuple[Blend, Any]:
    """The blend of all parts together, and the state after them.

    Parameters
    ----------
    parts : iterable of (Rule, Learn)
        The rule of each part, and the local step on it; at least one.
    scratch : TopicPosterior
        A copy of the posterior, of the words of the minibatch alone, which is written.
    words : ndarray of shape (n_words,), int32
        These words, sorted.
    state : object
        Of the rule.
    share : callable
        Runs a function on each of some tuples of arguments, perhaps at the same time.

    Returns
    -------
    blend : Blend
    state : object
    """
    # What is kept of the counts so far is multiplied in at the end, or before it gets too small.
    counts, kept = np.zeros((len(words), scratch.n_nodes)), np.ones(scratch.n_nodes)
    retain: Any = 1.0
    retention: Any = 1.0
    prior: Any = 0.0
    boost: Any = 0.0
    lengths, shares, n_wordless = [], [], 0
    directions: Any = 0.0
    for rule, learn in parts:
        blend, state = rule.step(scratch, learn, state)
        kept = kept * blend.retain
        if kept.min() < LEAST_KEPT:
            counts *= kept
            kept = np.ones(scratch.n_nodes)
        found = blend.statistics
        # Two things that write to memory of their own, one of them without the GIL.
        summed = add_scaled, counts, words, blend.gain / kept, found
        share(_call, [(scratch.blend, blend), summed])
        retain = blend.retain * retain
        retention = blend.reported_retention * retention
        prior = blend.retain * prior + blend.prior
        boost = blend.retain * boost + blend.boost
        lengths.append(found.lengths)
        n_wordless += found.n_wordless
        if found.shares is not None:
            shares.append(found.n_telling * found.shares)
        if found.directions is not None:
            new = np.reshape(blend.gain, (-1, 1)) * found.directions
            directions = np.reshape(blend.retain, (-1, 1)) * directions + new
    counts *= kept
    whole = np.concatenate(lengths)
    mean = sum(shares) / (np.count_nonzero(whole) + n_wordless) if shares else None
    statistics = Statistics(
        words, counts, whole, shares=mean, n_batches=len(lengths),
        directions=directions if np.ndim(directions) else None, n_wordless=n_wordless,
    )  # fmt: skip
    return replace(blend, retain=retain, retention=retention, gain=1.0, prior=prior, boost=boost,
                   statistics=statistics, alpha=scratch.alpha), state  # fmt: skip


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
