# SPDX-License-Identifier: BSD-3-Clause
"""Measures against those of gensim, on what its own tests are about, and of rouge-score."""

import numpy as np
import pytest

from streamtopics.metrics import rouge, topic_coherence

MEASURES = {"umass": "u_mass", "c_v": "c_v", "uci": "c_uci", "npmi": "c_npmi"}
# What gensim adds to each probability.
EPSILON = 1e-12


@pytest.fixture(scope="module")
def gensims():
    found = pytest.importorskip("gensim.test.test_coherencemodel").TestCoherenceModel()
    found.setUp()
    return found


@pytest.mark.parametrize("measure", MEASURES)
def test_coherence_of_gensims_own_topics_is_gensims(measure, gensims):
    model = pytest.importorskip("gensim.models").CoherenceModel
    topics = gensims.topics1 + gensims.topics2
    texts, corpus = gensims.texts, gensims.corpus
    source = {"corpus": corpus} if measure == "umass" else {"texts": texts, "processes": 1}
    expected = model(
        topics=topics, dictionary=gensims.dictionary, coherence=MEASURES[measure], **source
    ).get_coherence_per_topic()
    if measure == "umass":
        names = list(gensims.dictionary.token2id)
        X = [[name in text for name in names] for text in texts]
        how = {"feature_names": names, "epsilon": EPSILON}
    else:
        X, how = texts, {"window": "auto", "epsilon": EPSILON}
    found = topic_coherence(topics, X, measure=measure, **how)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # As gensim's tests demand of it.
    assert found[:2].mean() > found[2:].mean()


@pytest.mark.parametrize(
    ("order", "name"), [(1, "rouge1"), (2, "rouge2"), (3, "rouge3"), ("l", "rougeL")]
)
def test_rouge_is_that_of_rouge_score(order, name):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([name])
    rng = np.random.default_rng(0)
    words = ["The", "the", "Fish", "fish,", "2", "was", "good.", "It", "rained!", "(not)", "so-so"]
    texts = [" ".join(rng.choice(words, n)) for n in rng.integers(0, 15, 80)]
    expected = [scorer.score(*pair) for pair in zip(texts[:40], texts[40:], strict=True)]
    found = rouge(texts[40:], texts[:40], order=order)
    got = np.column_stack([found.precision, found.recall, found.f1])
    np.testing.assert_allclose(got, [row[name] for row in expected], atol=1e-12)


def test_rouge_of_several_references_is_the_best_of_rouge_score():
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1"])
    references, summary = ["The soup was good and hot.", "Good food."], "The soup was hot."
    expected = scorer.score_multi(references, summary)["rouge1"]
    [*found] = rouge([summary], [references], several="max")
    np.testing.assert_allclose(np.ravel(found), expected, atol=1e-12)
