# SPDX-License-Identifier: BSD-3-Clause
"""Case study 3 of the BPS paper: LDA with a Zipf prior on streams of text.

K = 100, alpha = 0.01, one pass, English stop words left out, the log predictive
probability on held-out documents through the stream, in nats per token, by the boosting scale s
(Figure 12) and by the size of the minibatches (Figures 1b and 13). The Zipf prior (exponent
1.07, mass 1 for each topic) takes its ranks from an English word list. Beside the paper's
comparison stands what it leaves out: ranks of the corpus itself, SVB with flat priors and with
this package's defaults, and a flat boost; the frequencies of words, with no topics, stand
everywhere.

    STREAMTOPICS_DATA=... python -m benchmarks.papers bps_case_3
"""

import gzip
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.papers.bps_looks import minibatches
from benchmarks.papers.experiment import Cell, Experiment, Row, by_parts
from streamtopics import BPSLDA, SVBLDA
from streamtopics.metrics import completion_split
from streamtopics.priors import word_ranks, zipf_prior


class Stream(NamedTuple):
    """A corpus: documents in a minibatch, other sizes, and the scale that these are tried at."""

    size: int
    sizes: tuple[int, ...]
    scale: float


SHORT, LONG = (5000, (10000, 20000), 0.08), (1000, (500, 2000, 4000), 0.02)
SETS = {
    "dblp_titles": Stream(*SHORT),
    "health_tweets": Stream(*SHORT),
    "wordnet_glosses": Stream(*SHORT),
    "commit_subjects": Stream(*SHORT),
    "imdb_train": Stream(*LONG),
}
QUICK_SET, QUICK = "speeches", Stream(100, (50,), 0.08)
SCALES = (0.0, 0.02, 0.05, 0.08, 0.1, 0.2)
CORPUS_SCALES = (0.02, 0.1, 0.5)
FLAT = (0.01, 0.1, 1.0)
FLAT_BOOST = (0.1, 0.5)
TESTED, MOST = 2000, 100_000
SPLITS, SPLITS_OF_RIVALS = 11, 3
ENGLISH, RIVALS, FREQUENCIES = "Zipf, English ranks", "others", "word frequencies"
# None is a model without topics, the frequencies of the words so far.
Model = BPSLDA | SVBLDA | None
svb = partial(SVBLDA.preset, "SVBLDA", 100)
bps = partial(BPSLDA.preset, "BPSLDA", 100)


@cache
def counts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Counts of all documents of a corpus, and its words."""
    quick = name == QUICK_SET
    texts = [row["text"] for row in corpora.enclosed(name)] if quick else corpora.texts(name)
    vectorizer = CountVectorizer(stop_words="english", min_df=5, dtype=np.float32)
    return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out()


def split_of(name: str, split: int, *, quick: bool) -> corpora.Split:
    """Held-out documents of a split, and at most `MOST` others, in an order of its own."""
    X, words = counts(name)
    order = np.random.default_rng(split).permutation(X.shape[0])
    n_test, most = (200, 400) if quick else (TESTED, MOST)
    return corpora.Split(X[order[n_test:][:most]], X[order[:n_test]], words)


@cache
def english() -> list[str]:
    """English words, the most frequent first."""
    with gzip.open(corpora.folder() / "word_ranks.txt.gz", "rt", encoding="utf-8") as lines:
        return [line.split()[1] for line in lines if len(line.split()) > 1]


def paper(
    split: corpora.Split, of: Stream, *, quick: bool, mass: float = 1.0
) -> Iterator[tuple[str, int, Model]]:
    """What the paper compares, by name and size of minibatches, beside the frequencies of words."""
    ranked = list(split.words[::-1]) if quick else english()
    prior = zipf_prior(word_ranks(ranked, list(split.words)), mass=mass)
    grid = [(scale, of.size) for scale in SCALES]
    grid += [(scale, size) for size in of.sizes for scale in (0.0, of.scale)]
    for scale, size in grid:
        name = f"BPS, s = {scale:g}" if scale else "SVB"
        yield name, size, bps(boosting_scale=scale, topic_word_prior=prior)
    yield from ((FREQUENCIES, size, None) for size in (of.size, *of.sizes))


def others(split: corpora.Split, of: Stream) -> Iterator[tuple[str, int, Model]]:
    """What it leaves out."""
    counted = np.asarray(split.train.sum(axis=0)).ravel()
    prior = zipf_prior(counts=counted, mass=1.0)
    for scale in CORPUS_SCALES:
        name = f"corpus ranks, s = {scale:g}"
        yield name, of.size, bps(boosting_scale=scale, topic_word_prior=prior)
    for eta in FLAT:
        yield f"flat {eta:g}, SVB", of.size, svb(topic_word_prior=eta)
    flat = np.full(len(split.words), 1 / len(split.words))
    for scale in FLAT_BOOST:
        name = f"flat, mass 1, s = {scale:g}"
        yield name, of.size, bps(boosting_scale=scale, topic_word_prior=flat)
    yield FREQUENCIES, of.size, None


def rows(model: Model, split: corpora.Split, size: int) -> Iterator[Row]:
    """The score on the test documents through the stream, and at its end."""
    _, held_out = completion_split(split.test)
    for batch, look, moment, seen in minibatches(split.train.shape[0], size):
        if model is not None:
            model.partial_fit(split.train[batch])
        if look:
            score = (
                corpora.unigram_score(split.train[:seen], held_out) if model is None
                else float(model.score(split.test))
            )  # fmt: skip
            final = score if moment == "last" else ""
            yield {"seen": seen, "moment": moment, "score": score, "final": final}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All models of a kind on a split of a corpus."""
    of = QUICK if quick else SETS[cell["corpus"]]
    split = split_of(cell["corpus"], cell["split"], quick=quick)
    chosen = paper(split, of, quick=quick) if cell["kind"] == ENGLISH else others(split, of)
    given = {"random_state": cell["split"], "n_jobs": 2}
    for method, size, model in chosen:
        if model is not None:
            model.set_params(doc_topic_prior=0.01, **given)
        for row in rows(model, split, size):
            yield {"method": method, "size": size, **row}
    if cell["kind"] == RIVALS:
        method = "flat 0.05, alpha 0.1, SVB"
        for row in rows(svb(**given), split, of.size):
            yield {"method": method, "size": of.size, **row}


PARTS = {ENGLISH: SPLITS, RIVALS: SPLITS_OF_RIVALS}
EXPERIMENT = Experiment(
    "bps_case_3",
    ("corpus", "kind", "method", "size", "split", "seen", "moment"),
    ("score", "final"),
    by_parts("kind", PARTS, SETS, QUICK_SET),
    run,
)
