# SPDX-License-Identifier: BSD-3-Clause
"""Case study 2 of the BPS paper: sentiments of reviews on a stream, from seed words.

ASUM with 50 aspects, its seed words and no labels: accuracy on documents held out, through
the stream (Figures 1a and 10) and by the size of the minibatches (Figure 11), for SVB (s = 0)
and boosting scales s. Beside it stands the count of the seed words themselves: positive if there
are more positive ones, half right where there are as many. "paper" has the source's priors
and norm; "package" this package's defaults, and a prior of the same mass for both
sentiments that says that their words are not said elsewhere.

    STREAMTOPICS_DATA=... python -m benchmarks.papers bps_case_2

What no figure needs is printed instead of kept:

    STREAMTOPICS_DATA=... python -m benchmarks.papers.bps_case_2 [SET ...]

There the package's own words of praise and blame take the place of the source's, with
10 aspects and minibatches of 250: as `SeedWords` with the source's numbers, and as
`SentimentWords`, with and without the words that are denied.
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.papers.bps_looks import minibatches
from benchmarks.papers.experiment import Cell, Experiment, Row, by_parts
from streamtopics import AspectSentimentModel
from streamtopics.priors import SeedWords, SentimentWords, seed_prior
from streamtopics.priors.seeds import NEGATIVE_WORDS, POSITIVE_WORDS
from streamtopics.text import SentenceVectorizer, mark_negations
from streamtopics.updates import BPS

# Documents held out, the size of minibatches, and other sizes. The package's defaults were chosen
# with the first three in view, and the last was looked at only afterwards.
SETS = {
    "reviews_electronics": (500, 250, (100, 500, 750)),
    "reviews_dvd": (500, 250, (100, 500, 750)),
    "imdb_train": (5000, 1000, (500, 1500, 2000)),
    "rated_movie_reviews": (500, 250, (100, 500, 750)),
}
SCALES = (0.0, 0.2, 0.4, 0.6, 1.0)
SCALE_BY_SIZE = 0.4
SPLITS, SPLITS_OF_PACKAGE = 11, 5
COUNTED = "seed words counted"
# Documents to look at through the stream; at the end it is all that are held out.
LOOKED_AT = 2000
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
    rows = corpora.rows(name)
    chosen, y = as_many_of_each([row["label"] for row in rows])
    return [rows[i]["text"].replace("<br />", " ") for i in chosen], y


def counted(data: Reviews, n_test: int, split: int) -> float:
    """Accuracy of counting the seed words of the documents held out."""
    difference = data.n_seeds
    right = np.where(difference == 0, 0.5, (difference > 0) == data.y)
    return float(right[np.random.default_rng(split).permutation(len(data.y))[:n_test]].mean())


@cache
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
            50, topic_word_prior=paper, update=BPS(0.5), doc_aspect_prior=1.0
        ),
        "package": AspectSentimentModel(50, topic_word_prior=package),
    }


def accuracy(model: AspectSentimentModel, X: np.ndarray, y: np.ndarray) -> float:
    """Share of the documents that are right; half of those that are even."""
    shares = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
    margin = shares["positive"] - shares["negative"]
    return float(np.where(margin == 0, 0.5, (margin > 0) == y).mean())


def by_words(name: str) -> None:
    """Accuracy with the words of the package, by prior and by what is made of negations."""
    texts, y = balanced(name)
    words = {"positive": POSITIVE_WORDS, "negative": NEGATIVE_WORDS}
    priors = {
        "SeedWords": SeedWords(words, 0.01, base=1e-4, elsewhere=1e-6, missing="ignore"),
        "SentimentWords": SentimentWords(),
    }
    for preprocessor in (None, mark_negations):
        counter = CountVectorizer(
            preprocessor=preprocessor, stop_words="english", token_pattern=r"[^\W\d_]{2,}", min_df=5
        )
        vectorizer = SentenceVectorizer(counter)
        X = vectorizer.fit_transform(texts)
        names = vectorizer.get_feature_names_out()
        chosen = {sentiment: np.isin(names, own) for sentiment, own in words.items()}
        data = Reviews(X, y, chosen)
        how = "as they are" if preprocessor is None else "marked"
        by_count = [counted(data, 500, seed) for seed in range(SPLITS_OF_PACKAGE)]
        print(f"{name}, negations {how}: seeds counted {summary(by_count)}")
        for label, prior in priors.items():
            for scale in (0.5, 1.0):
                found = []
                for seed in range(SPLITS_OF_PACKAGE):
                    update = BPS(scale, "topic")
                    model = AspectSentimentModel(10, topic_word_prior=prior, update=update)
                    *_, last = rows(model, data, 500, 250, seed)
                    found.append(last["final"])
                print(f"  {label}, s = {scale:g}: {summary(found)}", flush=True)


def summary(values: list[float]) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


@cache
def few(seed: int = 0) -> Reviews:
    """Reviews that are made up: 20 seed words of 300, said more often where they fit."""
    rng = np.random.default_rng(seed)
    n, n_words, n_seeds = 120, 300, 10
    y = np.arange(n) % 2 == 0
    chances = np.ones((2, n_words))
    chances[0, :n_seeds], chances[1, n_seeds : 2 * n_seeds] = 6.0, 6.0
    X = np.empty(n, dtype=object)
    for d, positive in enumerate(y):
        p = chances[0 if positive else 1]
        X[d] = sparse.csr_matrix(rng.multinomial(6, p / p.sum(), size=rng.integers(3, 8)) * 1.0)
    place = np.arange(n_words) // n_seeds
    return Reviews(X, y, {"positive": place == 0, "negative": place == 1})


def rows(
    model: AspectSentimentModel, data: Reviews, n_test: int, size: int, split: int
) -> Iterator[Row]:
    """Accuracy through a stream in an order of the split's, and at its end."""
    order = np.random.default_rng(split).permutation(len(data.y))
    test, train = order[:n_test], order[n_test:]
    looked_at = test[:LOOKED_AT]
    model.set_params(random_state=split)
    for batch, look, moment, seen in minibatches(len(train), size):
        model.partial_fit(data.X[train[batch]])
        if look:
            final = accuracy(model, data.X[test], data.y[test]) if moment == "last" else ""
            yield {
                "seen": seen,
                "moment": moment,
                "accuracy": accuracy(model, data.X[looked_at], data.y[looked_at]),
                "final": final,
            }


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All scales and sizes on a split of a corpus."""
    name, split = cell["corpus"], cell["split"]
    data = few() if quick else reviews(name)
    n_test, size, sizes = (30, 30, (15, 45)) if quick else SETS[name]
    grid = [(scale, size) for scale in SCALES]
    grid += [(scale, other) for other in sizes for scale in (0.0, SCALE_BY_SIZE)]
    given = models(data)[cell["settings"]]
    if quick:
        given.set_params(n_aspects=3)
    for scale, n in grid:
        model = clone(given).set_params(update__scale=scale)
        of = {"method": f"BPS, s = {scale:g}" if scale else "SVB", "size": n}
        for row in rows(model, data, n_test, n, split):
            yield {**of, **row}
    right = counted(data, n_test, split)
    yield {"method": COUNTED, "size": size, "seen": "", "moment": "", "accuracy": "",
           "final": right}  # fmt: skip


PARTS = {"paper": SPLITS, "package": SPLITS_OF_PACKAGE}
EXPERIMENT = Experiment(
    "bps_case_2",
    ("corpus", "settings", "method", "size", "split", "seen", "moment"),
    ("accuracy", "final"),
    by_parts("settings", PARTS, SETS, "made up"),
    run,
)


def main() -> None:
    """Print what no figure needs."""
    for name in sys.argv[1:] or SETS:
        by_words(name)


if __name__ == "__main__":
    main()
