# SPDX-License-Identifier: BSD-3-Clause
"""Langevin dynamics."""

from dataclasses import dataclass

from streamtopics.posteriors import Blend, Learn, Noise, Posterior
from streamtopics.updates.rule import Rule, Traits
from streamtopics.utils.checks import MOST_DOCUMENTS, check_scales, check_whole


@dataclass(frozen=True)
class Langevin(Rule):
    """Noisy gradient steps: as the steps get small, the topics become draws from the posterior.

    Minibatch t has B of the D documents, with the expected counts s of words in topics, and n
    tokens in each topic. The topics beta are the rows of lam, normalised. Each entry of lam has the
    prior Gamma(eta, 1)::

        lam <- |lam + e / 2 (eta - lam + D / B (s - beta n)) + sqrt(e lam) xi|

    Here xi is standard normal and ``e = a (1 + t / b)^-c``: Patterson and Teh (2013), with the
    expanded-mean parameters. The time of a step is proportional to the vocabulary.

    Parameters
    ----------
    a, b, c : float
        Parameters of the step size e.
    n_documents : int or None
        Size D of the corpus; None is the number of documents seen so far.
    """

    a: float = 0.01
    b: float = 1000.0
    c: float = 0.6
    n_documents: int | None = None

    traits = Traits(frozenset({"noise"}), retains_alike=False)

    def __post_init__(self) -> None:
        check_scales(self, a=self.a, b=self.b, c=self.c)
        if self.n_documents is not None:
            check_whole(self, most=MOST_DOCUMENTS, n_documents=self.n_documents)

    def step(self, posterior: Posterior, learn: Learn, state: None) -> tuple[Blend, None]:
        size = self.a * (1 + posterior.n_batches / self.b) ** -self.c
        noise = Noise(size, (posterior.seed, posterior.n_batches))
        statistics = learn(posterior)
        n_documents = self.n_documents or posterior.n_documents + statistics.n_documents
        scale = n_documents / statistics.n_documents
        retain = 1 - 0.5 * size * (1 + scale * statistics.mass / posterior.mass)
        return Blend(retain, 0.5 * size * scale, 0.5 * size, statistics, noise=noise), None
