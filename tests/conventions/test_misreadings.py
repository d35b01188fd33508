# SPDX-License-Identifier: BSD-3-Clause
"""What would be read as something else: missing labels, dates, words of other columns."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from streamtopics import AspectSentimentModel, MultiViewLDA
from streamtopics.priors import SeedWords, SentimentWords
from streamtopics.text import SentenceVectorizer
from tests.conventions.every import COUNTS, N, V


def test_seeds_of_classes_that_are_numbers_are_by_their_names():
    frame = pd.DataFrame(COUNTS, columns=[f"w{j}" for j in range(V)])
    y = np.arange(N) % 2 + 1
    fits = [
        MultiViewLDA(1, class_word_prior=SeedWords(seeds, 50.0), random_state=0).fit(frame, labels)
        for seeds in ({1: ["w0"], 2: ["w1"]}, {2: ["w1"], 1: ["w0"]})
        for labels in (y, y.astype(float), y.tolist())
    ]
    for model in fits[1:]:
        assert_array_equal(model.components_, fits[0].components_)
    # A list is by place, as are numbers where classes have names.
    for seeds, labels in (
        ([["w0"], ["w1"]], y),
        ({0: ["w0"], 1: ["w1"]}, y.astype(str)),
        ({"1": ["w0"], "2": ["w1"]}, y),
    ):
        prior = SeedWords(seeds, 50.0)
        model = MultiViewLDA(1, class_word_prior=prior, random_state=0).fit(frame, labels)
        assert_array_equal(model.components_, fits[0].components_)
    with pytest.raises(ValueError, match=r"seeds name \[0\], .* the classes \[1, 2\]; use"):
        MultiViewLDA(1, class_word_prior=SeedWords({0: ["w0"], 1: ["w1"]}, 50.0)).fit(frame, y)


@pytest.mark.parametrize("sentiments", [(1, 0), (1, -1), ("positive", "negative"), ("c", "a", "b")])
@pytest.mark.parametrize("prior", [SentimentWords, lambda words: SeedWords(words, 1.0)])
def test_sentiments_are_by_their_names_and_sorted_where_scorers_ask(sentiments, prior):
    words = [f"word{j}" for j in range(len(sentiments))]
    texts = [f"{word} {word}. {word} here" for word in words] * 6
    truth = list(sentiments) * 6
    model = make_pipeline(
        SentenceVectorizer(),
        AspectSentimentModel(
            1, sentiments=sentiments, batch_size=6, random_state=0,
            topic_word_prior=prior({n: [w] for n, w in zip(sentiments, words, strict=True)}),
        ),
    )  # fmt: skip
    assert cross_val_score(model, texts, truth, scoring="accuracy", cv=2).tolist() == [1, 1]
    found = cross_val_predict(model, texts, truth, method="predict_proba", cv=2)
    assert log_loss(truth, found) < 0.5
    model.fit(texts)
    assert_array_equal(model[-1].sentiment_names_, sentiments)
    assert_array_equal(model.classes_, sorted(sentiments))
    assert_array_equal(model.predict(texts), truth)
