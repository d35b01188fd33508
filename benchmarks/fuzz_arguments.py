# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of public functions and methods, drawn by the names of their parameters.

Paths are of files in the working directory, which an episode has for itself.
"""

import inspect
import json
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

import streamtopics
from benchmarks import fuzz_inputs as inputs
from benchmarks.fuzz_estimators import SMALL, quiet, required
from benchmarks.fuzz_inputs import WIDTH, Rng, chance, junk, pick
from streamtopics import distributed, local, priors, report, streams, text, updates, was

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
    "sentence_lengths": ([1, 3, 2], [4], []), "atom_prior": (0.1, 1.0), "n_draws": (2, 20),
    "used": (True, False), "rounds": (1, 4), "staleness": (0, 2), "ordered": (True, False),
    "skip": (0, 1), "max_attempts": (1, 3), "patience": (1.0, 3), "timeout": (None, 5.0),
    "read": (None,), "n_ahead": (0, 2), "score": (True, False),
    "skipped": (None,), "time_key": (None, "when"), "title": (None, "Soup"), "date": (None, "2003"),
    "titles": (None, ["one"] * N), "tracker": (None,), "alarms": (None,),
    "labels": (None, ["a", "b"]),
    "ax": (None,), "panels": (True, False), "fork": (True, False), "every": (1, 2, None),
    "seconds": (None, 10.0), "keep": (1, 3), "also": ((),), "budget": (0.1, 1.0), "tol": (0.0, 0.1),
    "threshold": (0.5, 0.6), "n_snapshots": (64,), "ring": (2, 8), "held_back": (0.2, 0.5),
    "alpha": (0.01, 0.5), "n_relabellings": (99,), "total": (None, 5), "gap": (0, 1),
    "max_train_size": (None, 4), "test_size": (None, 1), "max_rows": (None, 5), "scale": (0.1, 1.0),
    "rate": (0.5,), "rho": (0.9, 1.0), "kappa": (0.7,), "tau": (1.0, 10.0), "gamma": (0.5, 1.0),
    "concentration": (1.0,), "level": (0.1,), "pi": ([0.2] * WIDTH,), "p": ([1 / 3] * 3,),
    "lam": ([1.0] * WIDTH,), "variance": (1.0,), "precision": (1.0,), "mean": (0.0,),
    "shape": (2.0,), "inverse_scale": (1.0,), "a": (1.0, 2.0), "b": (1.0, 2.0), "zeta": (0.5,),
    "exact": (True, False), "truncation": (5,), "n_dimensions": (1, 2), "degree": (1, 2),
    "lengths": ([0.5, 0.5],), "normalize": (True, False), "s": (0.5,), "U": (np.eye(3),),
    "points": (np.ones((4, 2)),), "indptr": ([0, 1, 4],), "power": (1.0, 3.0),
    "step_of": (local.Gibbs(2),), "population_size": (10, 100.0), "share": (0.5,),
    "norm": ("whole",),
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
    door : str
        Name of a function that takes what others of its parameters' names do not.
    """

    X: Callable[[Rng], Any] = inputs.counts
    model: Any = None
    door: str = ""


def arguments(rng: Rng, door: Callable[..., Any], scene: Scene) -> dict[str, Any]:
    """Arguments by name: mostly reasonable, seldom junk; what has a default is often left out."""
    given: dict[str, Any] = {}
    X, own = scene.X(rng), OWN.get(scene.door, {})
    for name, parameter in inspect.signature(door).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not parameter.empty
        if has_default and chance(rng, 0.3 if name in ROWS else 0.6):
            continue
        if chance(rng, 0.04):
            given[name] = junk(rng)
        elif name in own:
            given[name] = own[name](rng)
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
    if model is None or chance(rng, 0.2):
        return pick(rng, (streamtopics.SVBLDA(3), fitted("GibbsOnlineEM"), None))
    found = pickle.loads(pickle.dumps(model))
    right = np.random.default_rng(1).poisson(1.0, (N, WIDTH))
    try:
        return found.partial_fit(right) if chance(rng, 0.7) else found
    except (ValueError, TypeError, AttributeError):
        return found


# Models and other made things


def fitted(name: str) -> Any:
    """A model of counts, or of sentences, that has learnt."""
    return pickle.loads(_fitted(name))


@cache
def _fitted(name: str) -> bytes:
    X: Any = np.random.default_rng(0).poisson(1.0, (N, WIDTH))
    if name == "WASTopicModel":
        X = [sparse.csr_matrix(X[[d, (d + 1) % N]], dtype=float) for d in range(N)]
    return pickle.dumps(getattr(streamtopics, name)(2, random_state=0).partial_fit(X))


def fitted_pipeline() -> Any:
    """A pipeline from texts to topics that has learnt."""
    return pickle.loads(_fitted_pipeline())


@cache
def _fitted_pipeline() -> bytes:
    model = streamtopics.SVBLDA(2, random_state=0)
    found = make_pipeline(text.StreamingCountVectorizer(max_features=WIDTH), model)
    texts = ["soup tea cold rain", "a soup of rain", "tea or soup or rain"] * 3
    return pickle.dumps(found.fit(texts))


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


def some_sentences(rng: Rng) -> Any:
    """The sentences of one document, by their counts."""
    return sparse.csr_matrix(rng.poisson(1.0, (int(rng.integers(1, 4)), WIDTH)), dtype=float)


def some_prior_of_sentences(rng: Rng) -> Any:
    """A prior of sentences."""
    return pick(rng, (was.WAS(), was.HDP(), was.SBP(), was.ICD()))


# Files and clients


def some_source(rng: Rng) -> Any:
    """What documents are read from: texts, or files of them."""
    rows = [inputs.one_text(rng) for _ in range(3)]
    lines = [str(row).replace("\n", " ").replace("\0", " ") for row in rows]
    Path("a.txt").write_text("\n".join(lines), encoding="utf-8")
    records = [json.dumps({"text": line, "when": n, "a": n}) for n, line in enumerate(lines)]
    Path("a.jsonl").write_text("\n".join(records), encoding="utf-8")
    return pick(rng, (rows, "a.txt", "a.jsonl", Path("a.jsonl"), ["a.txt", "a.jsonl"], "nothing"))


def some_path(rng: Rng) -> Any:
    """Where a file is, or may be."""
    streamtopics.save(fitted("SVBLDA"), "a.model")
    return pick(rng, ("a.model", Path("a.model"), Path("another"), "no folder/a.model"))


def some_folder(rng: Rng) -> Any:
    """Where checkpoints are, or may be."""
    keeper = streams.Checkpointer("checkpoints", every=1)
    streams.stream(streamtopics.SVBLDA(2), [np.eye(N, WIDTH)], callbacks=[keeper])
    return pick(rng, ("checkpoints", Path("checkpoints"), "nothing"))


class AtOnce(Executor):
    """Does what is asked for at once."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done


def some_update(rng: Rng) -> Any:
    """What documents made of the topics of a model."""
    X = rng.poisson(1.0, (N, WIDTH))
    return distributed.learn_apart(fitted(pick(rng, ("SVBLDA", "GibbsOnlineEM"))), X)


def some_info(rng: Rng) -> Any:
    """What callbacks are told of a minibatch."""
    X = rng.poisson(1.0, (N, WIDTH))
    return streams.BatchInfo(pick(rng, (1, 2)), X, pick(rng, (None, 2003)), N, 10.0, N, 10.0, -2.0)


@cache
def some_comparison() -> Any:
    """What `compare_n_components` found."""
    from streamtopics.inspection import compare_n_components

    X = np.random.default_rng(0).poisson(2.0, (12, WIDTH))
    return compare_n_components(streamtopics.SVBLDA(), X, [1, 2], n_splits=2, random_state=0)


def some_callbacks(rng: Rng) -> Any:
    """Callbacks of a stream, fresh ones."""
    kinds = (streams.EarlyStopping, streams.ScoreHistory, streams.TopicTracker,
             streams.DriftMonitor, streams.ProgressReport)  # fmt: skip
    found = [kind() for kind in kinds if chance(rng, 0.3)]
    return [*found, streams.Checkpointer("checkpoints", every=1)] if chance(rng, 0.3) else found


def some_measure(rng: Rng) -> Any:
    """A measure of which point processes are made."""
    from streamtopics import dpp

    return pick(rng, (dpp.Poisson([1.0] * WIDTH), dpp.Bernoulli([0.2] * WIDTH)))


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
    "partitions": some_batches,
    "documents": inputs.counts,
    "client": lambda rng: AtOnce(),
    "rng": lambda rng: np.random.default_rng(int(rng.integers(10))),
    "path": some_path,
    "info": some_info,
    "callbacks": some_callbacks,
    "alarm": lambda rng: never,
    "data": lambda rng: report.report_data(fitted("SVBLDA")),
    "settings": lambda rng: pick(rng, (None, report.ReportSettings(n_words=3))),
    "table": some_table,
    "vectorizer": lambda rng: pick(rng, (None, text.StreamingCountVectorizer())),
    "update": lambda rng: updates.SVB(),
    "curves": lambda rng: {"a": [1.0, 2.0]},
    "x": lambda rng: [1.0, 2.0],
    "shares": lambda rng: rng.dirichlet([1.0, 1.0], N),
    "steps": lambda rng: required()["steps"](),
}


def some_kernel() -> Any:
    """A kernel of a point process."""
    from streamtopics import dpp

    return dpp.Kernel(np.eye(WIDTH, 2), np.ones(2), np.ones(2))


# Of what takes other things than its parameters are called.
OWN: dict[str, dict[str, Callable[[Rng], Any]]] = {
    "simulate": {
        "prior": some_prior_of_sentences,
        "topic_word": lambda rng: rng.dirichlet([1.0] * WIDTH, 2),
    },
    "weight_correlation": {"prior": some_prior_of_sentences},
    "specific_comment_scores": {
        "estimator": lambda rng: fitted("WASTopicModel"),
        "article": some_sentences,
        "comments": lambda rng: [some_sentences(rng) for _ in range(2)],
    },
    "plot_n_components": {"found": lambda rng: some_comparison()},
    "plot_document": {"estimator": lambda rng: fitted_pipeline()},
    "read_texts": {"source": some_source},
    "read_records": {"source": some_source},
    "resume": {"path": some_folder},
    "Checkpointer": {"path": some_folder},
    "take_in": {
        "model": lambda rng: fitted(pick(rng, ("SVBLDA", "GibbsOnlineEM"))),
        "update": some_update,
    },
    "count_vocabulary": {
        "vectorizer": lambda rng: text.StreamingCountVectorizer(),
        "partitions": lambda rng: [some_texts(rng) for _ in range(2)],
    },
    "batch_sets": {"measure": some_measure, "sets": lambda rng: [[0, 1], [2]]},
    "Process": {"measure": some_measure, "kernel": lambda rng: some_kernel()},
    "Weighted": {"measure": some_measure},
}


def never(model: Any, X: Any) -> bool:
    """An alarm that is not raised."""
    return False


def first_word(words: Any, sentences: Any) -> str:
    """A label of a topic."""
    return str(words[0])
