# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that change after something was learnt: what is read, and what is refused."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from streamtopics import (
    DPPSummarizer,
    GuidedTopics,
    LowRankDPP,
    StreamingBayes,
    StreamingLDA,
)
from streamtopics.distributed import learn_apart
from streamtopics.dpp import (
    Fourier,
)
from streamtopics.models import GaussianMixture, LinearRegression
from streamtopics.streams.monitoring.features import document_features
from streamtopics.text import (
    StreamingCountVectorizer,
)

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))


def test_what_was_learnt_is_read_whatever_parameters_are_now():
    model = StreamingLDA(2, update="hpp", random_state=0).partial_fit(COUNTS)
    expected = model.drift_report(), model.retention_, model.effective_sample_size_
    for update in (True, np.zeros(2), pd.DataFrame({"a": [1]}), "online_em"):
        report, retention, size = (
            model.set_params(update=update).drift_report(),
            model.retention_,
            model.effective_sample_size_,
        )
        assert report == expected[0]
        np.testing.assert_array_equal(retention, expected[1])
        np.testing.assert_array_equal(size, expected[2])
    seeded = GuidedTopics({"one": ["x0"], "two": ["x1"]}, n_unseeded=1)
    assert seeded.n_components == 3
    assert seeded.set_params(n_unseeded="x").n_components == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": "ten"}, "n_components"),
        ({"inference": np.zeros(2)}, "inference"),
        ({"update": pd.DataFrame({"a": [1]})}, "update"),
    ],
)
def test_parameters_that_became_wrong_are_named(parameters, message):
    sound = StreamingLDA(2, update="svb", random_state=0).partial_fit(COUNTS)
    model = deepcopy(sound).set_params(**parameters)
    words = f"{message}.*must be"
    for door in (
        lambda: model.merge(deepcopy(model)),
        lambda: deepcopy(sound).merge(model),
        lambda: learn_apart(model, [COUNTS]),
        lambda: document_features(model, sparse.csr_matrix(COUNTS, dtype=float)),
    ):
        with pytest.raises((ValueError, TypeError, AttributeError), match=words):
            door()
    with pytest.raises((ValueError, TypeError), match=f"^other: .*{message}"):
        deepcopy(sound).merge(model)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_parameters_of_a_vectorizer_that_became_wrong_are_named(learn):
    vectorizer = getattr(StreamingCountVectorizer(max_features=5), learn)(["a few words"])
    for parameters, message in (
        ({"binary": "no"}, "'binary' parameter"),
        ({"token_pattern": "("}, "token_pattern must be a regular expression"),
        ({"token_pattern": None}, "token_pattern must be a regular expression"),
        ({"dtype": "words"}, "dtype must be"),
    ):
        changed = deepcopy(vectorizer).set_params(**parameters)
        with pytest.raises((ValueError, TypeError), match=message):
            changed.transform(["words words"])
        with pytest.raises((ValueError, TypeError), match=message):
            getattr(clone(changed), learn)(["words words"])
    assert vectorizer.set_params(binary=True).transform(["words words"]).max() == 1


def test_a_quality_that_became_wrong_leaves_what_was_learnt():
    summarizer = DPPSummarizer().fit(["One sentence. And another one."])
    before = summarizer.n_batch_iter_
    assert summarizer.set_params(quality=np.zeros(2)).n_batch_iter_ == before


def test_a_vocabulary_is_not_exchanged_under_a_model():
    """Its topics would be read by other words."""
    texts = ["sea ship sea deep", "sun sky sun blue"]
    for vectorizer in (
        StreamingCountVectorizer(max_features=6).partial_fit(texts),
        StreamingCountVectorizer(vocabulary=["sea", "sun"]).partial_fit(texts),
        StreamingCountVectorizer().fit(texts),
    ):
        before = vectorizer.get_feature_names_out().tolist()
        with pytest.raises(ValueError, match="vocabulary has other words or columns"):
            vectorizer.set_params(vocabulary=["ship", "sky"]).partial_fit(texts)
        assert vectorizer.get_feature_names_out().tolist() == before


def test_what_a_bayesian_model_offers_is_what_it_has_learnt():
    X = np.random.default_rng(0).normal(size=(30, 2))
    line = StreamingBayes(LinearRegression()).fit(X, X[:, 0])
    line.set_params(model=GaussianMixture(2))
    assert not hasattr(line, "predict_proba")
    with pytest.raises(AttributeError, match=r"LinearRegression.* has learnt, has no 'transform'"):
        line.transform(X)
    assert deepcopy(line).fit_transform(X).shape == (30, 2)
    mixture = StreamingBayes(GaussianMixture(2), random_state=0).fit(X)
    before = mixture.transform(X)
    mixture.set_params(model=LinearRegression())
    np.testing.assert_array_equal(mixture.transform(X), before)
    assert not hasattr(mixture, "fit_transform")
    with pytest.raises(ValueError, match=r"model is .* now"):
        mixture.partial_fit(X)


def test_an_equal_ground_set_goes_on_and_another_is_told_of():
    points = Fourier(1, 2).sample(40, np.random.default_rng(0))
    sets = [points[i : i + 2] for i in range(0, 40, 2)]
    model = LowRankDPP(Fourier(1, 2), 2, max_iter=2, random_state=0).fit(sets)
    model.set_params(ground_set=Fourier(1, 2)).partial_fit(sets)
    for changed, message in (
        ({"ground_set": Fourier(1, 3)}, "learnt with Fourier"),
        ({"ground_set": "items"}, "learnt with Fourier"),
        ({"n_components": 3}, "n_components is 3 now, but the model was started with 2"),
    ):
        with pytest.raises(ValueError, match=message):
            deepcopy(model).set_params(**changed).partial_fit(sets)


def test_a_thesis_of_another_size_is_refused_also_of_texts_without_words():
    texts = ["One sentence. And another one.", "Two sentences here. The other one."]
    model = DPPSummarizer(quality="thesis", n_components=2, max_iter=2, random_state=0).fit(texts)
    with pytest.raises(ValueError, match="n_components is 3 now"):
        model.set_params(n_components=3).partial_fit(["!!!"])


LONG, SHORT = (np.random.default_rng(1).poisson(1.0, (60, width)) for width in (80, 6))


@pytest.mark.parametrize(("first", "second"), [(LONG, SHORT), (SHORT, LONG)])
def test_fit_anew_chooses_anew(first, second):
    # What "auto" stands for was that of the first fit, whose number of topics was another.
    model = StreamingLDA(3, random_state=0).fit(first).fit(second)
    fresh = StreamingLDA(3, random_state=0).fit(second)
    np.testing.assert_array_equal(model.components_, fresh.components_)
