# SPDX-License-Identifier: BSD-3-Clause
"""Made things that generated calls are passed: models, records, files, clients.

Paths are of files in the working directory, which an episode has for itself.
"""

import json
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

import streamtopics
from proof import fuzz_inputs as inputs
from proof.fuzz_estimators import required
from proof.fuzz_inputs import WIDTH, Rng, chance, pick
from streamtopics import (
    distributed,
    dpp,
    editing,
    inspection,
    priors,
    report,
    streams,
    text,
    updates,
    was,
)

N = 8
NAMES = tuple("abcdef")


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
    return inspection.topic_table(fitted("SVBLDA"), NAMES)


def some_text(rng: Rng) -> Any:
    """One text."""
    return inputs.one_text(rng)


def some_prior_of_sentences(rng: Rng) -> Any:
    """A prior of sentences."""
    return pick(rng, (was.WAS(), was.HDPFranchise(), was.SBP(), was.ICD()))


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
    return distributed.compute_update(fitted(pick(rng, ("SVBLDA", "GibbsOnlineEM"))), X)


def some_info(rng: Rng) -> Any:
    """What callbacks are told of a minibatch."""
    X = rng.poisson(1.0, (N, WIDTH))
    return streams.BatchInfo(pick(rng, (1, 2)), X, pick(rng, (None, 2003)), N, 10.0, N, 10.0, -2.0)


@cache
def some_comparison() -> Any:
    """What `compare_n_components` found."""
    X = np.random.default_rng(0).poisson(2.0, (12, WIDTH))
    return inspection.compare_n_components(
        streamtopics.SVBLDA(), X, [1, 2], n_splits=2, random_state=0
    )


def some_callbacks(rng: Rng) -> Any:
    """Callbacks of a stream, fresh ones."""
    kinds = (streams.ScoreHistory, streams.TopicTracker,
             streams.DriftMonitor, streams.ProgressReport)  # fmt: skip
    found = [kind() for kind in kinds if chance(rng, 0.3)]
    return [*found, streams.Checkpointer("checkpoints", every=1)] if chance(rng, 0.3) else found


def some_measure(rng: Rng) -> Any:
    """A measure of which point processes are made."""
    return pick(rng, (dpp.Poisson([1.0] * WIDTH), dpp.Bernoulli([0.2] * WIDTH)))


def some_sets(rng: Rng) -> Any:
    """Sets of rows of words."""
    return dpp.PointSets(rng.poisson(1.0, (4, WIDTH)), [0, 1, 4])


def some_scores(rng: Rng) -> Any:
    """Rows of the scores of a stream."""
    history = streams.ScoreHistory()
    batches = [rng.poisson(1.0, (N, WIDTH)) for _ in range(3)]
    streams.stream(streamtopics.SVBLDA(2, random_state=0), batches, callbacks=[history])
    return history.rows


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
    "batches": some_batches,
    "partitions": some_batches,
    "client": lambda rng: AtOnce(),
    "rng": lambda rng: np.random.default_rng(int(rng.integers(10))),
    "path": some_path,
    "info": some_info,
    "callbacks": some_callbacks,
    "alarm": lambda rng: never,
    "data": lambda rng: report.report(fitted("SVBLDA")),
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
    return dpp.Kernel(np.eye(WIDTH, 2), np.ones(2))


# Of what takes other things than its parameters are called.
EDITING: dict[str, Callable[[Rng], Any]] = {
    "model": lambda rng: fitted(pick(rng, ("SVBLDA", "StreamingMixture", "GibbsOnlineEM"))),
    "topics": lambda rng: pick(rng, ([0, 1], [1], 0, [5])),
    "topic": lambda rng: pick(rng, (0, 1, 5)),
    "words": lambda rng: pick(rng, ([0], [1, 2], ["a"])),
    "name": lambda rng: pick(rng, ("soup", "")),
    "n": lambda rng: pick(rng, (2, 3)),
    "kind": lambda rng: pick(rng, ("merge", "rename", "split")),
    "edits": lambda rng: [editing.hide(fitted("SVBLDA"), 0)],
    "text": lambda rng: editing.edits_to_json([editing.hide(fitted("SVBLDA"), 0)]),
}
OWN: dict[str, dict[str, Callable[[Rng], Any]]] = {
    **dict.fromkeys(editing.__all__, EDITING),
    "plot_n_components": {"found": lambda rng: some_comparison()},
    "read_texts": {"source": some_source},
    "read_records": {"source": some_source},
    "resume": {"path": some_folder},
    "Checkpointer": {"path": some_folder},
    "apply_update": {
        "model": lambda rng: fitted(pick(rng, ("SVBLDA", "GibbsOnlineEM"))),
        "update": some_update,
    },
    "count_vocabulary": {
        "vectorizer": lambda rng: text.StreamingCountVectorizer(),
        "partitions": lambda rng: [some_texts(rng) for _ in range(2)],
    },
    "OpenVocabularyScorer": {"estimator": lambda rng: fitted_pipeline(), "X": some_texts},
    "rouge": {"summaries": lambda rng: ["a soup"] * 3, "references": lambda rng: ["a tea"] * 3},
    "batch_sets": {"measure": some_measure, "sets": some_sets},
    "Process": {"measure": some_measure, "kernel": lambda rng: some_kernel()},
    "Weighted": {"measure": some_measure, "s": lambda rng: [0.5] * WIDTH},
    "LengthMultinomial": {"pi": lambda rng: [1 / WIDTH] * WIDTH},
    "Kernel": {"U": lambda rng: np.eye(3), "theta": lambda rng: [1.0, 2.0, 0.5]},
    "Gaussian": {"mean": lambda rng: [0.0] * 3, "variance": lambda rng: [1.0] * 3},
    "plot_scores": {"rows": some_scores},
    "inverse_transform": {"X": inputs.counts},
}


def never(model: Any, X: Any) -> bool:
    """An alarm that is not raised."""
    return False
