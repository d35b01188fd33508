# SPDX-License-Identifier: BSD-3-Clause
"""Seeds, and numbers beyond floating point, are refused by name."""

import numpy as np
import pytest
from scipy import sparse

from streamtopics import (
    SVBLDA,
    LowRankDPP,
    StreamingBayes,
)
from streamtopics.datasets import (
    load_docstrings,
    load_statements,
    make_dpp_sets,
    make_lda_corpus,
    make_rated_reviews,
    make_subtle_corpus,
)
from streamtopics.dpp import (
    Bernoulli,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
    Weighted,
)
from streamtopics.inspection import (
    compare_n_components,
    plot_curves,
    plot_sentences,
    plot_shares,
)
from streamtopics.metrics import (
    CoherenceScorer,
    left_to_right,
    perplexity,
    topic_coherence,
    topic_exclusivity,
)
from streamtopics.models import LinearRegression
from streamtopics.priors import (
    seed_prior,
    zipf_prior,
)
from streamtopics.text import (
    StreamingCountVectorizer,
)

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))


def learnt():
    return SVBLDA(2, random_state=0).fit(COUNTS)


SEEDED = {
    "an LDA corpus": lambda seed: make_lda_corpus(5, random_state=seed).X,
    "sets": lambda seed: make_dpp_sets(2, random_state=seed).sets.points,
    "sentences": lambda seed: make_subtle_corpus(2, random_state=seed).sentence_topic,
    "reviews": lambda seed: make_rated_reviews(5, random_state=seed).X,
    "docstrings": lambda seed: load_docstrings(packages=["joblib"], random_state=seed).target,
    "statements": lambda seed: load_statements(packages=["joblib"], random_state=seed).target,
    "numbers of topics": lambda seed: compare_n_components(
        SVBLDA(), COUNTS, [2], n_splits=2, random_state=seed).rows[0].score,
}  # fmt: skip


@pytest.mark.parametrize("door", SEEDED)
def test_seeds_are_refused_by_name(door):
    for seed in (2**63, 2**32, -1, 1.5, "a"):
        with pytest.raises(ValueError, match=f"random_state must be None, .*got {seed!r}"):
            SEEDED[door](seed)


@pytest.mark.parametrize("door", sorted(SEEDED.keys() - {"docstrings", "statements"}))
def test_seeds_of_all_kinds_are_taken(door):
    dense = [np.asarray(x.toarray() if sparse.issparse(x) else x) for x in (
        SEEDED[door](seed) for seed in (2**32 - 1, np.uint32(2**32 - 1),
        np.random.RandomState(2**32 - 1)))]  # fmt: skip
    np.testing.assert_array_equal(dense[0], dense[1])
    np.testing.assert_array_equal(dense[0], dense[2])
    SEEDED[door](None)


HUGE = 10**400


FILLED = {
    "X of a model": (lambda: learnt().fit([[HUGE, 1]]), "X"),
    "X of transform": (lambda: learnt().transform([[HUGE] * 6]), "X"),
    "X of a process": (lambda: LowRankDPP("multinomial").fit([[[HUGE, 1]]]), "X"),
    "X of samples": (lambda: StreamingBayes(LinearRegression()).fit([[HUGE]] * 3, [1] * 3), "X"),
    "y of samples": (
        lambda: StreamingBayes(LinearRegression()).fit([[1]] * 3, [HUGE] * 3), "y"),
    "X of a coherence": (lambda: topic_coherence([[0, 1]], [[HUGE, 1]]), "X"),
    "X of a scorer": (lambda: CoherenceScorer()(learnt(), [[HUGE] * 6]), "X"),
    "X of perplexity": (lambda: perplexity(learnt(), [[HUGE] * 6]), "X"),
    "topics of a measure": (lambda: topic_exclusivity([[HUGE, 1]]), "topics"),
    "X of a likelihood": (lambda: left_to_right([[HUGE, 1]], [[0.5, 0.5]], 1.0), "X"),
    "topics of a likelihood": (lambda: left_to_right([[1, 1]], [[HUGE, 1]], 1.0), "topic_word"),
    "a prior of a likelihood": (
        lambda: left_to_right([[1, 1]], [[0.5, 0.5]], [HUGE]), "doc_topic_prior"),
    "a prior of words": (
        lambda: SVBLDA(2, topic_word_prior=[HUGE] * 6).fit(COUNTS), "topic_word_prior"),
    "a prior of topics": (
        lambda: SVBLDA(2, doc_topic_prior=[HUGE, 1]).fit(COUNTS), "doc_topic_prior"),
    "a strength of seeds": (lambda: seed_prior({"a": ["x"]}, ["x"], HUGE), "strength"),
    "a base of seeds": (lambda: seed_prior({"a": ["x"]}, ["x"], 1.0, base=HUGE), "base"),
    "ranks": (lambda: zipf_prior([HUGE, 1]), "ranks"),
    "an exponent": (lambda: zipf_prior([2, 1], exponent=HUGE), "exponent"),
    "chances of words": (lambda: Bernoulli([HUGE, 0.5]), "pi"),
    "rates of words": (lambda: Poisson([HUGE, 0.5]), "lam"),
    "lengths": (lambda: LengthMultinomial([HUGE, 1], [0.5, 0.5]), "lengths"),
    "a mean": (lambda: Gaussian([HUGE], [1]), "mean"),
    "a variance": (lambda: Gaussian([1], [HUGE]), "variance"),
    "weights of items": (lambda: Items([HUGE, 1]), "p"),
    "weights of features": (lambda: Weighted(Items([1, 1]), [HUGE, 1]), "s"),
    "a prior of synthetic documents": (
        lambda: make_lda_corpus(5, doc_topic_prior=[HUGE] * 10), "doc_topic_prior"),
    "topics of synthetic documents": (
        lambda: make_lda_corpus(5, topic_word=[[HUGE, 1]]), "topic_word"),
    "a strength of sets": (lambda: make_dpp_sets(3, strength=HUGE), "strength"),
    "shares of times": (lambda: plot_shares([1], [[HUGE]], ["a"]), "shares"),
    "shares of sentences": (lambda: plot_sentences(["a"], [[HUGE, 1]]), "shares"),
    "letters": (lambda: plot_sentences(["a"], [[1, 0]], font_size=HUGE), "font_size"),
    "a curve": (lambda: plot_curves({"a": [HUGE]}, x=[1], xlabel="", ylabel=""), "x or curves"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILLED)
def test_numbers_beyond_floating_point_are_refused_by_name(case):
    door, name = FILLED[case]
    with pytest.raises(ValueError, match=rf"(^|: ){name}\b"):
        door()


def test_more_than_there_can_be_of_texts_is_no_limit():
    texts = ["a ship at sea", "the deep sea"]
    plain = StreamingCountVectorizer(ngram_range=(1, 4)).fit(texts).get_feature_names_out()
    large = StreamingCountVectorizer(ngram_range=(1, 2**63), max_df=HUGE).fit(texts)
    np.testing.assert_array_equal(large.get_feature_names_out(), plain)
    with pytest.raises(ValueError, match="Try a lower min_df"):
        StreamingCountVectorizer(min_df=HUGE, max_df=HUGE).fit(texts)
    StreamingCountVectorizer(min_df=HUGE, max_df=HUGE, max_features=5).partial_fit(texts)
