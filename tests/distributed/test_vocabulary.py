# SPDX-License-Identifier: BSD-3-Clause
"""Words that are counted in parts are those of `fit` on the whole; applying to partitions."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA
from streamtopics.distributed import (
    PartitionError,
    count_vocabulary,
    score_partitions,
    transform_partitions,
)
from streamtopics.text import StreamingCountVectorizer
from tests.distributed.corpus import PARTITIONS, X, serial
from tests.distributed.engines import Failing, Now

RNG = np.random.default_rng(0)
WORDS = np.array([f"w{i:03d}" for i in range(300)])
TEXTS = [
    " ".join(RNG.choice(WORDS, RNG.integers(1, 40), p=(p := RNG.dirichlet(np.full(300, 0.1)))))
    for _ in range(500)
]


@pytest.mark.parametrize("kind", [CountVectorizer, StreamingCountVectorizer])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_df": 5},
        {"min_df": 0.02, "max_df": 0.1},
        {"max_features": 40},
        {"max_features": 40, "min_df": 3, "max_df": 30},
        {"ngram_range": (1, 2), "min_df": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_parts", [1, 3, 70])
def test_the_words_are_those_of_all_texts(kind, settings, n_parts):
    vectorizer = kind(**settings)
    cuts = np.linspace(0, len(TEXTS), n_parts + 1).astype(int)
    parts = [TEXTS[a:b] for a, b in pairwise(cuts)]
    found = count_vocabulary(vectorizer, parts, Now())
    expected = kind(**settings).fit(TEXTS)
    if "max_features" in settings:  # which of two words with as many tokens is left is chance
        tokens = CountVectorizer(vocabulary=WORDS.tolist()).transform(TEXTS).sum(axis=0).A1
        count = dict(zip(WORDS, tokens, strict=True))
        sizes = [sorted(count[w] for w in v.get_feature_names_out()) for v in (found, expected)]
        assert sizes[0] == sizes[1]
    else:
        assert_array_equal(found.get_feature_names_out(), expected.get_feature_names_out())
        assert (found.transform(TEXTS) != expected.transform(TEXTS)).nnz == 0
    assert not hasattr(vectorizer, "vocabulary_")
    assert vectorizer.get_params() == kind(**settings).get_params()


def test_partitions_without_words_count_none():
    for counter in (CountVectorizer(), StreamingCountVectorizer()):
        found = count_vocabulary(counter, [["red"], [], ["?!", ""]], Now())
        assert found.get_feature_names_out().tolist() == ["red"]


def test_wrong_vocabularies_are_refused():
    with pytest.raises(ValueError, match="none of 2 words in 2 documents is left; lower min_df"):
        count_vocabulary(CountVectorizer(min_df=2), [["red"], ["blue"]], Now())
    with pytest.raises(PartitionError, match=r"could not be counted.*AttributeError"):
        count_vocabulary(CountVectorizer(), [["red"], [3]], Now())


def test_partitions_are_transformed_and_scored_in_order():
    model = serial(SVBLDA(4, batch_size=20, random_state=0))
    with ThreadPoolExecutor(2) as client:
        found = list(transform_partitions(model, PARTITIONS, client))
        score = score_partitions(model, PARTITIONS, client)
    assert_array_equal(np.concatenate(found), model.transform(X))
    assert_allclose(score, model.score(X), atol=0.01)
    assert np.isnan(score_partitions(model, [X[:0]], Now()))
    rest = transform_partitions(model, PARTITIONS, Failing("transform", {2}))
    assert_array_equal(next(rest), found[0])
    with pytest.raises(PartitionError, match="partition 1 could not be transformed") as error:
        next(rest)
    assert error.value.number == 1


def test_pipelines_transform_texts():
    model = make_pipeline(CountVectorizer(), SVBLDA(3, random_state=0)).fit(TEXTS)
    (found,) = transform_partitions(model, [TEXTS], Now())
    assert_array_equal(found, model.transform(TEXTS))


def test_a_model_that_knows_nothing_is_refused_before_anything_is_read():
    with pytest.raises(NotFittedError):
        transform_partitions(SVBLDA(), PARTITIONS, Now())
    with pytest.raises(NotFittedError):
        score_partitions(SVBLDA(), PARTITIONS, Now())
