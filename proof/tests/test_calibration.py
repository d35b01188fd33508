# SPDX-License-Identifier: BSD-3-Clause
"""`proof.calibration` at a tenth of its size, and that each of its checks can fail.

Seeds are fixed. All that is right together raises an alarm for one seed in a hundred. What is wrong
has to raise it at the same size, and among as many p-values.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import kstest

from proof import calibration, calibration_draws, calibration_sentences
from proof.calibration_draws import sets_of
from proof.calibration_posteriors import EXACTLY, PROCESSES, cumulated, ranked
from proof.calibration_samplers import ALPHA, LDA, Tokens, categorical, geweke, settled
from proof.calibration_sentences import PRIORS, Given, Integrated, online_step, sequential
from proof.calibration_tests import (
    FALSE_ALARMS,
    N_DRAWS,
    alike,
    chi_square,
    means,
    ranks,
    uniform,
    verdict,
)
from proof.calibration_worlds import families, worlds
from streamtopics.dpp import Process
from streamtopics.was import SBP, WAS, HDPFranchise

SHARE = 10
# p-values of all that is exact.
NUMBER = 427
SUBJECTS = {subject.name: subject for subject in calibration.subjects()}


def size(name):
    """Replicates of a subject here."""
    return SUBJECTS[name].replicates // SHARE


def assert_alarm(p_values):
    """As the command has it, if all others are right."""
    assert min(p_values.values()) * NUMBER < FALSE_ALARMS / 2, p_values


def test_all_that_is_exact_is_calibrated():
    found = {
        name: subject.p_values(size(name), calibration.rng_of(1, name))
        for name, subject in SUBJECTS.items()
        if subject.exact
    }
    assert verdict(found, np.random.default_rng(0)).calibrated, found
    assert sum(map(len, found.values())) == NUMBER


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


def ranked_wrong(name, rule, fault, times=1):
    """What is found at the size of the test above, or some times of it, by ranks alone."""
    process = PROCESSES[rule]
    world, n = fault(worlds()[name], process), times * size(f"{name}, {rule}")
    found = ranked(world, process, n, np.random.default_rng(0))
    assert found.pop(EXACTLY) == 0.0
    return found


@pytest.mark.parametrize("fault", OF_ALL)
@pytest.mark.parametrize("name", ["BetaBinomial", "GaussianMixture(1)", "NaiveBayesMixture"])
def test_wrong_posteriors_are_found(name, fault):
    assert_alarm(ranked_wrong(name, "SVB", fault))


@pytest.mark.parametrize("rule", ["PowerPrior", "BPS", "PowerPrior, boost"])
def test_a_rule_that_does_as_another_is_found(rule):
    """Forgetting that is boosted takes twice the size by ranks; its parameter tells with any."""
    times = 2 if rule == "PowerPrior, boost" else 1
    assert_alarm(ranked_wrong("BetaBinomial", rule, everything_kept, times))


@pytest.mark.parametrize("name", ["LinearRegression", "StreamingLDA(1), gibbs"])
def test_wrong_posteriors_of_models_one_by_one_are_found(name):
    """By their parameters: ranks of so few replicates do not tell a minibatch that counts twice."""
    assert ranked_wrong(name, "SVB", last_minibatch_twice)


@pytest.mark.parametrize("name", families())
def test_wrong_marginals_are_found(name):
    """With all data three times; those of the prior would be right."""
    right = families()[name]
    world = replace(right, learn=lambda rule, batches: right.learn(rule, [*batches] * 3))
    assert_alarm(cumulated(world, size(f"families.{name}"), np.random.default_rng(0)))


# Samplers that are wrong


@dataclass(frozen=True)
class Forgetful(LDA):
    """The sweep that should be, but the token at hand is left in its topic."""

    remove: bool = False

    def sweep(self, state, rng, n_sweeps=1):
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

    def sweep(self, state, rng, n_sweeps=1):
        return LDA(1.3 * ALPHA).sweep(state, rng, n_sweeps)


def test_wrong_sweeps_over_tokens_are_found():
    rng = np.random.default_rng(0)
    assert_alarm(geweke(OtherPrior(), size("local.Gibbs, float32"), rng))
    assert_alarm(settled(Forgetful(), size("local.Gibbs, float32, from one topic"), rng))


class Still(LDA):
    """A sampler that does nothing."""

    def sweep(self, state, rng, n_sweeps=1):
        return state


class StillSentences(Given):
    """A sampler that does nothing."""

    def sweep(self, state, rng, n_sweeps=1):
        return state


class StillBoth(Integrated):
    """A sampler that does nothing."""

    def sweep(self, state, rng, n_sweeps=1):
        return state


@pytest.mark.parametrize(
    ("chain", "name"),
    [
        (Still(), "local.Gibbs, float32, from one topic"),
        (StillSentences(PRIORS["HDP"]), "was.HDP, from one table"),
        (StillBoth(PRIORS["HDP"]), "was.HDP, both from one table"),
    ],
)
def test_a_sampler_that_does_nothing_is_found(chain, name):
    assert_alarm(settled(chain, size(name), np.random.default_rng(0)))


@dataclass(frozen=True)
class Swept(Given):
    """The sweep of another prior of sentences."""

    by: object = None

    def sweep(self, state, rng, n_sweeps=1):
        return Given(self.by).sweep(state, rng, n_sweeps)


WRONG = {
    "WAS": Given(WAS(exact=False)),
    "WAS, uneven": Swept(PRIORS["WAS, uneven"], WAS()),
    "HDP": Swept(PRIORS["HDP"], HDPFranchise(0.5, 3.0)),
    "SBP": Swept(PRIORS["SBP"], SBP(3.0, 0.3, truncation=3)),
    "ICD": Swept(PRIORS["ICD"], replace(PRIORS["ICD"], shape=10.0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sweeps_over_sentences_are_found(name):
    """Proposals of WAS that are all taken are nearly right: they take five times the size."""
    n = size(f"was.{name}, given topics") * (5 if name == "WAS" else 1)
    assert_alarm(geweke(WRONG[name], n, np.random.default_rng(0)))


OTHER = {
    "WAS": PRIORS["WAS, uneven"],
    "WAS, uneven": PRIORS["WAS"],
    "HDP": HDPFranchise(0.5, 3.0),
    "SBP": SBP(3.0, 0.3, truncation=3),
}


@pytest.mark.parametrize("name", OTHER)
def test_a_start_of_another_prior_is_found(monkeypatch, name):
    right = calibration_sentences.SentenceSampler
    monkeypatch.setattr(
        calibration_sentences, "SentenceSampler", lambda prior, atoms: right(OTHER[name], atoms)
    )
    n = size(f"was.{name}, start")
    assert_alarm(sequential(PRIORS[name], n, np.random.default_rng(0)))


@pytest.mark.parametrize("name", ["HDP", "SBP"])
def test_an_online_step_of_another_prior_is_found(monkeypatch, name):
    right = calibration_sentences.WASTopicModel
    monkeypatch.setattr(
        calibration_sentences,
        "WASTopicModel",
        lambda k, **given: right(k, **(given | {"prior": OTHER[name]})),
    )
    n = size(f"was.{name}, online step")
    assert_alarm(online_step(PRIORS[name], n, np.random.default_rng(0)))


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("name", calibration_draws.PROCESSES)
def test_wrong_sets_are_found(monkeypatch, name, k):
    process, L = calibration_draws.PROCESSES[name]
    other = Process(process.measure, replace(process.kernel, gamma=1.5), process.noise)
    monkeypatch.setitem(calibration_draws.PROCESSES, name, (other, L))
    assert_alarm(sets_of(name, k, size(f"dpp.{name}, any size"), np.random.default_rng(0)))


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


def test_verdict():
    rng = np.random.default_rng(0)
    right = {str(i): {"a": p, "b": 1 - p} for i, p in enumerate(rng.random(60))}
    assert verdict(right, rng).calibrated
    assert not verdict(right | {"0": {"a": 1e-6, "b": 0.4}}, rng).calibrated
    assert not verdict(right | {"0": {"a": np.nan, "b": 0.4}}, rng).calibrated
    slanted = {name: {"a": p["a"] ** 3} for name, p in right.items()}
    assert not verdict(slanted, rng).calibrated


# The command
