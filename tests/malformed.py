# SPDX-License-Identifier: BSD-3-Clause
"""Calls everything public that takes X with matrices whose arrays or values do not fit.

Run by itself, since what reads beyond an array may end the process. It writes a line of JSON
for each call before it is made, and one for what came of it.
"""

import inspect
import json
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

import streamtopics
from streamtopics import datasets, editing, inspection, metrics, models, priors, streams, text
from streamtopics.base.sentences import read_sentences
from streamtopics.dpp.sets import PointSets
from streamtopics.report import report

# The parameter that takes X.
PLACES = ("X", "documents", "points", "raw_documents", "source")
N, V = 12, 6
X = sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (N, V)) + np.ones((N, V)))
TEXTS = ["The soup was hot. It rained.", "The tea was cold. It shone."]

# What else is taken, by the name of the parameter.
BESIDE = {
    "y": np.arange(N) % 2,
    "groups": np.arange(N),
    "items": np.arange(N) % 3,
    "users": np.arange(N) % 4,
    "classes": [0, 1],
    "known": X,
    "reject": 0.1,
    "topics": [[0, 1]],
    "topic_word": np.full((2, V), 1 / V),
    "doc_topic_prior": 0.5,
    "times": np.arange(N),
    "to": X,
    "label": lambda words, sentences: words[0],
    "texts": ["The soup was hot."] * N,
}
SETTINGS = {
    "LowRankDPP": {"n_components": 2},
    "StreamingBayes": {"model": models.NaiveBayesMixture(2)},
}
OF_TEXTS = {
    "DPPSummarizer", "RougeScorer", "SentenceVectorizer", "TopicStream", "read_records",
    "read_texts",
}  # fmt: skip
OF_ARRAYS = {"StreamingBayes"}
OF_ANY_NUMBERS = {"PointSets", "StreamingBayes", "iter_minibatches"}
OF_POINTS = {"LowRankDPP.marginals"}
OF_LISTS_ALONE = {"LowRankDPP.fit_transform"}
OF_LISTS = {"AspectSentimentModel", "LowRankDPP", "WASTopicModel"}
WITHOUT_A_LOOK = {"DiversityScorer", "OpenVocabularyScorer"}
# What is set in an array of rows or columns, and where.
SET = {
    "an index beyond": ("indices", 0, 10**8),
    "a negative index": ("indices", 0, -(10**6)),
    "a pointer beyond": ("indptr", 3, 10**8),
    "pointers that fall": ("indptr", 3, V - 1),
}
LISTS = {"lists beyond": 10**8, "lists below": -(10**6)}
SPOILT = [
    *((kind, how) for kind in ("csr", "csc") for how in (*SET, "too few data")),
    *(("lil", how) for how in LISTS),
    ("dia", "too few offsets"),
]
# Values that are no counts, or none that can be computed with.
NO_COUNTS = {
    "a count of 1e16": 1e16,
    "a count of 1e-40": 1e-40,
    "a negative count": -1.0,
    "an infinite count": np.inf,
    "a missing count": np.nan,
}


def spoilt(kind: str, how: str) -> Any:
    """X in this format, spoilt."""
    matrix = X.asformat(kind, copy=True)
    if how in SET:
        array, place, value = SET[how]
        getattr(matrix, array)[place] = value
    elif how in LISTS:
        matrix.rows[0], matrix.data[0] = [LISTS[how]], [1.0]
    elif how == "too few offsets":
        matrix.offsets = matrix.offsets[:2]
    else:
        matrix.data = matrix.data[:-3]
    return matrix


def miscounted(name: str, value: float) -> Any:
    """An X as it should be, but for one value."""
    given = right(name)
    first = given[0] if isinstance(given, list) else given
    wrong = sparse.csr_matrix(first, dtype=np.float64, copy=True)
    wrong.data[0] = value
    return [wrong, *given[1:]] if isinstance(given, list) else wrong


def doors() -> Iterator[tuple[str, Callable]]:
    """Everything public that takes X, with its name."""
    # GuidedTopics reads counts with names alone.
    for name in sorted(set(streamtopics.__all__) - {"load", "save", "GuidedTopics"}):
        yield from _methods(name, getattr(streamtopics, name))
    yield from _methods("SentenceVectorizer", text.SentenceVectorizer)
    for module in (metrics, priors, datasets, inspection, text):
        for name in module.__all__:
            door = getattr(module, name)
            if name.endswith("Scorer") and name not in WITHOUT_A_LOOK:
                yield name, _Scoring(name, door())
            elif inspect.isfunction(door) and place_of(door) and name != "stop_words":
                yield name, door
    yield "read_sentences", read_sentences
    yield "DriftMonitor.learn", streams.DriftMonitor().learn
    yield "split", _split
    yield "PointSets", lambda points: PointSets(points, [0, N])
    with TemporaryDirectory() as folder:
        yield "report", partial(report, path=Path(folder) / "report.html")


def _split(X: Any) -> Any:
    model = deepcopy(MODEL)
    editing.merge(model, [0, 1])
    return editing.split(model, 0, X)


def _methods(name: str, cls: type) -> Iterator[tuple[str, Callable]]:
    model = _fitted(cls(**SETTINGS.get(name, {})))
    for method in dir(model):
        if method.startswith(("_", "set_")):
            continue
        # What another setting would offer is not there.
        if callable(door := getattr(model, method, None)) and place_of(door):
            yield f"{name}.{method}", door


def _fitted(model: Any) -> Any:
    name = type(model).__name__
    known = {"random_state": 0, "n_components": 2, "n_topics": 2, "n_sweeps": 3, "n_burn_in": 1}
    model.set_params(**{k: v for k, v in known.items() if k in model.get_params()})
    return call(model.fit, right(name))


class _Scoring:
    """A scorer with a model that suits it, as a function of X."""

    def __init__(self, name: str, scorer: Callable):
        kind = streamtopics.DPPSummarizer if name == "RougeScorer" else streamtopics.SVBLDA
        self.model = _fitted(kind())
        self.scorer = scorer

    def __call__(self, X: Any) -> float:
        return self.scorer(self.model, X, TEXTS)


def place_of(door: Callable) -> str | None:
    """The parameter that takes X."""
    taken = inspect.signature(door).parameters
    return next((name for name in PLACES if name in taken), None)


def right(name: str) -> Any:
    """An X as it should be."""
    if name in OF_POINTS:
        return X[:1]
    if name in OF_LISTS_ALONE:
        return [X[:6], X[6:]]
    name = name.split(".")[0]
    if name in OF_TEXTS:
        return TEXTS
    return X.toarray() if name in OF_ARRAYS else X


def call(door: Callable, X: Any) -> Any:
    """What a door gives for X and what else it takes."""
    beside = dict(BESIDE, estimator=MODEL, model=MODEL)
    if isinstance(X, list):
        beside = {}
    taken = inspect.signature(door).parameters
    if "label" not in taken:
        beside.pop("texts", None)
    given = {name: value for name, value in beside.items() if name in taken}
    found = door(**{place_of(door): X}, **given)
    return list(found) if inspect.isgenerator(found) else found


def attempt(name: str, door: Callable, case: str, X: Any) -> None:
    """Make a call, and write down that it begins and what came of it."""
    tell(door=name, case=case)
    try:
        call(door, X)
        tell(door=name, case=case, error="none", message="")
    except Exception as error:
        tell(door=name, case=case, error=type(error).__name__, message=str(error))


def tell(**fields: str) -> None:
    """Write a line that is there whatever happens next."""
    print(json.dumps(fields), flush=True)


MODEL = None
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    MODEL = _fitted(streamtopics.SVBLDA())
    for name, door in doors():
        attempt(name, door, "right", right(name))
        if name.split(".")[0] not in OF_TEXTS | OF_ANY_NUMBERS:
            for how, value in NO_COUNTS.items():
                attempt(name, door, how, miscounted(name, value))
        wide = sparse.csr_matrix((np.ones(1), ([0], [5])), shape=(N, 2**31))
        attempt(name, door, "too many columns", wide)
        for kind, how in SPOILT:
            attempt(name, door, f"{kind}, {how}", spoilt(kind, how))
            if name.split(".")[0] in OF_LISTS and name not in OF_POINTS:
                attempt(name, door, f"list of {kind}, {how}", [spoilt(kind, how), X])
