# SPDX-License-Identifier: BSD-3-Clause
"""The cases: what is built, what it learns from and how, and what is measured.

The NAME of a case is its key in the files and stays as it is. All of the construction is in
its row, but for the seed: where classes or parameters get other names, edit these lines, and
nothing else here. `loose` compares two results where last bits may differ; chains of samples and
optimisers of many optima go elsewhere from there, so that of them only shapes can be compared, and
where they choose how many topics or points there are, not even these.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

import streamtopics as st
from streamtopics.dpp.measures import Fourier
from streamtopics.local import Gibbs, Variational
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)
from streamtopics.priors import class_words_prior
from streamtopics.updates import (
    BPS,
    Boost,
    BudgetedPowerPrior,
    DampedNewton,
    Decay,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    Langevin,
    Normal,
    PopulationVB,
    PowerPrior,
    Rounds,
    StochasticVI,
)
from streamtopics.was import SBP, WAS
from tests import plain
from tests.fingerprints.corpora import N_TOPICS, N_WORDS, corpora
from tests.fingerprints.measures import (
    draws,
    fingerprint,
    measure,
    natural_parameters,
    of_corpus,
    of_metrics,
    of_priors,
    same_dimensions,
    same_shape,
    same_summary,
    summaries,
)

SEEDS = 0, 1, 2

# Knowledge: two arrays of pseudo-counts for each word in each topic.
WORDS = np.arange(N_WORDS)
TOPICS = np.arange(N_TOPICS)[:, None]
KNOWN = np.where(np.equal(WORDS % 9, TOPICS), 2.0, 0.05)
OTHER = np.where(np.equal(WORDS % 7, TOPICS), 1.5, 0.03)


# What is learnt from: arguments of `fit`, which have as many rows


def of(**columns):
    """What reads arguments off a corpus, by the names of what it has."""
    return lambda corpus: {name: getattr(corpus, column) for name, column in columns.items()}


counts = of(X="X")
labelled = of(X="X", y="labels")
rated = of(X="X", y="ratings", items="items", users="users")
only_rated = of(X="X", y="ratings")
grouped = of(X="X", groups="groups")
points = of(X="points")
gaps = of(X="gaps")
sets_of_points = of(X="points", groups="groups")
response = of(X="points", y="response")
response_with_gaps = of(X="gaps", y="response")


def whole(corpus):
    n = corpus.sentences.shape[0]
    return {"X": corpus.sentences, "groups": corpus.groups[:n]}


def baskets(corpus):
    return {"X": corpus.sentences.minimum(1.0)[:, ::4]}


def sets_in_square(corpus):
    return {"X": 1 / (1 + np.exp(-corpus.points[:, :2])), "groups": corpus.groups}


def coins(corpus):
    return {"X": (corpus.points > 0).astype(int)}


def codes(corpus):
    return {"X": corpus.gaps, "y": np.unique(corpus.labels, return_inverse=True)[1]}


def texts(corpus):
    """A document of five sentences for each group."""
    lines = np.array([" ".join(f"w{w}" for w in row.indices) for row in corpus.sentences])
    documents = ["W" + ". W".join(line[1:] for line in part) + "." for part in lines.reshape(-1, 5)]
    return {"raw_documents": np.array(documents, dtype=object)}


def everything(corpus):
    return corpus._asdict()


def parts(data):
    """The first half of the rows, and thirds of the other."""
    n = next(iter(data.values())).shape[0]
    ends = [0, n // 2, n // 2 + n // 6, n // 2 + 2 * (n // 6), n]
    for start, stop in pairwise(ends):
        yield {name: values[start:stop] for name, values in data.items()}


def stream(model, data):
    """`fit`, and three minibatches after it."""
    first, *others = parts(data)
    model.fit(**first)
    for part in others:
        model.partial_fit(**part)
    return model


def minibatches(model, data):
    """Minibatches alone."""
    for part in parts(data):
        model.partial_fit(**part)
    return model


def once(model, data):
    """`fit` alone, of all rows."""
    return model.fit(**data)


def merge(model, data):
    """Two copies that go on with different minibatches, made one."""
    first, left, right, last = parts(data)
    model.fit(**first)
    one, other = copy.deepcopy(model), copy.deepcopy(model)
    one.partial_fit(**left)
    other.partial_fit(**right)
    return one.merge(other, base=model).partial_fit(**last)


def merge_strangers(model, data):
    """Two models that share nothing but their start."""
    _, left, right, _ = parts(data)
    other = copy.deepcopy(model).partial_fit(**right)
    return model.partial_fit(**left).merge(other)


def nothing(model, data):
    """Functions have no model."""
    return model


@dataclass(frozen=True)
class Case:
    """A row of the table; `make` makes the estimator, None where there is none."""

    make: Callable | None
    data: Callable = counts
    learn: Callable = stream
    measure: Callable = measure
    loose: Callable = same_summary
    seeds: tuple = SEEDS

    def build(self, seed):
        return self.make and self.make(random_state=seed)


Sampled = partial(Case, loose=same_shape)
Growing = partial(Case, loose=same_dimensions)
Sentences = partial(Case, data=grouped)
Rated = partial(Case, data=rated)
Classes = partial(Case, data=labelled)
Was = partial(Sampled, data=whole)
Process = partial(Growing, data=whole, measure=draws)
Bayes = partial(Case, measure=natural_parameters)
# What draws nothing, so that all seeds are one.
Certain = partial(Bayes, seeds=(0,))
Texts = partial(Growing, data=texts, measure=summaries)

K = {"n_components": N_TOPICS}
row = st.StreamingLDA.preset
SMALL = K | {"batch_size": 30}
FEW = {"n_sweeps": 6, "n_burn_in": 3, "n_local_sweeps": 4}

# fmt: off
INPUT = {
    "corpus": Case(None, everything, nothing, of_corpus, seeds=(0,)),
    "priors": Case(None, labelled, nothing, of_priors, seeds=(0,)),
    "metrics": Case(partial(plain.SVBLDA, **SMALL), measure=of_metrics),
}
SVB = {
    "SVBLDA": Case(partial(plain.SVBLDA, **K)),
    "SVBLDA small batches": Case(partial(plain.SVBLDA, **SMALL, max_iter=2)),
    "SVBLDA passes": Case(partial(plain.SVBLDA, **SMALL, schedule__n_rounds=3)),
    "SVBLDA priors": Case(partial(plain.SVBLDA, **SMALL, doc_topic_prior=0.3,
        topic_word_prior=KNOWN)),
    "SVBLDA tolerance": Case(partial(plain.SVBLDA, **SMALL, inference=Variational(1e-6, 7)),
        learn=minibatches),
    "SVBLDA merged": Case(partial(plain.SVBLDA, **SMALL), learn=merge),
    "SVBLDA merged without base": Case(partial(plain.SVBLDA, **SMALL), learn=merge_strangers),
    "BPSLDA": Case(partial(plain.BPSLDA, **K)),
    "BPSLDA topic": Case(partial(plain.BPSLDA, **SMALL, boosting_scale=0.25, boosting_norm="topic",
        topic_word_prior=KNOWN)),
    "BPSLDA other prior": Case(partial(plain.BPSLDA, **SMALL, boosting_scale=0.2,
        topic_word_prior=KNOWN, boosted_prior=OTHER, schedule__n_rounds=3)),
    "BPSLDA topic other prior": Case(partial(plain.BPSLDA, **SMALL, boosting_norm="topic",
        boosted_prior=OTHER)),
    "BPSLDA merged": Case(partial(plain.BPSLDA, **SMALL, boosted_prior=OTHER), learn=merge),
}
FORGETTING = {
    "SVBHPP": Case(partial(plain.SVBHPP, **K)),
    "SVBHPP topic": Case(partial(plain.SVBHPP, **SMALL, rate="topic")),
    "SVBHPP point": Case(partial(plain.SVBHPP, **SMALL, rate_estimate="point")),
    "SVBHPP point topic": Case(partial(plain.SVBHPP, **SMALL, rate="topic", rate_estimate="point",
        boosting_scale=0.1)),
    "SVBHPP boost": Case(partial(row, "SVBHPP", **SMALL, boosted_prior=OTHER,
        update=HierarchicalPowerPrior(rate_starts=(0.05, 0.95), boost=Boost(0.2), max_rounds=4))),
    "SVBHPP normal": Case(partial(plain.SVBHPP, **SMALL, rate_prior=Normal(0.7, 9.0),
        rate_starts=(0.5,)), learn=minibatches),
    "PowerPriorLDA": Case(partial(row, "PowerPriorLDA", **K)),
    "PowerPriorLDA boost": Case(partial(row, "PowerPriorLDA", **SMALL,
        update=PowerPrior(0.6, Boost(0.2)), topic_word_prior=KNOWN)),
    "PowerPriorLDA other prior": Case(partial(row, "PowerPriorLDA", **SMALL,
        update=PowerPrior(0.8, Boost(0.1)), boosted_prior=OTHER, schedule__n_rounds=3)),
    "PowerPriorLDA passes": Case(partial(row, "PowerPriorLDA", **SMALL, update__rho=0.3,
        schedule__n_rounds=2), learn=minibatches),
    "PowerPriorLDA budget": Case(partial(row, "PowerPriorLDA", **SMALL,
        update=BudgetedPowerPrior(5.0, Boost(0.1)))),
    "PopulationVBLDA": Case(partial(row, "PopulationVBLDA", **K)),
    "PopulationVBLDA small": Case(partial(row, "PopulationVBLDA", **SMALL,
        update=PopulationVB(500, 0.3))),
    "PopulationVBLDA boost": Case(partial(row, "PopulationVBLDA", **SMALL,
        update=PopulationVB(300, 0.1, Boost(0.2)), boosted_prior=OTHER)),
}
ONLINE = {
    "OnlineVBLDA": Case(partial(row, "OnlineVBLDA", **K)),
    "OnlineVBLDA steps": Case(partial(row, "OnlineVBLDA", **SMALL,
        update=StochasticVI(Decay(0.9, 2.0), 400))),
    "OnlineVBLDA newton": Case(partial(row, "OnlineVBLDA", **SMALL,
        doc_topic_prior_update=DampedNewton(step_size=Decay(0.7)), topic_word_prior=KNOWN,
        max_iter=3)),
    "VariationalOnlineEM": Case(partial(plain.VariationalOnlineEM, **K)),
    "VariationalOnlineEM boosted": Case(partial(plain.VariationalOnlineEM, **SMALL,
        update_each_sweep=True, max_local_iter=5)),
    "VariationalOnlineEM averaging": Case(partial(plain.VariationalOnlineEM, **SMALL,
        schedule__averaging="linear", doc_topic_prior_update="fixed")),
    "VariationalOnlineEM gamma": Case(partial(plain.VariationalOnlineEM, **SMALL, kappa=0.5, tau=3,
        doc_topic_prior_update="gamma", topic_word_prior=0.1), learn=minibatches),
    "VariationalOnlineEM merged": Case(partial(plain.VariationalOnlineEM, **SMALL, kappa=1.0),
        learn=merge),
    "SinglePassLDA": Case(partial(row, "SinglePassLDA", **K)),
    "SinglePassLDA settings": Case(partial(row, "SinglePassLDA", **SMALL, schedule__n_rounds=6,
        doc_topic_prior=0.5, topic_word_prior=0.05)),
    "SinglePassLDA merged": Case(partial(row, "SinglePassLDA", **SMALL), learn=merge),
}
SAMPLING = {
    "GibbsOnlineEM": Sampled(partial(plain.GibbsOnlineEM, **K)),
    "GibbsOnlineEM boosted": Sampled(partial(plain.GibbsOnlineEM, **SMALL, update_each_sweep=True)),
    "GibbsOnlineEM averaging": Sampled(partial(plain.GibbsOnlineEM, **SMALL,
        schedule__averaging="linear", schedule__n_start_rounds=1)),
    "GibbsOnlineEM gamma": Sampled(partial(plain.GibbsOnlineEM, **SMALL,
        doc_topic_prior_update="gamma", topic_word_prior=0.05)),
    "GibbsOnlineEM fixed": Sampled(partial(plain.GibbsOnlineEM, **SMALL, kappa=0.5, tau=2,
        n_sweeps=9, doc_topic_prior=0.4, doc_topic_prior_update="fixed"), learn=minibatches),
    "GibbsOnlineEM merged": Sampled(partial(plain.GibbsOnlineEM, **SMALL), learn=merge),
    "GibbsOnlineEM merged means": Sampled(partial(plain.GibbsOnlineEM, **SMALL, kappa=1.0),
        learn=merge),
    "VarGibbsLDA": Sampled(partial(row, "VarGibbsLDA", **K)),
    "VarGibbsLDA steps": Sampled(partial(row, "VarGibbsLDA", **SMALL,
        update=StochasticVI(Decay(0.6, 1.0), 500), inference=Gibbs(8), topic_word_prior=KNOWN)),
    "StreamingGibbsLDA": Sampled(partial(row, "StreamingGibbsLDA", **K)),
    "StreamingGibbsLDA settings": Sampled(partial(row, "StreamingGibbsLDA", **SMALL,
        inference=Gibbs(5, 0), doc_topic_prior=0.2, topic_word_prior=0.2)),
    "StreamingGibbsLDA merged": Sampled(partial(row, "StreamingGibbsLDA", **SMALL), learn=merge),
    "LangevinLDA": Sampled(partial(row, "LangevinLDA", **K)),
    "LangevinLDA settings": Sampled(partial(row, "LangevinLDA", **SMALL,
        update=Langevin(0.1, 10.0, 0.8, 500), inference=Gibbs(20), topic_word_prior=0.2)),
    "HDPGibbsOnlineEM": Growing(st.HDPGibbsOnlineEM),
    "HDPGibbsOnlineEM settings": Growing(partial(st.HDPGibbsOnlineEM, **SMALL, kappa=0.9,
        n_sweeps=8, concentration=3.0, doc_concentration=1.0, topic_word_prior=0.1)),
    "HDPVarGibbs": Growing(st.HDPVarGibbs),
    "HDPVarGibbs settings": Growing(partial(st.HDPVarGibbs, **SMALL, tau=1, n_documents=600,
        n_sweeps=8, topic_word_prior=0.2)),
}
REVIEWS = {
    "MultiViewLDA": Classes(st.MultiViewLDA),
    "MultiViewLDA boost": Classes(partial(st.MultiViewLDA, 3, 2, update=BPS(0.2, "topic"),
        batch_size=30)),
    "MultiViewLDA other prior": Classes(partial(st.MultiViewLDA, 2, 2, update=Rounds(BPS(0.1), 3),
        class_word_prior=KNOWN[:3], boosted_prior=OTHER[:3], batch_size=50)),
    "MultiViewLDA callable": Classes(partial(st.MultiViewLDA, 2, 3,
        class_word_prior=partial(class_words_prior, n_seeds=9), doc_topic_prior=0.5,
        local_share_prior=(3.0, 1.0), topic_word_prior=0.2, batch_size=50)),
    "AspectSentimentModel": Sentences(partial(st.AspectSentimentModel, 4,
        topic_word_prior=KNOWN[:2])),
    "AspectSentimentModel whole": Sentences(partial(st.AspectSentimentModel, 3,
        topic_word_prior=KNOWN[:2], boosted_prior=OTHER[:2], update=BPS(0.2), batch_size=8)),
    "AspectSentimentModel rule": Sentences(partial(st.AspectSentimentModel, 2,
        sentiments=("good", "bad", "none"), topic_word_prior=KNOWN[:3],
        update=PowerPrior(0.9, Boost(0.1)), doc_sentiment_prior=2.0, batch_size=8)),
    "AspectSentimentModel frank_wolfe": Sentences(partial(st.AspectSentimentModel, 3,
        topic_word_prior=KNOWN[:2], inference="frank_wolfe", max_local_iter=20, batch_size=8),
        learn=minibatches),
    "RatingLDA": Rated(partial(st.RatingLDA, 4), data=only_rated),
    "RatingLDA fit": Rated(partial(st.RatingLDA, 4, profile="item", learn_priors=True, max_iter=14),
        learn=once),
    "RatingLDA LDA-0": Rated(partial(st.RatingLDA, 4, qualitative=False, max_iter=8)),
    "RatingLDA LDA-R-C": Rated(partial(st.RatingLDA, 4, profile="item", max_iter=8)),
    "RatingLDA LDA-R-U": Rated(partial(st.RatingLDA, 4, profile="user", refine=True, max_iter=8)),
    "RatingLDA learnt priors": Rated(partial(st.RatingLDA, 4, learn_priors=True, kappa=1.0,
        max_iter=14)),
    "SupervisedLDA": Rated(partial(st.SupervisedLDA, 4), data=only_rated),
    "SupervisedLDA fit": Rated(partial(st.SupervisedLDA, 4, learn_priors=True, max_iter=14),
        data=only_rated, learn=once),
    "SupervisedLDA learnt priors": Rated(partial(st.SupervisedLDA, 4, learn_priors=True,
        response_penalty=0.1, max_iter=14), data=only_rated),
    "SupervisedLDA minibatches": Rated(partial(st.SupervisedLDA, 4, kappa=1.0,
        topic_word_prior=KNOWN[0], max_iter=8), data=only_rated, learn=minibatches),
    "HiddenFactorsTopics": Rated(partial(st.HiddenFactorsTopics, 3, max_iter=6), loose=same_shape),
    "HiddenFactorsTopics fit": Rated(partial(st.HiddenFactorsTopics, 3, max_iter=6), learn=once,
        loose=same_shape),
    "HiddenFactorsTopics nameless": Rated(partial(st.HiddenFactorsTopics, 3, max_iter=4),
        data=only_rated, loose=same_shape),
    "HiddenFactorsTopics settings": Rated(partial(st.HiddenFactorsTopics, 3, text_weight=1.0,
        factor_penalty=0.3, kappa=1.0, max_iter=5, max_gradient_iter=5), loose=same_shape),
}
BAYES = {
    "StreamingBayes coins": Certain(partial(st.StreamingBayes, BetaBinomial()), coins),
    "StreamingBayes coins boosted": Certain(partial(st.StreamingBayes, BetaBinomial(), BPS(0.2),
        boosted_prior=BetaBinomial(5.0, 1.0), batch_size=30), coins),
    "StreamingBayes coins forgetting": Certain(partial(st.StreamingBayes, BetaBinomial(0.5, 0.5),
        HierarchicalPowerPrior("topic"), batch_size=30), coins),
    "StreamingBayes coins BudgetedPowerPrior": Certain(partial(st.StreamingBayes, BetaBinomial(),
        BudgetedPowerPrior(0.1), batch_size=30), coins),
    "StreamingBayes regression": Certain(partial(st.StreamingBayes, LinearRegression()), response),
    "StreamingBayes regression PowerPrior": Certain(partial(st.StreamingBayes,
        LinearRegression(fit_intercept=False), PowerPrior(0.7, Boost(0.1)), batch_size=30),
        response),
    "StreamingBayes regression HierarchicalPowerPrior": Certain(partial(st.StreamingBayes,
        LinearRegression(), HierarchicalPowerPrior(), batch_size=30), response),
    "StreamingBayes regression EmpiricalPowerPrior": Certain(partial(st.StreamingBayes,
        LinearRegression(), EmpiricalPowerPrior(), batch_size=30), response),
    "StreamingBayes mean field": Certain(partial(st.StreamingBayes, MeanFieldRegression()),
        response_with_gaps),
    "StreamingBayes mean field HierarchicalPowerPrior": Certain(partial(st.StreamingBayes,
        MeanFieldRegression(), HierarchicalPowerPrior("topic"), batch_size=30), response_with_gaps),
    "StreamingBayes mixture": Bayes(partial(st.StreamingBayes, GaussianMixture(3), batch_size=50),
        gaps),
    "StreamingBayes mixture PowerPrior": Bayes(partial(st.StreamingBayes,
        GaussianMixture(2, n_init=3), Rounds(PowerPrior(0.8), 3), batch_size=50), points),
    "StreamingBayes mixture PopulationVB": Bayes(partial(st.StreamingBayes, GaussianMixture(2),
        PopulationVB(200, 0.3), batch_size=50), points),
    "StreamingBayes mixture HierarchicalPowerPrior": Bayes(partial(st.StreamingBayes,
        GaussianMixture(2), HierarchicalPowerPrior("topic", rate_starts=(0.1, 0.9)), batch_size=50),
        gaps),
    "StreamingBayes classes": Bayes(partial(st.StreamingBayes,
        NaiveBayesMixture(3, GaussianMixture(2)), batch_size=50), codes),
    "StreamingBayes classes boosted": Bayes(partial(st.StreamingBayes,
        NaiveBayesMixture(3, GaussianMixture(2)), Rounds(BPS(0.1, "topic"), 2), batch_size=50),
        codes),
}
SENTENCES = {
    "WASTopicModel was": Was(partial(st.WASTopicModel, 4, **FEW)),
    "WASTopicModel hdp": Was(partial(st.WASTopicModel, 4, prior="hdp", **FEW)),
    "WASTopicModel sbp": Was(partial(st.WASTopicModel, 4, prior=SBP(1.0, 0.5, 5), **FEW)),
    "WASTopicModel fit": Was(partial(st.WASTopicModel, 5, topic_word_prior=0.2, **FEW), learn=once),
    "WASTopicModel not exact": Was(partial(st.WASTopicModel, 4,
        prior=WAS((2.0, 1.0), (1.0, 0.5), 0.5, exact=False), atom_prior=0.3, kappa=1.0, **FEW),
        learn=minibatches),
}
PROCESSES = {
    "LowRankDPP": Process(partial(st.LowRankDPP, max_iter=3)),
    "LowRankDPP fit": Process(partial(st.LowRankDPP, n_components=5, penalty=0.01, max_iter=4),
        learn=once),
    "LowRankDPP document fit": Process(partial(st.LowRankDPP, n_components=3, theta="document",
        max_iter=2), learn=once),
    "LowRankDPP document": Process(partial(st.LowRankDPP, n_components=4, theta="document",
        max_iter=2, max_local_iter=5)),
    "LowRankDPP poisson": Process(partial(st.LowRankDPP, "poisson", 4, max_iter=2, gamma=0.01)),
    "LowRankDPP multinomial": Process(partial(st.LowRankDPP, "multinomial", 4, max_iter=2,
        noise_level=2.0), learn=minibatches),
    "LowRankDPP items": Process(partial(st.LowRankDPP, "items", 4, max_iter=3), data=baskets),
    "LowRankDPP gaussian": Process(partial(st.LowRankDPP, "gaussian", 3, max_iter=3),
        data=sets_of_points),
    "LowRankDPP square": Process(partial(st.LowRankDPP, Fourier(2, 2), 4, max_iter=3),
        data=sets_in_square),
    "DPPSummarizer": Texts(partial(st.DPPSummarizer, 2), seeds=(0,)),
    "DPPSummarizer short": Texts(partial(st.DPPSummarizer, 5, n_words=15, quality_power=1.0,
        fragment_weight=1.0), seeds=(0,)),
    "DPPSummarizer thesis": Texts(partial(st.DPPSummarizer, 2, quality="thesis", n_components=4,
        max_iter=2)),
}
# fmt: on

# By group, the cases that one process runs.
GROUPS = {
    "input": INPUT, "svb": SVB, "forgetting": FORGETTING, "online": ONLINE, "sampling": SAMPLING,
    "reviews": REVIEWS, "bayes": BAYES, "sentences": SENTENCES, "processes": PROCESSES,
}  # fmt: skip
CASES = {name: case for group in GROUPS.values() for name, case in group.items()}


def prints(name, n_jobs=None, seeds=SEEDS):
    """All fingerprints of a case: by corpus, seed and quantity."""
    case, found = CASES[name], {}
    for corpus_name, corpus in corpora().items():
        data = case.data(corpus)
        for seed in sorted({*case.seeds} & {*seeds}):
            for quantity, values in measured(case, data, seed, n_jobs).items():
                found[f"{name} | {corpus_name} | {seed} | {quantity}"] = fingerprint(values)
    return found


def measured(case, data, seed, n_jobs):
    model = case.build(seed)
    if model is not None and "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=n_jobs)
    # Linear algebra sums in another order on other numbers of threads.
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        return case.measure(case.learn(model, data), data)
