# SPDX-License-Identifier: BSD-3-Clause
"""Files with a right checksum and wrong state are refused, and none ends the process.

`python -m proof.spoilt_files` tries every array and every number of them.
"""

from operator import attrgetter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

from proof import spoilt_files
from streamtopics import SVBLDA, HDPVarGibbs, StreamingMixture, load
from streamtopics.saving import LoadError, container
from streamtopics.saving.checks import check_held, declared_of, objects_in
from streamtopics.saving.describing import Describer
from streamtopics.saving.models import versions
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer
from tests.conventions.every import COUNTS, EVERY, TEXTS

MUTANTS = 5


def spoilt(model, path):
    """Write a model as it is, without a look at it."""
    describer = Describer()
    described = describer.described(model, "model")
    with path.open("wb") as file:
        whole = {"kind": "model", "versions": versions(), "value": described}
        container.write(file.write, whole, describer.arrays)
    return path


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
STATE = "_commit.posterior"
WRONG = {
    "a prior of other topics": (*LDA, put(f"{STATE}.eta", np.ones((1, 2))), "eta of Topic"),
    "of a mixture": (*MIXTURE, put(f"{STATE}.eta", np.ones((1, 2))), "eta of TopicPosterior"),
    "a prior below 0": (*LDA, put(f"{STATE}.eta", -1.0), "eta of TopicPosterior must be >0"),
    "of a million topics": (*LDA, alpha(np.ones(10**6)), "alpha of TopicPosterior"),
    "single precision": (*LDA, alpha(np.ones(3, np.float32)), "must be of float64; got float32"),
    "counts that are no numbers": (*LDA, put(f"{STATE}._state.S.counts", np.nan), "not finite"),
    "other words": (*LDA, put("n_features_in_", 11), "n_features_in_ of LearntTopics"),
    "tables that are no numbers": (*HDP, put("_commit.state", np.nan), "state of HDPModel"),
    "infinitely many tables": (*HDP, put("_commit.state", np.inf), "not finite"),
    "less than no tables": (*HDP, put("_commit.state", -1e300), "state of HDPModel must be >=0"),
    "far columns": (*WORDS, put("_vocabulary.column", 10**8), "column of OpenVocabulary"),
    "the last column": (*WORDS, put("_vocabulary.column", 2**31 - 1), "column of OpenVocab"),
    "one column for all words": (*WORDS, put("_vocabulary.column", 0), "must agree"),
    "words elsewhere": (*WORDS, put("_vocabulary.words", ["a"] * 100), "must agree"),
    "no columns of HashingVectorizer": (
        make_pipeline(HashingVectorizer(n_features=8, alternate_sign=False), SVBLDA(2)),
        TEXTS,
        no_columns,
        "n_features",
    ),
    "far columns of CountVectorizer": (NamedVectorizer(), TEXTS, wrong_columns, "vocabulary_"),
}


@pytest.mark.parametrize(("model", "X", "how", "said"), WRONG.values(), ids=WRONG)
def test_wrong_state_is_refused(model, X, how, said, tmp_path):
    model = clone(model)
    getattr(model, "partial_fit", model.fit)(X)
    check_held(model)
    how(model)
    with pytest.raises(LoadError, match=said):
        load(spoilt(model, tmp_path / "a.model"))


@pytest.mark.parametrize("name", [*EVERY, "checkpoint"])
def test_no_file_ends_the_process(name):
    counts, failures = spoilt_files.run(name, spoilt_files.chosen(name, MUTANTS, 0))
    assert not failures
    assert counts.total() == MUTANTS


def test_what_is_declared_is_there():
    """So that nothing stays unchecked under a name that has changed."""
    values = [spoilt_files.subject_of(name)[0].value for name in spoilt_files.NAMES]
    objects = [one for value in values for one in objects_in(value, {})]
    declared = [(*names, there) for one in objects for *names, _, there in declared_of(one)]
    paths = {(kind, path) for kind, path, _ in declared}
    assert len(paths) > 80
    assert paths == {(kind, path) for kind, path, there in declared if there is not None}
