# SPDX-License-Identifier: BSD-3-Clause
"""What estimators take beside X and y is scikit-learn's metadata, and is passed where asked for."""

from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metadata_routing import MetadataRouter

from streamtopics import SVBHPP, SVBLDA, MultiViewLDA, load, save
from streamtopics.streams import TimedBatch
from streamtopics.streams.batches import learn
from streamtopics.text import StreamingPipeline
from tests.conventions.every import CLASSES, COUNTS, EVERY, ITEMS, RATINGS, SENTENCES, USERS

TIME = {"partial_fit": {"time"}}
GROUPS = {method: {"groups"} for method in ("fit", "partial_fit", "transform", "score")}
REVIEWS = {method: {"items", "users"} for method in GROUPS}
OF_TIME = (
    "StreamingLDA", "StreamingMixture", "GuidedTopics", "GibbsOnlineEM", "VariationalOnlineEM",
    "SVBLDA", "BPSLDA", "SVBHPP", "HDPGibbsOnlineEM", "HDPVarGibbs",
)  # fmt: skip
OF_SENTENCES = ("WASTopicModel", "AspectSentimentModel", "LowRankDPP")
OF_REVIEWS = ("RatingLDA", "HiddenFactorsTopics")
ASKED: dict[str, dict[str, set[str]]] = {
    **dict.fromkeys(OF_TIME, TIME),
    **dict.fromkeys(OF_SENTENCES, GROUPS),
    **dict.fromkeys(OF_REVIEWS, REVIEWS),
    "StreamingMixture": {key: {"vectors"} for key in ("fit", "transform", "predict", "score")}
    | {"partial_fit": {"time", "vectors"}, "predict": {"vectors", "known", "reject"}},
    "GuidedTopics": {
        key: {"vectors"} for key in ("fit", "transform", "predict", "predict_proba", "score")
    }
    | {"partial_fit": {"time", "vectors"}},
    "AspectSentimentModel": {**GROUPS, "predict": {"groups"}, "predict_proba": {"groups"}},
    "HiddenFactorsTopics": {**REVIEWS, "predict": {"items", "users"}},
    "MultiViewLDA": {"partial_fit": {"classes"}},
    "StreamingBayes": {"partial_fit": {"classes"}},
    "TopicStream": {
        "fit": {"times", "groups", "ids", "vectors"},
        "partial_fit": {"times", "groups", "ids"},
    },
}
# Texts are no metadata, whatever the argument is called.
OF_TEXTS = (
    "DPPSummarizer", "NamedVectorizer", "SentenceVectorizer", "StreamingCountVectorizer",
    "StreamingPipeline",
)  # fmt: skip
# The tests' rows of sentences, and the document of each.
ROWS, DOCUMENT = sparse.vstack(SENTENCES), np.repeat(np.arange(len(SENTENCES)), 2)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def asked(estimator: Any) -> dict[str, set[str]]:
    """The metadata of each method that has any, and that nothing is said of."""
    requests = estimator.get_metadata_routing()
    methods = ("fit", "partial_fit", "transform", "predict", "predict_proba", "score")
    found = {method: getattr(requests, method).requests for method in methods}
    assert all(value is None for each in found.values() for value in each.values())
    return {method: set(names) for method, names in found.items() if names}


@pytest.mark.parametrize("name", [name for name in EVERY if name != "StreamingPipeline"])
def test_what_each_estimator_takes_is_metadata(name):
    expected = {**ASKED.get(name, {})}
    if name not in OF_TEXTS:
        expected["score"] = expected.get("score", set()) | {"sample_weight"}
    assert asked(EVERY[name].made) == expected


def skip_unless_scorers_route(in_pipeline: bool) -> None:
    """Skip where searches pass nothing on to the score of the last step of a pipeline."""
    scorer = check_scoring(make_pipeline(SVBLDA()))
    if in_pipeline and not isinstance(scorer.get_metadata_routing(), MetadataRouter):
        pytest.skip("this version of scikit-learn does not route into pipelines that score")


# time


@pytest.mark.parametrize("name", OF_TIME)
def test_time_goes_through_a_pipeline(name):
    case = EVERY[name]
    alone, model = case.made, case.made.set_partial_fit_request(time=True)
    pipeline = StreamingPipeline([("as it is", FunctionTransformer()), ("topics", model)])
    for month in (3, 4):
        pipeline.partial_fit(case.X, time=month)
        alone.partial_fit(case.X, time=month)
    assert pipeline[-1].transform(case.X).tobytes() == alone.transform(case.X).tobytes()
    if name == "SVBHPP":
        assert [record.time for record in model.drift_] == [3, 4]


class Scale(FunctionTransformer):
    """A step that learns from streams, with metadata for both of its methods."""

    def partial_fit(self, X: Any, y: Any = None, weight: Any = None) -> "Scale":
        self.weights_ = [*getattr(self, "weights_", []), weight]
        return self

    def transform(self, X: Any, factor: float = 1.0) -> Any:
        return X * factor


def test_metadata_of_the_steps_before_the_last():
    scale = Scale().set_partial_fit_request(weight=True).set_transform_request(factor=True)
    topics = SVBLDA(2, random_state=0).set_partial_fit_request(time=False)
    pipeline = StreamingPipeline([("scale", scale), ("topics", topics)])
    pipeline.partial_fit(COUNTS, weight=5, factor=2.0).partial_fit(COUNTS)
    assert scale.weights_ == [5, None]
    assert topics.n_tokens_seen_ == 3 * COUNTS.sum()


def test_without_routing_all_goes_to_the_last_step():
    with sklearn.config_context(enable_metadata_routing=False):
        model = SVBHPP(2)
        StreamingPipeline([("topics", model)]).partial_fit(COUNTS, time=1)
    assert model.drift_[0].time == 1


def test_times_of_a_stream(tmp_path):
    """What passes minibatches on to a pipeline passes their times by the same rules."""
    model = SVBHPP(2, random_state=0)
    pipeline = StreamingPipeline([("topics", model)])
    with pytest.raises(UnsetMetadataPassedError, match="time"):
        learn(pipeline, TimedBatch(COUNTS, 5), None)
    model.set_partial_fit_request(time=True)
    learn(pipeline, TimedBatch(COUNTS, 5), None)
    assert model.drift_[0].time == 5
    save(pipeline.set_score_request(sample_weight=True), tmp_path / "pipeline")
    assert load(tmp_path / "pipeline")[-1].drift_[0].time == 5


# groups


@pytest.mark.parametrize("name", OF_SENTENCES)
@pytest.mark.parametrize("kind", [Pipeline, StreamingPipeline])
def test_groups_go_through_a_pipeline(name, kind):
    model = EVERY[name].made
    for method in GROUPS:
        getattr(model, f"set_{method}_request")(groups=True)
    pipeline = kind([("topics", model)]).fit(ROWS, groups=DOCUMENT)
    alone = EVERY[name].fitted
    assert pipeline.score(ROWS, groups=DOCUMENT) == alone.score(SENTENCES)
    found = pipeline.transform(ROWS, groups=DOCUMENT)
    np.testing.assert_array_equal(found, alone.transform(SENTENCES))
    np.testing.assert_array_equal(pipeline.fit_transform(ROWS, groups=DOCUMENT), found)


@pytest.mark.parametrize("name", OF_SENTENCES)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_groups_go_through_a_search_to_the_split_and_the_model(name, in_pipeline):
    skip_unless_scorers_route(in_pipeline)
    model = EVERY[name].made.set_fit_request(groups=True).set_score_request(groups=True)
    size = "n_aspects" if name == "AspectSentimentModel" else "n_components"
    searched, prefix = (make_pipeline(model), f"{name.lower()}__") if in_pipeline else (model, "")
    search = GridSearchCV(searched, {f"{prefix}{size}": [1, 2]}, cv=GroupKFold(2))
    search.fit(ROWS, groups=DOCUMENT)
    expected = []
    for train, test in GroupKFold(2).split(ROWS, groups=DOCUMENT):
        one = EVERY[name].made.fit(ROWS[train], groups=DOCUMENT[train])
        expected.append(one.score(ROWS[test], groups=DOCUMENT[test]))
    found = [search.cv_results_[f"split{i}_test_score"][1] for i in range(2)]
    np.testing.assert_array_equal(found, expected)


# items and users


@pytest.mark.parametrize("name", OF_REVIEWS)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_items_and_users_go_through_a_search(name, in_pipeline):
    skip_unless_scorers_route(in_pipeline)
    wanted, given = {"items": True, "users": True}, {"items": ITEMS, "users": USERS}
    model = EVERY[name].made.set_fit_request(**wanted).set_score_request(**wanted)
    searched = make_pipeline(model) if in_pipeline else model
    found = cross_validate(searched, COUNTS, RATINGS, params=given, cv=2, error_score="raise")
    half = len(RATINGS) // 2
    test, train = (EVERY[name].part(rows) for rows in (slice(half), slice(half, None)))
    assert found["test_score"][0] == train.fitted.score(test.X, test.y, **test.given)


# classes and weights


def test_classes_of_the_first_minibatch():
    model = MultiViewLDA(2, random_state=0).set_partial_fit_request(classes=True)
    pipeline = StreamingPipeline([("topics", model)])
    pipeline.partial_fit(COUNTS[:4:2], CLASSES[:4:2], classes=["a", "b", "c"])
    assert list(model.classes_) == ["a", "b", "c"]


# Not those that learn with metadata, nor what is a pipeline itself.
SCORED = [n for n in EVERY if hasattr(EVERY[n].estimator, "score")]


@pytest.mark.parametrize("name", [n for n in SCORED if n not in (*OF_REVIEWS, "StreamingPipeline")])
def test_pipelines_score_where_nothing_is_weighed(name):
    """Pipelines ask for the score with `sample_weight=None`, whoever comes last."""
    case = EVERY[name]
    model = case.fitted
    assert make_pipeline(model).score(case.X, case.y) == model.score(case.X, case.y)
