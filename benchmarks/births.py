# SPDX-License-Identifier: BSD-3-Clause
"""Clusters that are born and die along a stream of which it is known which come and go when.

Documents of 1 + Poisson(6) words, a fifth of them of a background, over a vocabulary of 3,000 with
frequencies of Zipf's law, which clusters share: their words are Dirichlet(20 zipf + 0.002). First
stationary sets of 20, 100 and 300 clusters, four minibatches of each: how many live, with places
for twice as many (with births as they come, with a concentration of 100 and 4 documents a birth,
and without), how many of the true ones have a cluster of their own (most of its documents are of
it, and of those it has the most), births after the first minibatch, and NMI of the next
minibatch, beside that of the true clusters. Then streams of 20 minibatches of 1,000 documents, of
20 clusters, two of which go and two come every third minibatch: births and deaths found with the
minibatch or the next one, and false ones per minibatch, over five seeds. Last the same of topics:
documents of 40 words of a few of eight topics, one of which goes and one comes every fourth
minibatch of 400, learnt by `HDPGibbsOnlineEM`; only births with 30 tables or more count.

    python benchmarks/births.py [--seeds N] [--part {stationary,clusters,topics}]
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from streamtopics import HDPGibbsOnlineEM, StreamingMixture
from streamtopics.updates import (
    SVB,
    DirichletProcess,
    MeanDecay,
    Memory,
    OnlineEM,
    PowerPrior,
    Rule,
)

V, SHARE, LENGTH = 3000, 0.8, 6
RULES = {
    "PowerPrior(Memory(5000))": PowerPrior(Memory(5000)),
    "OnlineEM(MeanDecay(0.5))": OnlineEM(MeanDecay(0.5)),
    "SVB(), growth 3": SVB(),
}
TOPIC_RULES = {"PowerPrior(Memory(2000))": PowerPrior(Memory(2000)), "default (online EM)": None}
PROCESSES = {"default": DirichletProcess(), "100, 4": DirichletProcess(100, 4), "none": None}
# Tables of a birth that is more than fleeting.
LARGE = 30


class World:
    """Clusters, and documents drawn from them."""

    def __init__(self, n_clusters: int, rng: np.random.Generator):
        zipf = np.arange(1, V + 1) ** -0.8
        self.rng, self.common = rng, zipf / zipf.sum()
        self.topics = rng.dirichlet(20 * self.common + 0.002, n_clusters)

    def documents(self, z: np.ndarray) -> sparse.csr_matrix:
        """A document of each cluster in z."""
        words = SHARE * self.topics[z] + (1 - SHARE) * self.common
        lengths = 1 + self.rng.poisson(LENGTH, len(z))
        counts = [self.rng.multinomial(n, p) for n, p in zip(lengths, words, strict=True)]
        return sparse.csr_matrix(np.array(counts, float))

    def best(self, X: sparse.csr_matrix) -> np.ndarray:
        """The most probable true cluster of each document."""
        words = SHARE * self.topics + (1 - SHARE) * self.common
        return (X @ np.log(words).T).argmax(axis=1)


def own_clusters(z: np.ndarray, found: np.ndarray) -> int:
    """True clusters that are the most of some cluster, which has the most of them."""
    table = np.zeros((z.max() + 1, found.max() + 1))
    np.add.at(table, (z, found), 1)
    true, has = np.arange(len(table)), table.argmax(axis=1)
    return int(np.sum((table[:, has].argmax(axis=0) == true) & (table.sum(axis=1) > 0)))


def stationary(
    n_clusters: int, n_documents: int, births: DirichletProcess | None, seed: int
) -> tuple[float, ...]:
    """Alive, own, later births, NMI and the best NMI, after four minibatches."""
    world = World(n_clusters, np.random.default_rng(seed))
    model = StreamingMixture(
        n_clusters * (2 if births else 1),
        update=PowerPrior(Memory(20_000)),
        births=births,
        random_state=seed,
    )
    for _ in range(4):
        model.partial_fit(world.documents(world.rng.integers(n_clusters, size=n_documents)))
    z = world.rng.integers(n_clusters, size=n_documents)
    X = world.documents(z)
    found, nmi = model.predict(X), normalized_mutual_info_score
    later = sum(life.born > 1 for life in model.births_) if births else 0
    alive = model.n_alive_ if births else len(np.unique(found))
    return alive, own_clusters(z, found), later, nmi(z, found), nmi(z, world.best(X))


@dataclass
class Stream:
    """Clusters of each minibatch, and when each one starts and ends."""

    alive: list[list[int]]
    start: dict[int, int]
    end: dict[int, int]


def changing(
    rng: np.random.Generator, n_batches: int, n_clusters: int, every: int, turn: int
) -> Stream:
    """Clusters of which some go and as many come every few minibatches."""
    now, start, end, alive = list(range(n_clusters)), dict.fromkeys(range(n_clusters), 0), {}, []
    for t in range(n_batches):
        if t and t % every == 0:
            for _ in range(turn):
                end[now.pop(rng.integers(len(now)))] = t
                start[len(start)] = t
                now.append(len(start) - 1)
        alive.append(list(now))
    return Stream(alive, start, end)


def come_and_go(rule: Rule, seed: int, n_batches: int = 20, n_documents: int = 1000) -> np.ndarray:
    """Births due and found, deaths due and found, false births and deaths, and minibatches."""
    rng = np.random.default_rng(seed)
    stream = changing(rng, n_batches, 20, 3, 2)
    world = World(len(stream.start), rng)
    model = StreamingMixture(60, update=rule, births=DirichletProcess(), random_state=seed)
    of: dict[tuple[int, int], int] = {}
    born: dict[int, int] = {}
    died: dict[int, int] = {}
    false = np.zeros(2)
    for t, alive in enumerate(stream.alive):
        z = rng.choice(alive, n_documents, p=rng.dirichlet(np.full(len(alive), 5.0)))
        X = world.documents(z)
        found = model.partial_fit(X).predict(X)
        for life in model.births_:
            key = life.topic, life.born
            if life.born == t + 1:
                own = z[found == life.topic]
                of[key] = int(np.bincount(own).argmax()) if len(own) else -1
                false[0] += of[key] in born or of[key] < 0
                born.setdefault(of[key], t)
            if life.died == t + 1:
                if t >= stream.end.get(of[key], n_batches):
                    died.setdefault(of[key], t)
                else:
                    false[1] += 1
    return counted(stream, born, died, false)


def topics_come_and_go(rule: Rule | None, seed: int, n_batches: int = 20) -> np.ndarray:
    """As `come_and_go`, of the topics of mixed membership."""
    rng = np.random.default_rng(seed)
    stream = changing(rng, n_batches, 8, 4, 1)
    beta = rng.dirichlet(np.full(400, 0.03), len(stream.start))
    model = HDPGibbsOnlineEM(10, update=rule, random_state=seed)
    born: dict[int, int] = {}
    died: dict[int, int] = {}
    false, of = np.zeros(2), {}
    for t, alive in enumerate(stream.alive):
        words = rng.dirichlet(np.full(len(alive), 0.15), 400) @ beta[alive]
        model.partial_fit(sparse.csr_matrix([rng.multinomial(40, p) for p in words], dtype=float))
        nearest = (np.sqrt(model.topic_word_) @ np.sqrt(beta).T).argmax(axis=1)
        row_of = {topic: row for row, topic in enumerate(model.topic_ids_.tolist())}
        for life in model.births_:
            key = life.topic, life.born
            if life.born == t + 1 and life.documents >= LARGE:
                of[key] = int(nearest[row_of[life.topic]])
                false[0] += t > 0 and of[key] in born
                born.setdefault(of[key], t)
            if life.died == t + 1 and key in of:
                gone = t >= stream.end.get(of[key], n_batches)
                false[1] += not gone
                if gone:
                    died.setdefault(of[key], t)
    return counted(stream, born, died, false)


def counted(
    stream: Stream, born: dict[int, int], died: dict[int, int], false: np.ndarray
) -> np.ndarray:
    """Births due and found, deaths due and found, false births and deaths, and minibatches."""
    n_batches = len(stream.alive)
    births = [k for k, t in stream.start.items() if 0 < t < n_batches - 1]
    deaths = [k for k, t in stream.end.items() if t < n_batches - 1]
    n_born = sum(born.get(k, 2 * n_batches) - stream.start[k] <= 1 for k in births)
    n_died = sum(died.get(k, 2 * n_batches) - stream.end[k] <= 1 for k in deaths)
    return np.array([len(births), n_born, len(deaths), n_died, *false, n_batches])


def show(name: str, total: np.ndarray) -> None:
    due, n_born, ending, n_died, *false, n_batches = total
    each = [f"{count / n_batches:.3f}/batch" for count in false]
    print(
        f"{name:<25}  {int(n_born):4} of {int(due):4}  {int(n_died):4} of {int(ending):4}  "
        f"{each[0]:>12}  {each[1]:>12}",
        flush=True,
    )


def show_stationary() -> None:
    print("Stationary: clusters that live, of those there are (first seed)")
    print("clusters  documents   births   alive    own  born later    NMI  best NMI")
    for K, n in [(20, 3000), (100, 3000), (300, 3000), (300, 9000)]:
        for kind, births in PROCESSES.items():
            alive, own, later, nmi, best = stationary(K, n, births, 0)
            print(
                f"{K:8}  {n:9}  {kind:>7}  {alive:6}  {own:5}  {later:10}  {nmi:5.3f}  {best:8.3f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--part", choices=["stationary", "clusters", "topics"])
    options = parser.parse_args()
    if options.part in (None, "stationary"):
        show_stationary()
    streams = {
        "clusters": ("Clusters, StreamingMixture", come_and_go, RULES),
        "topics": ("Topics, HDPGibbsOnlineEM", topics_come_and_go, TOPIC_RULES),
    }
    for part, (title, run, rules) in streams.items():
        if options.part not in (None, part):
            continue
        print(f"\n{title}: {options.seeds} streams")
        print("rule                       births found  deaths found  false births  false deaths")
        for name, rule in rules.items():
            show(name, sum(run(rule, seed) for seed in range(options.seeds)))


if __name__ == "__main__":
    main()
