# SPDX-License-Identifier: BSD-3-Clause
"""Tests that scikit-learn is installed with, of this package's vectorizer and topic models."""

from inspect import signature
from typing import Any

import pytest

from streamtopics import GibbsOnlineEM, StreamingLDA
from streamtopics.metrics import perplexity
from streamtopics.text import StreamingCountVectorizer
from tests.peers.installed import tests_of as of_installed

# What is deprecated in scikit-learn's own tests is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore")

TestStreamingCountVectorizer = of_installed(
    "sklearn.feature_extraction.tests.test_text",
    {
        r"test_vectorizers_do_not_have_set_output\[Streaming": "there is set_output, for "
        "pipelines: counts stay sparse, and estimators after them make frames"
    },
    # Two tests of TfidfVectorizer alone, which take longer than all the others together.
    without=("test_tfidf_vectorizer_preserve_dtype_idf",),
    **{"text.CountVectorizer": StreamingCountVectorizer},
)

OF_LDA = {
    "test_lda_transform": "proportions sum to 1; there is no `normalize`, which is deprecated",
    "test_lda_preplexity_mismatch": "asks for a private method",
    "test_lda_score_perplexity": "score is of held-out tokens, and a mean per token, no bound",
    "test_lda_fit_perplexity": "there is no `bound_`: nothing is evaluated while it learns",
    "test_lda_empty_docs": "the prior of words is another one, so that topics of no documents are",
    r"test_verbosity\[.*-True": "progress is one line on standard error",
    "test_lda_dtype_match": "what is learnt has double precision, whatever the counts have",
    "test_lda_numerical_consistency": "results are double, of which it asks for 7 digits, but the "
    "counts of one were rounded to 7",
}


def in_place_of_lda(kind: type) -> Any:
    """Something that is called like LatentDirichletAllocation, and makes one of a kind."""
    methods = {"perplexity": lambda self, X, sub_sampling=False: perplexity(self, X)}
    named = type("LatentDirichletAllocation", (kind,), methods)

    def made(n_components: int = 10, **given: Any) -> Any:
        own = signature(kind).parameters
        return named(n_components, **{name: given[name] for name in own if name in given})

    return made


TestStreamingLDA, TestGibbsOnlineEM = (
    of_installed(
        "sklearn.decomposition.tests.test_online_lda",
        OF_LDA,
        without=(),
        LatentDirichletAllocation=in_place_of_lda(kind),
    )
    for kind in (StreamingLDA, GibbsOnlineEM)
)
