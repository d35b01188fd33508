# SPDX-License-Identifier: BSD-3-Clause
"""Case study 4 of the BPS paper: MviewLDA as a classifier of streams of text.

Figures 15 and 16 of Nguyen et al. (2020) in kind: accuracy on the test documents through
the stream, by boosting scale and by size of the minibatches; K = 10 topics of each class,
R = 8 shared ones, 5000 seed words of each class at 0.5, the others at 0.01. The seeds are
those of all training documents, as in the paper, or of the first minibatch alone, which is
all that a stream has. Each seed has an order of the stream of its own. Beside it stand
multinomial naive Bayes and linear support vector machines. With --seed-strengths, seeds of
other strengths and the norm of each topic are tried instead. With --speed, the seconds to
learn and the documents a second that are classified by MviewLDA and by the linear machine, on
one core, are printed instead. With --share-priors, what the prior of the share of a class's own
words does to the accuracy and to the weight of the shared topics, with seeds of all.

    STREAMTOPICS_DATA=... python benchmarks/papers/bps_case_4.py --output FOLDER [SET ...]
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import MultiViewLDA
from streamtopics.priors import class_words_prior

# Documents in a minibatch, the first of them for Figure 15.
SETS = {"newsgroups": (1000, 1500, 2000), "webkb": (200, 300, 400)}
SCALES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SHARE_PRIORS = ((1.0, 1.0), (5.0, 5.0), (20.0, 20.0), (100.0, 100.0))
SHOWN = 2000
ALL, FIRST = "seeds of all", "seeds of the first minibatch"


class Labelled(NamedTuple):
    """Counts and labels, and which of the test documents the curves are drawn by."""

    X: sparse.csr_matrix
    y: np.ndarray
    test: sparse.csr_matrix
    target: np.ndarray
    shown: np.ndarray

    def ordered(self, seed: int) -> "Labelled":
        """With the training documents in an order of the seed's."""
        order = np.random.default_rng(seed).permutation(self.X.shape[0])
        return self._replace(X=self.X[order], y=self.y[order])


def load(name: str) -> Labelled:
    """The training documents and the test documents."""
    files = ["newsgroups_train", "newsgroups_test"] if name == "newsgroups" else [name]
    texts, labels = ([], []), ([], [])
    for file in files:
        with gzip.open(corpora.folder() / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                part, _, label = row["label"].rpartition("/")
                is_test = file.endswith("_test") or part == "test"
                texts[is_test].append(row["text"])
                labels[is_test].append(label)
    stop_words = "english" if name == "newsgroups" else None  # webkb has lost its own.
    vectorizer = CountVectorizer(stop_words=stop_words, min_df=2, dtype=np.float32)
    X, test = vectorizer.fit_transform(texts[0]), vectorizer.transform(texts[1])
    shown = np.random.default_rng(0).permutation(test.shape[0])[:SHOWN]
    return Labelled(X, np.array(labels[0]), test, np.array(labels[1]), shown)


def of_first(n: int, X: sparse.csr_matrix, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class prior by the first n documents."""
    return class_words_prior(X[:n], y[:n], classes=classes)


def stream(model: object, data: Labelled, size: int) -> tuple[list[float], float]:
    """Accuracy by the documents shown after each minibatch, and by all after the last."""
    classes, curve = np.unique(data.y), []
    for start in range(0, data.X.shape[0], size):
        batch = slice(start, start + size)
        model.partial_fit(data.X[batch], data.y[batch], classes=classes)
        curve.append(model.score(data.test[data.shown], data.target[data.shown]))
    return curve, model.score(data.test, data.target)


class StreamedSVM:
    """A linear SVM by stochastic gradients, on tf-idf whose idf the first minibatch gives."""

    def __init__(self, seed: int):
        self.tfidf = TfidfTransformer(sublinear_tf=True)
        self.svm = SGDClassifier(random_state=seed)

    def partial_fit(self, X: sparse.csr_matrix, y: np.ndarray, classes: np.ndarray) -> None:
        """One pass over a minibatch."""
        if not hasattr(self.tfidf, "idf_"):
            self.tfidf.fit(X)
        self.svm.partial_fit(self.tfidf.transform(X), y, classes=classes)

    def score(self, X: sparse.csr_matrix, y: np.ndarray) -> float:
        """Accuracy."""
        return self.svm.score(self.tfidf.transform(X), y)


def models(data: Labelled, size: int) -> dict[str, Callable[[int], object]]:
    """Makers of models, each from a seed, to compare on minibatches of the first size, by name."""
    known = class_words_prior(data.X, data.y)
    priors = {ALL: known, FIRST: partial(of_first, size)}
    view = partial(MultiViewLDA, 10, 8)
    settings = {
        f"MviewLDA, {name}, s = {scale:g}": partial(
            lambda prior, scale, seed: view(
                class_word_prior=prior, boosting_scale=scale, random_state=seed
            ),
            prior,
            scale,
        )
        for name, prior in priors.items()
        for scale in SCALES
    }
    settings["MviewLDA, flat prior 0.01, s = 0"] = lambda seed: view(
        class_word_prior=0.01, random_state=seed
    )
    for alpha in (1.0, 0.1, 0.01):
        settings[f"naive Bayes, alpha = {alpha:g}"] = lambda seed, alpha=alpha: MultinomialNB(
            alpha=alpha
        )
    settings["linear SVM by SGD, counts"] = lambda seed: SGDClassifier(random_state=seed)
    settings["linear SVM by SGD, tf-idf"] = StreamedSVM
    return settings


def all_at_once(data: Labelled) -> dict[str, float]:
    """A linear SVM that sees all training documents at once, as often as it likes."""
    machine = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=0))
    score = machine.fit(data.X, data.y).score(data.test, data.target)
    return {"linear SVM, all at once, tf-idf": score}


def study(name: str, data: Labelled, n_seeds: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Curves (n_seeds, n_batches) and last accuracies (n_seeds,) of each setting: Figure 15."""
    size = SETS[name][0]
    results = {}
    for setting, make in models(data, size).items():
        started = time.perf_counter()
        runs = [stream(make(seed), data.ordered(seed), size) for seed in range(n_seeds)]
        curves, last = map(np.array, zip(*runs, strict=True))
        results[setting] = curves, last
        seconds = (time.perf_counter() - started) / n_seeds
        told = f"{last.mean():.4f} +- {last.std():.4f}"
        print(f"  {setting:<50} {told} {seconds:7.1f} s", flush=True)
    return results


def by_size(name: str, data: Labelled, n_seeds: int) -> dict[tuple[int, float], np.ndarray]:
    """Last accuracies by size of the minibatches and scale, seeds of all: Figure 16."""
    known, results = class_words_prior(data.X, data.y), {}
    orders = [data.ordered(seed) for seed in range(n_seeds)]
    for size in SETS[name]:
        for scale in (0.0, 0.4):
            common = {"class_word_prior": known, "boosting_scale": scale, "batch_size": size}
            results[size, scale] = np.array(
                [
                    MultiViewLDA(10, 8, random_state=seed, **common)
                    .fit(of_seed.X, of_seed.y)
                    .score(data.test, data.target)
                    for seed, of_seed in enumerate(orders)
                ]
            )
            print(f"  {size}, s = {scale:g}: {results[size, scale].mean():.4f}", flush=True)
    return results


def by_strength(name: str, data: Labelled, n_seeds: int) -> None:
    """Last accuracies by the strength of the seeds, the norm and the scale, seeds of all."""
    settings = [(strength, "whole") for strength in (0.05, 0.5, 5.0)] + [(0.5, "topic")]
    for strength, norm in settings:
        known = class_words_prior(data.X, data.y, strength=strength)
        for scale in (0.0, 0.2, 1.0):
            common = {"class_word_prior": known, "boosting_scale": scale, "boosting_norm": norm}
            last = np.array(
                [
                    stream(
                        MultiViewLDA(10, 8, random_state=seed, **common),
                        data.ordered(seed),
                        SETS[name][0],
                    )[1]
                    for seed in range(n_seeds)
                ]
            )
            told = f"{name}, strength {strength:g}, norm {norm}, s = {scale:g}"
            print(f"{told:<50} {last.mean():.4f} +- {last.std():.4f}", flush=True)


def by_share_prior(name: str, data: Labelled, n_seeds: int) -> None:
    """Last accuracies and weights of the shared topics by `local_share_prior`, seeds of all."""
    known = class_words_prior(data.X, data.y)
    for prior in SHARE_PRIORS:
        found = []
        for seed in range(n_seeds):
            model = MultiViewLDA(
                10, 8, class_word_prior=known, local_share_prior=prior, random_state=seed
            )
            _, last = stream(model, data.ordered(seed), SETS[name][0])
            found.append([last, model.topic_weights_[model.topic_class_ < 0].sum()])
        accuracy, weight = np.mean(found, axis=0)
        told = f"{name}, local_share_prior=({prior[0]:g}, {prior[1]:g})"
        print(f"{told:<45} {accuracy:.4f}, weight of the shared topics {weight:.3f}", flush=True)


def speed(name: str, data: Labelled) -> None:
    """Print CPU seconds to learn, and documents a second, the best of five; of the first seed."""
    started = time.process_time()
    view = MultiViewLDA(10, 8, random_state=0, n_jobs=1).fit(data.X, data.y)
    learning = time.process_time() - started
    print(f"{name}, MultiViewLDA.fit, {data.X.shape[0]:,} documents: {learning:.1f} s")
    linear = SGDClassifier(random_state=0).fit(data.X, data.y)
    calls = {
        f"MultiViewLDA.{method}": getattr(view, method)
        for method in ("predict", "predict_proba", "predict_log_proba")
    } | {"SGDClassifier.predict": linear.predict}
    for called, call in calls.items():
        seconds = []
        for _ in range(5):
            started = time.process_time()
            call(data.test)
            seconds.append(time.process_time() - started)
        print(f"{name}, {called:<32} {data.test.shape[0] / min(seconds):>9,.0f} documents/s")


def draw(studies: dict[str, dict], offline: dict[str, dict[str, float]], path: Path) -> None:
    """Accuracy through the stream: one panel for each set."""
    figure = Figure(figsize=(5.5 * len(studies), 5.0), layout="constrained")
    axes = figure.subplots(1, len(studies), squeeze=False)[0]
    shown = [f"MviewLDA, {ALL}, s = {s}" for s in ("0", "0.4", "1")]
    shown += [f"MviewLDA, {FIRST}, s = {s}" for s in ("0", "0.4")]
    shown += ["naive Bayes, alpha = 0.1", "linear SVM by SGD, tf-idf"]
    for ax, (name, results) in zip(axes, studies.items(), strict=True):
        for setting in shown:
            mean = results[setting][0].mean(axis=0)
            ax.plot(np.arange(1, len(mean) + 1) * SETS[name][0], mean, label=setting)
        best = max(offline[name], key=offline[name].get)
        ax.axhline(offline[name][best], color="black", linewidth=1, linestyle=":", label=best)
        ax.set_title(name)
        ax.set_xlabel("documents seen")
    axes[0].set_ylabel("accuracy")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=110)


def table(rows: dict[str, list[str]], head: list[str]) -> str:
    """As Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join([name, *cells]) + " |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"all of: {', '.join(SETS)}")
    parser.add_argument("--output", type=Path, default=Path())
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed-strengths", action="store_true", help="and norms, instead")
    parser.add_argument("--share-priors", action="store_true", help="of a class's words, instead")
    parser.add_argument("--speed", action="store_true", help="of predictions, instead")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    if options.speed:
        for name in options.sets or list(SETS):
            speed(name, load(name))
        return
    for asked, measure in (
        (options.seed_strengths, by_strength),
        (options.share_priors, by_share_prior),
    ):
        if asked:
            for name in options.sets or list(SETS):
                measure(name, load(name), options.seeds)
            return
    studies, offline, sizes = {}, {}, {}
    for name in options.sets or list(SETS):
        data = load(name)
        print(f"{name}: {data.X.shape} to learn from, {data.test.shape[0]} to test", flush=True)
        studies[name] = study(name, data, options.seeds)
        sizes[name] = by_size(name, data, options.seeds)
        offline[name] = all_at_once(data)
        print(f"  {offline[name]}", flush=True)

    def cell(last: np.ndarray) -> str:
        return f"{last.mean():.3f} ± {last.std():.3f}"

    first = next(iter(studies))
    rows = {
        setting: [cell(results[setting][1]) for results in studies.values()]
        for setting in studies[first]
    }
    rows |= {n: [f"{offline[name][n]:.3f}" for name in studies] for n in offline[first]}
    text = table(rows, ["setting", *studies])
    for name, of_set in sizes.items():
        rows = {
            f"{size}": [cell(of_set[size, scale]) for scale in (0.0, 0.4)] for size in SETS[name]
        }
        text += "\n" + table(rows, [f"{name}, documents in a minibatch", "s = 0", "s = 0.4"])
    (options.output / "bps_case_4.md").write_text(text, encoding="utf-8")
    print(text)
    draw(studies, offline, options.output / "bps_case_4.png")


if __name__ == "__main__":
    main()
