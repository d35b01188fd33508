# SPDX-License-Identifier: BSD-3-Clause
"""A dry run of seed words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.priors.checks import vector
from streamtopics.priors.mass import MASS_PER_WORD
from streamtopics.priors.seeds import Seeds, seed_prior, seeded_topics
from streamtopics.priors.vocabulary import Vocabulary, word_columns


class SeedPull(NamedTuple):
    """One row of the table of `seed_pulls`: how strongly a seed word is drawn to its topic."""

    topic: int
    name: str
    word: str
    column: int
    pseudo_count: float
    odds: float
    prior_share: float


def seed_pulls(
    seeds: Seeds,
    vocabulary: Vocabulary,
    strength: float,
    *,
    counts: ArrayLike | None = None,
    n_components: int | None = None,
    base: float = MASS_PER_WORD,
    elsewhere: float | None = None,
    missing: str = "error",
) -> list[SeedPull]:
    """A dry run of `seed_prior`: what each seed word is expected to do.

    Parameters
    ----------
    seeds, vocabulary, strength, n_components, base, elsewhere, missing
        As in `seed_prior`.
    counts : array-like of shape (n_features,), default=None
        How often each word occurs in the stream, as far as known.

    Returns
    -------
    table : list of SeedPull
        A row for each seed word, ready for `pandas.DataFrame`. `odds` is how much
        more a token of the word is drawn, in the first minibatch, to the seeded
        topic than to one where it is no seed. `prior_share` is what part of the
        word's count in the topic the prior would be if all its tokens seen went
        there: near 1 the seed decides, near 0 the stream has washed it out (and a
        `boosting_scale` or more strength is called for); NaN without `counts`.

    Examples
    --------
    >>> from streamtopics.priors import seed_pulls
    >>> row = seed_pulls({"sea": ["ship"]}, ["plane", "ship"], 9.5, base=0.5, counts=[7, 90])[0]
    >>> row.word, row.odds, row.prior_share
    ('ship', 7.333333333333333, 0.1)
    """
    prior = seed_prior(
        seeds, vocabulary, strength, n_components=n_components, base=base, elsewhere=elsewhere,
        missing=missing,
    )  # fmt: skip
    other = base if elsewhere is None else elsewhere
    columns = word_columns(vocabulary)
    seen = np.full(len(columns), np.nan) if counts is None else vector(counts, "counts", 0.0)
    if len(seen) != len(columns):
        raise ValueError(f"counts must have shape ({len(columns)},); got ({len(seen)},)")
    topics = seeded_topics(seeds, n_components)
    table = []
    for topic, words in seeds.items():
        for word in dict.fromkeys(words):
            if word not in columns:
                continue
            k, column = topics[topic], columns[word]
            own = float(prior[k, column])
            odds = (1 + own) / (1 + other)
            share = own / (own + seen[column])
            table.append(SeedPull(k, str(topic), word, column, own, odds, float(share)))
    return table
