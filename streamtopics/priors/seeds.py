# SPDX-License-Identifier: BSD-3-Clause
"""Seed words, which are known to belong to some topics, and a dry run of them."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.priors.checks import MASS_PER_WORD, check_positive, vector
from streamtopics.priors.columns import Vocabulary, check_words, word_columns
from streamtopics.utils.checks import EXCLUDED, MOST_WHOLE, check_integer, check_one_of, is_whole

Seeds = Mapping[str, Collection[str]] | Mapping[int, Collection[str]]


def seed_prior(
    seeds: Seeds,
    vocabulary: Vocabulary,
    strength: float,
    *,
    n_components: int | None = None,
    base: float = MASS_PER_WORD,
    elsewhere: float | None = None,
    missing: str = "error",
) -> np.ndarray:
    """A prior under which some words belong to some topics.

    Parameters
    ----------
    seeds : mapping of topic to words
        Topics are positions or names, as in `SeedWords`.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.
    strength, base, elsewhere, missing
        As in `SeedWords`.
    n_components : int or None, default=None
        Number of topics; None for as many as the seeds name.

    Returns
    -------
    prior : ndarray of shape (n_components, n_features)

    Raises
    ------
    ValueError
        If a seed word is not in the vocabulary, a topic does not exist, or a
        number is out of its range.
    TypeError
        If topics are named by a mixture of positions and names, or the seeds of one are no
        list of words, or `n_components` is no integer.

    See Also
    --------
    SeedWords : The same, made when a model is fitted.
    seed_pulls : What each of the seeds is expected to do.

    Examples
    --------
    >>> from streamtopics.priors import seed_prior
    >>> seed_prior({"sea": ["ship"], "air": ["plane"]}, ["plane", "ship", "sun"], 5.0, base=0.5)
    array([[0.5, 5.5, 0.5],
           [5.5, 0.5, 0.5]])
    """
    columns = word_columns(vocabulary)
    elsewhere = base if elsewhere is None else elsewhere
    check_options(strength, base, elsewhere, missing)
    topics = seeded_topics(seeds, n_components)
    prior = np.full((int(n_components or max(topics.values()) + 1), len(columns)), float(base))
    own = {}
    for topic, words in seeds.items():
        check_words(f"the seeds of topic {topic!r}", words)
        unknown = [word for word in words if word not in columns]
        if unknown and missing == "error":
            raise ValueError(
                f"seed words of topic {topic!r} that are not in the vocabulary: {unknown}; leave "
                "them out, pass missing='ignore', or check the vectorizer's lower case and min_df"
            )
        own[topic] = list({columns[word] for word in words if word in columns})
    prior[:, [column for places in own.values() for column in places]] = float(elsewhere)
    for topic, places in own.items():
        prior[topics[topic], places] = float(base) + float(strength)
    return prior


def check_options(strength: float, base: float, elsewhere: float, missing: str) -> None:
    """Refuse numbers that are out of their range, and other words for `missing`."""
    check_positive(strength=strength, base=base, elsewhere=elsewhere)
    check_one_of(("error", "ignore"), missing=missing)


def seeded_topics(seeds: Seeds, n_components: int | None) -> dict[Any, int]:
    """Position of each topic that `seeds` names."""
    if not isinstance(seeds, Mapping) or not seeds:
        raise ValueError(f"seeds must map at least one topic to its words; got {seeds!r}")
    if n_components is not None:
        check_integer(most=MOST_WHOLE, n_components=n_components)
    named = [isinstance(topic, str) for topic in seeds]
    if all(named):
        topics = {topic: position for position, topic in enumerate(seeds)}
    elif not any(named) and all(is_whole(t) and 0 <= t < MOST_WHOLE for t in seeds):
        topics = {topic: int(topic) for topic in seeds}
    else:
        raise TypeError(
            "the topics of seeds must be all names (str) or all positions (int from 0, below "
            f"{MOST_WHOLE:,}); got {list(seeds)!r}"
        )
    if n_components is not None and max(topics.values()) >= n_components:
        raise ValueError(
            f"seeds name a topic at position {max(topics.values())}, but n_components is "
            f"{n_components}; positions start at 0"
        )
    return topics


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
            odds = (1 + own) / (1 + float(other)) * max(1.0, EXCLUDED * own / float(other)) ** 2
            share = own / (own + seen[column])
            table.append(SeedPull(k, str(topic), word, column, own, odds, float(share)))
    return table
