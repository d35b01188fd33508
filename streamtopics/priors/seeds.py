# SPDX-License-Identifier: BSD-3-Clause
"""Seed words of topics and sentiments."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from streamtopics.priors.columns import (
    MASS_PER_WORD,
    Columns,
    PriorRecord,
    Vocabulary,
    check_words,
    needed,
    word_columns,
)
from streamtopics.utils.checks import MOST_WHOLE, check_one_of, check_tokens, is_whole
from streamtopics.utils.structure import has_entries

Seeds = Mapping[str, Collection[str]] | Mapping[int, Collection[str]]


POSITIVE_WORDS = (
    "good", "great", "excellent", "perfect", "love", "loved", "loves", "nice", "best", "happy",
    "amazing", "wonderful", "fantastic", "awesome", "enjoy", "enjoyed", "recommend",
    "recommended", "pleased", "superb", "beautiful", "favorite", "favourite", "fun", "easy",
    "brilliant", "impressed", "impressive", "perfectly", "highly",
)  # fmt: skip
# The last line are words made by `mark_negations` of denied praise.
NEGATIVE_WORDS = (
    "bad", "poor", "poorly", "terrible", "worst", "worse", "awful", "horrible", "disappointed",
    "disappointing", "disappointment", "waste", "wasted", "wrong", "useless", "broken", "junk",
    "annoying", "problem", "problems", "boring", "failed", "fails", "hate", "crap", "stupid",
    "unfortunately", "ridiculous", "dull", "mediocre",
    "notgood", "notworth", "notrecommend", "notlike", "notwork", "nothappy", "notbuy", "notgreat",
    "notenjoy",
)  # fmt: skip


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
    """Return a word prior with larger pseudo-counts for seed words in their topics.

    Parameters
    ----------
    seeds, strength, base, elsewhere, missing
        As in `SeedWords`.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.
    n_components : int or None, default=None
        Number of topics; None is the least number that includes all topics of `seeds`.

    Returns
    -------
    prior : ndarray of shape (n_components, n_features)
        Pseudo-counts, in tokens.

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
    topics = seeded_topics(seeds := _by_topic(seeds), n_components)
    prior = np.full((int(n_components or max(topics.values()) + 1), len(columns)), float(base))
    own = {}
    for topic, words in seeds.items():
        check_words(f"the seeds of topic {topic!r}", words)
        unknown = [word for word in words if word not in columns]
        if unknown and missing == "error":
            raise ValueError(
                f"seed words of topic {topic!r} are not in the vocabulary: {unknown}; leave these "
                "out, pass missing='ignore', or check the vectorizer's lower case and min_df"
            )
        own[topic] = list({columns[word] for word in words if word in columns})
    prior[:, [column for places in own.values() for column in places]] = float(elsewhere)
    for topic, places in own.items():
        prior[topics[topic], places] = float(base) + float(strength)
    return prior


def check_options(strength: float, base: float, elsewhere: float, missing: str) -> None:
    check_tokens(strength=strength, base=base, elsewhere=elsewhere)
    check_one_of(("error", "ignore"), missing=missing)


def seeded_topics(seeds: Seeds, n_components: int | None) -> dict[Any, int]:
    n = MOST_WHOLE if n_components is None else n_components
    if all(isinstance(topic, str) for topic in seeds):
        topics: dict[Any, int] = {topic: position for position, topic in enumerate(seeds)}
    else:
        topics = {topic: int(topic) if is_whole(topic) else -1 for topic in seeds}
    if not all(0 <= position < n for position in topics.values()):
        raise ValueError(
            f"seeds must be of at most {n:,} topics, all by name (str) or all by position (int, "
            f"from 0); got {len(seeds)}: {list(seeds)!r:.200}"
        )
    return topics


@dataclass(frozen=True, repr=False)
class SeedWords(PriorRecord):
    """A word prior with larger pseudo-counts for seed words in their topics.

    Parameters
    ----------
    seeds : mapping of topic to words, or list of lists of words
        Words of each topic. The keys are topic numbers, or names in the order of the topics 0, 1,
        ... In a model with classes or sentiments, the keys are the names of the classes or
        sentiments. A list has the words of the topics 0, 1, ...
    strength : float
        Pseudo-count added for each seed word in its topic, in tokens.
    base : float, default=0.05
        Pseudo-count of every word in every topic.
    elsewhere : float or None, default=None
        Pseudo-count of a seed word in all other topics; None is `base`. The other topics exclude
        the word if `elsewhere` is less than a thousandth of the pseudo-count in its own topic.
    missing : {"error", "ignore"}, default="error"
        Whether a seed word without a column is an error or ignored.
    vocabulary : mapping of word to column, sequence of words by column or None, default=None
        Column of each word; needed if the columns of X have no names. Data frames and counts of
        `streamtopics.text.NamedVectorizer` have names.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import BPSLDA
    >>> from streamtopics.priors import SeedWords
    >>> from streamtopics.text import NamedVectorizer
    >>> texts = ["a ship at sea", "the deep sea", "a plane in the sky", "the blue sky"] * 50
    >>> X = NamedVectorizer(CountVectorizer()).fit_transform(texts)
    >>> seeds = SeedWords({"water": ["sea"], "air": ["sky"]}, strength=10)
    >>> BPSLDA(2, boosted_prior=seeds, batch_size=20, random_state=0).fit(X).top_words(n_words=1)
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
        if not all(is_whole(topic) for topic in seeds):
            # Whole numbers may be names of classes, known later.
            seeded_topics(seeds, None)
        topic_of: dict[str, Any] = {}
        for topic, words in seeds.items():
            check_words(f"the seeds of topic {topic!r}", words)
            for word in words:
                if topic_of.setdefault(word, topic) != topic:
                    raise ValueError(
                        f"{word!r} is a seed of the topics {topic_of[word]!r} and {topic!r}; leave "
                        "the word in one topic only"
                    )
        elsewhere = self.base if self.elsewhere is None else self.elsewhere
        check_options(self.strength, self.base, elsewhere, self.missing)

    def resolve(self, columns: Columns) -> np.ndarray:
        n_components = needed(
            columns.n_components,
            "SeedWords give topics words of their own, but the topics here share one prior; pass "
            "ZipfPrior or an array of shape (n_features,), or use another model",
        )
        words = columns.vocabulary("SeedWords", self.vocabulary)
        return seed_prior(
            by_class(self.seeds, columns.classes), words, self.strength,
            n_components=n_components, base=self.base, elsewhere=self.elsewhere,
            missing=self.missing,
        )  # fmt: skip


def _by_topic(seeds: Any) -> Any:
    is_list = isinstance(seeds, Collection) and has_entries(seeds)
    return dict(enumerate(seeds)) if is_list and not isinstance(seeds, Mapping) else seeds


def by_class(seeds: Any, classes: np.ndarray | None) -> Any:
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
            f"seeds name {strange}, not among the classes {list(places)}; use names of classes"
        )
    return {places[topic]: words for topic, words in seeds.items()}


@dataclass(frozen=True, repr=False)
class SentimentWords(PriorRecord):
    """A word prior with typical words of each sentiment, for `AspectSentimentModel`.

    The pseudo-counts of the words of a sentiment have the same sum in all sentiments, so that no
    sentiment is preferred. A word of a long list may have less than `base`.

    Parameters
    ----------
    words : mapping of sentiment to words, default=None
        Words by sentiment. None is some thirty English words each for "positive" and "negative".
        Words without a column are ignored.
    strength : float, default=0.01
        Mean pseudo-count added for a word in its sentiment, in tokens. Words of longer lists get
        less. The default is small, because a boost adds the prior again with each minibatch.
    base : float, default=1e-4
        Pseudo-count of every word.
    elsewhere : float, default=1e-6
        Pseudo-count of a word of one sentiment in the other sentiments.
    vocabulary : mapping of word to column, sequence of words by column or None, default=None
        As in `SeedWords`.

    See Also
    --------
    streamtopics.text.mark_negations : Makes "notgood", a default negative word, of "not good".

    References
    ----------
    Section 5.2 of Nguyen et al. (2020), "Boosting prior knowledge in streaming variational Bayes",
    has the same `strength` and `base`, but `elsewhere` equal to `base`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import AspectSentimentModel
    >>> from streamtopics.priors import SentimentWords
    >>> from streamtopics.text import SentenceVectorizer
    >>> texts = ["Good room. The staff was friendly.", "Bad food. The soup was cold."] * 50
    >>> topics = AspectSentimentModel(
    ...     2, topic_word_prior=SentimentWords(), batch_size=20, random_state=0
    ... )
    >>> model = make_pipeline(SentenceVectorizer(), topics).fit(texts)
    >>> print(*model.predict(["A friendly staff.", "Cold soup!"]))
    positive negative
    """

    words: Mapping[str, Collection[str]] | None = None
    strength: float = 0.01
    base: float = 1e-4
    elsewhere: float = 1e-6
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        self._seeds()

    def resolve(self, columns: Columns) -> np.ndarray:
        seeds = self._seeds()
        column = word_columns(columns.vocabulary("SentimentWords", self.vocabulary))
        by_place: Any = by_class(seeds.seeds, columns.classes)
        places = {
            seeded: [column[word] for word in dict.fromkeys(by_place[name]) if word in column]
            for name, seeded in seeded_topics(by_place, columns.n_components).items()
        }
        lacking = [
            name for name, seeded in zip(seeds.seeds, places.values(), strict=True) if not seeded
        ]
        if lacking:
            raise ValueError(
                f"no word of the sentiment {lacking[0]!r} is in a column; pass words of these "
                "texts, or check the vectorizer's lower case, stop_words and min_df"
            )
        prior = seeds.resolve(columns)
        mean = np.mean([len(own) for own in places.values()])
        for seeded, own in places.items():
            prior[seeded, own] *= mean / len(own)
        return prior

    def _seeds(self) -> SeedWords:
        default = {"positive": POSITIVE_WORDS, "negative": NEGATIVE_WORDS}
        words = default if self.words is None else self.words
        return SeedWords(words, self.strength, self.base, self.elsewhere, "ignore", self.vocabulary)
