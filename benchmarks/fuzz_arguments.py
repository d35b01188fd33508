# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of public functions and methods, drawn by the names of their parameters."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

import streamtopics
from benchmarks import fuzz_inputs as inputs
from benchmarks.fuzz_estimators import SMALL, quiet, required
from benchmarks.fuzz_inputs import WIDTH, Rng, chance, junk, pick
from streamtopics import priors, text, updates

N = 8
NAMES = tuple("abcdef")
# Parameters that take X, however they are called.
PLACES = ("X", "documents", "points", "raw_documents", "source", "observed", "held_out", "to")
ROWS = ("y", "groups", "items", "users", "times", "time", "sample_weight")
REASONABLE: dict[str, tuple[Any, ...]] = {
    "n_words": (1, 2, 5, 10), "relevance": (0.0, 0.5, 1.0), "n_topics": (1, 2, 5),
    "n_documents": (1, 3), "topic": (0, 1, None), "aspect": (0, 1), "sentiment": (0, "positive"),
    "k": (0, 1, 2), "n_sets": (0, 1, 2), "given": (None,), "theta": (None,), "base": (None, 0.05),
    "feature_names": (None, list(NAMES), np.array(NAMES, dtype=object), list(NAMES[:-1])),
    "input_features": (None, list(NAMES)), "words": (["a", "b"], ["zz"], [0, 1]),
    "form": ("product", "wallach"),
    "columns": ([0], [1, 3], [WIDTH], [-1], [0.5]), "user": (0, 1, 99), "n_items": (1, 3),
    "exclude": ((), [0], [99]), "classes": (None, [0, 1], ["0", "1"], [0, 0]),
    "random_state": (0, 1, 2**31), "n_particles": (1, 3), "n_resampled": (None, 1, 5),
    "n_jobs": (None, 1), "measure": ("npmi", "umass", "uci", "c_v"), "order": (1, 2, "l"),
    "statistic": ("f1", "precision", "recall"), "several": ("mean", "max"), "width": (10, 100),
    "similarity": ("jaccard", "cosine"), "topics": ([[0, 1], [2, 3]], np.eye(2, 4), [["a", "b"]]),
    "topic_word": (np.full((2, WIDTH), 1 / WIDTH), np.zeros((2, WIDTH)), np.ones((2, WIDTH))),
    "topic_weights": (None, [0.5, 0.5], [0.0, 1.0]), "doc_topic_prior": (0.5, [0.5, 0.5]),
    "split_prior": (None, 0.5), "ranks": (None, np.arange(WIDTH)), "counts": (None, np.ones(WIDTH)),
    "exponent": (1.07, 2.0), "mass": (None, 1.0), "strength": (0.5, 2.0), "elsewhere": (None, 0.01),
    "missing": ("error", "ignore"), "vocabulary": (list(NAMES), {"a": 0, "b": 1}, ["a", "a"]),
    "n_components": (None, 1, 2, 3), "seeds": ({"one": ["a"]}, {0: ["b"]}, {"one": ["zz"]}),
    "prior": (0.5, priors.ZipfPrior(), priors.Symmetric(2.0)), "interval": (0.5, 0.95),
    "backend": ("pandas", "polars"), "n_splits": (2, 3), "batch_size": (1, 3, 1000),
    "smoothing": (1.0, 0.0), "epsilon": (None, 1e-12), "window": (None, "auto", 2),
    "scores": (None,), "n_characters": (None, 1, 64), "kind": ("csr",), "max_share": (None, 0.5),
    "text_key": ("text",),
    "min_proportion": (0.5, 0.0), "n_sentences": (1, 3), "change": (0.3,), "before": ((),),
    "n_features": (1, 3, 10), "mean_length": (1, 10.0), "ground_set": ("items", "bernoulli"),
    "sentence_length": (1, 3), "n_subtle": (0, 1), "profile": ("item", "document", "user"),
    "encoding": ("utf-8",), "format": (None, "text", "jsonl"), "on_bad": ("raise", "skip"),
    "max_line": (10, 1000), "keys": ((), ("a",)), "n_users": (1, 3), "local_tol": (1e-3, 0.0),
    "max_local_iter": (1, 5), "stop": (None,), "name": ("svb", "online_em", "hpp"),
    "smooth": (True, False), "rows": ([],), "before_change": (None,), "deep": (True, False),
}  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What arguments are drawn for.

    Attributes
    ----------
    X : function
        Draws an X that suits.
    model : object
        The estimator whose method is called, or None.
    """

    X: Callable[[Rng], Any] = inputs.counts
    model: Any = None


def arguments(rng: Rng, door: Callable[..., Any], scene: Scene) -> dict[str, Any]:
    """Arguments by name: mostly reasonable, seldom junk; what has a default is often left out."""
    given: dict[str, Any] = {}
    X = scene.X(rng)
    for name, parameter in inspect.signature(door).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not parameter.empty
        if has_default and chance(rng, 0.3 if name in ROWS else 0.6):
            continue
        if chance(rng, 0.04):
            given[name] = junk(rng)
        elif name in PLACES:
            given[name] = X if "X" not in given else pick(rng, (X, scene.X(rng)))
        else:
            given[name] = reasonable(rng, name, X, scene)
    return given


def reasonable(rng: Rng, name: str, X: Any, scene: Scene) -> Any:
    """A value that a parameter of this name may take."""
    if name in ROWS:
        return inputs.labels(rng, rows_of(X))
    if name == "other":
        return another(rng, scene.model)
    if name in MADE:
        return MADE[name](rng)
    if name in REASONABLE:
        return pick(rng, REASONABLE[name])
    return pick(rng, SMALL) if name.startswith(("n_", "max_")) else junk(rng)


def rows_of(X: Any) -> int:
    """How many rows X seems to have."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        return N


def another(rng: Rng, model: Any) -> Any:
    """An estimator to merge with: one that went on from this, mostly."""
    import pickle

    if model is None or chance(rng, 0.2):
        return pick(rng, (streamtopics.SVBLDA(3), fitted("GibbsOnlineEM"), None))
    found = pickle.loads(pickle.dumps(model))
    right = np.random.default_rng(1).poisson(1.0, (N, WIDTH))
    try:
        return found.partial_fit(right) if chance(rng, 0.7) else found
    except (ValueError, TypeError, AttributeError):
        return found


# Models and other made things


@cache
def fitted(name: str) -> Any:
    """A model of counts that has learnt."""
    model = getattr(streamtopics, name)(2, random_state=0)
    return model.partial_fit(np.random.default_rng(0).poisson(1.0, (N, WIDTH)))


@cache
def fitted_pipeline() -> Any:
    """A pipeline from texts to topics that has learnt."""
    model = streamtopics.SVBLDA(2, random_state=0)
    found = make_pipeline(text.StreamingCountVectorizer(max_features=WIDTH), model)
    return found.fit(["soup tea cold rain", "a soup of rain", "tea or soup or rain"] * 3)


def some_model(rng: Rng) -> Any:
    """An estimator, mostly one that has learnt."""
    if chance(rng, 0.1):
        return streamtopics.SVBLDA(2)
    if chance(rng, 0.1):
        return fitted_pipeline()
    return fitted(pick(rng, ("SVBLDA", "GibbsOnlineEM", "SVBHPP", "HDPGibbsOnlineEM")))


def some_models(rng: Rng) -> Any:
    """A few estimators."""
    return [some_model(rng) for _ in range(pick(rng, (0, 1, 2, 3)))]


def some_columns(rng: Rng) -> Any:
    """Columns to make a prior for."""
    X = sparse.csr_matrix(rng.poisson(1.0, (N, WIDTH)), dtype=np.float64)
    return priors.Columns(X, pick(rng, (None, np.array(NAMES, dtype=object))), 2)


def some_texts(rng: Rng) -> Any:
    """Texts or lists of sentences."""
    return inputs.texts(rng)


def some_batches(rng: Rng) -> Any:
    """Minibatches of counts."""
    return [inputs.counts(rng) for _ in range(pick(rng, (0, 1, 3)))]


def some_table(rng: Rng) -> Any:
    """Rows such as `topic_table` makes."""
    from streamtopics.inspection import topic_table

    return topic_table(fitted("SVBLDA"), NAMES)


def some_text(rng: Rng) -> Any:
    """One text."""
    return inputs.one_text(rng)


MADE: dict[str, Callable[[Rng], Any]] = {
    "estimator": some_model,
    "model": some_model,
    "models": some_models,
    "pipeline": lambda rng: fitted_pipeline(),
    "columns_of": some_columns,
    "texts": some_texts,
    "summaries": some_texts,
    "references": some_texts,
    "sentences": some_texts,
    "text": some_text,
    "label": lambda rng: first_word,
    "on_drift": lambda rng: quiet,
    "batches": some_batches,
    "table": some_table,
    "vectorizer": lambda rng: pick(rng, (None, text.StreamingCountVectorizer())),
    "update": lambda rng: updates.SVB(),
    "curves": lambda rng: {"a": [1.0, 2.0]},
    "x": lambda rng: [1.0, 2.0],
    "shares": lambda rng: rng.dirichlet([1.0, 1.0], N),
    "steps": lambda rng: required()["steps"](),
}


def first_word(words: Any, sentences: Any) -> str:
    """A label of a topic."""
    return str(words[0])
