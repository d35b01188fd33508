# SPDX-License-Identifier: BSD-3-Clause
"""Topics guided by two to five words a class, beside naive Bayes on the documents that hold one.

    python -m benchmarks.guided [--results FILE] [--seeds 0 1 2 3 4] [--methods NAME ...]
        [CORPUS ...]
    python -m benchmarks.guided --table doc/guided_table.rst

The seeds were written down from the names of the classes before anything was run. A fifth of
the documents is held out; accuracy there of the class whose topic is the greatest, and the share
of the seeds that are among the ten most probable words of their topic. tomotopy, if it is
installed, has the seeds as word priors and 200 sweeps. The table has mean accuracies over the
splits that a method was run on, and the mean gains over naive Bayes there: on all corpora, on
those that the defaults were chosen on, and on those that they were not. "In a stream" is
`partial_fit` of 2,000 documents at a time, "with shared seeds too" has seeds of several topics
beside the others; what labels do is told by `benchmarks.guided_labels`.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks import corpora
from benchmarks.results import append, read
from streamtopics import GuidedTopics
from streamtopics.text import NamedCounts

SEEDS: dict[str, dict[str, str]] = {
    "newsgroups": {
        "alt.atheism": "atheism atheist atheists",
        "comp.graphics": "graphics image images jpeg",
        "comp.os.ms-windows.misc": "windows microsoft dos",
        "comp.sys.ibm.pc.hardware": "ide scsi motherboard bios",
        "comp.sys.mac.hardware": "mac apple macintosh",
        "comp.windows.x": "motif server widget x11",
        "misc.forsale": "sale shipping sell offer",
        "rec.autos": "car cars engine",
        "rec.motorcycles": "bike motorcycle bikes riding",
        "rec.sport.baseball": "baseball pitcher inning",
        "rec.sport.hockey": "hockey nhl puck",
        "sci.crypt": "encryption crypto key clipper",
        "sci.electronics": "circuit voltage electronics",
        "sci.med": "medical disease doctor patients",
        "sci.space": "space nasa orbit shuttle",
        "soc.religion.christian": "church christ christian",
        "talk.politics.guns": "gun guns firearms weapons",
        "talk.politics.mideast": "israel arab turkish",
        "talk.politics.misc": "president government tax",
        "talk.religion.misc": "religion mormon bible",
    },
    "m10_titles": {
        "0": "agriculture crop farm soil",
        "1": "archaeology ancient",
        "2": "biology protein gene cell",
        "3": "software computer web algorithm",
        "4": "financial market stock economic",
        "5": "manufacturing production scheduling industrial",
        "6": "material materials alloy composite",
        "7": "petroleum oil gas reservoir",
        "8": "quantum physics particle",
        "9": "social political society",
    },
    "search_snippets": {
        "1": "business market stock company",
        "2": "computer software programming internet",
        "3": "music movie art film",
        "4": "university research science theory",
        "5": "engine electrical car motor",
        "6": "health disease cancer medical",
        "7": "political government party democracy",
        "8": "sports football game soccer",
    },
    "webkb": {
        "student": "student resum phd",
        "faculty": "professor faculti associ",
        "course": "cours homework exam syllabu",
        "project": "project group system",
    },
    "bbc_news": {
        "business": "market shares economy bank",
        "entertainment": "film music actor",
        "politics": "election minister labour party",
        "sport": "match game cup players",
        "tech": "software computer internet mobile",
    },
    "reuters21578": {
        "earn": "earnings net shr profit",
        "acq": "acquisition acquire merger stake",
        "money-fx": "dollar currency yen",
        "crude": "oil crude opec barrels",
        "grain": "wheat grain corn",
        "trade": "trade tariffs exports imports",
        "interest": "rate rates interest",
        "ship": "ship shipping port vessel",
    },
}
# Words that say something of several classes, written down before they were tried.
SHARED: dict[str, dict[str, str]] = {
    "newsgroups": {
        "windows": "comp.os.ms-windows.misc comp.windows.x",
        "religion": "talk.religion.misc alt.atheism soc.religion.christian",
        "hardware": "comp.sys.ibm.pc.hardware comp.sys.mac.hardware",
        "god": "alt.atheism soc.religion.christian talk.religion.misc",
        "drive": "comp.sys.ibm.pc.hardware comp.sys.mac.hardware",
        "team": "rec.sport.baseball rec.sport.hockey",
        "game": "rec.sport.baseball rec.sport.hockey",
    },
    "m10_titles": {
        "chemical": "6 7 2", "data": "3 9", "energy": "7 8", "network": "3 2", "analysis": "4 9",
        "control": "3 5",
    },
    "search_snippets": {
        "information": "2 4", "research": "4 6", "news": "7 8 1", "video": "3 8", "theory": "4 7",
    },
    "webkb": {
        "research": "faculty project student", "public": "faculty project",
        "advis": "student faculty", "depart": "faculty student",
    },
    "bbc_news": {
        "company": "business tech", "music": "entertainment tech", "tax": "politics business",
        "win": "sport entertainment", "award": "entertainment sport",
    },
    "reuters21578": {
        "bank": "money-fx interest", "tonnes": "grain ship", "tankers": "crude ship",
        "shares": "acq earn", "export": "grain trade crude",
    },
}  # fmt: skip
# What the defaults were chosen on; the other corpora confirm them.
CHOSEN_ON = ("newsgroups", "m10_titles")
FIELDS = ("corpus", "seed", "method", "accuracy", "seeds_kept", "seconds")


def labelled(corpus: str) -> tuple[list[str], np.ndarray]:
    """Texts and classes, of the documents that have one of the classes."""
    names = ["newsgroups_train", "newsgroups_test"] if corpus == "newsgroups" else [corpus]
    rows: list[dict[str, Any]] = []
    for name in names:
        path = corpora.folder() / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    classes = np.array([str(row["label"]).rpartition("/")[2] for row in rows])
    kept = np.isin(classes, list(SEEDS[corpus]))
    return [row["text"] for row, keep in zip(rows, kept, strict=True) if keep], classes[kept]


class Task:
    """A split of a corpus, with the seeds that are among its words."""

    def __init__(self, corpus: str, seed: int):
        texts, classes = labelled(corpus)
        order = np.random.default_rng(seed).permutation(len(texts))
        n_test = len(texts) // 5
        vectorizer = CountVectorizer(stop_words="english", min_df=3, dtype=np.float32)
        X = vectorizer.fit_transform([texts[i] for i in order])
        self.train, self.test = X[n_test:], X[:n_test]
        self.truth = classes[order][:n_test]
        self.words = vectorizer.get_feature_names_out()
        known = set(self.words)
        self.seeds = {
            name: [word for word in words.split() if word in known]
            for name, words in SEEDS[corpus].items()
        }
        self.corpus, self.seed = corpus, seed
        self.names = np.array(list(self.seeds))
        columns = vectorizer.vocabulary_
        self.columns = [[columns[word] for word in words] for words in self.seeds.values()]

    def hits(self, X: sparse.csr_matrix) -> np.ndarray:
        """Seed tokens of each class in each document."""
        return np.column_stack([X[:, own].sum(axis=1).A1 for own in self.columns])

    def kept(self, topics: np.ndarray) -> float:
        """Share of the seeds among the ten most probable words of their topics."""
        top = [set(np.argsort(-row)[:10]) for row in topics]
        found = [word in top[k] for k, own in enumerate(self.columns) for word in own]
        return float(np.mean(found))


Method = Callable[[Task], tuple[np.ndarray, np.ndarray | None]]


def naive_bayes(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """Naive Bayes trained on the documents that hold a seed."""
    hits = task.hits(task.train)
    some = hits.max(axis=1) > 0
    model = MultinomialNB().fit(task.train[some], hits[some].argmax(axis=1))
    topics = np.zeros((len(task.names), task.train.shape[1]))
    topics[model.classes_] = np.exp(model.feature_log_prob_)
    return task.names[model.predict(task.test)], topics


def naive_bayes_of_words(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """Naive Bayes as `GuidedTopics` counts and smooths, on the documents that hold a seed."""
    hits = task.hits(task.train)
    some = hits.max(axis=1) > 0
    model = MultinomialNB(alpha=0.3).fit(task.train[some].sign(), hits[some].argmax(axis=1))
    return task.names[model.predict(task.test.sign())], None


def counted(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """The class of the most seed tokens."""
    return task.names[task.hits(task.test).argmax(axis=1)], None


def guided(**parameters: Any) -> Method:
    """`GuidedTopics`."""

    def run(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
        model = GuidedTopics(task.seeds, random_state=task.seed, **parameters)
        model.fit(NamedCounts.of(task.train, task.words))
        return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_

    return run


def guided_with_shared(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """`GuidedTopics`, with seeds of several topics beside those of one."""
    seeds = {name: list(words) for name, words in task.seeds.items()}
    for word in sorted(SHARED[task.corpus].keys() & set(task.words)):
        for name in SHARED[task.corpus][word].split():
            seeds[name] += [word] * (word not in seeds[name])
    model = GuidedTopics(seeds, random_state=task.seed)
    model.fit(NamedCounts.of(task.train, task.words))
    return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_


def in_stream(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """`GuidedTopics`, of minibatches of 2,000 documents."""
    model = GuidedTopics(task.seeds, random_state=task.seed)
    for start in range(0, task.train.shape[0], 2000):
        model.partial_fit(NamedCounts.of(task.train[start : start + 2000], task.words))
    return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_


def tomotopy(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """tomotopy's LDA with word priors."""
    import tomotopy as tp

    model = tp.LDAModel(k=len(task.names), seed=task.seed)
    for k, own in enumerate(task.columns):
        for column in own:
            prior = [1.0 if j == k else 0.01 for j in range(len(task.names))]
            model.set_word_prior(task.words[column], prior)
    for row in task.train:
        model.add_doc(np.repeat(task.words[row.indices], row.data.astype(int)).tolist())
    model.train(200, workers=1)
    topics = np.zeros((len(task.names), len(task.words)))
    places = {word: i for i, word in enumerate(task.words)}
    for k in range(len(task.names)):
        topics[k, [places[w] for w in model.used_vocabs]] = model.get_topic_word_dist(k)
    documents = [
        model.make_doc(np.repeat(task.words[row.indices], row.data.astype(int)).tolist())
        if row.nnz
        else None
        for row in task.test
    ]
    found = model.infer([d for d in documents if d is not None], iterations=100)[0]
    shares = np.zeros((len(documents), len(task.names)))
    shares[[i for i, d in enumerate(documents) if d is not None]] = found
    return task.names[shares.argmax(axis=1)], topics


METHODS: dict[str, Method] = {
    "counting seeds": counted,
    "naive Bayes on seed hits": naive_bayes,
    "the same, words once, smoothing 0.3": naive_bayes_of_words,
    "GuidedTopics": guided(),
    "GuidedTopics in a stream": in_stream,
    "GuidedTopics, with shared seeds too": guided_with_shared,
    "GuidedTopics, Gibbs sampling": guided(inference="gibbs"),
    "tomotopy, word priors": tomotopy,
}


@lru_cache(maxsize=1)
def task_of(corpus: str, seed: int) -> Task:
    """A split, which all methods have."""
    return Task(corpus, seed)


def measured(corpus: str, seed: int, method: str) -> dict[str, Any]:
    """The figures of a method on a split."""
    task = task_of(corpus, seed)
    start = time.process_time()
    predicted, topics = METHODS[method](task)
    seconds = time.process_time() - start
    return {
        "corpus": corpus,
        "seed": seed,
        "method": method,
        "accuracy": f"{np.mean(predicted == task.truth):.4f}",
        "seeds_kept": "" if topics is None else f"{task.kept(topics):.4f}",
        "seconds": f"{seconds:.2f}",
    }


def table(results: Path) -> str:
    """A table of mean accuracies, and of gains over naive Bayes; the least is of any corpus."""
    rows = read(results)
    known = dict.fromkeys(row["corpus"] for row in rows)
    found = {(r["method"], r["corpus"], r["seed"]): float(r["accuracy"]) for r in rows}

    def mean_of(method: str, corpus: str, less: str | None = None) -> Any:
        """Mean accuracy, or mean difference from another method's on the same splits."""
        own = {s: a for (m, c, s), a in found.items() if (m, c) == (method, corpus)}
        return np.mean([a - (found[less, corpus, s] if less else 0) for s, a in own.items()])

    lines = [".. csv-table:: Accuracy on held-out documents"]
    lines += [f"   :header: method, {', '.join(known)}, gain, chosen on, confirmed on, least", ""]
    for method in METHODS:
        gains = {c: mean_of(method, c, "naive Bayes on seed hits") for c in known}
        chosen = [gains[c] for c in known if c in CHOSEN_ON]
        confirmed = [gains[c] for c in known if c not in CHOSEN_ON]
        shown = [f"{mean_of(method, c):.3f}" for c in known]
        of_gains = (
            np.mean([*gains.values()]),
            np.mean(chosen),
            np.mean(confirmed),
            min(gains.values()),
        )
        cells = [f'"{method}"', *shown, *(f"{gain:+.3f}" for gain in of_gains)]
        lines.append("   " + ", ".join(cells))
    return "\n".join([*lines, ""])


def main() -> None:
    """Run what is asked for and is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="*", default=list(SEEDS))
    parser.add_argument("--seeds", nargs="*", type=int, default=list(range(5)))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "guided.csv")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        options.table.write_text(table(options.results), encoding="utf-8")
        return
    done = {(r["corpus"], r["seed"], r["method"]) for r in read(options.results)}
    for corpus in options.corpora:
        for seed in options.seeds:
            for method in options.methods:
                if (corpus, str(seed), method) in done:
                    continue
                try:
                    row = measured(corpus, seed, method)
                except ImportError as error:
                    print(f"{method}: {error}")
                    continue
                append(options.results, FIELDS, row)


if __name__ == "__main__":
    main()
