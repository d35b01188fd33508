# SPDX-License-Identifier: BSD-3-Clause
"""Topics of G-OEM beside those of OLDA that are assigned to them: table 7.

The assignment has the least sum of Kullback-Leibler divergences. Eight topics are shown, at even
distances in the order of their shares of tokens; of all, how coherent their top words are in the
documents that were held out and learnt from.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import N_SPLITS, Setting, data, runs
from streamtopics.metrics import topic_coherence

K, N_SHOWN, N_TOP = 128, 8, 15
METHODS = "G-OEM", "OLDA"


def cells(quick: bool) -> Iterator[Cell]:
    """Splits."""
    for split in range(1 if quick else N_SPLITS):
        yield {"corpus": "imdb", "K": 8 if quick else K, "split": split}


def divergences(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """KL(p_i || q_j) of all rows of two tables of probabilities above 0."""
    found: np.ndarray = (p * np.log(p)).sum(axis=1)[:, None] - p @ np.log(q).T
    return found


def assigned(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The row of q for each row of p, such that the sum of divergences is least."""
    return np.asarray(linear_sum_assignment(divergences(p, q))[1])


def shown(shares: np.ndarray) -> np.ndarray:
    """Topics at even distances in the order of their shares, the largest first."""
    order = np.argsort(-shares, kind="stable")
    return np.asarray(order[np.linspace(0, len(order) - 1, N_SHOWN).astype(int)])


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row of each method for all its topics together, and for each that is shown."""
    found = data(cell["corpus"], cell["split"], quick)
    setting = Setting(cell["K"], found.train.shape[0], cell["split"])
    models = {one.method: one.model for one in runs(METHODS, setting, found.train)}
    first, second = (models[name].topic_word_.astype(np.float64) for name in METHODS)
    order = assigned(first, second)
    tops = [np.argsort(-topics, axis=1, kind="stable")[:, :N_TOP] for topics in (first, second)]
    tops[1] = tops[1][order]
    documents = sparse.vstack([found.train, found.test], format="csr")
    places = shown(models[METHODS[0]].transform(found.test).sum(axis=0))
    for name, top in zip(METHODS, tops, strict=True):
        coherence = topic_coherence(top, documents)
        mean = float(coherence.mean())
        yield {"method": name, "topic": "all", "words": "", "coherence": mean}
        for number, place in enumerate(places, 1):
            words = " ".join(found.words[top[place]])
            of_topic = float(coherence[place])
            yield {"method": name, "topic": number, "words": words, "coherence": of_topic}


EXPERIMENT = Experiment(
    "online_em_topics",
    ("corpus", "K", "split", "method", "topic"),
    ("words", "coherence"),
    cells,
    run,
)
