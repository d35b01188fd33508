# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of public functions and methods, drawn by the names of their parameters."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import streamtopics
from proof import fuzz_inputs as inputs
from proof.copies import pickled
from proof.fuzz_estimators import SMALL
from proof.fuzz_inputs import WIDTH, Rng, chance, junk, pick
from proof.fuzz_made import MADE, NAMES, OWN, N, fitted
from streamtopics import local, priors

# Parameters that take X, however they are called.
PLACES = (
    "X",
    "documents",
    "points",
    "raw_documents",
    "source",
    "observed",
    "held_out",
    "to",
    "known",
)
ROWS = ("y", "groups", "items", "users", "times", "time", "sample_weight")
# Rows of these are whole numbers or texts.
LABELS = ("items", "users")
REASONABLE: dict[str, tuple[Any, ...]] = {
    "n_words": (1, 2, 5, 10), "relevance": (0.0, 0.5, 1.0), "n_topics": (1, 2, 5),
    "n_documents": (1, 3), "topic": (0, 1, None), "aspect": (0, 1), "sentiment": (0, "positive"),
    "k": (0, 1, 2), "n_sets": (0, 1, 2), "given": (None,), "theta": (None,), "base": (None, 0.05),
    "feature_names": (None, list(NAMES), np.array(NAMES, dtype=object), list(NAMES[:-1])),
    "input_features": (None, list(NAMES)), "words": (["a", "b"], ["zz"], [0, 1]),
    "columns": ([0], [1, 3], [WIDTH], [-1], [0.5]), "user": (0, 1, 99, "0", "1"), "n_items": (1, 3),
    "exclude": ((), [0], [99]), "classes": (None, [0, 1], ["0", "1"], [0, 0]),
    "random_state": (0, 1, 2**31), "n_particles": (1, 3), "n_resampled": (None, 1, 5),
    "n_jobs": (None, 1), "measure": ("npmi", "umass", "uci", "c_v"), "order": (1, 2, "l"),
    "several": ("mean", "max"), "width": (10, 100),
    "similarity": ("jaccard", "cosine"), "topics": ([[0, 1], [2, 3]], np.eye(2, 4), [["a", "b"]]),
    "topic_word": (np.full((2, WIDTH), 1 / WIDTH), np.zeros((2, WIDTH)), np.ones((2, WIDTH))),
    "topic_weights": (None, [0.5, 0.5], [0.0, 1.0]), "doc_topic_prior": (0.5, [0.5, 0.5]),
    "split_prior": (None, 0.5), "ranks": (None, np.arange(WIDTH)), "counts": (None, np.ones(WIDTH)),
    "exponent": (1.07, 2.0), "mass": (None, 1.0), "strength": (0.5, 2.0), "elsewhere": (None, 0.01),
    "missing": ("error", "ignore"), "vocabulary": (list(NAMES), {"a": 0, "b": 1}, ["a", "a"]),
    "n_components": (None, 1, 2, 3), "seeds": ({"one": ["a"]}, {0: ["b"]}, {"one": ["zz"]}),
    "prior": (0.5, priors.ZipfPrior(), priors.Symmetric(2.0)), "interval": (0.5, 0.95),
    "backend": ("pandas", "polars"), "n_splits": (2, 3), "batch_size": (1, 3, 1000),
    "epsilon": (None, 1e-12), "window": (None, "auto", 2),
    "scores": (None,), "n_characters": (None, 1, 64), "kind": ("csr",), "max_share": (None, 0.5),
    "text_key": ("text",),
    "min_proportion": (0.5, 0.0), "n_sentences": (1, 3), "change": (0.3,), "before": ((),),
    "n_features": (1, 3, 10), "mean_length": (1, 10.0), "ground_set": ("items", "bernoulli"),
    "sentence_length": (1, 3), "n_subtle": (0, 1), "profile": ("item", "document", "user"),
    "encoding": ("utf-8",), "format": (None, "text", "jsonl"), "on_bad": ("raise", "skip"),
    "max_line": (10, 1000), "keys": ((), ("a",)), "n_users": (1, 3), "local_tol": (1e-3, 0.0),
    "max_local_iter": (1, 5), "stop": (None,), "name": ("svb", "online_em", "hpp"),
    "smooth": (True, False), "rows": ([],), "before_change": (None,), "deep": (True, False),
    "sentence_lengths": ([1, 3, 2], [4], []), "atom_prior": (0.1, 1.0), "n_draws": (2, 20),
    "used": (True, False), "rounds": (1, 4), "staleness": (0, 2),
    "skip": (0, 1),
    "read": (None,), "n_ahead": (0, 2), "score": (True, False),
    "skipped": (None,), "time_key": (None, "when"), "title": (None, "Soup"), "date": (None, "2003"),
    "titles": (None, ["one"] * N), "tracker": (None,), "alarms": (None,),
    "labels": (None, ["a", "b"]),
    "ax": (None,), "panels": (True, False), "every": (1, 2, None),
    "seconds": (None, 10.0), "keep": (1, 3), "also": ((),), "budget": (0.1, 1.0), "tol": (0.0, 0.1),
    "threshold": (0.5, 0.6), "n_snapshots": (64,), "ring": (2, 8), "held_back": (0.2, 0.5),
    "alpha": (0.01, 0.5), "total": (None, 5), "gap": (0, 1),
    "max_train_size": (None, 4), "test_size": (None, 1), "scale": (0.1, 1.0),
    "rate": (0.5,), "rho": (0.9, 1.0), "kappa": (0.7,), "tau": (1.0, 10.0), "gamma": (0.5, 1.0),
    "concentration": (1.0,), "level": (0.1,), "pi": ([0.2] * WIDTH,), "p": ([1 / 3] * 3,),
    "lam": ([1.0] * WIDTH,), "variance": (1.0,), "precision": (1.0,), "mean": (0.0,),
    "shape": (2.0,), "inverse_scale": (1.0,), "a": (1.0, 2.0), "b": (1.0, 2.0), "zeta": (0.5,),
    "exact": (True, False), "truncation": (5,), "n_dimensions": (1, 2), "degree": (1, 2),
    "lengths": ([0.5, 0.5],), "normalize": (True, False), "s": (0.5,), "U": (np.eye(3),),
    "points": (np.ones((4, 2)),), "indptr": ([0, 1, 4],), "power": (1.0, 3.0),
    "step_of": (local.Gibbs(2),), "population_size": (10, 100.0), "share": (0.5,),
    "norm": ("whole",), "reject": (0.0, 0.05, 0.5),
    "vectors": (None, np.eye(N, 3), np.full((N, 3), np.nan), np.ones((N, 2))),
}  # fmt: skip


# What takes as long as they are large, without a limit.
AS_LONG = ("n_draws",)


@dataclass(frozen=True)
class Scene:
    """What arguments are drawn for.

    Attributes
    ----------
    X : function
        Draws an X that suits.
    model : object
        The estimator whose method is called, or None.
    needs : tuple of str
        Names of parameters that it says it cannot do without, whatever their default.
    door : str
        Name of a function that takes what others of its parameters' names do not.
    """

    X: Callable[[Rng], Any] = inputs.counts
    model: Any = None
    needs: tuple[str, ...] = ()
    door: str = ""


def arguments(rng: Rng, door: Callable[..., Any], scene: Scene) -> dict[str, Any]:
    """Arguments by name: mostly reasonable, seldom junk; what has a default is often left out."""
    given: dict[str, Any] = {}
    X, own = scene.X(rng), OWN.get(scene.door, {})
    for name, parameter in parameters_of(door):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not parameter.empty
        left_out = 0.05 if name in scene.needs else 0.3 if name in ROWS else 0.6
        if has_default and chance(rng, left_out):
            continue
        if chance(rng, 0.04) and name not in AS_LONG:
            given[name] = junk(rng)
        elif name in own:
            given[name] = own[name](rng)
        elif name in PLACES:
            given[name] = X if "X" not in given or chance(rng, 0.5) else scene.X(rng)
        else:
            given[name] = reasonable(rng, name, X, scene)
    return given


def parameters_of(door: Callable[..., Any]) -> list[tuple[str, inspect.Parameter]]:
    """Parameters of what can be called, by name."""
    if inspect.ismethod(door):
        return _of_function(door.__func__)[1:]
    if inspect.isfunction(door) or isinstance(door, type):
        return _of_function(door)
    return [*inspect.signature(door).parameters.items()]


@cache
def _of_function(door: Callable[..., Any]) -> list[tuple[str, inspect.Parameter]]:
    return [*inspect.signature(door).parameters.items()]


def reasonable(rng: Rng, name: str, X: Any, scene: Scene) -> Any:
    """A value that a parameter of this name may take."""
    if name in ROWS:
        whole = name in LABELS and chance(rng, 0.8)
        return inputs.labels(rng, rows_of(X), whole=whole)
    if name == "other":
        return another(rng, scene.model)
    if name == "base" and scene.model is not None:
        return pick(rng, (None, pickled(scene.model)))
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
    if model is None or chance(rng, 0.2):
        return pick(rng, (streamtopics.SVBLDA(3), fitted("GibbsOnlineEM"), None))
    found = pickled(model)
    right = np.random.default_rng(1).poisson(1.0, (N, WIDTH))
    try:
        return found.partial_fit(right) if chance(rng, 0.7) else found
    except (ValueError, TypeError, AttributeError):
        return found
