# SPDX-License-Identifier: BSD-3-Clause
"""Abstracts of NIPS by year, as Table 1 of the HPP paper counts them.

Section 6.2 of Masegosa et al. (2020): 29 years, the 100 words of the greatest TF-IDF, ten
topics. Of each year two thirds of the documents are learnt, and the rest is tested on
straight after by the bound on its log probability, E_q[ln p(x, z | beta)] - E_q[ln q(z)],
here summed over all years and divided by the number of tokens; beside it the score of the
package, by document completion. Means over seeds, each with a split and a start of its own,
and what a rule gains on SVB with the same seed: mean and range. The corpus is another than
the paper's, which does not tell its priors: the defaults of the package, and 0.1 for
documents and topics. Restarts, a rate of a half, two starts and point estimates of the rate
are not in the paper.

    STREAMTOPICS_DATA=... python benchmarks/papers/hpp_nips.py --output FOLDER
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hpp_text import STREAMS, minibatches
from scipy import sparse
from scipy.special import digamma

from streamtopics import SVBHPP, SVBLDA, StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.families import dirichlet
from streamtopics.metrics import completion_split
from streamtopics.updates.rates import Normal

PRIORS = {
    "the defaults": {},
    "0.1 for documents and topics": {"doc_topic_prior": 0.1, "topic_word_prior": 0.1},
}
OF_YEAR = "M of the year"
PRINTED = {
    "SVB": -4.07,
    "PVB, M = 1000, nu = 0.1": -4.04,
    "PVB, M = 1000, nu = 0.01": -4.21,
    f"PVB, {OF_YEAR}, nu = 0.1": -4.01,
    f"PVB, {OF_YEAR}, nu = 0.01": -4.12,
    "PP 0.99": -4.06,
    "PP 0.9": -4.02,
    "HPP": -4.01,
    "MHPP": -4.00,
    "MHPP, normal": -4.00,
}


def methods(seed: int, priors: dict[str, float]) -> Iterator[tuple[str, StreamingTopicModel]]:
    """What is compared, by name."""
    common: dict[str, Any] = {"n_components": STREAMS["nips"].components, "random_state": seed}
    common |= priors
    passes, half = common | {"n_rounds": 10}, common | {"rate_starts": (0.5,)}
    yield "SVB", SVBLDA(**passes)
    for population in ("M = 1000", OF_YEAR):
        for rate in (0.1, 0.01):
            of = {"update__population_size": 1000, "update__rate": rate}
            model = StreamingLDA.preset("PopulationVBLDA", **of, **common)
            yield f"PVB, {population}, nu = {rate}", model
    for rho in (0.99, 0.9, 0.5, 0.0):
        model = StreamingLDA.preset("PowerPriorLDA", update__rho=rho, **passes)
        yield (f"PP {rho}" if rho else "restart"), model
    yield "HPP", SVBHPP(**half)
    yield "MHPP", SVBHPP(rate="topic", **half)
    yield "MHPP, normal", SVBHPP(rate="topic", rate_prior=Normal(0.5, 1.0), **half)
    yield "HPP, two starts", SVBHPP(**common)
    yield "MHPP, two starts", SVBHPP(rate="topic", **common)
    yield "point estimate", SVBHPP(rate_estimate="point", **common)
    yield "point, by topic", SVBHPP(rate="topic", rate_estimate="point", **common)


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
    """Nats per token, by the bound and by document completion."""

    bound: float
    completion: float


def run(model: StreamingTopicModel, years: list[Year], population_of_year: bool) -> Scores:
    """A stream in which every year is tested on after it was learnt."""
    sums = np.zeros(2)
    for train, test in years:
        if population_of_year:
            model.set_params(update__population_size=train.shape[0])
        model.partial_fit(train)
        sums += bound(model, test), model.score_samples(test).sum()
    held_out = sum(completion_split(year.test)[1].sum() for year in years)
    return Scores(*(sums / [sum(year.test.sum() for year in years), held_out]))


def table(batches: list[sparse.csr_matrix], priors: dict[str, float], n_seeds: int) -> list[str]:
    """Means over the seeds, and gains on SVB with their ranges."""
    found: dict[str, list[Scores]] = {}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        years = [split(X, rng) for X in batches]
        for name, model in methods(seed, priors):
            found.setdefault(name, []).append(run(model, years, OF_YEAR in name))
    lines = ["| rule | bound | over SVB | range | completion | over SVB | range | Table 1 |"]
    lines.append("|---" * 8 + "|")
    for name, scores in found.items():
        cells = []
        for values, of_svb in zip(np.transpose(scores), np.transpose(found["SVB"]), strict=True):
            gain = values - of_svb
            cells += [f"{values.mean():.3f}", f"{gain.mean():+.3f}"]
            cells += [f"{gain.min():+.3f} to {gain.max():+.3f}"]
        cells += [f"{PRINTED[name]:.2f}" if name in PRINTED else ""]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    _, batches = minibatches(STREAMS["nips"])
    n_documents, n_tokens = sum(X.shape[0] for X in batches), sum(X.sum() for X in batches)
    print(f"{len(batches)} years, {n_documents:,} documents, {n_tokens:,.0f} tokens")
    lines = []
    for name, priors in PRIORS.items():
        lines += [f"Priors: {name}", "", *table(batches, priors, options.seeds), ""]
    text = "\n".join(lines)
    (options.output / "hpp_nips.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
