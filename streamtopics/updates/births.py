# SPDX-License-Identifier: BSD-3-Clause
"""Births and deaths of topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from streamtopics.messages import Groups, Minibatch, Statistics, TableStatistics
from streamtopics.posteriors import Blend, Learn, Posterior, TopicPosterior
from streamtopics.updates.rule import Traits, Wrapper
from streamtopics.utils.checks import check_positive, check_range, check_whole
from streamtopics.utils.times import without_pandas

# A cluster with less than one remembered document is forgotten. A cluster is inactive in a
# minibatch with less than this share of the expected documents.
LEAST_REMEMBERED, INACTIVE = 1.0, 0.1
# With mixed membership: tables of a new topic in a minibatch; expected tables of an inactive topic
# until death; share of the expected tokens below which a topic is inactive.
LEAST_TABLES, SILENCE, LEAST_TOKENS = 8.0, 24.0, 0.2
# A dead topic is born again with this share of the tables.
BACK = 0.5
# Recorded topics of the past, and recorded words of each.
KEPT_LIFETIMES, TOP_WORDS = 1000, 10


@dataclass(frozen=True)
class DirichletProcess:
    """Births of clusters for documents unlike all clusters, and deaths of unused clusters.

    Parameters
    ----------
    concentration : float
        Before any evidence, a document in a minibatch of B documents opens a cluster with
        probability ``concentration / (concentration + B)``.
    min_documents : int
        Least number of documents of a new cluster in its first minibatch.
    silence : float or None
        A cluster is silent in a minibatch if the cluster gets fewer than `min_documents` documents,
        and less than a tenth of the expected number. A cluster dies when the expected
        numbers of a run of silent minibatches sum to `silence`. The probability that a living
        cluster dies by chance is about ``exp(-silence)``. A cluster also dies when forgetting
        leaves less than one document of the cluster. With None clusters die only by forgetting.
        Growing weights forget too, unlike ``schedule__growth=1``.
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
class Tallies(Wrapper):
    """A rule that counts documents of clusters as alpha."""

    # n_k <- retain_k n_k + gain_k sum_d q_dk for cluster k; 0 for a free place.
    n_background: int = 0  # Number of first topics used as background

    @property
    def traits(self) -> Traits:
        inner = self.update.traits
        return replace(inner, needs=inner.needs | {"shares", "alpha"})

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        blend, state = self.update.step(posterior, learn, state)
        documents = documents_of(blend.statistics, self.n_background)
        alpha = np.broadcast_to(blend.retain, posterior.alpha.shape) * posterior.alpha
        gain = np.broadcast_to(blend.gain, alpha.shape)[self.n_background :]
        alpha[self.n_background :] += gain * documents
        return replace(blend, alpha=alpha), state


def documents_of(statistics: Statistics, n_background: int) -> np.ndarray:
    """Expected documents in each cluster."""
    if statistics.shares is None:
        return np.zeros(statistics.counts.shape[1] - n_background)
    own = statistics.shares[n_background:]
    return statistics.n_informative * own / own.sum()


class Seeds(NamedTuple):
    """Clusters proposed for a minibatch."""

    clusters: np.ndarray  # (n,): free places for the clusters
    alpha: np.ndarray  # (n,): amounts added to alpha, taken back afterwards
    needed: float  # Documents each needs in the minibatch


@dataclass(frozen=True)
class TopicLifetime:
    """A topic from birth to death."""

    #: Row of `components_` in a mixture, free again after the death; `topic_ids_` if rows move
    topic: int
    born: int  #: Minibatch of the birth, from 1
    born_time: Any  #: Passed to `partial_fit` with this minibatch; None without times
    documents: float  #: Documents at birth; tables with mixed membership
    #: Columns with the most tokens at birth, or words if columns have moved; None if unknown
    words: tuple[Any, ...]
    died: int | None = None  #: Minibatch of the death; None for a living topic
    died_time: Any = None  #: Passed to `partial_fit` with this minibatch
    last_words: tuple[Any, ...] = ()  #: As `words`, at death

    def named(self, names: Mapping[int, Any]) -> "TopicLifetime":
        words, last = ([names.get(w, w) for w in own] for own in (self.words, self.last_words))
        return replace(self, words=tuple(words), last_words=tuple(last))


@dataclass(frozen=True)
class Lifetimes:
    """Living and dead topics of a stream."""

    _holds = "silence: * >=0; ids: i8 * >=0; n_batches: >=0; n_ids: >=0"
    # (n_topics,): documents expected of each topic since its last documents
    silence: np.ndarray
    alive: tuple[TopicLifetime, ...] = ()  # Living topics, oldest first
    dead: tuple[TopicLifetime, ...] = ()  # The last thousand dead topics, in order of death
    n_batches: int = 0  # Minibatches so far
    # (n_topics,): numbers of the topics if rows move; else empty
    ids: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    n_ids: int = 0  # Number of topics so far

    def with_names(self, names: dict[int, Any]) -> "Lifetimes":
        """The record with `names` for columns that now have other words."""
        alive, dead = (tuple(one.named(names) for one in some) for some in (self.alive, self.dead))
        return replace(self, alive=alive, dead=dead)

    def after(
        self, born: dict[int, tuple[float, np.ndarray]], died: dict[int, np.ndarray], time: Any
    ) -> "Lifetimes":
        now, time = self.n_batches + 1, without_pandas(time)
        gone = [
            replace(one, died=now, died_time=time, last_words=tuple(died[one.topic].tolist()))
            for one in self.alive
            if one.topic in died
        ]
        new = [
            TopicLifetime(topic, now, time, documents, tuple(words.tolist()))
            for topic, (documents, words) in born.items()
        ]
        alive = (*(one for one in self.alive if one.topic not in died), *new)
        dead = (*self.dead, *gone)[-KEPT_LIFETIMES:]
        return replace(self, alive=alive, dead=dead, n_batches=now)


def seeded(
    posterior: TopicPosterior,
    minibatch: Minibatch,
    groups: Groups,
    free: np.ndarray,
    n_background: int,
    unit: float,
) -> tuple[TopicPosterior, Seeds]:
    """A copy of the posterior for a minibatch, with proposed clusters added.

    Documents of proposed clusters count `unit` until `finish` takes them out.
    """
    scratch, alpha = posterior.of_words(minibatch.words), np.array(posterior.alpha)
    clusters = free[: groups.documents.size]
    n, nodes = clusters.size, n_background + clusters
    remembered = float(alpha[n_background:].sum())
    n_documents = max(int(np.count_nonzero(minibatch.informative)), 1)
    mass = remembered if remembered > 0 else n_documents * unit
    added = groups.documents[:n] / n_documents * mass
    if n:
        alpha[nodes] = added
        counts, directions = np.zeros((len(minibatch.words), posterior.n_nodes)), None
        counts[:, nodes] = groups.counts[:, :n]
        if n_background and posterior.knows_nothing:
            counts[:, 0] = minibatch.word_counts
        if groups.directions is not None:
            directions = np.zeros((posterior.n_nodes, groups.directions.shape[1]))
            directions[nodes] = groups.directions[:n]
        # Without minibatches and documents: the counters of the posterior stay as they are.
        statistics = Statistics(
            minibatch.words, counts, np.zeros(0), n_batches=0, directions=directions
        )
        scratch.blend(Blend(1.0, unit, 0.0, statistics, alpha=alpha))
    return scratch, Seeds(clusters, added, groups.needed)


def finish(
    process: DirichletProcess,
    lifetimes: Lifetimes,
    posterior: TopicPosterior,
    blend: Blend,
    seeds: Seeds,
    n_background: int,
    memory: float,
    time: Any,
) -> tuple[Blend, Lifetimes]:
    """The blend of a minibatch without dying clusters, and the record afterwards.

    A document counts `memory` afterwards.
    """
    documents = documents_of(blend.statistics, n_background)
    before, alpha = posterior.alpha[n_background:], np.array(blend.alpha)
    own = alpha[n_background:]
    retain = np.broadcast_to(blend.retain, alpha.shape)[n_background:]
    own[seeds.clusters] -= retain[seeds.clusters] * seeds.alpha
    np.maximum(own, 0.0, out=own)
    existing, born = before > 0, np.zeros(len(own), bool)
    born[seeds.clusters] = documents[seeds.clusters] >= seeds.needed
    expected = before / max(before.sum(), 1e-300) * documents.sum()
    inactive = (documents < process.min_documents) & (documents < INACTIVE * expected)
    silence = np.where(existing & inactive, lifetimes.silence + expected, 0.0)
    dead = existing & (own < LEAST_REMEMBERED * memory)
    if process.silence is not None:
        dead |= silence >= process.silence
    if not np.any((existing & ~dead) | born):
        dead[np.argmax(own)] = False
    alive = (existing & ~dead) | born
    silence[~alive] = 0.0
    own[~alive] = 0.0
    existing[seeds.clusters] = True
    gone = np.concatenate([np.zeros(n_background, bool), existing & ~alive])
    counts, words = blend.statistics.counts[:, n_background:], blend.statistics.words
    new = {
        int(k): (float(documents[k]), words[leading(counts[:, k])]) for k in np.flatnonzero(born)
    }
    old = {k: leading(posterior.counts_in(n_background + k)) for k in np.flatnonzero(dead).tolist()}
    blend = replace(_without(blend, gone, posterior), alpha=alpha)
    return blend, replace(lifetimes.after(new, old, time), silence=silence)


def _without(blend: Blend, gone: np.ndarray, posterior: TopicPosterior) -> Blend:
    if not gone.any():
        return blend
    counts, told = np.where(gone, 0.0, blend.statistics.counts), blend.statistics.directions
    if told is not None:
        told = np.where(gone[:, None], 0.0, told)
    # Births refuse another boosted prior, so `b` is a part of `c`.
    prior = blend.prior + blend.retain * (posterior.c - posterior.b)
    return replace(
        blend,
        retain=np.where(gone, 0.0, blend.retain),
        retention=np.where(gone, 0.0, blend.reported_retention),
        prior=np.where(gone, prior, blend.prior),
        boost=np.where(gone, blend.boost + blend.retain * posterior.b, blend.boost),
        statistics=replace(blend.statistics, counts=counts, directions=told),
    )


def update_lifetimes(
    lifetimes: Lifetimes,
    before: TopicPosterior,
    tables: np.ndarray,
    topics: np.ndarray,
    statistics: TableStatistics,
    time: Any,
) -> Lifetimes:
    """The record after a minibatch of a hierarchical Dirichlet process.

    `topics` are rows of `before`, then numbers of new topics.
    """
    known, found = topics < len(tables), statistics.tables
    rows = np.where(known, topics, 0)
    ids = np.where(known, lifetimes.ids[rows], lifetimes.n_ids + np.cumsum(~known) - 1)
    learnt = before.learnt_part
    share, of_tokens = (
        np.where(known, had[rows], 0.0) / max(had.sum(), 1e-300) for had in (tables, learnt)
    )
    expected, tokens = share * found.sum(), of_tokens * statistics.mass.sum()
    active = np.isin(ids, [one.topic for one in lifetimes.alive])
    inactive = active & (statistics.mass < LEAST_TOKENS * tokens)
    silence = np.where(inactive, lifetimes.silence[rows] + expected, 0.0)
    is_dead = silence >= SILENCE
    born = ~active & (found >= LEAST_TABLES) & (statistics.mass >= BACK * tokens)
    silence[is_dead] = 0.0
    gone = [*ids[is_dead], *np.setdiff1d(lifetimes.ids, ids)]
    row_of = {int(topic): row for row, topic in enumerate(lifetimes.ids)}
    died = {int(topic): leading(before.counts_in(row_of[int(topic)])) for topic in gone}
    new = {
        int(ids[j]): (float(found[j]), statistics.words[leading(statistics.counts[:, j])])
        for j in np.flatnonzero(born)
    }
    n_ids = lifetimes.n_ids + int(np.count_nonzero(~known))
    return replace(lifetimes.after(new, died, time), ids=ids, n_ids=n_ids, silence=silence)


def leading(counts: np.ndarray) -> np.ndarray:
    order = np.argsort(-counts, kind="stable")[:TOP_WORDS]
    return order[counts[order] > 0]
