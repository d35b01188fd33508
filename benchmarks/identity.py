# SPDX-License-Identifier: BSD-3-Clause
"""Whether topics keep their ids: along a stream, and over what may happen to it.

    python -m benchmarks.identity [CORPUS ...] [--topics 20 100] [--most 60000]

Corpora are read in the order of time where they have one, else shuffled, and learnt in
minibatches; `TopicTracker` looks at each. Printed for each corpus, model and number of topics,
mostly as shares of the tokens of a minibatch:

* ids, alive: ids given, and topics alive, at the end of the stream;
* early, late: tokens whose row has another id than a minibatch before, in the mean over the first
  ten looks and over the second half; this is no error where a row has become another topic;
* resume: tokens with the id that the uncut stream gives, after tracker and model were pickled in
  the middle;
* merge: tokens whose row keeps its id when two copies that learnt two minibatches each are merged;
* restart: when a model of three minibatches before is taken in place of this one, and goes on;
* permuted: tokens that have the same id when the topics are put in another order;
* uncut: tokens whose row keeps its id when nothing happens at that minibatch;
* again, could: tokens with the same id under a model that was fitted again with another seed, and
  under the best matching of its topics to the old ones that there is, by the tokens they share;
* cost: seconds of tracking over those of learning, with the default budget and at each
  minibatch, and the looks that the default made.
"""

import argparse
import copy
import itertools
import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from benchmarks.kappa import counted, rows
from streamtopics import StreamingLDA
from streamtopics.streams import BatchInfo, TopicTracker
from tests.plain import GibbsOnlineEM

SIZES = {"commit_subjects": 1500, "health_tweets": 1500, "nips_abstracts": 300, "newsgroups": 500}
MODELS: dict[str, Callable[..., Any]] = {
    "StreamingLDA": StreamingLDA,
    "GibbsOnlineEM": GibbsOnlineEM,
}
ALL = float("inf")


def stream_of(corpus: str, most: int) -> list[sparse.csr_matrix]:
    """Minibatches of a corpus."""
    names = ["newsgroups_train", "newsgroups_test"] if corpus == "newsgroups" else [corpus]
    found = [row for name in names for row in rows(name)]
    if "time" in found[0]:
        found.sort(key=lambda row: row["time"])
    elif corpus == "newsgroups":
        found = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
    return counted([row["text"] for row in found[:most]], SIZES[corpus])


def told(tracker: TopicTracker, model: Any, X: sparse.csr_matrix) -> None:
    """Tell a tracker of a minibatch that was learnt."""
    tracker.on_batch(model, BatchInfo(0, X, None, X.shape[0], float(X.sum()), 0, 0.0, float("nan")))


def learnt(tracker: TopicTracker, model: Any, batches: list[sparse.csr_matrix]) -> list[np.ndarray]:
    """Learn and follow; the ids of the rows after each minibatch."""
    ids = []
    for X in batches:
        told(tracker, model.partial_fit(X), X)
        ids.append(tracker.ids_)
    return ids


def use(model: Any, X: sparse.csr_matrix) -> np.ndarray:
    """Share of each row in the tokens of documents."""
    total: np.ndarray = responsibilities(model, X).sum(axis=0)
    return total / total.sum()


def responsibilities(model: Any, X: sparse.csr_matrix) -> np.ndarray:
    """Tokens of each cell of X in each row, of shape (n_cells, n_rows)."""
    cells = X.tocoo()
    found = model.transform(X)[cells.row] * model.topic_word_.T[cells.col]
    return np.asarray(cells.data[:, None] * found / found.sum(axis=1, keepdims=True))


def kept(model: Any, X: sparse.csr_matrix, ids: np.ndarray, before: np.ndarray) -> float:
    """Share of the tokens whose row has the id that it should, or has none in both cases."""
    return float(use(model, X)[ids == before].sum())


def permuted(model: Any, order: np.ndarray) -> Any:
    """A copy with its topics in another order."""
    out = copy.deepcopy(model)
    posterior, hidden = out._commit.posterior, model._n_hidden
    order = np.concatenate([np.arange(hidden), hidden + order])
    out._commit = replace(
        out._commit, posterior=posterior.with_topics(order, posterior.alpha[order])
    )
    return out


def again(
    tracker: TopicTracker, model: Any, other: Any, X: sparse.csr_matrix
) -> tuple[float, float]:
    """Tokens with the same id under another model, and under the best matching of the topics."""
    old = tracker.ids_
    tracker = pickle.loads(pickle.dumps(tracker))
    told(tracker, other, X)
    new = tracker.ids_
    cells = np.asarray(X.tocoo().data, np.float64)[:, None]
    one, two = responsibilities(model, X), responsibilities(other, X)
    shared = one.T @ (two / cells) / X.sum()
    same = (old[:, None] == new[None, :]) & (old[:, None] >= 0)
    best = linear_sum_assignment(shared, maximize=True)
    return float(shared[same].sum()), float(shared[best].sum())


def measured(batches: list[sparse.csr_matrix], made: Callable[[int], Any]) -> dict[str, float]:
    """All of it for one model."""
    middle, tracker, model = len(batches) // 2, TopicTracker(budget=ALL), made(0)
    ids = learnt(tracker, model, batches[: middle - 3])
    earlier = copy.deepcopy(model)
    ids += learnt(tracker, model, batches[middle - 3 : middle])
    state, X = pickle.dumps((tracker, model)), batches[middle]
    out: dict[str, float] = {}
    now, following = ids[-1], batches[middle : middle + 3]
    # Each event starts from a copy of the same state.
    t, m = pickle.loads(state)
    one = copy.deepcopy(m)
    learnt(t, m, batches[middle + 2 : middle + 4])
    before = t.ids_
    for part in batches[middle + 4 : middle + 6]:
        one.partial_fit(part)
    m.merge(one, base=pickle.loads(state)[1])
    told(t, m, X)
    out["merge"] = kept(m, X, t.ids_, before)
    t, m = pickle.loads(state)[0], earlier
    learnt(t, m, [X])
    out["restart"] = kept(m, X, t.ids_, now)
    t, m = pickle.loads(state)
    m.partial_fit(X)
    u, order = copy.deepcopy(t), np.random.default_rng(0).permutation(len(now))
    told(t, m, X)
    out["uncut"] = kept(m, X, t.ids_, now)
    other = permuted(m, order)
    told(u, other, X)
    out["permuted"] = kept(other, X, u.ids_, t.ids_[order])
    other = made(1)
    for part in batches[:middle]:
        other.partial_fit(part)
    out["again"], out["could"] = again(tracker, model, other, X)
    t, m = pickle.loads(state)
    resumed = learnt(t, m, following)
    ids += learnt(tracker, model, batches[middle:])
    out["resume"] = kept(m, following[-1], resumed[-1], ids[middle + 2])
    changed = [float(use(model, X)[(a != b) & (a >= 0)].sum()) for a, b in itertools.pairwise(ids)]
    out["early"], out["late"] = np.mean(changed[:10]), np.mean(changed[middle:])
    out["ids"], out["alive"] = tracker.n_topics_, sum(row.alive for row in tracker.topics())
    return out


def costs(batches: list[sparse.csr_matrix], made: Callable[[int], Any]) -> dict[str, float]:
    """Seconds of tracking over those of learning."""
    model = made(0)
    trackers = {"cost": TopicTracker(), "cost of all": TopicTracker(budget=ALL)}
    seconds, learning = dict.fromkeys(trackers, 0.0), 0.0
    for X in batches:
        start = time.process_time()
        model.partial_fit(X)
        learning += time.process_time() - start
        for name, tracker in trackers.items():
            start = time.process_time()
            told(tracker, model, X)
            seconds[name] += time.process_time() - start
    found = {name: value / learning for name, value in seconds.items()}
    return {**found, "looks": len(trackers["cost"].shares()[0])}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=["commit_subjects"])
    parser.add_argument("--topics", nargs="*", type=int, default=[20, 100])
    parser.add_argument("--most", type=int, default=60_000, help="documents of each corpus")
    options = parser.parse_args()
    corpora.folder()
    for corpus in options.corpora:
        batches = stream_of(corpus, options.most)
        print(corpus, len(batches), "minibatches,", batches[0].shape[1], "words")
        for n_topics in options.topics:
            for name, kind in MODELS.items():

                def made(seed: int, kind: Any = kind, n_topics: int = n_topics) -> Any:
                    return kind(n_topics, random_state=seed)

                found = {**measured(batches, made), **costs(batches, made)}
                print(f"  {name}, {n_topics} topics")
                print("   ", ", ".join(f"{key} {value:.3g}" for key, value in found.items()))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
