# SPDX-License-Identifier: BSD-3-Clause
"""Words of sentiments as a prior, and words that are denied."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import streamtopics as st
from streamtopics.priors import Columns, SentimentWords, seed_prior
from streamtopics.priors.seeds import NEGATIVE_WORDS, POSITIVE_WORDS
from streamtopics.text import SentenceVectorizer, mark_negations

NAMES = np.array(["bad", "fine", "good", "great", "notgood"], dtype=object)
WORDS = {"positive": ["good", "great", "unheard"], "negative": ["bad"]}
CLASSES = np.array(["positive", "negative"])
TEXTS = ["Good room. The staff was friendly.", "Not good food. The soup was cold."] * 50


def columns(names=NAMES, classes=CLASSES):
    return Columns(np.ones((1, len(names))), names, 2, classes=classes)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Not good", "notgood"),
        ("It IS NOT a very good one, not 5.", "it is notgood one, not 5."),
        ("I can't recommend it; don\u2019t buy!", "i notrecommend it; notbuy!"),
        ("never ever nothing knot good", "notever nothing knot good"),
        ("It cannot be été", "it notété"),
        ("not.", "not."),
        ("Certainly not\n\nGreat one, not\ngood", "certainly not\n\ngreat one, notgood"),
    ],
)
def test_what_is_denied(text, marked):
    assert mark_negations(text) == marked


def test_sentiments_have_the_same_mass():
    """The array is that of seed words, but that each sentiment has as much of its own."""
    prior = SentimentWords(WORDS, strength=3.0, base=0.5, elsewhere=0.1).resolve(columns())
    seeds = seed_prior(WORDS, NAMES, 3.0, base=0.5, elsewhere=0.1, missing="ignore")
    # Two words and one: one and a half on average.
    seeds[0, 2:4] *= 1.5 / 2
    seeds[1, 0] *= 1.5
    assert_allclose(prior, seeds, rtol=1e-15)
    assert_allclose(prior[0, 2:4].sum(), prior[1, 0])


def test_its_list_of_words():
    assert not set(POSITIVE_WORDS) & set(NEGATIVE_WORDS)
    prior = SentimentWords().resolve(columns())
    assert (prior[0] > prior[1]).tolist() == [False, False, True, True, False]
    assert (prior[1] > prior[0]).tolist() == [True, False, False, False, True]
    assert prior[0, 1] == prior[1, 1] == 1e-4


@pytest.mark.parametrize(
    ("words", "names", "classes", "message"),
    [
        (WORDS, NAMES[1:4], CLASSES, "no word of the sentiment 'negative' is in a column"),
        (WORDS, None, CLASSES, "SentimentWords looks words up by name"),
        (None, NAMES, np.array(["fine", "dull"]), "not among the classes"),
    ],
)
def test_what_cannot_be_looked_up(words, names, classes, message):
    found = Columns(np.ones((1, 5)), names, 2, classes=classes)
    with pytest.raises(ValueError, match=message):
        SentimentWords(words).resolve(found)


def test_in_a_pipeline_it_is_cloned_saved_and_predicts(tmp_path):
    words = SentenceVectorizer(CountVectorizer(preprocessor=mark_negations, stop_words="english"))
    topics = st.AspectSentimentModel(
        2, topic_word_prior=SentimentWords(), batch_size=20, random_state=0
    )
    model = clone(make_pipeline(words, topics)).fit(TEXTS)
    asked = ["A friendly staff.", "Cold soup!", "not good"]
    assert model.predict(asked).tolist() == ["positive", "negative", "negative"]
    st.save(model, tmp_path / "m")
    again = st.load(tmp_path / "m")
    assert (again.predict_proba(asked) == model.predict_proba(asked)).all()
