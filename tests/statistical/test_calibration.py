# SPDX-License-Identifier: BSD-3-Clause
"""`benchmarks.calibration` at a tenth of its size, and that each of its checks can fail.

Seeds are fixed. All that is right together raises an alarm for one seed in a hundred.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import kstest

from benchmarks import calibration, calibration_draws
from benchmarks.calibration_draws import sets_of
from benchmarks.calibration_posteriors import PROCESSES, cumulated, ranked
from benchmarks.calibration_samplers import (
    ALPHA,
    LDA,
    RESTAURANTS,
    Restaurant,
    Tokens,
    categorical,
    geweke,
    restaurants,
)
from benchmarks.calibration_sentences import PRIORS, Given, Integrated
from benchmarks.calibration_tests import (
    FALSE_ALARMS,
    N_DRAWS,
    Subject,
    alike,
    chi_square,
    means,
    ranks,
    uniform,
    verdict,
)
from benchmarks.calibration_worlds import families, worlds
from streamtopics.dpp import Counting, Items, Kernel, Process
from streamtopics.was import HDP, SBP, WAS

SHARE = 10
SUBJECTS = {subject.name: subject for subject in calibration.subjects()}


def size(name):
    """Replicates of a subject here."""
    return SUBJECTS[name].replicates // SHARE


def assert_alarm(p_values):
    """As the command has it, for one subject."""
    least = min(p_values.values())
    assert least * len(p_values) < FALSE_ALARMS / 2, p_values


def test_all_that_is_exact_is_calibrated():
    found = {
        name: subject.p_values(size(name), calibration.rng_of(1, name))
        for name, subject in SUBJECTS.items()
        if subject.exact
    }
    assert verdict(found, np.random.default_rng(0)).calibrated, found


# Posteriors that are wrong


def nothing_learnt(world, process):
    return replace(world, learn=lambda rule, batches: np.tile(world.prior, (n_of(batches), 1)))


def last_minibatch_dropped(world, process):
    return replace(world, learn=lambda rule, batches: world.learn(rule, batches[:-1]))


def first_minibatch_dropped(world, process):
    return replace(world, learn=lambda rule, batches: world.learn(rule, batches[1:]))


def last_minibatch_twice(world, process):
    return replace(world, learn=lambda rule, batches: world.learn(rule, [*batches, batches[-1]]))


def other_prior(world, process):
    """Six times as heavy as that of the model."""
    return replace(world, prior=6 * world.prior)


def everything_kept(world, process):
    """As if nothing was forgotten, and nothing boosted."""
    return replace(world, learn=lambda rule, batches: world.learn(PROCESSES["SVB"].rule, batches))


def n_of(batches):
    return len(batches[0].statistics)


OF_ALL = [
    nothing_learnt,
    last_minibatch_dropped,
    first_minibatch_dropped,
    last_minibatch_twice,
    other_prior,
]


@pytest.mark.parametrize("fault", OF_ALL)
@pytest.mark.parametrize("name", ["BetaBinomial", "GaussianMixture(1)", "NaiveBayesMixture"])
def test_wrong_posteriors_are_found(name, fault):
    process = PROCESSES["SVB"]
    world, n = fault(worlds()[name], process), size(f"{name}, SVB")
    assert_alarm(ranked(world, process, n, np.random.default_rng(0)))


@pytest.mark.parametrize("rule", ["PowerPrior", "BPS", "PowerPrior, boost"])
def test_a_rule_that_does_as_another_is_found(rule):
    name, process = "BetaBinomial", PROCESSES[rule]
    world, n = everything_kept(worlds()[name], process), 2 * size(f"{name}, {rule}")
    assert_alarm(ranked(world, process, n, np.random.default_rng(0)))


def test_a_window_over_the_wrong_minibatches_is_found():
    world, process = worlds()["BetaBinomial"], PROCESSES["Window"]
    first = replace(world, learn=lambda rule, batches: world.learn(rule, batches[::-1]))
    n = size("BetaBinomial, Window")
    assert_alarm(ranked(first, process, n, np.random.default_rng(0)))


@pytest.mark.parametrize("name", ["LinearRegression", "StreamingLDA(1), gibbs"])
def test_wrong_posteriors_of_models_one_by_one_are_found(name):
    """With a minibatch twice; these have fewer replicates, and so find what is worse only."""
    process, n = PROCESSES["SVB"], size(f"{name}, SVB")
    world = last_minibatch_twice(worlds()[name], process)
    p = ranked(world, process, 4 * n, np.random.default_rng(0))
    assert_alarm(p)


@pytest.mark.parametrize("name", families())
def test_wrong_marginals_are_found(name):
    world = last_minibatch_twice(families()[name], None)
    assert_alarm(
        cumulated(world, SUBJECTS[f"families.{name}"].replicates, np.random.default_rng(0))
    )


# Samplers that are wrong


@dataclass(frozen=True)
class Forgetful(LDA):
    """The sweep that should be, but the token at hand is left in its topic."""

    remove: bool = False

    def sweep(self, state, rng):
        x, z = state.x, state.z.copy()
        rows, counts = np.arange(len(x)), (z[..., None] == np.arange(len(self.alpha))).sum(axis=1)
        for n in range(x.shape[1]):
            counts[rows, z[:, n]] -= self.remove
            p = (counts + self.alpha) * self.topic_word[:, x[:, n]].T
            counts[rows, z[:, n]] -= not self.remove
            z[:, n] = categorical(p / p.sum(axis=1, keepdims=True), rng)
            counts[rows, z[:, n]] += 1
        return Tokens(x, z)


@dataclass(frozen=True)
class OtherPrior(LDA):
    """The package's sweep, with other parameters than the draws."""

    def sweep(self, state, rng):
        return LDA(1.3 * ALPHA).sweep(state, rng)


@pytest.mark.parametrize("chain", [Forgetful(), OtherPrior()])
def test_wrong_sweeps_over_tokens_are_found(chain):
    assert_alarm(geweke(chain, size("local.Gibbs, float32"), np.random.default_rng(0)))


def test_the_sweep_that_forgets_is_right_where_it_does_not():
    p = geweke(Forgetful(remove=True), size("local.Gibbs, float32"), np.random.default_rng(0))
    assert min(p.values()) > 0.01


@dataclass(frozen=True)
class Swept(Given):
    """The sweep of another prior of sentences."""

    by: object = None

    def sweep(self, state, rng):
        return Given(self.by).sweep(state, rng)


WRONG = {
    "WAS": Given(WAS(exact=False)),
    "WAS, uneven": Swept(PRIORS["WAS, uneven"], WAS()),
    "HDP": Swept(PRIORS["HDP"], HDP(0.5, 3.0)),
    "SBP": Swept(PRIORS["SBP"], SBP(3.0, 0.3, truncation=3)),
    "ICD": Swept(PRIORS["ICD"], replace(PRIORS["ICD"], shape=10.0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sweeps_over_sentences_are_found(name):
    n = size(f"was.{name}, given topics")
    if name == "WAS":
        # Proposals that are all taken are nearly right: at half of the size of the command.
        n = SUBJECTS[f"was.{name}, given topics"].replicates // 2
    assert_alarm(geweke(WRONG[name], n, np.random.default_rng(0)))


def test_topics_that_are_not_those_of_all_documents_are_found():
    n = size("was.WAS, integrated topics")
    assert_alarm(geweke(Integrated(WAS(), together=1), n, np.random.default_rng(0)))


@dataclass(frozen=True)
class OtherConcentration(Restaurant):
    """Words are drawn with another one than they are sampled with."""

    def infer(self, words, rng):
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return replace(Restaurant(**fields), concentration=4.0).infer(words, rng)


@pytest.mark.parametrize("name", ["births", "own sticks and births"])
def test_wrong_births_are_found(name):
    fields = {field: getattr(RESTAURANTS[name], field) for field in Restaurant.__dataclass_fields__}
    n = size(f"kernels.hdp, {name}")
    assert_alarm(restaurants(OtherConcentration(**fields), n, np.random.default_rng(0)))


@pytest.mark.parametrize("k", [None, 3])
def test_wrong_sets_are_found(monkeypatch, k):
    _, L = calibration_draws.PROCESSES["items"]
    kernel = Kernel(calibration_draws.U, calibration_draws.THETA, 0.6)
    other = Process(Items.of(8), kernel, Counting(0.15))
    monkeypatch.setitem(calibration_draws.PROCESSES, "items", (other, L))
    assert_alarm(sets_of("items", k, size("dpp.items, any size"), np.random.default_rng(0)))


# The tests themselves


def nulls():
    """p-values of what is right, each of few replicates."""

    def of_ranks(rng):
        return ranks(rng.random(200), rng.random((N_DRAWS, 200)), rng)

    def of_ties(rng):
        return ranks(rng.integers(3, size=200), rng.integers(3, size=(N_DRAWS, 200)), rng)

    def of_two(rng):
        return alike(rng.random(200), rng.random(300), rng)

    def of_two_with_ties(rng):
        return alike(rng.poisson(1.0, 200), rng.poisson(1.0, 200), rng)

    def of_cells(rng):
        p = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
        return chi_square(rng.multinomial(2000, p), 2000 * p)

    return {
        "ranks": of_ranks,
        "ranks with ties": of_ties,
        "two samples": of_two,
        "two samples with ties": of_two_with_ties,
        "cells": of_cells,
        "uniform": lambda rng: uniform(rng.random(500)),
        "means": lambda rng: means(rng.random(100), rng.beta(2, 2, 50)),
    }


@pytest.mark.parametrize("name", nulls())
def test_p_values_are_uniform(name):
    rng = np.random.default_rng(1)
    assert kstest([nulls()[name](rng) for _ in range(600)], "uniform").pvalue > 1e-3


def test_impossible_cells_are_never_right():
    assert chi_square(np.array([99, 1]), np.array([100.0, 0.0])) == 0.0


def test_verdict():
    rng = np.random.default_rng(0)
    right = {str(i): {"a": p, "b": 1 - p} for i, p in enumerate(rng.random(60))}
    assert verdict(right, rng).calibrated
    assert not verdict(right | {"0": {"a": 1e-6, "b": 0.4}}, rng).calibrated
    slanted = {name: {"a": p["a"] ** 3} for name, p in right.items()}
    assert not verdict(slanted, rng).calibrated


# The command


def test_command(capsys):
    assert calibration.main(["--only", "families.", "--replicates", "300", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "| families.gamma | value 0 | 300 | " in shown
    assert shown.endswith("calibrated\n")
    assert calibration.main(["--only", "MeanField", "--replicates", "10"]) == 0
    assert "not exact" in capsys.readouterr().out


def test_command_says_what_is_wrong(monkeypatch, capsys):
    wrong = Subject("wrong", lambda n, rng: {"p": uniform(rng.random(n) ** 2)}, 500)
    monkeypatch.setattr(calibration, "subjects", lambda: [wrong])
    assert calibration.main([]) == 1
    assert "NOT CALIBRATED" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--only", "nothing of the kind"], ["--replicates", "0"]])
def test_senseless_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        calibration.main(arguments)
    assert capsys.readouterr().err
