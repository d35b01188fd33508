# SPDX-License-Identifier: BSD-3-Clause
"""Draws of sets from determinantal point processes, and of a corpus from LDA.

The law of the sets is that of all subsets of a small ground set, by their determinants. A corpus of
`make_lda_corpus` is compared, with its truth, with one that is drawn here token by token.
"""

from functools import partial
from itertools import product

import numpy as np
from numpy.random import Generator

from proof.calibration_samplers import ALPHA, TOPIC_WORD, categorical
from proof.calibration_tests import PValues, Subject, alike, chi_square
from streamtopics.datasets import make_lda_corpus
from streamtopics.dpp import Bernoulli, Counting, Items, Kernel, PointSets, Process
from streamtopics.dpp.sampling import sample

CHANCES = np.array([0.2, 0.4, 0.6])
POINTS = np.array(list(product([0.0, 1.0], repeat=3)))
U = np.random.default_rng(0).standard_normal((len(POINTS), 3))
THETA, GAMMA, NOISE = [0.7, 1.5, 0.3], 0.3, Counting(0.15)
MEAN_LENGTH = 4


def of_items() -> tuple[Process, np.ndarray]:
    """A process on eight items, and L."""
    process = Process(Items.of(len(U)), Kernel(U, THETA, GAMMA), NOISE)
    return process, U * THETA @ U.T + (GAMMA + NOISE.level) * np.eye(len(U))


def of_sentences() -> tuple[Process, np.ndarray]:
    """A process on all sentences of three words, and L: D (gamma I + U theta U') D + noise."""
    few = U[:3]
    p = np.prod(np.where(POINTS == 1, CHANCES, 1 - CHANCES), axis=1)
    features = np.sqrt(p)[:, None] * POINTS
    A = GAMMA * np.eye(3) + few * THETA @ few.T
    process = Process(Bernoulli(CHANCES), Kernel(few, THETA, GAMMA), NOISE)
    return process, features @ A @ features.T + NOISE.level * np.eye(len(POINTS))


PROCESSES = {"items": of_items(), "sentences": of_sentences()}


def codes(sets: PointSets) -> np.ndarray:
    """Each set as a number with the bits of its points, -1 where a point is twice in it."""
    points = sets.points if isinstance(sets.points, np.ndarray) else sets.points.toarray()
    places = points if points.ndim == 1 else points @ [4.0, 2.0, 1.0]
    owner = np.repeat(np.arange(len(sets)), sets.sizes)
    bits = 1 << places.astype(int)
    sums, found = np.zeros((2, len(sets)), int)
    np.add.at(sums, owner, bits)
    np.bitwise_or.at(found, owner, bits)
    return np.where(sums == found, found, -1)


def law_of(L: np.ndarray, k: int | None) -> np.ndarray:
    """Probability of each set, or of each of k points."""
    sets = [np.flatnonzero(code >> np.arange(len(L)) & 1) for code in range(2 ** len(L))]
    fits = [k is None or len(s) == k for s in sets]
    weights = np.array([np.linalg.det(L[np.ix_(s, s)]) for s in sets]) * fits
    found: np.ndarray = weights / weights.sum()
    return found


def sets_of(name: str, k: int | None, n: int, rng: Generator) -> PValues:
    """Compare numbers of sets with their law."""
    process, L = PROCESSES[name]
    drawn = sample(process, n, rng, k=k)
    law = np.append(0.0, law_of(L, k))
    seen = np.bincount(codes(drawn) + 1, minlength=len(law))
    return {"law of all sets": chi_square(seen, n * law)}


def corpus(n: int, rng: Generator) -> PValues:
    """Documents and their proportions, and those that are drawn here."""
    made = make_lda_corpus(
        n, topic_word=TOPIC_WORD, doc_topic_prior=ALPHA, mean_length=MEAN_LENGTH,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    theta, lengths = rng.dirichlet(ALPHA, n), rng.poisson(MEAN_LENGTH, n)
    owner = np.repeat(np.arange(n), lengths)
    x = categorical(TOPIC_WORD[categorical(theta[owner], rng)], rng)
    X = np.zeros((n, 3))
    np.add.at(X, (owner, x), 1)
    pairs = {
        "share of a topic": (made.doc_topic[:, 0], theta[:, 0]),
        "length": (made.X.toarray().sum(axis=1), lengths),
        "share and word": (made.doc_topic[:, 2] * made.X.toarray()[:, 2], theta[:, 2] * X[:, 2]),
    }
    return {name: alike(*pair, rng) for name, pair in pairs.items()}


def subjects() -> list[Subject]:
    """All of them."""
    found = [
        Subject(f"dpp.{name}, {'any size' if k is None else f'{k} points'}", run, 50_000)
        for name in PROCESSES
        for k in (None, 3)
        for run in [partial(sets_of, name, k)]
    ]
    return [*found, Subject("datasets.make_lda_corpus", corpus, 20_000)]
