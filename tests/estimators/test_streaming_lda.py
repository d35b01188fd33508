# SPDX-License-Identifier: BSD-3-Clause
"""LDA of parts: which of them go together, and what the estimator says where they do not."""

import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics import AspectSentimentModel, MultiViewLDA, StreamingBayes, StreamingLDA, updates
from streamtopics.base.composition import DOC_TOPIC_UPDATES, INFERENCE, STARTS, UPDATES, VIEWS
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs, LocalStep, OneTopic, Variational
from streamtopics.models import BetaBinomial
from streamtopics.updates import SVB, FixedPoint, MeanDecay, OnlineEM, PowerPrior, Rounds, Window
from tests.estimators.table import PLAIN
from tests.saving.state import parts_of

EXTENSIONS = str(Path(__file__).parents[2] / "doc" / "extend")
sys.path.insert(0, EXTENSIONS)
try:
    PointEstimates = pytest.importorskip("point_estimates").PointEstimates
finally:
    sys.path.remove(EXTENSIONS)


@dataclass(frozen=True)
class Stranger(PointEstimates, LocalStep):
    """The local step of the guide, but it reports nothing but counts."""

    reports: ClassVar[frozenset[str]] = frozenset()

    def step(self, minibatch, topics, seeds, workers, documents=None, report=frozenset()):
        assert not report
        return super().step(minibatch, topics, seeds, workers, documents)


RULES = {
    "SVB": SVB(),
    "BPS": updates.BPS(0.1),
    "BPS by topic": updates.BPS(0.1, "topic"),
    "power prior": PowerPrior(0.9),
    "power prior, boosted": PowerPrior(0.9, updates.Boost(0.1)),
    "HPP": updates.HierarchicalPowerPrior(max_rounds=2),
    "HPP, two starts": updates.HierarchicalPowerPrior(rate_starts=(0.05, 0.95), max_rounds=2),
    "HPP by topic": updates.HierarchicalPowerPrior("topic", max_rounds=2),
    "EPP": updates.EmpiricalPowerPrior(max_rounds=2),
    "EPP by topic": updates.EmpiricalPowerPrior("topic", max_rounds=2),
    "population": updates.PopulationVB(100, 0.3),
    "SVI": updates.StochasticVI(),
    "online EM": OnlineEM(),
    "Langevin": updates.Langevin(),
    "window": Window(2),
    "rounds": Rounds(SVB(), 2),
    "growing": updates.Growing(SVB()),
    "with alpha": updates.LearnsDocTopicPrior(SVB(), updates.GammaPrior()),
}
INFERENCES = {
    "gibbs": Gibbs(2),
    "variational": Variational(max_iter=5),
    "stranger": Stranger(2),
    "one topic": OneTopic(),
}
DOC_TOPICS = {
    "fixed": "fixed",
    "fixed point": FixedPoint(burn_in=0),
    "gamma": "gamma",
    "shares": "shares",
}
AVERAGINGS = (None, "linear", "uniform")
BATCHES = list(np.random.default_rng(0).poisson(1.0, (3, 6, 8)) + 1.0 * np.eye(6, 8))
SENTENCES = [[batch[:3], batch[3:]] for batch in BATCHES]
COINS = [np.minimum(batch, 1.0)[:, :2] for batch in BATCHES]
LABELS = np.array(["a", "b", "a", "b", "a", "b"])
RAN = "ran"


def streamed(model, batches, *given):
    for batch in batches:
        model.partial_fit(batch, *given)
    return model


def of_words(cell):
    update, inference, view, doc_topic, averaging = cell
    model = StreamingLDA(
        2, update=RULES[update], inference=INFERENCES[inference], view=view,
        doc_topic_prior_update=DOC_TOPICS[doc_topic],
        schedule=Schedule(averaging=averaging, prior_limit=None), random_state=0,
    )  # fmt: skip
    streamed(model, BATCHES)
    return model.components_, model.score(BATCHES[0])


def of_classes(cell):
    model = MultiViewLDA(1, 1, update=RULES[cell[0]], random_state=0)
    streamed(model, BATCHES, LABELS, ["a", "b"])
    return model.components_, model.score(BATCHES[0], LABELS)


def of_sentences(cell):
    model = AspectSentimentModel(1, update=RULES[cell[0]], inference=cell[1], random_state=0)
    streamed(model, SENTENCES)
    return model.components_, model.score(SENTENCES[0])


def of_nodes(cell):
    model = streamed(StreamingBayes(BetaBinomial(), RULES[cell[0]], random_state=0), COINS)
    return model.posterior_.mass, model.score(COINS[0])


ALL_UNAVERAGED = product(RULES, INFERENCES, VIEWS, DOC_TOPICS, AVERAGINGS[:1])
SOME_AVERAGED = product(
    RULES, ("gibbs", "variational", "stranger"), ("mean", "geometric_mean"),
    ("fixed", "fixed point", "gamma"), AVERAGINGS,
)  # fmt: skip
CELLS = {
    of_words: list(dict.fromkeys([*ALL_UNAVERAGED, *SOME_AVERAGED])),
    of_classes: list(product(RULES)),
    of_sentences: list(product(RULES, ("em", "frank_wolfe"))),
    of_nodes: list(product(RULES)),
}
# Either part of a contract by the names that a refusal may give it.
NEEDING = {type(rule).__name__ for rule in RULES.values()} | {"FixedPoint", "GammaPrior", "Shares"}
LACKING = (
    "Gibbs", "Variational", "Stranger", "OneTopic", "CorrectedMean", "Mean", "GeometricMean",
    "TopicPosterior", "Stacked",
    "local step 'em'", "local step 'frank_wolfe'", "posterior of BetaBinomial",
)  # fmt: skip


def outcome(run, cell):
    """That a cell ran, or the contract that it breaks; anything else is raised."""
    try:
        learnt, score = run(cell)
    except (ValueError, TypeError) as error:
        message = str(error)
    else:
        assert np.isfinite(learnt).all(), cell
        assert np.isfinite(score), cell
        return RAN
    needing = message.split()[0]
    assert needing in NEEDING, (cell, message)
    after = message.partition("needs")[2]
    assert "averaging" in message or any(part in after for part in LACKING), (cell, message)
    return message


@pytest.fixture(scope="module")
def outcomes():
    """What came of each cell, by the model."""
    return {run: {cell: outcome(run, cell) for cell in CELLS[run]} for run in CELLS}


def test_the_matrix(outcomes):
    """Each cell runs, or is refused by the names of both parts; `outcome` raises otherwise."""
    ran = {run: sum(what == RAN for what in cells.values()) for run, cells in outcomes.items()}
    assert len(outcomes[of_words]) == len(RULES) * (4 * 3 * 4 + 3 * 2 * 3 * 2)
    assert ran[of_words] >= 800
    assert ran[of_classes] >= 14
    assert ran[of_sentences] >= 30
    assert ran[of_nodes] >= 14


def test_who_is_refused(outcomes):
    cells = outcomes[of_words]
    assert cells["SVB", "stranger", "mean", "fixed point", None].startswith("FixedPoint ")
    assert cells["HPP, two starts", "gibbs", "geometric_mean", "fixed", None] == RAN
    assert cells["HPP, two starts", "variational", "mean", "fixed", None] == RAN
    assert cells["HPP, two starts", "variational", "geometric_mean", "gamma", None] == RAN
    assert cells["HPP", "gibbs", "mean", "fixed", None] == RAN
    assert cells["Langevin", "gibbs", "mean", "fixed", None] == RAN
    assert cells["Langevin", "gibbs", "mean", "fixed", "linear"] != RAN
    assert cells["HPP by topic", "gibbs", "mean", "fixed", "uniform"] != RAN
    for run in (of_classes, of_nodes):
        assert outcomes[run]["Langevin",] != RAN
        assert outcomes[run]["HPP",] == outcomes[run]["EPP by topic",] == RAN


@pytest.mark.parametrize("word", UPDATES)
def test_a_word_for_a_rule_is_its_record(word):
    given = PLAIN | {"inference": "variational", "view": "geometric_mean", "random_state": 0}
    same(StreamingLDA(2, update=word, **given), StreamingLDA(2, update=UPDATES[word], **given))


@pytest.mark.parametrize(("name", "words"), [
    ("inference", INFERENCE),
    ("view", VIEWS),
    ("start", STARTS),
    ("doc_topic_prior_update", DOC_TOPIC_UPDATES),
])  # fmt: skip
def test_words_are_their_records(name, words):
    for word, record in words.items():
        given = [{"inference": "gibbs", "random_state": 0} for _ in range(2)]
        for parameters, value in zip(given, (word, record), strict=True):
            parameters[name] = value
            if word in ("shares", "one_topic"):
                parameters |= {"inference": "one_topic", "doc_topic_prior_update": "shares"}
        same(*(StreamingLDA(2, **parameters) for parameters in given))


def same(one, other):
    for model in (one, other):
        streamed(model, BATCHES * 4)
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.transform(BATCHES[0]), other.transform(BATCHES[0]))
    assert_array_equal(one.doc_topic_prior_, other.doc_topic_prior_)
    one, other = (m.get_params() | dict.fromkeys(m._records) for m in (one, other))
    assert one == other


def started(**parameters):
    return StreamingLDA(2, random_state=0, **PLAIN | parameters).partial_fit(BATCHES[0])


def test_a_rule_without_state_may_change():
    changed = started(update=SVB()).set_params(update=PowerPrior(0.5)).partial_fit(BATCHES[1])
    assert_array_equal(changed.retention_, 0.5)
    whole = started(update=PowerPrior(0.5)).partial_fit(BATCHES[1])
    assert_array_equal(changed.components_, whole.components_)
    decays = started(update=OnlineEM()).set_params(update__step_size=MeanDecay(1.0))
    decays.partial_fit(BATCHES[1])


@pytest.mark.parametrize(
    ("name", "value"), [("schedule__averaging", "linear"), ("doc_topic_prior_update", "gamma")]
)
def test_what_is_kept_beside_the_topics_may_not_change(name, value):
    model = started()
    with pytest.raises(ValueError, match=name.removeprefix("schedule__")):
        model.set_params(**{name: value}).partial_fit(BATCHES[1])
    assert model.n_batch_iter_ == 1
    model = StreamingLDA(3).partial_fit(BATCHES[0] * 0)  # Nothing is chosen by no words.
    with pytest.raises(ValueError, match="n_components is 9 now"):
        model.set_params(n_components=9).partial_fit(BATCHES[1])


@pytest.mark.parametrize(("make", "data"), [
    (lambda rule: StreamingLDA(2, random_state=0, **PLAIN | {"update": rule}), (BATCHES[0],)),
    (lambda rule: MultiViewLDA(1, 1, update=rule), (BATCHES[0], LABELS, ["a", "b"])),
    (lambda rule: AspectSentimentModel(1, update=rule), (SENTENCES[0],)),
    (lambda rule: StreamingBayes(BetaBinomial(), rule), (COINS[0],)),
])  # fmt: skip
def test_a_rule_with_state_may_neither_go_nor_come_later(make, data):
    """The state that it would have had is not there."""
    model = make(Rounds(Window(2), 2)).partial_fit(*data)
    before = parts_of(model._commit)
    for other in (SVB(), Rounds(SVB(), 2)):
        with pytest.raises(ValueError, match=r"update is .*SVB.* the state of .*Window"):
            model.set_params(update=other).partial_fit(*data)
    assert parts_of(model._commit) == before
    model.set_params(update=Window(2)).partial_fit(*data)
    assert model.n_batch_iter_ == 2
    for first in (SVB(), PowerPrior(0.5)):
        model = make(first).partial_fit(*data)
        before = parts_of(model._commit)
        with pytest.raises(ValueError, match=r"update is Window.* cannot continue"):
            model.set_params(update=Window(2)).partial_fit(*data)
        assert parts_of(model._commit) == before
    model.set_params(update=Rounds(PowerPrior(0.5), 2)).partial_fit(*data)


DRIFT = ("drift_", "retention_", "retention_history_", "effective_sample_size_")


@pytest.mark.parametrize("update", RULES, ids=str)
def test_attributes_of_drift_are_those_of_rules_that_forget(update):
    given = {"inference": "variational", "view": "geometric_mean"}
    model = started(update=RULES[update], doc_topic_prior_update="fixed", **given)
    forgets = update.startswith(("power prior", "HPP", "EPP", "population"))
    assert RULES[update].traits.forgets == forgets
    for name in DRIFT:
        assert hasattr(model, name) == forgets
        if not forgets:
            kind = type(RULES[update]).__name__
            with pytest.raises(AttributeError, match=r"use a rule such as PowerPrior") as raised:
                getattr(model, name)
            assert kind in str(raised.value)


def test_merging_is_there_where_the_rule_says_how():
    merging = {name for name, rule in RULES.items() if hasattr(StreamingLDA(update=rule), "merge")}
    assert {"SVB", "BPS", "BPS by topic", "online EM", "rounds", "power prior"} <= merging
    assert not {"HPP", "Langevin", "window", "adaptive rate"} & merging
    with pytest.raises(AttributeError, match="no attribute 'merge'") as raised:
        StreamingLDA(update=updates.Langevin()).merge  # noqa: B018
    assert "use a rule such as SVB()" in str(raised.value.__cause__)
    assert not hasattr(StreamingLDA(update="unknown"), "merge")
    assert StreamingLDA.merge.__doc__


@pytest.mark.parametrize("rule", [
    updates.HierarchicalPowerPrior("topic"),
    updates.EmpiricalPowerPrior("topic"),
    updates.Langevin(),
    Rounds(updates.HierarchicalPowerPrior("topic"), 2),
    updates.LearnsDocTopicPrior(updates.EmpiricalPowerPrior("topic"), updates.GammaPrior()),
], ids=str)  # fmt: skip
def test_what_cannot_be_averaged_is_refused_before_anything_is_learnt(rule):
    model = StreamingLDA(2, update=rule, schedule=Schedule(averaging="linear"), random_state=0)
    with pytest.raises(ValueError, match=f"{type(rule).__name__} .*schedule__averaging to None"):
        model.partial_fit(BATCHES[0])
    assert not hasattr(model, "posterior_")


def test_alpha_is_never_left_alone_in_silence():
    """A local step that does not report what alpha is learnt from is refused by name."""
    strange = StreamingLDA(2, inference=Stranger(), view="mean", random_state=0)
    strange.set_params(doc_topic_prior_update="fixed_point")
    message = r"FixedPoint as set here needs 'log_theta', not reported by Stranger"
    with pytest.raises(ValueError, match=message):
        strange.partial_fit(BATCHES[0])
    fixed = strange.set_params(doc_topic_prior_update="fixed").partial_fit(BATCHES[0])
    assert_array_equal(fixed.doc_topic_prior_, 1.5)
    model = started(doc_topic_prior_update=FixedPoint(burn_in=0))
    assert (model.partial_fit(BATCHES[0]).doc_topic_prior_ != 1.5).all()


@pytest.mark.parametrize("name", ["inference", "view", "doc_topic_prior_update"])
def test_auto_is_among_the_words_where_it_is_one(name):
    X = np.eye(12)
    with pytest.raises(TypeError, match=rf"^{name} must be one of \['auto', .*got 'unknown'"):
        StreamingLDA(3, **{name: "unknown"}).fit(X)
    with pytest.raises(TypeError, match=r"^update must be one of") as raised:
        StreamingLDA(3, update="unknown").fit(X)
    assert "auto" not in str(raised.value)
