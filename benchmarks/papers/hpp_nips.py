# SPDX-License-Identifier: BSD-3-Clause
"""Abstracts of NIPS by year, as Table 1 of the HPP paper counts them.

Section 6.2 of Masegosa et al. (2020): 29 years, the 100 words of the greatest TF-IDF, ten
topics. Of each year two thirds of the documents are learnt, and the rest is tested on
straight after by the bound on its log probability, E_q[ln p(x, z | beta)] - E_q[ln q(z)],
here summed over all years and divided by the number of tokens; beside it the score of the
package, by document completion. Each split has documents held out and a start of its own; what
a rule gains on SVB is by the bound. The corpus is another than the paper's. The priors are those
of the paper's section 6, 1/|V| for topics and 0.1 for documents; the defaults of the package; and
0.1 for both. Restarts, a rate of a half, two starts and point estimates of the rate are not in
the paper.

    STREAMTOPICS_DATA=... python -m benchmarks.papers hpp_nips
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics import SVBHPP, SVBLDA, StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.families import dirichlet
from streamtopics.metrics import completion_split
from streamtopics.updates.rates import Normal

PAPER, DEFAULTS, EQUAL = "the paper's", "the defaults", "0.1 for documents and topics"
PRIORS: dict[str, dict[str, float]] = {
    PAPER: {"doc_topic_prior": 0.1, "topic_word_prior": 0.01},
    DEFAULTS: {},
    EQUAL: {"doc_topic_prior": 0.1, "topic_word_prior": 0.1},
}
OF_YEAR = "M of the year"
SPLITS, N_TOPICS, N_WORDS = 11, 10, 100
# The years in which the paper finds hardly any drift.
CALM = 20


def methods(seed: int, priors: dict[str, float]) -> Iterator[tuple[str, StreamingTopicModel]]:
    """What is compared, by name; SVB goes first."""
    common: dict[str, Any] = {"n_components": N_TOPICS, "random_state": seed}
    common |= priors
    passes, two = common | {"schedule__n_rounds": 10}, common | {"rate_starts": (0.05, 0.95)}
    hpp = partial(SVBHPP.preset, "SVBHPP")
    yield "SVB", SVBLDA.preset("SVBLDA", **passes)
    for population in ("M = 1000", OF_YEAR):
        for rate in (0.1, 0.01):
            of = {"update__population_size": 1000, "update__rate": rate}
            model = StreamingLDA.preset("PopulationVBLDA", **of, **common)
            yield f"PVB, {population}, nu = {rate}", model
    for rho in (0.99, 0.9, 0.5, 0.0):
        model = StreamingLDA.preset("PowerPriorLDA", update__rho=rho, **passes)
        yield (f"PP {rho}" if rho else "restart"), model
    yield "HPP", hpp(**common)
    yield "MHPP", hpp(rate="topic", **common)
    yield "MHPP, normal", hpp(rate="topic", rate_prior=Normal(0.5, 1.0), **common)
    yield "HPP, two starts", hpp(**two)
    yield "MHPP, two starts", hpp(rate="topic", **two)
    yield "point estimate", hpp(rate_estimate="point", **common)
    yield "point, by topic", hpp(rate="topic", rate_estimate="point", **common)


class Year(NamedTuple):
    """Documents of a year, learnt and tested on."""

    train: sparse.csr_matrix
    test: sparse.csr_matrix


def split(X: sparse.csr_matrix, rng: np.random.Generator) -> Year:
    """Two thirds for learning."""
    order, n = rng.permutation(X.shape[0]), 2 * X.shape[0] // 3
    return Year(X[order[:n]], X[order[n:]].astype(np.float64))


def bound(model: StreamingTopicModel, X: sparse.csr_matrix) -> float:
    """E_q[ln p(x, z | beta)] - E_q[ln q(z)] in nats, summed over the documents.

    The mean of q(theta_d), which `transform` tells, is its parameter but for the mass:
    that of the prior and the tokens of the document.
    """
    alpha, lengths = model.doc_topic_prior_, np.asarray(X.sum(axis=1))
    gamma = model.transform(X) * (alpha.sum() + lengths)
    log_theta = dirichlet.expected_statistics(gamma)
    lam = model.components_
    log_beta = digamma(lam) - digamma(lam.sum(axis=1, keepdims=True))
    entries = X.tocoo()
    weights = log_theta[entries.row] + log_beta[:, entries.col].T
    of_words = entries.data @ np.logaddexp.reduce(weights, axis=1)
    return float(of_words - dirichlet.kl(gamma, alpha).sum())


class Scores(NamedTuple):
    """Nats of a year, by the bound and by document completion, and the tokens of either."""

    bound: float
    completion: float
    n: float
    n_completed: float


def mean(scores: list[Scores]) -> float:
    """Nats per token, by the bound."""
    return sum(score.bound for score in scores) / sum(score.n for score in scores)


def tested(model: StreamingTopicModel, years: list[Year], *, of_year: bool) -> list[Scores]:
    """What each year scores after it was learnt; `of_year` has a population of its size."""
    scores = []
    for train, test in years:
        if of_year:
            model.set_params(update__population_size=train.shape[0])
        model.partial_fit(train)
        held_out = float(completion_split(test)[1].sum())
        completed = float(model.score_samples(test).sum())
        scores.append(Scores(bound(model, test), completed, float(test.sum()), held_out))
    return scores


@cache
def batches_of(*, quick: bool) -> tuple[list[str], list[sparse.csr_matrix]]:
    """The years and their counts; if quick, speeches in a few parts."""
    if not quick:
        rows = corpora.rows("nips_abstracts")
        counter = CountVectorizer(stop_words="english", min_df=5, dtype=np.float32)
        X = counter.fit_transform(row["text"] for row in rows)
        weight = np.asarray(TfidfTransformer().fit_transform(X).sum(axis=0)).ravel()
        X, years = X[:, np.sort(np.argsort(-weight)[:N_WORDS])], [str(row["time"]) for row in rows]
        names = sorted(set(years))
        return names, [X[np.equal(years, name)] for name in names]
    counter = CountVectorizer(stop_words="english", max_features=100, dtype=np.float32)
    X = counter.fit_transform([row["text"] for row in corpora.enclosed("speeches")])
    return [*"abc"], [X[i : i + 240] for i in range(0, 720, 240)]


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All rules on a split."""
    names, batches = batches_of(quick=quick)
    rng = np.random.default_rng(cell["split"])
    years = [split(X, rng) for X in batches]
    of_svb: list[Scores] = []
    for method, model in methods(cell["split"], PRIORS[cell["priors"]]):
        scores = tested(model, years, of_year=OF_YEAR in method)
        of_svb = of_svb or scores
        for step, year in enumerate(names, 1):
            one, other = scores[step - 1], of_svb[step - 1]
            end = dict.fromkeys(("total", "late", "completion"), "")
            if step == len(names):
                completed = sum(score.completion for score in scores)
                end = {
                    "total": mean(scores),
                    "late": mean(scores[CALM:] or scores[-1:]),
                    "completion": completed / sum(score.n_completed for score in scores),
                }
            elif cell["priors"] != PAPER:
                continue
            gain = (one.bound - other.bound) / one.n
            yield {"method": method, "step": step, "year": year, "gain": gain, **end}


def cells(quick: bool) -> list[Cell]:
    """Priors and splits, those of the paper first."""
    splits = range(1 if quick else SPLITS)
    return [{"priors": priors, "split": split} for priors in PRIORS for split in splits]


EXPERIMENT = Experiment(
    "hpp_nips",
    ("priors", "method", "split", "step", "year"),
    ("gain", "total", "late", "completion"),
    cells,
    run,
)
