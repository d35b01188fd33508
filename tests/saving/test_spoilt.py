# SPDX-License-Identifier: BSD-3-Clause
"""Files that are whole, but hold a wrong state, are refused.

`python -m proof.spoilt_files` tries every array and every number of them.
"""

from operator import attrgetter

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, HDPVarGibbs, StreamingMixture, load
from streamtopics.saving import LoadError
from streamtopics.saving.checks import check_held
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer
from tests.conventions.every import COUNTS, TEXTS


def put(path, value):
    """What sets an attribute, be it of a frozen record, or all numbers of an array."""

    def change(model):
        owner, _, name = path.rpartition(".")
        owner = attrgetter(owner)(model) if owner else model
        found = getattr(owner, name)
        if isinstance(found, np.ndarray) and np.isscalar(value):
            found.setflags(write=True)
            found[:] = value
        else:
            vars(owner)[name] = value

    return change


def column(value):
    """What sets the column of each word of a stream."""

    def change(model):
        state = model._vocabulary.__getstate__()
        state["column"][:] = value
        model._vocabulary.__setstate__(state)

    return change


def alpha(value):
    def change(model):
        posterior = model._commit.posterior
        posterior._state = posterior._state._replace(alpha=value)

    return change


def no_columns(model):
    model.steps[0][1].n_features = 0


def wrong_columns(model):
    model.vectorizer_.vocabulary_["word0"] = 10**8


LDA = SVBLDA(3, random_state=0), COUNTS
MIXTURE = StreamingMixture(3, max_iter=1, random_state=0), COUNTS
HDP = HDPVarGibbs(random_state=0), COUNTS
WORDS = StreamingCountVectorizer(max_features=8), TEXTS
HASHED = make_pipeline(HashingVectorizer(n_features=8, alternate_sign=False), SVBLDA(2)), TEXTS
STATE = "_commit.posterior"
WRONG = {
    "a prior of other topics": (*LDA, put(f"{STATE}.eta", np.ones((1, 2))), "eta of Topic"),
    "of a mixture": (*MIXTURE, put(f"{STATE}.eta", np.ones((1, 2))), "eta of TopicPosterior"),
    "a prior below 0": (*LDA, put(f"{STATE}.eta", -1.0), r"must be \(V\|1 K\|1 >0\)"),
    "of a million topics": (*LDA, alpha(np.ones(10**6)), "alpha of TopicPosterior"),
    "single precision": (*LDA, alpha(np.ones(3, np.float32)), "alpha of .*float32"),
    "counts that are no numbers": (*LDA, put(f"{STATE}._state.S.counts", np.nan), "not finite"),
    "other words": (*LDA, put("n_features_in_", 11), "n_features_in_ of LearntTopics"),
    "tables that are no numbers": (*HDP, put("_commit.state", np.nan), "state of HDPModel"),
    "infinitely many tables": (*HDP, put("_commit.state", np.inf), "not finite"),
    "less than no tables": (*HDP, put("_commit.state", -1e300), r"must be \(K >=0\)"),
    "far columns": (*WORDS, column(10**8), "column of OpenVocabulary"),
    "the last column": (*WORDS, column(2**31 - 1), "column of OpenVocab"),
    "one column for all words": (*WORDS, column(0), "must agree"),
    "words elsewhere": (*WORDS, put("_vocabulary.words", ["a"] * 100), "must agree"),
    "no columns of HashingVectorizer": (*HASHED, no_columns, "n_features"),
    "far columns of CountVectorizer": (NamedVectorizer(), TEXTS, wrong_columns, "vocabulary_"),
}


@pytest.mark.parametrize(("model", "X", "how", "said"), WRONG.values(), ids=WRONG)
def test_wrong_state_is_refused(model, X, how, said, tmp_path):
    model = clone(model)
    getattr(model, "partial_fit", model.fit)(X)
    check_held(model)
    how(model)
    # As it is, without a look at it.
    skops.io.dump(model, tmp_path / "a.model")
    with pytest.raises(LoadError, match=said):
        load(tmp_path / "a.model")
