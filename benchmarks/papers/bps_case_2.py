# SPDX-License-Identifier: BSD-3-Clause
"""Case study 2 of the BPS paper: sentiments of reviews on a stream, from seed words.

ASUM with 50 aspects, its seed words and no labels: accuracy on documents held out, through
the stream (Figure 10) and by the size of the minibatches (Figure 11), for SVB (s = 0) and
boosting scales s. Beside it stands the count of the seed words themselves: positive if there
are more positive ones, half right where there are as many. "paper" has the source's priors
and norm; "package" this package's defaults, and a prior of the same mass for both
sentiments that says that their words are not said elsewhere.

    STREAMTOPICS_DATA=... python benchmarks/papers/bps_case_2.py --output FOLDER [SET ...]

With --words, the package's own words of praise and blame take the place of the source's, with
10 aspects and minibatches of 250: as `SeedWords` with the source's numbers, and as
`SentimentWords`, with and without the words that are denied. With --changes, one of the
package's settings is changed at a time instead, at s = 0.5. With --scores, the score on held-
out words stands beside the accuracy, of one order of the stream.
"""

import argparse
import gzip
import json
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import CountVectorizer

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import AspectSentimentModel
from streamtopics.priors import SeedWords, SentimentWords, seed_prior
from streamtopics.priors.sentiment_words import BLAME, PRAISE
from streamtopics.text import SentenceVectorizer, mark_negations

# Documents held out, the size of minibatches, and other sizes. The package's defaults were chosen
# with the first three in view, and the last was looked at only afterwards.
SETS = {
    "reviews_electronics": (500, 250, (100, 500, 750)),
    "reviews_dvd": (500, 250, (100, 500, 750)),
    "imdb_train": (5000, 1000, (500, 1500, 2000)),
    "rated_movie_reviews": (500, 250, (100, 500, 750)),
}
SCALES = (0.0, 0.2, 0.4, 0.6, 1.0)
# Documents to look at after each minibatch; at the end it is all that are held out.
LOOKED_AT = 2000
SCORED = 1500
# The words of stems that are not their beginning, or are that of other words too.
WORDS_OF_STEM = {
    "bad": "bad(?:ly)?", "beauty": r"beaut\w*", "best": "best", "cle": r"clean\w*",
    "delicy": r"delicious\w*", "excel": "excel(?:s|led)?", "favorit": r"favou?rit\w*",
    "fortun": r"fortunate\w*", "fun": "fun", "glad": "glad(?:ly)?", "good": "good",
    "happy": r"happ(?:y|i\w*)", "hat": "hat(?:e|es|ed|ing)", "infery": r"inferior\w*",
    "love": "lov(?:e|es|ed|ely|ing)", "mess": "mess(?:y|ed)?", "neg": r"negative\w*",
    "nic": r"nice\w*", "notgood": "notgood", "notwor": "notworth", "posit": r"positive\w*",
    "satisfi": r"satisf\w*", "supery": r"superior\w*", "terr": r"terribl\w*",
    "unacceiv": r"unaccept\w*", "wor": "worth", "worst": "worst",
    "wast": "wast(?:e|es|ed|ing|eful)",  # codespell:ignore wast
}  # fmt: skip


class Reviews(NamedTuple):
    """Documents of sentences, which are positive, the words, and which of these are seeds."""

    X: np.ndarray
    y: np.ndarray
    seeds: dict[str, np.ndarray]

    @property
    def n_seeds(self) -> np.ndarray:
        """Positive seed words less negative ones in each document."""
        sign = self.seeds["positive"].astype(float) - self.seeds["negative"]
        return np.array([np.asarray(x.sum(axis=0)).ravel() @ sign for x in self.X])


def as_many_of_each(labels: list[str | float]) -> tuple[np.ndarray, np.ndarray]:
    """The first documents of either kind, in order, and which of them are positive.

    Labels are words, or ratings of 1 to 10 or of 0 to 1; those in the middle are of no kind.
    """
    if isinstance(labels[0], str):
        sign = np.array([1 if label == "positive" else -1 for label in labels])
    else:
        sign = np.sign(np.array(labels) - (5.5 if max(labels) > 1 else 0.5))
    n = min((sign > 0).sum(), (sign < 0).sum())
    chosen = np.sort(np.concatenate([np.flatnonzero(sign == s)[:n] for s in (1, -1)]))
    return chosen, sign[chosen] > 0


def balanced(name: str) -> tuple[list[str], np.ndarray]:
    """Texts of a corpus, as many positive as negative ones, and which are positive."""
    with gzip.open(corpora.folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chosen, y = as_many_of_each([row["label"] for row in rows])
    return [rows[i]["text"].replace("<br />", " ") for i in chosen], y


def counted(data: Reviews, n_test: int, n_seeds: int) -> list[float]:
    """Accuracies of counting the seed words of documents held out."""
    found, difference = [], data.n_seeds
    right = np.where(difference == 0, 0.5, (difference > 0) == data.y)
    for seed in range(n_seeds):
        test = np.random.default_rng(seed).permutation(len(data.y))[:n_test]
        found.append(float(right[test].mean()))
    return found


def reviews(name: str) -> Reviews:
    """A corpus, with as many positive reviews as negative ones."""
    texts, y = balanced(name)
    counter = CountVectorizer(
        preprocessor=mark_negations,
        stop_words="english",
        token_pattern=corpora.PROSE_WORD,
        min_df=5,
    )
    vectorizer = SentenceVectorizer(counter)
    X = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    stems = json.loads((corpora.folder() / "sentiment_words.json").read_text(encoding="utf-8"))
    seeds = {}
    for sentiment in ("positive", "negative"):
        of_stems = [WORDS_OF_STEM.get(s, rf"{s}\w*") for s in stems[f"asum_{sentiment}_stems"]]
        seed = re.compile("|".join(of_stems))
        seeds[sentiment] = np.array([seed.fullmatch(word) is not None for word in words])
    return Reviews(X, y, seeds)


def models(data: Reviews) -> dict[str, AspectSentimentModel]:
    """What is compared: the source's settings, and this package's."""
    words = np.arange(len(data.seeds["positive"])).astype(str)
    seeds = {sentiment: list(words[chosen]) for sentiment, chosen in data.seeds.items()}
    paper = seed_prior(seeds, words, 0.01 - 1e-4, base=1e-4)
    package = seed_prior(seeds, words, 0.01 - 1e-4, base=1e-4, elsewhere=1e-6)
    for prior, chosen in zip(package, data.seeds.values(), strict=True):
        prior[chosen] *= 0.5 * sum(s.sum() for s in data.seeds.values()) / chosen.sum()
    return {
        "paper": AspectSentimentModel(
            50, topic_word_prior=paper, boosting_norm="whole", doc_aspect_prior=1.0
        ),
        "package": AspectSentimentModel(50, topic_word_prior=package),
    }


def changes(data: Reviews) -> dict[str, AspectSentimentModel]:
    """This package's settings, and each of them changed."""
    package = models(data)["package"]
    prior = package.topic_word_prior
    changed = {
        "as it is": {},
        "boosting_norm whole": {"boosting_norm": "whole"},
        "doc_aspect_prior 1": {"doc_aspect_prior": 1.0},
        "doc_sentiment_prior 2": {"doc_sentiment_prior": 2.0},
        "seeds 1e-4 elsewhere": {"topic_word_prior": np.maximum(prior, 1e-4)},
        "masses of prior differ": {"topic_word_prior": np.where(prior > 1e-3, 0.01, prior)},
        "10 aspects": {"n_aspects": 10},
        "Frank-Wolfe": {"inference": "frank_wolfe"},
    }
    return {
        name: AspectSentimentModel(**package.get_params(deep=False) | given)
        for name, given in changed.items()
    }


def accuracy(model: AspectSentimentModel, X: np.ndarray, y: np.ndarray) -> float:
    """Share of the documents that are right; half of those that are even."""
    margin = np.diff(model.predict_proba(X), axis=1).ravel()
    return float(np.where(margin == 0, 0.5, (margin < 0) == y).mean())


class Run(NamedTuple):
    """Accuracies after each minibatch and at the end, and the CPU seconds of learning."""

    curve: list[float]
    final: float
    seconds: float


def run(
    model: AspectSentimentModel, data: Reviews, n_test: int, size: int, seed: int, *, curve: bool
) -> Run:
    """A stream in random order."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    test, train = order[:n_test], order[n_test:]
    looked_at, scores, seconds = test[:LOOKED_AT], [], 0.0
    model.set_params(random_state=seed)
    for start in range(0, len(train), size):
        batch = data.X[train[start : start + size]]
        started = time.process_time()
        model.partial_fit(batch)
        seconds += time.process_time() - started
        if curve:
            scores.append(accuracy(model, data.X[looked_at], data.y[looked_at]))
    return Run(scores, accuracy(model, data.X[test], data.y[test]), seconds)


def compare(name: str, n_seeds: int) -> dict[str, list[Run]]:
    """Runs of `changes` on a corpus."""
    data = reviews(name)
    n_test, size, _ = SETS[name]
    found = {}
    for label, model in changes(data).items():
        found[label] = [
            run(AspectSentimentModel(**model.get_params(deep=False)), data, n_test, size, seed,
                curve=False)
            for seed in range(n_seeds)
        ]  # fmt: skip
        print(f"  {label:<24} {summary([r.final for r in found[label]])}", flush=True)
    return found


def by_words(name: str, n_seeds: int) -> None:
    """Accuracy with the words of the package, by prior and by what is made of negations."""
    rows, y = balanced(name)
    words = {"positive": PRAISE, "negative": BLAME}
    priors = {
        "SeedWords": SeedWords(words, 0.01, base=1e-4, elsewhere=1e-6, missing="ignore"),
        "SentimentWords": SentimentWords(),
    }
    for preprocessor in (None, mark_negations):
        counter = CountVectorizer(
            preprocessor=preprocessor,
            stop_words="english",
            token_pattern=r"[^\W\d_]{2,}",
            min_df=5,
        )
        vectorizer = SentenceVectorizer(counter)
        X = vectorizer.fit_transform(rows)
        names = vectorizer.get_feature_names_out()
        chosen = {sentiment: np.isin(names, own) for sentiment, own in words.items()}
        data = Reviews(X, y, chosen)
        how = "as they are" if preprocessor is None else "marked"
        print(f"{name}, negations {how}: seeds counted {summary(counted(data, 500, n_seeds))}")
        for label, prior in priors.items():
            for scale in (0.5, 1.0):
                found = []
                for seed in range(n_seeds):
                    model = AspectSentimentModel(
                        10, topic_word_prior=prior, boosting_scale=scale, random_state=seed
                    )
                    found.append(run(model, data, 500, 250, seed, curve=False).final)
                print(f"  {label}, s = {scale:g}: {summary(found)}", flush=True)


def beside_scores(name: str) -> None:
    """Score on held-out words and accuracy, of some test reviews, by the boosting scale."""
    data = reviews(name)
    n_test, size, _ = SETS[name]
    order = np.random.default_rng(0).permutation(len(data.y))
    test, train = order[:n_test][:SCORED], order[n_test:]
    for scale in (0.0, 0.2, 0.5, 1.0, 2.0):
        model = models(data)["package"].set_params(boosting_scale=scale, random_state=0)
        for start in range(0, len(train), size):
            model.partial_fit(data.X[train[start : start + size]])
        score, right = model.score(data.X[test]), accuracy(model, data.X[test], data.y[test])
        print(f"{name}, s = {scale:g}: score {score:.3f}, accuracy {right:.3f}", flush=True)


class Study(NamedTuple):
    """Of one corpus: runs by settings, scale and size, and the count of seeds."""

    runs: dict[tuple[str, float, int], list[Run]]
    counted: list[float]
    size: int
    sizes: tuple[int, ...]


def study(name: str, n_seeds: int) -> Study:
    """All runs of a corpus."""
    data = reviews(name)
    n_test, size, sizes = SETS[name]
    n_words = [int(chosen.sum()) for chosen in data.seeds.values()]
    print(f"{name}: {len(data.y)} reviews, {n_words} seed words", flush=True)
    by_count = counted(data, n_test, n_seeds)
    print(f"  {'seeds counted':<32} {summary(by_count)}", flush=True)
    settings = [(scale, size) for scale in SCALES]
    settings += [(scale, other) for other in sizes for scale in (0.0, 0.4)]
    runs = {}
    for label, model in models(data).items():
        for scale, n in settings:
            found = []
            for seed in range(n_seeds):
                fresh = type(model)(**model.get_params(deep=False))
                fresh.set_params(boosting_scale=scale)
                found.append(run(fresh, data, n_test, n, seed, curve=n == size))
            runs[label, scale, n] = found
            text = f"{label}, s = {scale:g}, batch {n}"
            took = np.mean([r.seconds for r in found])
            print(
                f"  {text:<32} {summary([r.final for r in found])}  {took:.2f} s of learning",
                flush=True,
            )
    return Study(runs, by_count, size, sizes)


def summary(values: list[float]) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def table(studies: dict[str, Study]) -> str:
    """Accuracies at the end of the streams."""
    lines = ["| settings | s | batch | " + " | ".join(studies) + " |"]
    lines.append("|---" * (3 + len(studies)) + "|")
    first = next(iter(studies.values()))
    for label, scale, size in first.runs:
        place = -1 if size == first.size else first.sizes.index(size)
        cells, names = [], []
        for found in studies.values():
            own = found.size if place < 0 else found.sizes[place]
            cells.append(summary([r.final for r in found.runs[label, scale, own]]))
            names.append(str(own))
        batch = " / ".join(names)
        lines.append(f"| {label} | {scale:g} | {batch} | " + " | ".join(cells) + " |")
    cells = [summary(found.counted) for found in studies.values()]
    lines.append("| seeds counted | | | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(studies: dict[str, Study], path: Path) -> None:
    """Accuracies through the stream: a column for each corpus, a row for each settings."""
    figure = Figure(figsize=(4.2 * len(studies), 7), layout="constrained")
    axes = figure.subplots(2, len(studies), squeeze=False, sharey=True)
    for column, (name, found) in zip(axes.T, studies.items(), strict=True):
        for ax, label in zip(column, ("paper", "package"), strict=True):
            for scale in SCALES:
                curves = np.array([r.curve for r in found.runs[label, scale, found.size]])
                seen = np.arange(1, curves.shape[1] + 1) * found.size
                title = f"s = {scale:g}" + (" (SVB)" if scale == 0 else "")
                ax.plot(seen, curves.mean(axis=0), label=title)
            ax.axhline(np.mean(found.counted), color="black", linewidth=1, linestyle=":",
                       label="seeds counted")  # fmt: skip
            ax.set_title(f"{name}: {label}")
            ax.locator_params(axis="x", nbins=5)
        column[-1].set_xlabel("reviews seen")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"all of: {', '.join(SETS)}")
    parser.add_argument("--output", type=Path, default=Path())
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--changes", action="store_true", help="change one setting at a time")
    parser.add_argument("--scores", action="store_true", help="beside accuracies, by scale")
    parser.add_argument("--words", action="store_true", help="with the words of the package")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    if options.words:
        for name in options.sets or SETS:
            by_words(name, options.seeds)
        return
    if options.scores:
        for name in options.sets or SETS:
            beside_scores(name)
        return
    if options.changes:
        found = {name: compare(name, options.seeds) for name in options.sets or SETS}
        lines = ["| changed | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
        for label in next(iter(found.values())):
            cells = [summary([r.final for r in runs[label]]) for runs in found.values()]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        print("\n".join(lines))
        return
    studies = {name: study(name, options.seeds) for name in options.sets or SETS}
    text = table(studies)
    (options.output / "bps_case_2.md").write_text(text, encoding="utf-8")
    print(text)
    draw(studies, options.output / "bps_case_2.png")


if __name__ == "__main__":
    main()
