# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's checks: of estimators of matrices at their defaults, of others by adapters."""

import warnings
from collections.abc import Iterator
from inspect import signature
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from streamtopics import SVBLDA, HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.models import GaussianMixture
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from tests.conventions import adapters
from tests.conventions.every import COUNTS, EVERY, public_estimators

FAST = {"n_sweeps": 20, "n_burn_in": 10, "n_local_sweeps": 10}
WORDS = StreamingCountVectorizer(max_features=12)
TOPICS = SVBLDA(2, random_state=0)
ESTIMATORS: dict[str, Any] = {
    "WAS, a matrix a document": adapters.WASApart(**FAST),
    "WAS, one matrix": adapters.WASTogether(**FAST),
    # Sentiments as numbers: checks compare predictions as numbers.
    "sentiment, a matrix a document": adapters.SentimentApart(2, sentiments=(0, 1)),
    "sentiment, one matrix": adapters.SentimentTogether(2, sentiments=(0, 1)),
    "DPP, a matrix a document": adapters.SetsApart(n_components=3, max_iter=1),
    "DPP, one matrix": adapters.SetsTogether(n_components=3, max_iter=1),
    "DPP, of vectors": adapters.SetsApart("gaussian", 3, max_iter=1),
    "factors, of few rounds": HiddenFactorsTopics(2, max_iter=2, max_gradient_iter=1),
    "ratings, of few rounds": RatingLDA(2, max_iter=2),
    "responses, of few rounds": SupervisedLDA(2, max_iter=2),
    "summaries": adapters.Summaries(2),
    "words": adapters.Words(max_features=12),
    "named words": adapters.NamedWords(),
    "words of sentences": adapters.SentenceWords(),
    "texts in one object": adapters.Stream(2, vectorizer=WORDS),
    "guided topics": adapters.Guided({"a": ["col_0"]}, n_unseeded=1, max_iter=1),
    "pipeline": StreamingPipeline([("topics", TOPICS)]),
    "pipeline of texts": StreamingPipeline(
        [("texts", adapters.AsTexts()), ("words", WORDS), ("topics", TOPICS)]
    ),
}
CLOSED = "fit closes the vocabulary for good, so that partial_fit after it is refused"
STEPS = "fit writes into steps, as that of scikit-learn's Pipeline does"
NO_CLASSIFIER = "asks for the tags of a classifier, because of predict_proba; it is none"
NAMES = "the columns have names here, which are compared before they are counted"
# What cannot make sense, by estimator, and why.
EXPECTED: dict[str, dict[str, str]] = {
    "sentiment, a matrix a document": {
        "check_estimator_sparse_array": NO_CLASSIFIER,
        "check_estimator_sparse_matrix": NO_CLASSIFIER,
    },
    "words": {"check_fit_score_takes_y": CLOSED},
    "guided topics": {
        "check_estimator_sparse_array": NO_CLASSIFIER,
        "check_estimator_sparse_matrix": NO_CLASSIFIER,
        "check_n_features_in_after_fitting": NAMES,
    },
    "pipeline": {
        "check_estimators_overwrite_params": STEPS,
        "check_dont_overwrite_parameters": STEPS,
    },
}
EXPECTED["sentiment, one matrix"] = EXPECTED["sentiment, a matrix a document"]
EXPECTED["pipeline of texts"] = EXPECTED["pipeline"] | EXPECTED["words"]
LEAST_CHECKS = 40


def checks_of(estimator: Any) -> list[Any]:
    with warnings.catch_warnings():
        # Where all checks are skipped this would be the only word of it.
        warnings.simplefilter("error", SkipTestWarning)
        return [check for _, check in estimator_checks_generator(estimator, mark=None)]


def name_of(check: Any) -> str:
    return getattr(check, "func", check).__name__


NEEDS: dict[str, list[Any]] = {
    "GuidedTopics": [{"a": ["x"]}], "StreamingBayes": [GaussianMixture()], "StreamingPipeline": [[]]
}  # fmt: skip
DEFAULTS = {name: kind(*NEEDS.get(name, [])) for name, kind in public_estimators().items()}
# By default all checks take long: these compare what was learnt, digit by digit. Others are made of
# few rounds above.
DIGITS = {"check_regressor_data_not_an_array"}
SOME = dict.fromkeys(("HiddenFactorsTopics", "RatingLDA", "SupervisedLDA"), DIGITS)


def reads_matrices(name: str) -> bool:
    """Whether X is a plain matrix, whose columns need no names."""
    is_one = name not in ("GuidedTopics", "StreamingPipeline")
    return is_one and bool(get_tags(DEFAULTS[name]).input_tags.two_d_array)


OF_MATRICES = {name: one for name, one in DEFAULTS.items() if reads_matrices(name)}


def of(estimators: dict[str, Any]) -> Iterator[Any]:
    for name, estimator in estimators.items():
        for check in checks_of(estimator):
            if name not in SOME or name_of(check) in SOME[name]:
                yield pytest.param(name, check, id=f"{name}-{name_of(check)}")


@pytest.mark.parametrize(("name", "check"), list(of(OF_MATRICES)))
def test_estimators_of_matrices_at_their_defaults(name: str, check: Any) -> None:
    check(DEFAULTS[name])


# What cannot be given names is passed on without.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names, but Guided")
@pytest.mark.parametrize(("name", "check"), list(of(ESTIMATORS)))
def test_scikit_learn_checks(name: str, check: Any) -> None:
    if name_of(check) in EXPECTED.get(name, {}):
        # Also what cannot make sense is known to be so.
        with pytest.raises((AssertionError, ValueError)):
            check(ESTIMATORS[name])
    else:
        check(ESTIMATORS[name])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_there_are_checks_enough(name: str) -> None:
    """As many as for an estimator of matrices, so that none is left out by its tags."""
    names = {name_of(check) for check in checks_of(ESTIMATORS[name])}
    assert len(names) >= LEAST_CHECKS
    assert EXPECTED.get(name, {}).keys() <= names


# Checks that scikit-learn makes of its own estimators, and that are not among those for others.

FURTHER = (
    "check_transformer_get_feature_names_out", "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error", "check_dataframe_column_names_consistency",
    "check_set_output_transform", "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
)  # fmt: skip
# Frames of one matrix: a list of matrices has no index.
TRANSFORMERS = {
    **{name: case.estimator for name, case in EVERY.items() if case.X is COUNTS},
    **{name: ESTIMATORS[name] for name in ESTIMATORS if name.endswith("one matrix")},
    "pipeline": ESTIMATORS["pipeline"],
}


# They fit on frames and transform arrays, and the other way round.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("check", [check for check in FURTHER if hasattr(estimator_checks, check)])
def test_names_and_frames(name: str, check: str) -> None:
    getattr(estimator_checks, check)(name, clone(TRANSFORMERS[name]))


# A pipeline has the parameters of scikit-learn's, and their checks.
CONSTRAINED = [n for n in EVERY if hasattr(EVERY[n].estimator, "_parameter_constraints")]


@pytest.mark.parametrize("name", [n for n in CONSTRAINED if n != "StreamingPipeline"])
def test_parameters_that_make_no_sense_are_refused_by_name(name: str) -> None:
    estimator = EVERY[name].made
    kind = type(estimator)
    own = signature(kind).parameters
    # Constraints are shared, and say more than a class has parameters.
    constraints = {k: v for k, v in kind._parameter_constraints.items() if k in own}
    strict = type(kind.__name__, (kind,), {"_parameter_constraints": constraints})
    estimator_checks.check_param_validation(name, strict(**estimator.get_params(deep=False)))


def test_every_estimator_that_reads_no_matrix_has_an_adapter() -> None:
    own = {base for estimator in ESTIMATORS.values() for base in type(estimator).__mro__}
    others = DEFAULTS.keys() - OF_MATRICES.keys()
    assert {type(DEFAULTS[name]) for name in others} <= own
    assert len(others) == 10
