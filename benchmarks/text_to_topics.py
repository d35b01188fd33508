# SPDX-License-Identifier: BSD-3-Clause
"""From text to topics: all that a user waits for, reading and counting included.

    STREAMTOPICS_DATA=... python -m benchmarks.text_to_topics [newsgroups | short | endless ...]
        [--runs 3] [--methods NAME ...] [--tokens 10000000] [--results FILE] [--folder FOLDER]

Three tasks. Methods take turns, each run is a process of its own, a line of CSV keeps each, and a
table shows the least seconds of each.

newsgroups
    20 newsgroups, in a file of JSON lines, to 100 topics on one core; 3,000 documents are held out
    by --seed. Words are those of `text_quality` in five documents, the same for all methods. The
    goal is the score of tomotopy after 1,000 sweeps, run once: a row in the CSV is kept. Rows with
    several passes were chosen on this corpus, with --seed 0 and 1.
short
    A million lines of a text file to 100 topics on two cores, with an open vocabulary of 20,000
    columns: the 237,392 subjects of commits in order of time, but for 5,000 that are held out;
    then the same again and again in another order, with a prefix for each time to the words of less
    than 20 subjects, so that new words go on coming.
endless
    --tokens of `endless_text` to 1,000 topics on two cores, 20,000 columns. The text is made
    between the minibatches: `making` says how long that took, and is not in the seconds. A
    thousand documents that come after it are held out.

Peers are on one thread. They have their vocabulary beforehand, from the documents that they
learn from: 10,000 lines spread over the short texts, the first 100,000 tokens of the endless ones.
`tokens` have a column. `seconds` are by the clock, from the first line read to the topics, `cpu` of
all threads, `start` for Python's imports before; `peak` is the most memory, in MB of 10^6 bytes.
Scores are as in `text_quality`. Newsgroups are scored by the words that all methods have, the
others by every word, and words without a column are spelled (`open_vocabulary_probability`).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.endless_text import EndlessText
from benchmarks.results import append, read

RESULTS = Path(__file__).with_suffix(".csv")
FOLDER = Path(tempfile.gettempdir()) / "streamtopics-text-to-topics"
FIELDS = (
    "task", "method", "documents", "tokens", "topics", "threads", "seconds", "cpu", "start",
    "peak", "making", "common", "own", "seed", "versions",
)  # fmt: skip
N_SHORT, N_SHORT_OF_PEERS, RARE = 1_000_000, 10_000, 20
MINIBATCH_OF_TEXTS, MINIBATCH_OF_ENDLESS = 10_000, 10_000
WORD = re.compile(r"\w\w+")

Texts = Iterator[list[str]]


class Fitted(NamedTuple):
    """A model and what counts words for it; the mean of its prior of proportions is `alpha`."""

    vectorizer: Any
    model: Any
    alpha: np.ndarray
    n_documents: int
    n_tokens: float


class Task(NamedTuple):
    """Files, topics, and parameters of the vectorizers."""

    topics: int
    threads: int
    words: dict[str, Any]


TASKS = {
    "newsgroups": Task(100, 1, {"stop_words": "english", "min_df": 5}),
    "short": Task(100, 2, {"stop_words": "english", "max_features": 20_000}),
    "endless": Task(1000, 2, {"max_features": 20_000}),
}


# The texts


def prepared(task: str, folder: Path, seed: int) -> tuple[Path, Path]:
    """The files of texts to learn from and of held-out ones, made where they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".jsonl" if task == "newsgroups" else ".txt"
    learnt, held_out = (folder / f"{task}_{part}_{seed}{suffix}" for part in ("learnt", "held_out"))
    if not held_out.exists():
        make = {"newsgroups": newsgroups, "short": short, "endless": lambda seed: ([], [])}[task]
        texts, apart = make(seed)
        write(learnt, texts)
        write(part_of(learnt), texts[:: N_SHORT // N_SHORT_OF_PEERS])
        write(held_out, apart)
    return learnt, held_out


def part_of(path: Path) -> Path:
    """The file of texts spread evenly over those of another."""
    return path.with_stem(f"{path.stem}_part")


def write(path: Path, texts: list[str]) -> None:
    """Write a file with a text on each line; nothing of it stays if that fails."""
    lines = map(json.dumps, texts) if path.suffix == ".jsonl" else texts
    scratch = path.with_suffix(".part")
    with scratch.open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    scratch.rename(path)


def newsgroups(seed: int) -> tuple[list[str], list[str]]:
    """Texts to learn from and held-out ones."""
    from benchmarks import corpora

    texts = corpora.texts("newsgroups")
    order = np.random.default_rng(seed).permutation(len(texts))
    held_out = set(order[: min(len(texts) // 5, 3000)].tolist())
    return (
        [text for i, text in enumerate(texts) if i not in held_out],
        [texts[i] for i in sorted(held_out)],
    )


def short(seed: int) -> tuple[list[str], list[str]]:
    """A million subjects of commits with new words all the time, and held-out ones."""
    from benchmarks import corpora

    random = np.random.default_rng(seed)
    subjects = [" ".join(text.split()) or "-" for text in corpora.texts("commit_subjects")]
    apart = set(random.choice(len(subjects), 5000, replace=False).tolist())
    held_out = [subjects[i] for i in sorted(apart)]
    subjects = [text for i, text in enumerate(subjects) if i not in apart]
    found = list(subjects)
    frequency = Counter(w for text in subjects for w in set(WORD.findall(text.lower())))
    while len(found) < N_SHORT:
        prefix = "abcdefghij"[len(found) // len(subjects)] + "_"

        def renamed(word: re.Match[str], prefix: str = prefix) -> str:
            return prefix * (frequency[word[0].lower()] < RARE) + word[0]

        found += [WORD.sub(renamed, subjects[i]) for i in random.permutation(len(subjects))]
    return found[:N_SHORT], held_out


# The methods


def of_corpus(model: Any, task: Task, learnt: Path) -> Fitted:
    """A pipeline that reads a corpus whole."""
    from streamtopics.datasets import read_texts
    from streamtopics.text import StreamingCountVectorizer

    vectorizer = StreamingCountVectorizer(dtype=np.float32, n_jobs=task.threads, **task.words)
    X = vectorizer.fit_transform(read_texts(learnt))
    model.fit(X)
    return Fitted(vectorizer, model, model.doc_topic_prior_, X.shape[0], float(X.sum()))


def of_stream(model: Any, task: Task, batches: Texts) -> Fitted:
    """A pipeline that reads minibatches of texts, with words that come and go."""
    from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

    vectorizer = StreamingCountVectorizer(dtype=np.float32, n_jobs=task.threads, **task.words)
    pipeline = StreamingPipeline([("words", vectorizer), ("topics", model)])
    for texts in batches:
        pipeline.partial_fit(texts)
    alpha, n_documents = model.doc_topic_prior_, model.n_documents_seen_
    return Fitted(vectorizer, model, alpha, n_documents, model.n_tokens_seen_)


def streaming_lda(task: Task, texts: Any, **parameters: Any) -> Fitted:
    """This package's `StreamingLDA`, of a file as a corpus or of minibatches as a stream."""
    from streamtopics import StreamingLDA

    model = StreamingLDA(task.topics, n_jobs=task.threads, random_state=0)
    model.set_params(**parameters)
    return (of_corpus if isinstance(texts, Path) else of_stream)(model, task, texts)


def all_texts(texts: Any) -> list[str]:
    """The texts of a file or of minibatches."""
    if not isinstance(texts, Path):
        return [text for batch in texts for text in batch]
    return [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Peer:
    """A fitted model of another package, as far as scikit-learn's pipelines need it."""

    components_: np.ndarray
    transform: Callable[[Any], np.ndarray]


def peer(task: Task, texts: Any, name: str, **parameters: Any) -> Fitted:
    """CountVectorizer and a model of `text_models`."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(dtype=np.float32, **task.words)
    X = vectorizer.fit_transform(all_texts(texts))
    make = getattr(import_module("benchmarks.text_models"), name)
    fitted = make(X, task.topics, 0, **parameters)()
    model = Peer(fitted.topics, fitted.transform)
    return Fitted(vectorizer, model, fitted.alpha, X.shape[0], float(X.sum()))


class Method(NamedTuple):
    """A way to fit a task's texts: function, parameters, most documents or tokens, imports."""

    fit: Callable[..., Fitted]
    parameters: Mapping[str, Any] = MappingProxyType({})
    most: int | None = None
    once: bool = False
    imports: tuple[str, ...] = ("streamtopics", "streamtopics.text", "streamtopics.datasets")


def of_peer(name: str, package: str, most: int | None = None, **parameters: Any) -> Method:
    """A model of another package; pipelines have scikit-learn's vectorizer."""
    imports = package, "sklearn.feature_extraction.text", "benchmarks.text_models"
    return Method(peer, {"name": name} | parameters, most, imports=imports)


SCIKIT_LEARN = partial(of_peer, "scikit_learn", "sklearn.decomposition", batch_size=1000)
GENSIM = partial(of_peer, "gensim", "gensim.models")
TOMOTOPY = partial(of_peer, "tomotopy", "tomotopy")
TARGET = "tomotopy, 1000 sweeps"
METHODS = {
    "newsgroups": {
        "StreamingLDA": Method(streaming_lda),
        "two passes": Method(streaming_lda, {"max_iter": 2}),
        "three quick passes": Method(
            streaming_lda,
            {
                "max_iter": 3,
                "schedule__inner_batch_size": 300,
                "inference": "variational",
                "inference__tol": 1e-2,
                "inference__max_iter": 20,
            },
        ),
        "scikit-learn": SCIKIT_LEARN(),
        "gensim": GENSIM(),
        "tomotopy, 100 sweeps": TOMOTOPY(n_sweeps=100),
        TARGET: TOMOTOPY(n_sweeps=1000)._replace(once=True),
    },
    "short": {
        "StreamingLDA": Method(streaming_lda),
        "parts of 600": Method(streaming_lda, {"schedule__inner_batch_size": 600}),
        "scikit-learn": SCIKIT_LEARN(N_SHORT_OF_PEERS),
        "gensim": GENSIM(N_SHORT_OF_PEERS),
    },
    "endless": {
        "StreamingLDA": Method(streaming_lda),
        "no parts": Method(streaming_lda, {"schedule__inner_batch_size": None}),
        "scikit-learn": SCIKIT_LEARN(100_000),
        "gensim": GENSIM(100_000),
    },
}


# A run


class Making:
    """Minibatches of endless text, and the seconds that making them took, outside of the clock."""

    def __init__(self, n_tokens: int, seed: int) -> None:
        self.text, self.n_tokens = EndlessText(seed), n_tokens
        self.seconds = self.cpu = 0.0

    def __iter__(self) -> Texts:
        while self.text.n_tokens < self.n_tokens:
            wall, cpu = time.perf_counter(), time.process_time()
            texts = self.text.documents(min(MINIBATCH_OF_ENDLESS, 1 + self.n_tokens // 200))
            self.seconds += time.perf_counter() - wall
            self.cpu += time.process_time() - cpu
            yield texts


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one method, in this process."""
    task, method = TASKS[options.task], METHODS[options.task][options.method]
    learnt, held_out = prepared(options.task, options.folder, options.seed)
    making = Making(min(options.tokens, method.most or options.tokens), options.seed)
    texts: Any = learnt
    if options.task == "endless":
        texts = iter(making)
    elif options.task == "short":
        texts = minibatches(learnt if method.most is None else part_of(learnt))
    for name in method.imports:
        import_module(name)
    start, wall = time.process_time(), time.perf_counter()
    fitted = method.fit(task, texts, **method.parameters)
    seconds = time.perf_counter() - wall - making.seconds
    threads = task.threads if method.fit is streaming_lda else 1
    found = {
        "documents": fitted.n_documents, "tokens": round(fitted.n_tokens),
        "topics": task.topics, "threads": threads, "seconds": seconds,
        "cpu": time.process_time() - start - making.cpu, "start": start, "peak": peak(),
        "making": making.seconds,
    }  # fmt: skip
    same_words = options.task == "newsgroups"
    asked = making.text.documents(1000) if options.task == "endless" else all_texts_of(held_out)
    found["common"] = score(fitted, Folded(fitted), asked, same_words)
    found["own"] = score(fitted, fitted.model, asked, same_words)
    return found


def minibatches(path: Path) -> Texts:
    """Minibatches of the lines of a file, as this package reads them."""
    from streamtopics.datasets import iter_minibatches

    return iter_minibatches(path, MINIBATCH_OF_TEXTS)


def all_texts_of(path: Path) -> list[str]:
    """The texts of a file that is held out."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines] if path.suffix == ".jsonl" else lines


def peak() -> float:
    """The most memory that this process ever had, MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kilobytes,) = re.findall(r"VmHWM:\s*(\d+) kB", status)
    return int(kilobytes) * 1024 / 1e6


class Folded:
    """The topics of a model, with proportions by the fixed point that is common to all."""

    def __init__(self, fitted: Fitted) -> None:
        topics = np.asarray(fitted.model.components_, dtype=np.float64)
        topics = np.maximum(topics / topics.sum(axis=1, keepdims=True), 1e-12)
        self.components_, self.alpha = topics, np.asarray(fitted.alpha, dtype=np.float64)

    def transform(self, X: Any) -> np.ndarray:
        """Proportions of documents."""
        from benchmarks.text_quality import fold_in

        rows = [X[start : start + 500].tocsr() for start in range(0, X.shape[0], 500)]
        return np.concatenate([fold_in(part, self.components_, self.alpha) for part in rows])


def score(fitted: Fitted, model: Any, texts: list[str], same_words: bool) -> float:
    """Nats per held-out token."""
    from sklearn.pipeline import Pipeline

    from streamtopics.metrics import log_predictive_probability, open_vocabulary_probability

    if same_words:
        return log_predictive_probability(model, fitted.vectorizer.transform(texts))
    pipeline = Pipeline([("words", fitted.vectorizer), ("topics", model)])
    return open_vocabulary_probability(pipeline, texts)


# All runs


def apart(options: argparse.Namespace, task: str, method: str) -> dict[str, Any] | None:
    """The figures of one method, by a process of its own."""
    command = [
        sys.executable, "-m", "benchmarks.text_to_topics", task, "--run", method,
        "--tokens", str(options.tokens), "--folder", str(options.folder),
        "--seed", str(options.seed),
    ]  # fmt: skip
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, env=os.environ | threads, text=True, check=False
    )
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"task": task, "method": method, "seed": options.seed, "versions": versions()} | found


def versions() -> str:
    """The packages that were measured."""
    from importlib.metadata import version

    return " ".join(f"{p} {version(p)}" for p in ("scikit-learn", "gensim", "tomotopy", "numpy"))


WIDTHS = {
    "": 24, "threads": 8, "tokens": 12, "seconds": 9, "CPU": 8, "tokens/s": 11, "of CPU": 11,
    "MB": 7, "making": 8, "common": 9, "own": 9,
}  # fmt: skip
HEAD = "".join(f"{name:>{width}s}" for name, width in WIDTHS.items())


def table(rows: list[dict[str, Any]], task: str) -> str:
    """The least seconds of each method of a task, in its own run."""
    lines = [f"{task}: {TASKS[task].topics} topics", HEAD]
    for name in dict.fromkeys(row["method"] for row in rows if row["task"] == task):
        of_method = [row for row in rows if (row["task"], row["method"]) == (task, name)]
        best = min(of_method, key=lambda row: float(row["seconds"]))
        tokens, seconds = int(best["tokens"]), float(best["seconds"])
        figures = [float(best[field]) for field in ("cpu", "peak", "making", "common", "own")]
        cpu, memory, making, common, own = figures
        lines.append(
            f"  {name:22s}{best['threads']:>8s}{tokens:12,d}{seconds:9.1f}{cpu:8.1f}"
            f"{tokens / seconds:11,.0f}{tokens / cpu:11,.0f}"
            f"{memory:7.0f}{making:8.1f}{common:9.3f}{own:9.3f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for, and show it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", default=list(TASKS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="of the endless text")
    parser.add_argument("--seed", type=int, default=0, help="of what is held out and of texts made")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for files of texts (120 MB)")
    parser.add_argument("--run", metavar="METHOD", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.tasks) - set(TASKS):
        parser.error(f"no task {sorted(unknown)}; there are {list(TASKS)}")
    if options.run:
        options.task, options.method = options.tasks[0], options.run
        print(json.dumps(run(options)))
        return
    run_all(options)


def run_all(options: argparse.Namespace) -> None:
    """Run methods in turns, one process at a time."""
    for task in options.tasks:
        prepared(task, options.folder, options.seed)
        for number in range(options.runs):
            for name, method in METHODS[task].items():
                if options.methods and name not in options.methods:
                    continue
                key = (task, name, str(options.seed))
                rows = read(options.results)
                there = any((r["task"], r["method"], r["seed"]) == key for r in rows)
                if method.once and (number or there):
                    continue
                if found := apart(options, task, name):
                    shown = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in found.items()}
                    append(options.results, FIELDS, shown)
        rows = [row for row in read(options.results) if row["seed"] == str(options.seed)]
        print(table(rows, task), flush=True)


if __name__ == "__main__":
    main()
