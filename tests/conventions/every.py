# SPDX-License-Identifier: BSD-3-Clause
"""One instance of every public estimator, with what it learns from, for tests of them all.

`METHODS` has methods of the literature too that have no class of their own.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

import streamtopics
from streamtopics import text, updates
from streamtopics.estimators.presets import PRESETS
from streamtopics.models import GaussianMixture
from tests.estimators.table import QUICKER

N, V = 24, 10
COUNTS = np.random.default_rng(0).poisson(1.5, (N, V)).astype(np.float64)
SENTENCES = [sparse.csr_matrix(COUNTS[[d, (d + 1) % N]]) for d in range(N)]
NAMES = np.array([f"word{j}" for j in range(V)], dtype=object)
# A sentence for each word.
TEXTS = [
    " ".join((f"{NAMES[j]} " * int(row[j])).strip().capitalize() + "." for j in row.nonzero()[0])
    for row in COUNTS
]
CLASSES = np.array(["a", "b"])[np.arange(N) % 2]
RATINGS = 1.0 + np.arange(N) % 5
ITEMS, USERS = np.arange(N) % 3, np.arange(N) % 4


@dataclass(frozen=True)
class Case:
    """An estimator and its input.

    Attributes
    ----------
    estimator : object
        Not fitted; `made` is a clone.
    X : object
        What it learns from: counts, sentences or texts.
    y : object
        Labels, ratings or None.
    given : dict
        Metadata that it can learn from beside.
    of_stream : dict
        What `partial_fit` has to be told beside, the same in each call.
    """

    estimator: Any
    X: Any = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    given: dict[str, Any] = field(default_factory=dict, repr=False)
    of_stream: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def made(self) -> Any:
        return clone(self.estimator)

    @property
    def fitted(self) -> Any:
        return self.made.fit(self.X, self.y, **self.given)

    def part(self, rows: Sequence[int] | np.ndarray) -> Self:
        """The case of some of the documents."""
        X = [self.X[row] for row in rows] if isinstance(self.X, list) else self.X[rows]
        y = None if self.y is None else self.y[rows]
        return replace(self, X=X, y=y, given={k: v[rows] for k, v in self.given.items()})

    def taught(self, model: Any, method: str = "partial_fit") -> Any:
        """The model after it has learnt from X."""
        more = self.of_stream if method == "partial_fit" else {}
        return getattr(model, method)(self.X, self.y, **self.given, **more)


def _counts(name: str, *args: Any, y: Any = None, given: Any = None, **settings: Any) -> Case:
    kind = getattr(streamtopics, name)
    return Case(kind(*args, random_state=0, **settings), COUNTS, y, given or {})


WORDS = text.StreamingCountVectorizer(max_features=V)
STEPS = [("words", WORDS), ("topics", streamtopics.SVBLDA(3, random_state=0))]
_REVIEWS = {"items": ITEMS, "users": USERS}
_WAS = {"n_sweeps": 20, "n_burn_in": 10, "n_local_sweeps": 10}
EVERY: dict[str, Case] = {
    "StreamingLDA": _counts("StreamingLDA", 3, max_iter=2),
    "StreamingMixture": _counts("StreamingMixture", 3, max_iter=2),
    "GuidedTopics": Case(
        streamtopics.GuidedTopics({"a": ["word0"]}, n_unseeded=2, max_iter=1, random_state=0),
        text.NamedCounts.of(COUNTS, NAMES),
    ),
    "GibbsOnlineEM": _counts("GibbsOnlineEM", 3),
    "VariationalOnlineEM": _counts("VariationalOnlineEM", 3),
    "SVBLDA": _counts("SVBLDA", 3),
    "BPSLDA": _counts("BPSLDA", 3),
    "SVBHPP": _counts("SVBHPP", 3),
    "MultiViewLDA": replace(
        _counts("MultiViewLDA", 2, y=CLASSES), of_stream={"classes": ["a", "b"]}
    ),
    "HDPGibbsOnlineEM": _counts("HDPGibbsOnlineEM"),
    "HDPVarGibbs": _counts("HDPVarGibbs"),
    "WASTopicModel": Case(streamtopics.WASTopicModel(2, random_state=0, **_WAS), SENTENCES),
    "LowRankDPP": Case(
        streamtopics.LowRankDPP(n_components=2, max_iter=1, random_state=0), SENTENCES
    ),
    "DPPSummarizer": Case(streamtopics.DPPSummarizer(2), TEXTS),
    "RatingLDA": _counts("RatingLDA", 3, y=RATINGS, given=_REVIEWS, max_iter=2),
    "SupervisedLDA": _counts("SupervisedLDA", 3, y=RATINGS, max_iter=2),
    "HiddenFactorsTopics": _counts("HiddenFactorsTopics", 3, y=RATINGS, given=_REVIEWS, max_iter=2),
    "AspectSentimentModel": Case(streamtopics.AspectSentimentModel(2, random_state=0), SENTENCES),
    "StreamingBayes": Case(streamtopics.StreamingBayes(GaussianMixture(2), random_state=0), COUNTS),
    "TopicStream": Case(streamtopics.TopicStream(3, vectorizer=WORDS), TEXTS),
    "NamedVectorizer": Case(text.NamedVectorizer(), TEXTS),
    "SentenceVectorizer": Case(text.SentenceVectorizer(), TEXTS),
    "StreamingCountVectorizer": Case(WORDS, TEXTS),
    "StreamingPipeline": Case(text.StreamingPipeline(STEPS), TEXTS),
}


def _preset(name: str, **settings: Any) -> Case:
    settings = QUICKER.get(name, {}) | settings
    return Case(streamtopics.StreamingLDA.preset(name, 3, random_state=0, **settings), COUNTS)


# Update rules that no class has by itself.
RULES = updates.Window(2), updates.EmpiricalPowerPrior(), updates.BudgetedPowerPrior(1.0)
METHODS = (
    EVERY
    | {name: _preset(name) for name in PRESETS if name not in EVERY}
    | {type(rule).__name__: _preset("SVBLDA", update=rule) for rule in RULES}
)


@cache
def public_estimators() -> dict[str, type]:
    """The estimators of the package and of its subpackages, by name."""
    rooms = [streamtopics]
    rooms += [
        import_module(f"streamtopics.{room.name}")
        for room in iter_modules(streamtopics.__path__)
        if room.ispkg
    ]
    found: dict[str, type] = {}
    for room in rooms:
        for name in getattr(room, "__all__", ()):
            kind = getattr(room, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                found[name] = kind
    return {name: found[name] for name in sorted(found) if not inspect.isabstract(found[name])}
