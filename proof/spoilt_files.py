# SPDX-License-Identifier: BSD-3-Clause
"""Saved models and checkpoints with a wrong array or number in them.

    python -m proof.spoilt_files                      # every mutant of every file
    python -m proof.spoilt_files --most 60 --seed 1   # so many of each file, drawn
    python -m proof.spoilt_files --repeat SVBLDA:17   # one of them, here

Each array is resized, of another type, replaced by another one, or has numbers in it that should
not be there; each number is replaced. The file is loaded, everything public that reads it is
called, and it learns once more. Counted are files that were refused by `LoadError`, those that
answered everything, those of which a call raised another error of Python, and those in which the
process crashed or a call did not end. With one of the last two the exit code is 1.
"""

import argparse
import copy
import inspect
import io
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from skops.io import dumps

import streamtopics
from proof.children import child_of, tell
from proof.commands import at_least
from streamtopics import models, priors, streams, text, updates, was
from streamtopics.estimators import Schedule
from streamtopics.saving import LoadError, load
from tests.conventions.every import COUNTS, METHODS, Case, N

PATIENCE = 30
# Bytes that a process may take: what asks for more is refused memory.
ROOM = 6 * 2**30
ONE_MORE = [
    models.LinearRegression(), models.MeanFieldRegression(), models.NaiveBayesMixture(2),
]  # fmt: skip
LDA = streamtopics.SVBLDA
WHOLE = (-1, 0, 1, 2, 7, 10**8, 2**31 - 1, 2**62)
FLOATS = (np.nan, np.inf, -1e300, 1e300, -1.0, 0.0)
# Of parameters, which say how much work there is.
SMALL = (-1, 0, 1, 2, 7)
OUTCOMES = ("refused", "answered", "other errors", "crashed", "timed out")
# AddressSanitizer takes more addresses than there is room for.
UNBOUNDED = "libasan" in os.environ.get("LD_PRELOAD", "")


def more_cases() -> dict[str, Case]:
    """Estimators with state that those of the tests do not have."""
    points = METHODS["StreamingBayes"]
    found = {
        type(model).__name__: replace(
            points, estimator=streamtopics.StreamingBayes(model, random_state=0),
            y=np.arange(N) % 2 if model.needs_target else None,
        )
        for model in ONE_MORE
    }  # fmt: skip
    sums = COUNTS[:, :2].astype(int)
    found["BetaBinomial"] = replace(
        points, estimator=streamtopics.StreamingBayes(models.BetaBinomial()), X=sums[:, :1] % 2
    )
    found |= {
        "with vectors": replace(
            METHODS["StreamingMixture"], given={"vectors": np.eye(COUNTS.shape[0], 4) + 0.1}
        ),
        "with vectors of names": replace(
            METHODS["GuidedTopics"],
            estimator=streamtopics.GuidedTopics(
                {"a": ["word0"], "b": []}, 1, name_vectors=np.eye(2, 4), random_state=0
            ),
            given={"vectors": np.eye(COUNTS.shape[0], 4) + 0.1},
        ),
        "averaged": replace(
            METHODS["SVBLDA"],
            estimator=streamtopics.GibbsOnlineEM(
                3, schedule=Schedule(averaging="linear"), random_state=0
            ),
        ),
        "boosted": replace(
            METHODS["SVBLDA"],
            estimator=streamtopics.StreamingLDA(
                3, update=updates.BPS(0.1), boosted_prior=priors.ZipfPrior(), random_state=0
            ),
        ),
        "remembered": replace(
            METHODS["SVBLDA"],
            estimator=streamtopics.StreamingLDA(
                3,
                update=updates.Window(2),
                doc_topic_prior_update="fixed_point",
                inference="variational",
                random_state=0,
            ),
        ),
        "candidates": replace(
            METHODS["StreamingCountVectorizer"],
            estimator=text.StreamingCountVectorizer(max_features=6, n_candidates=3),
        ),
    }
    for prior in ("hdp", "sbp", was.ICD()):
        settings = {"n_sweeps": 6, "n_burn_in": 3, "n_local_sweeps": 3, "random_state": 0}
        estimator = streamtopics.WASTopicModel(2, prior=prior, **settings)
        found[f"WAS-{prior!s:.3}"] = replace(METHODS["WASTopicModel"], estimator=estimator)
    for ground in ("poisson", "multinomial"):
        estimator = streamtopics.LowRankDPP(
            n_components=2, ground_set=ground, max_iter=1, random_state=0
        )
        found[f"DPP-{ground}"] = replace(METHODS["LowRankDPP"], estimator=estimator)
    rng = np.random.default_rng(0)
    estimator = streamtopics.LowRankDPP(
        n_components=2, ground_set="gaussian", max_iter=1, random_state=0
    )
    sets = [rng.normal(size=(3, 4)) for _ in range(N)]
    found["DPP-gaussian"] = replace(METHODS["LowRankDPP"], estimator=estimator, X=sets)
    return found


# Mutants


def numbers_in(schema: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a description are."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if not isinstance(schema, dict):
        return
    if schema.get("__loader__") == "JsonNode":
        if type(json.loads(schema["content"])) in (int, float):
            yield (*path, "content")
        return
    for key, one in schema.items():
        yield from numbers_in(one, (*path, key))


class Subject:
    """A file of what is saved, how it is spoilt, and names of parameters in it."""

    def __init__(self, value: Any, parameters: frozenset[str]) -> None:
        self.value, self.parameters = value, parameters
        with ZipFile(io.BytesIO(dumps(value))) as archive:
            self.contents = {name: archive.read(name) for name in archive.namelist()}
        self.schema = json.loads(self.contents.pop("schema.json"))
        arrays = {n: c for n, c in self.contents.items() if n.endswith(".npy")}
        self.arrays = {name: np.load(io.BytesIO(content)) for name, content in arrays.items()}
        self.mutants = [*self._of_arrays(), *self._of_numbers()]

    def _of_arrays(self) -> Iterator[tuple[str, Any, Any]]:
        for place, array in self.arrays.items():
            for name, changed in wrong_arrays(array):
                yield name, place, changed
            for other, found in enumerate(self.arrays.values()):
                if (found.shape, found.dtype) != (array.shape, array.dtype):
                    yield f"array {other}", place, found

    def _of_numbers(self) -> Iterator[tuple[str, Any, Any]]:
        for path in numbers_in(self.schema):
            is_parameter = path[-2] in self.parameters
            for value in (*(SMALL if is_parameter else WHOLE), *FLOATS):
                yield repr(value), path, value

    def written(self, number: int, path: Path) -> str:
        """Write a mutant; what it is."""
        name, place, value = self.mutants[number]
        schema, contents = self.schema, dict(self.contents)
        if isinstance(place, str):
            np.save(content := io.BytesIO(), value)
            contents[place] = content.getvalue()
        else:
            schema = inner = copy.deepcopy(schema)
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = json.dumps(value)
        with ZipFile(path, "w") as archive:
            for file, content in (contents | {"schema.json": json.dumps(schema)}).items():
                archive.writestr(file, content)
        found = place if isinstance(place, tuple) else self.path_of(place, self.schema)
        return f"{'.'.join(str(key) for key in found if key != 'content')} <- {name}"

    def path_of(self, file: str, schema: Any, path: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """Where in a description an array is."""
        if isinstance(schema, list):
            schema = dict(enumerate(schema))
        if not isinstance(schema, dict):
            return ()
        if schema.get("file") == file:
            return path
        found = (self.path_of(file, one, (*path, key)) for key, one in schema.items())
        return next(filter(None, found), ())


def wrong_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """An array of another size or type, or with wrong numbers, in one place or everywhere."""
    for axis in range(array.ndim if array.size else 0):
        yield f"shorter in {axis}", np.delete(array, slice(-1, None), axis)
        yield f"longer in {axis}", np.concatenate([array, array.take([-1] * 3, axis)], axis)
        yield f"one in {axis}", array.take([0], axis) if array.shape[axis] else array
        yield f"empty in {axis}", array.take([], axis)
        yield f"long in {axis}", np.concatenate([array] * 50, axis)
    yield "flat", array.ravel()
    yield "deeper", array[None]
    yield "turned", np.asfortranarray(array.T)
    yield "a number", array.reshape(-1)[:1].reshape(())[...] if array.size else array
    if array.dtype.kind not in "iufb":
        yield "numbers", np.zeros(array.shape)
        return
    for dtype in ("f4", "f8", "i8", "i4", "u1", "U3", "c16", "?"):
        if array.dtype != dtype:
            yield dtype, array.astype(dtype)
    values = FLOATS if array.dtype.kind == "f" else WHOLE
    for value in values:
        if array.dtype.kind != "f" and not np.can_cast(np.min_scalar_type(value), array.dtype):
            continue
        yield f"all {value}", np.full_like(array, value)
        if array.size > 1:
            changed = array.copy()
            changed.reshape(-1)[array.size // 2] = value
            yield f"one {value}", changed


# What is asked of what was loaded


def asked(case: Case, model: Any) -> list[tuple[str, Callable[[], Any]]]:
    """Everything public that reads a model, and at last a step more of learning."""
    given = {
        "X": case.X, "documents": case.X, "raw_documents": case.X, "y": case.y, **case.given,
        "words": np.array([0, 9], np.int32), "n": 3, "n_words": 3, "names": None,
        "Z": None, "times": None, "columns": [0, 3], "observed": case.X, "held_out": case.X,
    }  # fmt: skip
    found = []
    for name in public_names(type(model)) + sorted(
        name for name in vars(model) if name.endswith("_") and not name.startswith("_")
    ):
        found.append((name, lambda name=name: read_from(model, name, given, case)))
    if hasattr(model, "partial_fit"):
        found.append(("partial_fit", lambda: case.taught(model)))
    return found


@cache
def public_names(kind: type) -> list[str]:
    """Public methods and properties that do not learn."""
    skipped = {"fit", "partial_fit", "fit_transform", "fit_predict", "set_params", "merge"}
    return [n for n in dir(kind) if n[0] != "_" and n not in skipped and n[:4] != "set_"]


def read_from(model: Any, name: str, given: dict[str, Any], case: Case) -> Any:
    """Read an attribute, or call a method with what it takes."""
    value = getattr(model, name)
    if not callable(value):
        if hasattr(value, "rows") and hasattr(value, "shape"):
            words = np.arange(value.shape[0], dtype=np.int32)
            return value.rows(words), value.mass, value.alpha, value.top_candidates(3)
        return repr(value)
    taken = inspect.signature(value).parameters.values()
    plain = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if name in ("inverse_transform", "perplexity"):
        return value(case.X)
    return value(**{p.name: given[p.name] for p in plain if p.name in given})


def answers(calls: list[tuple[str, Callable[[], Any]]]) -> list[str]:
    """Call each; what the errors were."""
    errors = []
    for name, call in calls:
        try:
            call()
        except Exception as error:
            errors.append(f"{name}: {type(error).__name__}")
    return errors


def calls_of_checkpoint(found: Any) -> list[tuple[str, Callable[[], Any]]]:
    """Go on with a checkpoint, and read what its callbacks have."""
    X = COUNTS[:12]

    def goes_on() -> None:
        model = found.model
        streams.stream(model, [X, X], callbacks=list(found.callbacks), skip=0)

    reads: list[tuple[str, Callable[[], Any]]] = [("stream", goes_on)]
    for one in found.callbacks:
        for name in public_names(type(one)):
            if name not in ("on_batch", "finish", "learn"):
                reads.append((name, lambda one=one, name=name: _read_callback(one, name)))
    return reads + asked(METHODS["SVBLDA"], found.model)


def _read_callback(one: Any, name: str) -> Any:
    value = getattr(one, name)
    return value() if callable(value) else repr(value)


@cache
def subject_of(name: str) -> tuple[Subject, Callable[[Any], list[tuple[str, Callable[[], Any]]]]]:
    """What is saved under a name, and what is asked of it."""
    if name == "checkpoint":
        value = checkpoint()
        return Subject(value, parameters_of(value.model)), calls_of_checkpoint
    case = CASES[name]
    model = case.made
    learns = hasattr(model, "partial_fit")
    model = case.taught(case.taught(model)) if learns else case.fitted
    return Subject(model, parameters_of(model)), lambda found: asked(case, found)


def parameters_of(model: Any) -> frozenset[str]:
    """Names of parameters, also of those of parts."""
    names = {name.rpartition("__")[2] for name in model.get_params()}
    return frozenset(names | {"n_sweeps", "max_iter", "n_averaged", "max_rounds", "n_rounds"})


def checkpoint() -> Any:
    """A checkpoint with a callback of each kind."""
    monitor = streams.DriftMonitor(random_state=0)
    also = [
        streams.ScoreHistory(), streams.TopicTracker(), monitor,
        streams.ProgressReport(1000),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        keeper = streams.Checkpointer(folder, every=1, also=also)
        batches = [COUNTS[:12], COUNTS[12:], COUNTS[6:18], COUNTS]
        streams.stream(LDA(3, random_state=0), batches, callbacks=[*also, keeper])
        found = streams.resume(folder)
    assert found is not None
    return found


# Runs


def try_mutant(
    subject: Subject, ask: Callable[..., Any], number: int, path: Path, known: set[str]
) -> str:
    """What came of a mutant: "refused", "answered" or "other errors".

    Known are errors of the file as it should be, such as of attributes of other settings.
    """
    subject.written(number, path)
    try:
        found = load(path)
    except LoadError:
        return "refused"
    except MemoryError:
        return "other errors"
    try:
        errors = answers(ask(found))
    except Exception:
        return "other errors"
    return "other errors" if set(errors) - known else "answered"


def work(name: str, numbers: list[int], writer: int) -> None:
    """Try mutants in turn, and tell of each."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if not UNBOUNDED:
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    subject, ask = subject_of(name)
    known = set(answers(ask(copy.deepcopy(subject.value))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        for number in numbers:
            signal.alarm(PATIENCE)
            tell(writer, {"outcome": try_mutant(subject, ask, number, path, known)})
            signal.alarm(0)


def run(name: str, numbers: list[int]) -> tuple[Counter[str], list[str]]:
    """Try mutants of a file, in processes that go on after the one that ended one."""
    counts, bad, done = Counter[str](), [], 0
    while done < len(numbers):
        with child_of(lambda writer, done=done: work(name, numbers[done:], writer)) as child:
            for told in child.lines():
                counts[told["outcome"]] += 1
                done += 1
            how = child.how_it_ended()
            words = child.last_words(3000)
        if how:
            outcome = "timed out" if how in ("SIGALRM", "silence") else "crashed"
            counts[outcome] += 1
            bad.append(f"{outcome} ({how}): --repeat {name}:{numbers[done]}\n{words}".rstrip())
            done += 1
    return counts, bad


def chosen(name: str, most: int | None, seed: int) -> list[int]:
    """Which mutants of a file are tried."""
    n = len(subject_of(name)[0].mutants)
    if most is None or n <= most:
        return list(range(n))
    return sorted(np.random.default_rng(seed).choice(n, most, replace=False).tolist())


def told_of(counts: Counter[str]) -> str:
    """Numbers of outcomes in a line."""
    shown = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES)
    return f"{counts.total():,} tried: {shown}"


def repeated(named: str) -> int:
    """Try one mutant here, and show what came of it."""
    name, _, number = named.rpartition(":")
    subject, ask = subject_of(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.model"
        print(subject.written(int(number), path), flush=True)
        found = load(path)
    for what, call in ask(found):
        print(what, end=": ", flush=True)
        print(answers([(what, call)]) or "answered", flush=True)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=at_least(1), help="mutants of each file; all by default")
    parser.add_argument("--seed", type=at_least(0), default=0, help="of which these are")
    parser.add_argument("--only", default="", help="files with this in their names")
    parser.add_argument("--repeat", help="one mutant, as a failure names it")
    given = parser.parse_args(arguments)
    if given.repeat:
        return repeated(given.repeat)
    total, all_bad = Counter[str](), []
    for name in NAMES:
        if given.only.lower() in name.lower():
            counts, bad = run(name, chosen(name, given.most, given.seed))
            print(f"{name:<26}{told_of(counts)}", *bad, sep="\n", flush=True)
            total += counts
            all_bad += bad
    print(f"{'all':<26}{told_of(total)}")
    return int(bool(all_bad))


CASES = METHODS | more_cases()
NAMES = (*CASES, "checkpoint")

if __name__ == "__main__":
    sys.exit(main())
