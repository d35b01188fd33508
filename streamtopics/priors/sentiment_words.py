# SPDX-License-Identifier: BSD-3-Clause
"""Words that praise and words that blame, as a parameter of a model."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.priors.columns import Columns, PriorRecord, Vocabulary, word_columns
from streamtopics.priors.seeds import SeedWords, by_class, seeded_topics

PRAISE = (
    "good", "great", "excellent", "perfect", "love", "loved", "loves", "nice", "best", "happy",
    "amazing", "wonderful", "fantastic", "awesome", "enjoy", "enjoyed", "recommend",
    "recommended", "pleased", "superb", "beautiful", "favorite", "favourite", "fun", "easy",
    "brilliant", "impressed", "impressive", "perfectly", "highly",
)  # fmt: skip
# The last line is what `mark_negations` makes of praise that is denied.
BLAME = (
    "bad", "poor", "poorly", "terrible", "worst", "worse", "awful", "horrible", "disappointed",
    "disappointing", "disappointment", "waste", "wasted", "wrong", "useless", "broken", "junk",
    "annoying", "problem", "problems", "boring", "failed", "fails", "hate", "crap", "stupid",
    "unfortunately", "ridiculous", "dull", "mediocre",
    "notgood", "notworth", "notrecommend", "notlike", "notwork", "nothappy", "notbuy", "notgreat",
    "notenjoy",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class SentimentWords(PriorRecord):
    """Words of sentiments, looked up when a model is fitted: the prior of a sentiment model.

    As `SeedWords`, but with defaults that suit `AspectSentimentModel`, a list of English words,
    and the same pseudo-counts in all sentiments however many words each of them has: the words of
    a sentiment with more prior would be less probable in it.

    Parameters
    ----------
    words : mapping of sentiment to words, default=None
        By the names of the model's `sentiments`. None is some thirty English words each of praise
        and of blame, for "positive" and "negative". Words that are in no column are left out.
    strength : float, default=0.01
        Pseudo-count added for each word in its sentiment, in tokens, on average over the
        sentiments. It is little because a boost of the model adds it again with every minibatch.
    base : float, default=1e-4
        Pseudo-count of every word.
    elsewhere : float, default=1e-6
        Pseudo-count of a word of one sentiment in the others, where it is hardly said.
    vocabulary : mapping of word to column, sequence of words by column or None, default=None
        The words, for counts whose columns have no names; as in `SeedWords`.

    See Also
    --------
    streamtopics.text.mark_negations : Makes "notgood" of "not good", which is in the list.

    References
    ----------
    The three numbers are those of section 5.2 of Nguyen et al. (2020), "Boosting prior knowledge in
    streaming variational Bayes", but for `elsewhere`, which is `base` there.

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
        """The prior of these columns, of shape (n_sentiments, n_features)."""
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
                f"no word of the sentiment {lacking[0]!r} is in a column; pass words that are said "
                "in these texts, or check the vectorizer's lower case, stop_words and min_df"
            )
        prior = seeds.resolve(columns)
        mean = np.mean([len(own) for own in places.values()])
        for seeded, own in places.items():
            prior[seeded, own] *= mean / len(own)
        return prior

    def _seeds(self) -> SeedWords:
        words = {"positive": PRAISE, "negative": BLAME} if self.words is None else self.words
        return SeedWords(words, self.strength, self.base, self.elsewhere, "ignore", self.vocabulary)
