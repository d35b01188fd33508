# SPDX-License-Identifier: BSD-3-Clause
"""Which rooms a minibatch enters, those of the engine and one wing, and how many files."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import streamtopics
from streamtopics import SVBLDA, StreamingLDA
from streamtopics.cli import main
from tests.conventions.every import COUNTS, EVERY, TEXTS

ROOT = Path(streamtopics.__file__).parent
# What an estimator's own wing adds to the rooms of a topic model.
WINGS = {
    "HiddenFactorsTopics": {"reviews", "families"},
    "RatingLDA": {"reviews", "families"},
    "SupervisedLDA": {"reviews", "families"},
    "StreamingBayes": {"families"},
    "WASTopicModel": {"was"},
    "LowRankDPP": {"dpp"},
    "DPPSummarizer": {"dpp", "text"},
}


@cache
def ours(file):
    """The path of a file in the package, or None where it is not ours."""
    path = Path(file)
    return path.relative_to(ROOT) if ROOT in path.parents else None


def files_entered(call, *args):
    """The files of the package whose functions run in a call, in this thread."""
    files = set()

    def profile(frame, event, arg):
        if frame.f_code.co_name != "<module>":
            files.add(ours(frame.f_code.co_filename))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call(*args)
    finally:
        sys.setprofile(before)
    return files - {None}


def entered(call, *args):
    """The rooms whose code runs in a call."""
    return {path.parts[0].removesuffix(".py") for path in files_entered(call, *args)}


@pytest.fixture(scope="module")
def engine():
    return entered(SVBLDA(3, topic_word_prior=0.1).partial_fit, COUNTS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in EVERY if n in WINGS or EVERY[n].X is not TEXTS])
def test_a_minibatch_enters_the_engine_and_one_wing(name, engine):
    case = EVERY[name]
    assert entered(case.taught, case.made) <= engine | WINGS.get(name, set())
    assert {"base", "local", "posteriors", "updates"} <= engine


def test_a_minibatch_and_topics_of_documents_enter_few_files():
    # Behind the first thousand documents their prior is learnt, too.
    X = sp.csr_matrix(np.random.default_rng(0).poisson(0.5, (1200, 90)).astype(float))
    model = StreamingLDA(3, random_state=0).partial_fit(X).partial_fit(X)
    assert len(files_entered(model.partial_fit, X)) <= 18
    assert len(files_entered(model.transform, X)) <= 16


def test_topics_of_a_file_enter_few_files(tmp_path, capsys):
    """By the command, behind the imports."""
    path, rng = tmp_path / "texts.txt", np.random.default_rng(0)
    words = [["ship", "wave", "tide", "sea"], ["plane", "cloud", "wing", "sky"]]
    path.write_text("\n".join(" ".join(rng.choice(words[i % 2], 9)) for i in range(100)))
    command = ["fit", str(path), "--quiet"]
    assert main(command) == 0
    assert len(files_entered(main, command)) <= 45
