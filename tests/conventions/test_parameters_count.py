# SPDX-License-Identifier: BSD-3-Clause
"""Each numeric parameter counts in `fit`, or says that it does not; and rounds are counted."""

import numbers
import warnings

import numpy as np
import pytest

from tests.conventions.every import EVERY
from tests.conventions.test_every_estimator import bits

ROUNDS = [name for name, case in EVERY.items() if "max_iter" in case.estimator.get_params()]
STEPS = "is of partial_fit, and fit warns"
BAYESIAN = dict.fromkeys(("SVBLDA", "BPSLDA", "SVBHPP"), "variational")
LOCAL = BAYESIAN | {"GibbsOnlineEM": "gibbs", "VariationalOnlineEM": "variational"}
# Small minibatches, so that a corpus of 24 documents makes several; enough rounds to end early.
SETTINGS = {
    **{name: {"batch_size": 8, "inference": local} for name, local in LOCAL.items()},
    "GuidedTopics": {"batch_size": 8, "max_iter": 2},
    "RatingLDA": {"max_iter": 15, "tol": 1e-3},
    "SupervisedLDA": {"max_iter": 15, "tol": 1e-3},
    "LowRankDPP": {"max_iter": 3, "tol": 0.1},
}
# Parameters that need not change what `fit` learns, and why.
WITHOUT_EFFECT = {
    "*": {"n_jobs": "same bits", "verbose": "shows"},
    "StreamingMixture": {"vector_weight": "there are no vectors"},
    "GuidedTopics": {"label_weight": "no labels", "n_start_documents": "is of partial_fit"},
    "SVBHPP": {"rate_prior": "is weak beside so few words"},
    "WASTopicModel": {"kappa": STEPS},
    "TopicStream": {"error_rate": "chooses findings", "n_documents": "are kept to be shown"},
    "LowRankDPP": dict.fromkeys(("batch_size", "kappa", "step_size"), STEPS),
    "DPPSummarizer": dict.fromkeys(("max_iter", "n_components", "penalty"), "is of 'thesis'")
    | {"fragment_weight": "there are no fragments"},
    "RatingLDA": {"kappa": STEPS},
    "SupervisedLDA": {"kappa": STEPS},
    "HiddenFactorsTopics": {"kappa": STEPS},
    "AspectSentimentModel": {"doc_sentiment_prior": "is 1 at least"},
    "StreamingCountVectorizer": dict.fromkeys(("half_life", "margin"), STEPS)
    | {"min_df": "all words are frequent"},
}


def changed(value):
    """Other values of a parameter, some of which should be legal."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, numbers.Integral):
        return [value + 1, max(1, value // 2), 3 * value + 5, 1]
    return [value * 0.5, value * 0.9, min(2 * value, 1.0), 0.3, 0.8]


def learnt(case, model):
    """All that can be read off a model after `fit`, in numbers."""
    case.taught(model, "fit")
    found = [bits(model.transform(case.X))]
    for name in sorted(name for name in dir(model) if name[-1] == "_" and name[0] != "_"):
        value = getattr(model, name, None)
        if isinstance(value, numbers.Number | np.ndarray):
            found.append(bits(value))
    return found


@pytest.mark.parametrize("name", [name for name in EVERY if name != "StreamingPipeline"])
@pytest.mark.filterwarnings("ignore")
def test_numeric_parameters_count_in_fit_or_say_that_they_do_not(name, capsys):
    case, excused = EVERY[name], WITHOUT_EFFECT["*"] | WITHOUT_EFFECT.get(name, {})
    given = case.estimator.get_params(deep=False)
    own = SETTINGS.get(name, {} if "batch_size" not in given else {"batch_size": 8})
    before = learnt(case, case.made.set_params(**own))
    for parameter, value in (given | own).items():
        if not isinstance(value, numbers.Real):
            continue
        reason = excused.get(parameter)
        if reason is not None and reason is not STEPS:
            continue
        moved, told = False, False
        for other in changed(value):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    after = learnt(case, case.made.set_params(**own | {parameter: other}))
                except ValueError:
                    continue
            told |= any(f"{parameter}=" in str(w.message) for w in caught)
            moved |= after != before
            if moved or told:
                break
        assert told if reason is STEPS else moved, parameter


@pytest.mark.parametrize("name", [name for name in ROUNDS if name != "DPPSummarizer"])
@pytest.mark.filterwarnings("ignore")
def test_no_more_rounds_are_counted_than_were_asked_for(name):
    case = EVERY[name]
    exact = {"tol": 0.0} if "tol" in case.estimator.get_params() else {}
    assert case.taught(case.made.set_params(max_iter=3, **exact), "fit").n_iter_ == 3
