# SPDX-License-Identifier: BSD-3-Clause
"""Seed words, which are known to belong to some topics."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from streamtopics.priors.columns import (
    MASS_PER_WORD,
    Columns,
    PriorRecord,
    Vocabulary,
    check_positive,
    check_words,
    word_columns,
)
from streamtopics.utils.checks import MOST_WHOLE, check_integer, check_one_of, is_whole
from streamtopics.utils.structure import has_entries

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
    ValueError, TypeError
        If a seed word is not in the vocabulary, a topic does not exist, a number is out of its
        range, or topics are named by a mixture of positions and names.

    See Also
    --------
    SeedWords : The same, made when a model is fitted.

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
            f"{n_components}"
        )
    return topics


@dataclass(frozen=True, repr=False)
class SeedWords(PriorRecord):
    """Words that are known to belong to some topics, looked up when a model is fitted.

    The prior is that of `seed_prior`, made once the columns of the counts are known. So seed
    words can be a parameter of any topic model, in a pipeline on raw texts too.

    Parameters
    ----------
    seeds : mapping of topic to words, or list of lists of words
        Topics are positions (int), or names (str), which take the positions 0, 1, ... in the
        order of the mapping; of a model whose topics belong to classes or sentiments, the
        names are those of them, numbers too where they are numbers. A list gives words to the
        topics 0, 1, ...
    strength : float
        Pseudo-count added for each seed word in its topic, in tokens.
    base : float, default=0.05
        Pseudo-count of every word in every topic.
    elsewhere : float or None, default=None
        Pseudo-count, instead of `base`, of a seed word in the topics that it is no seed of.
        Less than a thousandth of the seed's own pseudo-count excludes the word there. None is
        `base`.
    missing : {"error", "ignore"}, default="error"
        What to do with a seed word that is in no column.
    vocabulary : mapping of word to column, sequence of words by column or None, default=None
        The words, for counts whose columns have no names. None takes the names of the
        columns, as a data frame and the counts of `streamtopics.text.NamedVectorizer` have
        them.

    See Also
    --------
    seed_prior : The array.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import BPSLDA
    >>> from streamtopics.priors import SeedWords
    >>> from streamtopics.text import NamedVectorizer
    >>> texts = ["a ship at sea", "the deep sea", "a plane in the sky", "the blue sky"] * 50
    >>> seeds = SeedWords({"water": ["sea"], "air": ["sky"]}, strength=10)
    >>> model = make_pipeline(
    ...     NamedVectorizer(CountVectorizer()),
    ...     BPSLDA(2, boosted_prior=seeds, batch_size=20, random_state=0),
    ... ).fit(texts)
    >>> model[-1].top_words(n_words=1)
    [['sea'], ['sky']]
    """

    seeds: Seeds | Sequence[Collection[str]]
    strength: float
    base: float = MASS_PER_WORD
    elsewhere: float | None = None
    missing: Literal["error", "ignore"] = "error"
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        seeds = _by_topic(self.seeds)
        is_mapping = isinstance(seeds, Mapping) and len(seeds) > 0
        if not (is_mapping and all(is_whole(topic) for topic in seeds)):
            # Whole numbers may be names of classes, which are known later.
            seeded_topics(seeds, None)
        _check_apart(seeds)
        elsewhere = self.base if self.elsewhere is None else self.elsewhere
        check_options(self.strength, self.base, elsewhere, self.missing)

    def resolve(self, columns: Columns) -> np.ndarray:
        """The prior of these columns, of shape (n_components, n_features)."""
        if columns.n_components is None:
            raise ValueError(
                "SeedWords give topics words of their own, but the topics here share one prior; "
                "pass ZipfPrior or an array of shape (n_features,), or use another model"
            )
        words = columns.vocabulary("SeedWords", self.vocabulary)
        return seed_prior(
            by_class(self.seeds, columns.classes), words, self.strength,
            n_components=columns.n_components, base=self.base, elsewhere=self.elsewhere,
            missing=self.missing,
        )  # fmt: skip


def _by_topic(seeds: Any) -> Any:
    """Words by topic, also of a list."""
    is_list = isinstance(seeds, Collection) and has_entries(seeds)
    return dict(enumerate(seeds)) if is_list and not isinstance(seeds, Mapping) else seeds


def by_class(seeds: Any, classes: np.ndarray | None) -> Any:
    """Words by position, where the groups of topics have names; numbers are names where all are."""
    by_topic = _by_topic(seeds)
    if classes is None or not isinstance(seeds, Mapping):
        return by_topic
    places = {name: place for place, name in enumerate(classes.tolist())}
    if all(isinstance(topic, str) for topic in seeds):
        places = {str(name): place for name, place in places.items()}
    elif not all(isinstance(name, int | float) for name in places):
        return by_topic
    if strange := [topic for topic in seeds if topic not in places]:
        raise ValueError(
            f"seeds are given for {strange}, which are not among the classes {list(places)}; use "
            "their names"
        )
    return {places[topic]: words for topic, words in seeds.items()}


def _check_apart(seeds: Mapping[Any, Collection[str]]) -> None:
    """Refuse what is no list of words, and words of two topics."""
    topic_of: dict[str, Any] = {}
    for topic, words in seeds.items():
        check_words(f"the seeds of topic {topic!r}", words)
        for word in words:
            if topic_of.setdefault(word, topic) != topic:
                raise ValueError(
                    f"{word!r} is a seed of the topics {topic_of[word]!r} and {topic!r}, so it "
                    "cannot tell them apart; leave it out of all but one"
                )
