# SPDX-License-Identifier: BSD-3-Clause
"""Documents are bursty: their words come again. What it is worth to learn and score by that.

    STREAMTOPICS_DATA=... python -m benchmarks.bursty [CORPUS:K ...] [--seeds 0 1 2 3 4]
    python -m benchmarks.bursty --table > doc/measured/bursty.csv

At most 6,000 documents learn, 2,000 are held out, half of their tokens observed; words, splits by
the seed and labels are those of `benchmarks.text_quality`; StreamingLDA has `start="spectral"`.

    unigram        the frequencies of words
    plain          StreamingLDA, and a step of EM over the whole corpus, as the others have it
    damped         StreamingLDA learns from psi(n + 1) - psi(1) in the place of counts n, and finds
                   proportions by them; the last step of EM is of the counts
    tables         a Dirichlet process for each document over the words of its topics: StreamingLDA
                   learns from the expected number of its tables, a (psi(n + a) - psi(a)) with
                   a = weight * p(w | topics of the document); p(w) and the weight are those of
                   "plain"; proportions and the last step as "damped"
    damped words   "damped" without the last step: words are counted as they were damped, too

    score      nats per held-out token, by the topics alone
    document   the same with the document's own words: (weight p(w) + n) / (weight + N), n of the N
               observed tokens being w; the weight is fitted on documents learnt from
    weight     that weight, in tokens
    npmi, nmi, accuracy    as in `benchmarks.text_quality`, by the fold-in of all models here

The table has means over the seeds, and means of differences from "plain" with 95 % intervals.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma

from benchmarks.results import (
    add,
    command,
    differences,
    interval,
    mean,
    of,
    parser_of,
    read,
)  # fmt: skip
from benchmarks.text_models import Counts
from benchmarks.text_quality import Documents, documents, figures_of_labels, fold_in, halves
from streamtopics import StreamingLDA
from streamtopics.metrics import topic_coherence
from streamtopics.metrics.own_words import OwnWords
from streamtopics.metrics.predictive import token_probability

CHOOSE = ("newsgroups:50", "imdb_unlabelled:50", "m10_titles:20")
CONFIRM = (
    "reuters21578:50", "bbc_news:20", "nips_abstracts:20", "presidential_speeches:20",
    "rated_movie_reviews:20", "webkb:20",
)  # fmt: skip
MODELS = ("unigram", "plain", "damped", "tables", "damped words")
MOST_LEARNT, MOST_HELD_OUT, MOST_FITTED = 6000, 2000, 1500
ENTRIES_AT_ONCE = 1 << 16
KEY = ("corpus", "K", "seed", "model")
FIGURES = ("score", "document", "weight", "npmi", "nmi", "accuracy")


class Model(NamedTuple):
    """Topics, the prior of documents, and the counts by which proportions are found."""

    topics: np.ndarray
    alpha: np.ndarray
    seen: Callable[[Counts], Counts]

    def transform(self, X: Counts) -> np.ndarray:
        """Proportions of documents."""
        return fold_in(self.seen(X), self.topics, self.alpha)


def as_they_are(X: Counts) -> Counts:
    """Counts."""
    return X


def damped(X: Counts) -> Counts:
    """Each further token of a word in a document counts less: 1, 1/2, 1/3, ..."""
    return sparse.csr_matrix((digamma(X.data + 1.0) - digamma(1.0), X.indices, X.indptr), X.shape)


def tables(X: Counts, model: Model, weight: float) -> Counts:
    """Expected tables of words in documents, each a Dirichlet process over its topics' words."""
    a = weight * token_probability(model.transform(X), model.topics, X)
    expected = np.minimum(a * (digamma(a + X.data) - digamma(a)), X.data)
    return sparse.csr_matrix((expected, X.indices, X.indptr), X.shape)


def learnt(X: Counts, K: int, seed: int, seen: Callable[[Counts], Counts]) -> Model:
    """The model of counts; `seen` is what proportions of documents are found by."""
    model = StreamingLDA(K, start="spectral", random_state=seed).fit(X)
    topics = model.topic_word_.astype(np.float64)
    topics /= topics.sum(axis=1, keepdims=True)
    return Model(topics, np.asarray(model.doc_topic_prior_, dtype=np.float64), seen)


def stepped(model: Model, X: Counts) -> Model:
    """The same with topics by a step of EM, from all tokens."""
    theta, expected = model.transform(X), np.zeros(model.topics.shape[::-1])
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    for start in range(0, X.nnz, ENTRIES_AT_ONCE):
        span = slice(start, start + ENTRIES_AT_ONCE)
        of_topic = theta[row[span]] * model.topics.T[X.indices[span]]
        of_topic *= (X.data[span] / of_topic.sum(axis=1))[:, np.newaxis]
        n = len(of_topic)
        to_words = sparse.csr_matrix((np.ones(n), (X.indices[span], np.arange(n))), (X.shape[1], n))
        expected += to_words @ of_topic
    topics = expected.T + 0.02
    return model._replace(topics=topics / topics.sum(axis=1, keepdims=True))


def models(X: Counts, K: int, seed: int) -> Iterator[tuple[str, Model]]:
    """All models, learnt from the counts."""
    frequencies = np.asarray(X.sum(axis=0), dtype=np.float64) + 0.02
    yield "unigram", Model(frequencies / frequencies.sum(), np.ones(1), as_they_are)
    plain = stepped(learnt(X, K, seed, as_they_are), X)
    yield "plain", plain
    by_words = learnt(damped(X), K, seed, damped)
    yield "damped words", by_words
    yield "damped", stepped(by_words, X)
    seated = tables(X, plain, own_words(plain, X[:MOST_FITTED]).fitted_weight())
    yield "tables", stepped(learnt(seated, K, seed, damped), X)


def own_words(model: Model, X: Counts) -> OwnWords:
    """Held-out words of documents, with half of the tokens observed."""
    observed, held_out = halves(X)
    probability = token_probability(model.transform(observed), model.topics, held_out)
    return OwnWords.of(probability, observed, held_out)


def figures(model: Model, split: Documents) -> dict[str, float]:
    """The figures of a model."""
    weight = own_words(model, split.train[:MOST_FITTED]).fitted_weight()
    words = own_words(model, split.test)
    n = words.counts.sum()
    found = {
        "score": float(words.counts @ np.log(words.probability) / n),
        "document": words.log_probability(weight) / n,
        "weight": weight,
    }
    if len(model.topics) > 1:
        top = np.argsort(-model.topics, axis=1, kind="stable")[:, :10]
        found["npmi"] = float(topic_coherence(top, split.train).mean())
        if any(label is not None for label in split.train_labels):
            found |= figures_of_labels(model.transform, split)
    return found


def fewer(split: Documents) -> Documents:
    """The first documents of both parts, with the words of those that are learnt from."""
    train, test = split.train[:MOST_LEARNT], split.test[:MOST_HELD_OUT]
    words = np.flatnonzero(train.getnnz(axis=0))
    return Documents(
        train[:, words].astype(np.float64), test[:, words].astype(np.float64),
        split.train_labels[:MOST_LEARNT], split.test_labels[:MOST_HELD_OUT],
    )  # fmt: skip


def run(places: Sequence[str], seeds: Sequence[int], results: Path) -> None:
    """Add what is missing in the results."""
    for seed, place in product(seeds, places):
        corpus, K = place.split(":")
        if len(of(read(results), corpus=corpus, K=K, seed=seed)) == len(MODELS):
            continue
        split = fewer(documents(corpus, seed))
        for name, model in models(split.train, int(K), seed):
            measure = partial(figures, model, split)
            add(results, KEY, FIGURES, [(corpus, K, seed, name)], lambda *_, of=measure: of())


def table(results: Path) -> str:
    """Rows of CSV: figures of each model on each corpus, and paired differences."""
    rows = read(results)
    lines = ["corpus,K,model," + ",".join(FIGURES)]
    for corpus, K in dict.fromkeys((row["corpus"], row["K"]) for row in rows):
        here = of(rows, corpus=corpus, K=K)
        for name in MODELS:
            if not (own := of(here, model=name)):
                continue
            lines.append(",".join((corpus, K, name, *(mean(own, f) for f in FIGURES))))
            if name != "plain":
                found = (differences(own, of(here, model="plain"), f) for f in FIGURES)
                others = (interval(pairs) if len(pairs) else "" for pairs in found)
                lines.append(",".join((corpus, K, "  less plain", *others)))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the table."""
    options = parser_of(__doc__, __file__, places=(*CHOOSE, *CONFIRM)).parse_args()
    command(options, table, lambda: run(options.places, options.seeds, options.results))


if __name__ == "__main__":
    main()
