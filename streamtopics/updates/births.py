# SPDX-License-Identifier: BSD-3-Clause
"""Clusters that are born and die along a stream: a Dirichlet process on a fixed number of places.

The documents n_k of each cluster follow the affine rule of its words,

    n_k <- retain_k n_k + gain sum_d q_dk,

and are kept as alpha, which is 0 for places that are free. A cluster whose place is taken back
gets retain = gain = 0, and as much of the prior as the others have: one step of the same form.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, Learn, Posterior, TopicPosterior
from streamtopics.updates.lives import SILENT, Lives, leading
from streamtopics.updates.rule import Around, Traits
from streamtopics.utils.checks import check_positive, check_range, check_whole

# With less than one document remembered it is forgotten.
LEAST_REMEMBERED = 1.0


@dataclass(frozen=True)
class DirichletProcess:
    """Clusters come and go: new ones for documents that none explains, until nobody needs them.

    Parameters
    ----------
    concentration : float
        Of the Dirichlet process: before any evidence, a document of a minibatch of B opens a
        cluster with probability concentration / (concentration + B).
    min_documents : int
        Documents of a minibatch that a new cluster needs; with less of them, groups of documents
        that happen to share words are born as clusters.
    silence : float or None
        Documents that a cluster should have had by its share while it had hardly any, after
        which it is dead: if it lives, that happens with probability exp(-silence). None leaves
        death to forgetting alone: a cluster dies when the update rule remembers less than one
        document of it.
    """

    concentration: float = 1.0
    min_documents: int = 8
    silence: float | None = 12.0

    def __post_init__(self) -> None:
        check_positive(self, concentration=self.concentration)
        check_whole(self, min_documents=self.min_documents)
        if self.silence is not None:
            check_range(self, 1, np.inf, silence=self.silence)


@dataclass(frozen=True)
class Tallies(Around):
    """A rule that counts the documents of each cluster beside their words, as alpha.

    Parameters
    ----------
    update
        As of `Around`.
    n_background : int
        Number of first topics that are no clusters.
    """

    n_background: int = 0

    @property
    def traits(self) -> Traits:
        """Those of the inner rule; it needs the documents' shares, and a posterior for them."""
        inner = self.update.traits
        return replace(inner, needs=inner.needs | {"shares", "alpha"})

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """The blend of the rule, with the documents of each cluster."""
        blend, state = self.update.step(posterior, learn, state)
        documents = documents_of(blend.statistics, self.n_background)
        alpha = np.broadcast_to(blend.retain, posterior.alpha.shape) * posterior.alpha
        alpha[self.n_background :] += own_part(blend.gain, self.n_background) * documents
        return replace(blend, alpha=alpha), state


def documents_of(statistics: Statistics, n_background: int) -> np.ndarray:
    """Expected documents of a minibatch in each cluster, of shape (n_clusters,)."""
    if statistics.shares is None:
        return np.zeros(statistics.counts.shape[1] - n_background)
    own = statistics.shares[n_background:]
    found: np.ndarray = statistics.n_telling * own / own.sum()
    return found


def own_part(coefficient: Any, n_background: int) -> Any:
    """A coefficient of the topics, for the clusters alone."""
    return coefficient[n_background:] if np.ndim(coefficient) else coefficient


class Seeds(NamedTuple):
    """Clusters to be, before the minibatch that they are found in is learnt.

    Attributes
    ----------
    clusters : ndarray of shape (n,)
        Free places that they get.
    alpha : ndarray of shape (n,)
        What was added to alpha there, to be taken back afterwards.
    needed : float
        Documents that each needs in the minibatch.
    """

    clusters: np.ndarray
    alpha: np.ndarray
    needed: float


def settled(
    process: DirichletProcess,
    lives: Lives,
    posterior: TopicPosterior,
    blend: Blend,
    seeds: Seeds,
    n_background: int,
    remembers: float,
    time: Any,
) -> tuple[Blend, Lives]:
    """The blend of a minibatch without the clusters that die with it, and the record after it.

    Parameters
    ----------
    process : DirichletProcess
    lives : Lives
        Before the minibatch.
    posterior : TopicPosterior
        Before it.
    blend : Blend
        That takes it in, with the documents of each cluster as alpha.
    seeds : Seeds
        Clusters to be.
    n_background : int
        Number of first topics that are no clusters.
    remembers : float
        What one document counts in alpha afterwards.
    time : object
        Of the minibatch.
    """
    documents = documents_of(blend.statistics, n_background)
    before, alpha = posterior.alpha[n_background:], np.array(blend.alpha)
    own = alpha[n_background:]
    retain = np.broadcast_to(blend.retain, alpha.shape)[n_background:]
    own[seeds.clusters] -= retain[seeds.clusters] * seeds.alpha
    np.maximum(own, 0.0, out=own)
    lived, born = before > 0, np.zeros(len(own), bool)
    born[seeds.clusters] = documents[seeds.clusters] >= seeds.needed
    expected = before / max(before.sum(), 1e-300) * documents.sum()
    silent = (documents < process.min_documents) & (documents < SILENT * expected)
    silence = np.where(lived & silent, lives.silence + expected, 0.0)
    dead = lived & (own < LEAST_REMEMBERED * remembers)
    if process.silence is not None:
        dead |= silence >= process.silence
    if not np.any((lived & ~dead) | born):
        dead[np.argmax(own)] = False
    alive = (lived & ~dead) | born
    silence[~alive] = 0.0
    own[~alive] = 0.0
    lived[seeds.clusters] = True
    gone = np.concatenate([np.zeros(n_background, bool), lived & ~alive])
    record = _recorded(lives, posterior, blend, (born, dead), documents, n_background, time)
    blend = replace(_without(blend, gone, posterior), alpha=alpha)
    return blend, replace(record, silence=silence)


def _without(blend: Blend, gone: np.ndarray, posterior: TopicPosterior) -> Blend:
    """The blend that leaves nothing of some topics but the prior."""
    if not gone.any():
        return blend
    counts, told = np.where(gone, 0.0, blend.statistics.counts), blend.statistics.directions
    if told is not None:
        told = np.where(gone[:, None], 0.0, told)
    return replace(
        blend,
        retain=np.where(gone, 0.0, blend.retain),
        retention=np.where(gone, 0.0, blend.reported_retention),
        prior=np.where(gone, blend.prior + blend.retain * posterior.c, blend.prior),
        statistics=replace(blend.statistics, counts=counts, directions=told),
    )


def _recorded(
    lives: Lives,
    posterior: TopicPosterior,
    blend: Blend,
    events: tuple[np.ndarray, np.ndarray],
    documents: np.ndarray,
    n_background: int,
    time: Any,
) -> Lives:
    """The record with the births and deaths of a minibatch."""
    (born, dead), statistics = events, blend.statistics
    new = {
        int(k): (
            float(documents[k]),
            statistics.words[leading(statistics.counts[:, n_background + k])],
        )
        for k in np.flatnonzero(born)
    }
    old = {k: leading(posterior.counts_in(n_background + k)) for k in np.flatnonzero(dead).tolist()}
    return lives.after(new, old, time)
