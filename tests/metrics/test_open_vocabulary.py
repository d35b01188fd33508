# SPDX-License-Identifier: BSD-3-Clause
"""The score that charges for unknown words, against its formula and its limits."""

import itertools
import math
import pickle
import zlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.metrics import OpenVocabularyScorer, open_vocabulary_probability
from streamtopics.metrics.open_vocabulary import _alike, _all_counts, _keys
from streamtopics.metrics.predictive import held_out_log_probability, split_by
from streamtopics.text import NamedVectorizer

RNG = np.random.default_rng(0)
WORDS = np.array([f"word{i}" for i in range(30)])
SHARES = RNG.dirichlet(np.full(30, 0.3), size=3)


def texts_of(n, rng=RNG):
    return [" ".join(rng.choice(WORDS, size=25, p=SHARES[i % 3])) for i in range(n)]


TRAINING, TEXTS = texts_of(60), texts_of(30)


def fitted(vectorizer):
    model = StreamingLDA(3, batch_size=20, random_state=0)
    return make_pipeline(vectorizer, model).fit(TRAINING)


def alike_by_hand(examples, word):
    """Probability of a word, a character after the other, among all that there are."""
    pairs = Counter(pair for one in examples for pair in pairwise(f"\n{one}\n"))
    follows, comes = Counter(), Counter()
    for (before, after), n in pairs.items():
        follows[before] += n
        comes[after] += n

    def p(before, after):
        q = (comes[after] + 1 / 0x110001) / (comes.total() + 1)
        return (pairs[before, after] + q) / (follows[before] + 1)

    return math.prod(p(*pair) for pair in pairwise(f"\n{word}\n")) / (1 - p("\n", "\n"))


def held_out_by_hand(text):
    """How often each word of a text is held out: every fifth token from a start that is a hash."""
    mask, counts = 2**64 - 1, Counter(text.split())
    total = 1
    for word, n in counts.items():
        bits = int(np.float64(n).view(np.uint64))
        key = (zlib.crc32(word.encode()) + 1) * 0x9E3779B97F4A7C15
        total += (key & mask) ^ (bits * 0xD1342543DE82EF95 & mask)
    total &= mask
    start = (((total ^ (total >> 29)) * 0xBF58476D1CE4E5B9 & mask) >> 33) % 5
    tokens = [word for word in sorted(counts) for _ in range(counts[word])]
    return Counter(w for place, w in enumerate(tokens, 1) if (start + place) % 5 == 0)


def by_hand(pipeline, texts, n_characters):
    """The definition, a token at a time."""
    vocabulary, model = pipeline[0].vocabulary_, pipeline[-1]
    words = list(dict.fromkeys(w for text in texts for w in text.split()))
    held_out = np.array([[held_out_by_hand(text)[word] for word in words] for text in texts])
    observed = np.array([[text.split().count(word) for word in words] for text in texts]) - held_out
    known = np.array([word in vocabulary for word in words])
    counts = np.zeros((len(texts), len(vocabulary)))
    counts[:, [vocabulary[word] for word in words if word in vocabulary]] = observed[:, known]
    p = model.transform(counts) @ (model.components_ / model.components_.sum(axis=1)[:, None])
    u = (observed[:, ~known].sum() + 0.5) / (observed.sum() + 1)
    examples = [word for word, n in zip(words, observed.sum(axis=0), strict=True) if n]
    spelled = {
        word: alike_by_hand(examples, word)
        if n_characters is None
        else n_characters ** -float(len(word)) / (n_characters - 1)
        for word in [*words, *vocabulary]
    }
    others = 1 - sum(spelled[word] for word in vocabulary)
    total = 0.0
    for d, j in zip(*held_out.nonzero(), strict=True):
        word = words[j]
        own = (1 - u) * p[d, vocabulary[word]] if known[j] else u * spelled[word] / others
        total += held_out[d, j] * np.log(own)
    return total / held_out.sum()


@pytest.mark.parametrize("min_df", [1, 15, 40])
@pytest.mark.parametrize("n_characters", [2, 64, None])
def test_is_what_the_formula_says(min_df, n_characters):
    pipeline = fitted(CountVectorizer(min_df=min_df))
    found = open_vocabulary_probability(pipeline, TEXTS, n_characters=n_characters)
    assert_allclose(found, by_hand(pipeline, TEXTS, n_characters), rtol=1e-12)


@pytest.mark.parametrize("n_characters", [64, None])
def test_the_order_of_the_texts_makes_no_difference(n_characters):
    texts = ["a ship at sea", "the deep sea", "a ship", "the sky", "stars in the sky"] * 20
    model = StreamingLDA(2, random_state=0)
    pipeline = make_pipeline(CountVectorizer(min_df=30), model).fit(texts)
    new = ["the deep blue sea", "a ship in the sky", "stars at sea", "a storm at sea and a ship"]
    first = open_vocabulary_probability(pipeline, new, n_characters=n_characters)
    for some in (new[::-1], [new[i] for i in (2, 0, 3, 1)]):
        found = open_vocabulary_probability(pipeline, some, n_characters=n_characters)
        assert_allclose(found, first, rtol=1e-12)


def test_a_text_is_split_as_it_is_alone_beside_any_others():
    words, X = _all_counts(TEXTS, str.split)
    assert words.tolist() == sorted({word for text in TEXTS for word in text.split()})
    held_out = split_by(X, 0, _keys(words))[1].toarray()
    for text, row in zip(TEXTS, held_out, strict=True):
        own, alone = _all_counts([text], str.split)
        found = dict(zip(own, split_by(alone, 0, _keys(own))[1].toarray()[0], strict=True))
        assert found == {word: row[words.tolist().index(word)] for word in own}
        assert {word: n for word, n in found.items() if n} == held_out_by_hand(text)


@pytest.mark.parametrize("examples", [[], ["ab"], ["a", "ba", "bb", "\u00e9\ud800"]])
def test_a_word_spelled_as_examples_are(examples):
    """Characters that never came have a share, and there is no word without any."""
    words = ["a", "abba", "ba", "x", "\u00e9\ud800", "\U0001f600y"]
    expected = [alike_by_hand(examples, word) for word in words]
    assert_allclose(np.exp(_alike(examples, words)), expected, rtol=1e-9)
    assert _alike(examples, []).shape == (0,)
    if examples:
        letters = sorted(set("".join(examples)))
        every = [list(map("".join, itertools.product(letters, repeat=n))) for n in range(1, 7)]
        found = [np.exp(_alike(examples, some)).sum() for some in every]
        assert 0.5 < sum(found) < 1
        assert found[0] + found[1] > found[-1]


def test_the_words_of_the_texts_are_less_surprising_than_even_characters():
    pipeline = fitted(CountVectorizer(min_df=40))
    even = open_vocabulary_probability(pipeline, TEXTS)
    assert open_vocabulary_probability(pipeline, TEXTS, n_characters=None) > even


def test_with_all_words_known_it_is_the_score_and_the_price_of_having_met_no_stranger():
    words = sorted({w for text in TEXTS for w in text.split()})
    X = CountVectorizer(vocabulary=words).fit_transform(TEXTS).astype(float)
    moved = fitted(CountVectorizer(vocabulary=words))
    observed, held_out = split_by(X, 0, _keys(np.array(words)))
    score = held_out_log_probability(moved[-1], observed, held_out).sum() / held_out.sum()
    price = np.log1p(-0.5 / (observed.sum() + 1))
    assert_allclose(open_vocabulary_probability(moved, TEXTS), score + price, rtol=1e-9)


def test_a_search_no_longer_picks_the_smallest_vocabulary():
    grid = {"countvectorizer__min_df": [1, 0.6]}
    pipeline = make_pipeline(CountVectorizer(), StreamingLDA(3, batch_size=20, random_state=0))
    closed = GridSearchCV(pipeline, grid, cv=2).fit(TRAINING)
    opened = GridSearchCV(pipeline, grid, cv=2, scoring=OpenVocabularyScorer()).fit(TRAINING)
    assert closed.best_params_["countvectorizer__min_df"] == 0.6
    assert opened.best_params_["countvectorizer__min_df"] == 1


def test_named_counts_and_one_scorer_are_as_good():
    plain, named = fitted(CountVectorizer()), fitted(NamedVectorizer(CountVectorizer()))
    scorer = pickle.loads(pickle.dumps(OpenVocabularyScorer(32, 1)))
    assert scorer == OpenVocabularyScorer(32, 1)
    found = open_vocabulary_probability(plain, TEXTS, n_characters=32, random_state=1)
    assert scorer(plain, TEXTS) == scorer(named, TEXTS) == found


def test_no_tokens_have_no_score_and_strangers_alone_have_one():
    pipeline = fitted(CountVectorizer())
    assert np.isnan(open_vocabulary_probability(pipeline, ["", "?"]))
    assert np.isfinite(open_vocabulary_probability(pipeline, ["quite other tokens than those"]))


def test_what_cannot_be_scored_is_refused_by_name():
    with pytest.raises(TypeError, match="pipeline must lead from texts"):
        open_vocabulary_probability(SVBLDA(2), TEXTS)
    with pytest.raises(ValueError, match="n_characters must be at least 2"):
        open_vocabulary_probability(fitted(CountVectorizer()), TEXTS, n_characters=1)
    for vectorizer in (CountVectorizer(binary=True), TfidfVectorizer()):
        with pytest.raises(ValueError, match="must give the counts of words"):
            open_vocabulary_probability(fitted(vectorizer), TEXTS)
    steps = CountVectorizer(), FunctionTransformer(), SVBLDA(2, batch_size=50, random_state=0)
    with pytest.raises(TypeError, match="not iterable"):
        open_vocabulary_probability(make_pipeline(*steps).fit(TEXTS), TEXTS)
