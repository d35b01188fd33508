# SPDX-License-Identifier: BSD-3-Clause
"""Seed words: words that are known to belong to some topics."""

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from streamtopics.priors.checks import check_positive
from streamtopics.priors.mass import MASS_PER_WORD
from streamtopics.priors.vocabulary import Vocabulary, word_columns

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
        Topics are positions (int), or names (str), which take the positions 0, 1,
        ... in the order of the mapping.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.
    strength : float
        Pseudo-count added for each seed word in its topic, in tokens.
    n_components : int or None, default=None
        Number of topics; None for as many as the seeds name.
    base : float, default=0.05
        Pseudo-count of every word in every topic.
    elsewhere : float or None, default=None
        Pseudo-count, instead of `base`, of a seed word in the topics that it is no seed of:
        much less says that it is hardly ever said there. None is `base`.
    missing : {"error", "ignore"}, default="error"
        What to do with a seed word that is not in the vocabulary.

    Returns
    -------
    prior : ndarray of shape (n_components, n_features)

    Raises
    ------
    ValueError
        If a seed word is not in the vocabulary, a topic does not exist, or a
        number is out of its range.
    TypeError
        If topics are named by a mixture of positions and names.

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
    check_positive(strength=strength, base=base, elsewhere=elsewhere)
    topics = seeded_topics(seeds, n_components)
    prior = np.full((n_components or max(topics.values()) + 1, len(columns)), float(base))
    own = {t: _seed_columns(words, columns, t, missing) for t, words in seeds.items()}
    prior[:, [column for words in own.values() for column in words]] = elsewhere
    for topic, words in own.items():
        prior[topics[topic], words] = base + strength
    return prior


def seeded_topics(seeds: Seeds, n_components: int | None) -> dict[Any, int]:
    """Position of each topic that `seeds` names."""
    if not isinstance(seeds, Mapping) or not seeds:
        raise ValueError(f"seeds must map at least one topic to its words; got {seeds!r}")
    if not (n_components is None or (isinstance(n_components, Integral) and n_components >= 1)):
        raise ValueError(
            f"n_components must be None or a positive number of topics; got {n_components!r}"
        )
    named = [isinstance(topic, str) for topic in seeds]
    if all(named):
        topics = {topic: position for position, topic in enumerate(seeds)}
    elif not any(named) and all(isinstance(t, Integral) and t >= 0 for t in seeds):
        topics = {topic: int(topic) for topic in seeds}
    else:
        raise TypeError(
            f"the topics of seeds must be all names (str) or all positions (int from 0); "
            f"got {list(seeds)!r}"
        )
    if n_components is not None and max(topics.values()) >= n_components:
        raise ValueError(
            f"seeds name a topic at position {max(topics.values())}, but n_components is "
            f"{n_components}; positions start at 0"
        )
    return topics


def _seed_columns(
    words: Collection[str], columns: Mapping[str, int], topic: int | str, missing: str
) -> list[int]:
    if isinstance(words, str):
        raise TypeError(f"the seeds of topic {topic!r} must be a list of words; got {words!r}")
    if missing not in ("error", "ignore"):
        raise ValueError(f"missing must be 'error' or 'ignore'; got {missing!r}")
    unknown = [word for word in words if word not in columns]
    if unknown and missing == "error":
        raise ValueError(
            f"seed words of topic {topic!r} that are not in the vocabulary: {unknown}; leave them "
            "out, pass missing='ignore', or check the vectorizer's lower case and min_df"
        )
    return list({columns[word] for word in words if word in columns})
