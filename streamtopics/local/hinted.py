# SPDX-License-Identifier: BSD-3-Clause
"""Local steps for documents with hints: pseudo-tokens of known topics."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.local.directions import summed
from streamtopics.local.one_topic import OneTopic
from streamtopics.local.step import NOTHING, LocalStep
from streamtopics.local.variational import Variational
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.parallel import Workers

PROVIDED = frozenset({"shares"})


@dataclass(frozen=True)
class WithPseudoTokens(LocalStep):
    """The local step `step_of`, for documents with pseudo-tokens of known topics (hints).

    Document d with h_dk pseudo-tokens of topic k is inferred under the prior alpha_k + h_dk.
    """

    step_of: LocalStep

    @property
    def reports(self) -> frozenset[str]:  # type: ignore[override]
        return self.step_of.reports

    @property
    def n_background(self) -> int:
        return self.step_of.n_background

    def thorough(self) -> LocalStep:
        return WithPseudoTokens(self.step_of.thorough())

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: Any = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, Any]:
        known = _with_hints(minibatch, topics)
        found, documents = self.step_of.step(*known, seeds, workers, documents, report)
        counts = np.ascontiguousarray(found.counts[: len(minibatch.words)])
        own = replace(found, words=minibatch.words, counts=counts, lengths=minibatch.lengths)
        return own, documents

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        return self.step_of.doc_topic(*_with_hints(minibatch, topics), seeds, workers)


@dataclass(frozen=True)
class SemiSupervised(WithPseudoTokens):
    """A local step that takes the topics of labelled documents from the labels.

    A label is a pseudo-token of a topic. In learning, a document d with h_dk pseudo-tokens of topic
    k has the topic proportions h_dk / sum_j h_dj, whatever its words. `step_of` infers all other
    documents, and must not have a background. With `OneTopic` this is
    Nigam et al. (2000), "Text classification from labeled and unlabeled documents using EM".
    """

    @property
    def reports(self) -> frozenset[str]:  # type: ignore[override]
        return self.step_of.reports & PROVIDED

    def thorough(self) -> LocalStep:
        return self.step_of.thorough()

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: Any = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, Any]:
        known = shares_of_hints(minibatch, len(topics.alpha))
        told = known.sum(axis=1) > 0
        X = minibatch.matrix(minibatch.counts)
        rest = X[~told]
        vectors = minibatch.vectors
        others = Minibatch(
            minibatch.words, rest.indptr, rest.indices, rest.data,
            vectors=None if vectors is None else vectors[~told],
        )  # fmt: skip
        found, documents = self.step_of.step(
            others, topics, seeds[~told], workers, documents, report
        )
        counts = found.counts + (X[told].T @ known[told]).astype(found.counts.dtype)
        shares = _combine(found.shares, others.informative, known[told & minibatch.informative])
        shares = shares if "shares" in report else None
        directions = found.directions
        if vectors is not None and directions is not None:
            q = known[told].astype(vectors.dtype)
            directions = directions + summed(vectors[told], q, workers)
        own = replace(
            found, counts=counts, lengths=minibatch.lengths, shares=shares, directions=directions,
            n_empty=int(np.count_nonzero(minibatch.informative & ~(minibatch.lengths > 0))),
        )  # fmt: skip
        return own, documents

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        return self.step_of.doc_topic(minibatch, topics, seeds, workers)


@dataclass(frozen=True)
class OneOrMixed(OneTopic):
    """One topic a document in learning; in `transform` also mixtures of topics.

    A document of L words with hints h_d has the proportions

        (c q_d + L theta_d) / (c + L), q_dk ~ (alpha_k + h_dk) prod_w beta_kw^(n_dw min(1, c/L)),

    with theta_d of a mixture under alpha_k + h_dk, and c = `n_words`.
    """

    share: float = 1.0
    n_words: float = 20.0

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        lengths, c = minibatch.lengths, self.n_words
        damping = np.repeat(c / np.maximum(lengths, c), np.diff(minibatch.indptr))
        counts = (minibatch.counts * damping).astype(minibatch.counts.dtype)
        one = super().doc_topic(replace(minibatch, counts=counts), topics, seeds, workers)
        if minibatch.hints is not None:
            one = one * (1.0 + minibatch.hints.toarray() / topics.alpha)
            one /= one.sum(axis=1, keepdims=True)
        mixed = WithPseudoTokens(Variational(1e-4)).doc_topic(minibatch, topics, seeds, workers)
        return one + (lengths / (c + lengths))[:, None] * (mixed - one)


def shares_of_hints(minibatch: Minibatch, n_topics: int) -> np.ndarray:
    if minibatch.hints is None:
        return np.zeros((minibatch.n_documents, n_topics))
    hints = np.asarray(minibatch.hints.toarray(), np.float64)
    total = hints.sum(axis=1, keepdims=True)
    return np.divide(hints, total, out=np.zeros_like(hints), where=total > 0)


def _combine(found: np.ndarray | None, informative: np.ndarray, known: np.ndarray) -> Any:
    n_found = np.count_nonzero(informative) if found is not None else 0
    if n_found + len(known) == 0:
        return None
    total = known.sum(axis=0) if found is None else n_found * found + known.sum(axis=0)
    return total / (n_found + len(known))


def _with_hints(minibatch: Minibatch, topics: Topics) -> tuple[Minibatch, Topics]:
    """The minibatch with an additional word for each topic, and the weights."""
    if minibatch.hints is None:
        return minibatch, topics
    n_topics, words = len(topics.alpha), minibatch.words
    tokens = minibatch.matrix(minibatch.counts)
    both = sparse.hstack([tokens, minibatch.hints.astype(tokens.dtype)], format="csr")
    first = int(words[-1]) + 1 if len(words) else 0
    names = np.concatenate([words, np.arange(first, first + n_topics, dtype=words.dtype)])
    known = Minibatch(names, both.indptr.astype(np.int32), both.indices.astype(np.int32), both.data)
    own = np.eye(n_topics, topics.weights.shape[1], dtype=topics.weights.dtype)
    return known, Topics(np.vstack([topics.weights, own]), topics.alpha)
