# SPDX-License-Identifier: BSD-3-Clause
"""Which rooms a minibatch enters, those of the engine and one wing, and how many files."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import streamtopics
from streamtopics import (
    BPSLDA,
    SVBHPP,
    SVBLDA,
    AspectSentimentModel,
    DPPSummarizer,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    HDPVarGibbs,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
    StreamingLDA,
    StreamingMixture,
    SupervisedLDA,
    VariationalOnlineEM,
    WASTopicModel,
)
from streamtopics.cli import main
from streamtopics.models import BetaBinomial

ROOT = Path(streamtopics.__file__).parent
COUNTS = sp.csr_matrix(np.random.default_rng(0).poisson(1.0, (12, 8)) + np.eye(12, 8))
LABELS = np.arange(12) % 3
SENTENCES = [COUNTS[:6], COUNTS[6:]]
TEXTS = ["Topics are shares. Documents have topics.", "A stream never ends. It goes on."]
GIVEN = {
    SVBLDA(3): (COUNTS,),
    BPSLDA(3): (COUNTS,),
    SVBHPP(3): (COUNTS,),
    GibbsOnlineEM(3): (COUNTS,),
    VariationalOnlineEM(3): (COUNTS,),
    StreamingLDA(3): (COUNTS,),
    StreamingMixture(3): (COUNTS,),
    HDPGibbsOnlineEM(3): (COUNTS,),
    HDPVarGibbs(3): (COUNTS,),
    MultiViewLDA(1, 1): (COUNTS, LABELS, [0, 1, 2]),
    AspectSentimentModel(2): (SENTENCES,),
    StreamingBayes(BetaBinomial()): (np.minimum(COUNTS.toarray()[:, :2], 1.0),),
    SupervisedLDA(3): (COUNTS, LABELS.astype(float)),
    RatingLDA(3): (COUNTS, LABELS.astype(float)),
    WASTopicModel(3): (SENTENCES,),
    LowRankDPP("multinomial"): (SENTENCES,),
    DPPSummarizer(): (TEXTS,),
}
# What an estimator's own wing adds to the rooms of a topic model.
WINGS = {
    "SupervisedLDA": {"reviews", "families", "progress"},
    "RatingLDA": {"reviews", "families", "progress"},
    "StreamingBayes": {"families"},
    "AspectSentimentModel": {"sentences"},
    "WASTopicModel": {"was", "sentences", "progress"},
    "LowRankDPP": {"dpp", "sentences"},
    "DPPSummarizer": {"dpp", "output", "sentences", "steps", "text"},
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
@pytest.mark.parametrize("model", GIVEN, ids=lambda model: type(model).__name__)
def test_a_minibatch_enters_the_engine_and_one_wing(model, engine):
    own = WINGS.get(type(model).__name__, set())
    assert entered(model.partial_fit, *GIVEN[model]) <= engine | own
    assert {"base", "local", "posteriors", "updates"} <= engine


# What a newcomer reads to follow a call


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
