# SPDX-License-Identifier: BSD-3-Clause
"""Scores with a vocabulary of 20,000 words that follows a stream, beside fixed ones.

A corpus in order of time, test-then-train: each minibatch is scored, then learnt from, by the
same model behind vectorizers that differ in their words alone: the most frequent ones of the first
tenth, frozen; those of the stream so far, by half-life and margin; and, for comparison, those of
all texts, known beforehand. Shown are the share of tokens that had a column when they came, and the
open-vocabulary score in nats per held-out token, which charges for those that had none: with 64
equally likely characters, and as the texts are spelled; each over all but the first tenth, and over
the last. Then the memory of the vectorizer along the stream, and along another one of which every
word is new. With --limits, instead, the tokens covered by rules for the columns that cost more: all
words that came, those seen last, and the most frequent, all counted.

    STREAMTOPICS_DATA=... python -m benchmarks.open_vocabulary [--limits] [--columns 20000]
        [--components 20] [--minibatch 1000] [--every 5] [--seed 0] [--threads 1] [CORPUS]
"""

import argparse
import pickle
from collections.abc import Iterator

import numpy as np

from benchmarks import corpora
from streamtopics import StreamingLDA
from streamtopics.metrics import OpenVocabularyScorer
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline


def vectorizers(texts: list[str], n_columns: int) -> dict[str, StreamingCountVectorizer]:
    """Return a vectorizer for each way to know words."""
    found = {}
    for name, part in (("first tenth, frozen", texts[: len(texts) // 10]), ("all texts", texts)):
        fitted = StreamingCountVectorizer(max_features=n_columns).fit(part)
        words = fitted.get_feature_names_out()
        found[name] = StreamingCountVectorizer(vocabulary=words)
    for half_life, margin in ((None, 1.5), (100_000, 1.5), (50_000, 1.0), (20_000, 1.5)):
        found[f"open, {half_life}, {margin}"] = StreamingCountVectorizer(
            max_features=n_columns, half_life=half_life, margin=margin
        )
    return found


def followed(
    pipeline: StreamingPipeline, texts: list[str], options: argparse.Namespace
) -> Iterator[list[float]]:
    """Yield for each minibatch tokens covered, two scores and columns recycled.

    Scores are NaN in the first tenth, and but for some minibatches.
    """
    scorers = OpenVocabularyScorer(), OpenVocabularyScorer(n_characters=None)
    for i, start in enumerate(range(0, len(texts) - options.minibatch, options.minibatch)):
        minibatch = texts[start : start + options.minibatch]
        is_scored = start >= len(texts) // 10 and i % options.every == 0
        covered = float(pipeline[0].transform(minibatch).sum()) if start else 0.0
        scores = [scorer(pipeline, minibatch) if is_scored else np.nan for scorer in scorers]
        pipeline.partial_fit(minibatch)
        yield [covered, *scores, len(pipeline[0].recycled_)]


def compared(texts: list[str], options: argparse.Namespace) -> None:
    """Print a line for each way to know words."""
    counter = StreamingCountVectorizer().fit(texts)
    size = options.minibatch
    starts = np.arange(0, len(texts) - size, size)
    tokens = np.array([counter.transform(texts[s : s + size]).sum() for s in starts])
    print(f"{len(counter.vocabulary_):,} words")
    print(f"{'words of':24s}{'covered':>9s}{'last':>7s}{'64 even':>10s}{'last':>9s}", end="")
    print(f"{'as spelled':>12s}{'last':>9s}{'recycled':>10s}")
    for name, vectorizer in vectorizers(texts, options.columns).items():
        model = StreamingLDA(options.components, random_state=options.seed, n_jobs=options.threads)
        pipeline = StreamingPipeline([("words", vectorizer), ("topics", model)])
        covered, *scores, recycled = np.array(list(followed(pipeline, texts, options))).T
        shown = []
        for values in (covered / tokens, *scores):
            for part in (0.1, 0.9):
                chosen = (starts >= part * len(texts)) & ~np.isnan(values)
                shown.append(np.average(values[chosen], weights=tokens[chosen]))
        print(f"{name:24s}{shown[0]:9.3f}{shown[1]:7.3f}{shown[2]:10.3f}{shown[3]:9.3f}", end="")
        print(f"{shown[4]:12.3f}{shown[5]:9.3f}{int(recycled.sum()):10,}", flush=True)


def limits(texts: list[str], options: argparse.Namespace) -> None:
    """Print what other rules for the columns cover."""
    counter = StreamingCountVectorizer().fit(texts)
    half_lives = [5e3, 1e4, 2e4, 5e4, 1e5, float("inf")]
    n_words, size = len(counter.vocabulary_), options.minibatch
    frequency = np.zeros((len(half_lives), n_words))
    last_seen = np.full(n_words, -1)
    covered, total = np.zeros(2 + len(half_lives)), 0.0
    for start in range(0, len(texts), size):
        X = counter.transform(texts[start : start + size])
        if start >= len(texts) // 10:
            tokens = np.asarray(X.sum(axis=0)).ravel()
            total += tokens.sum()
            covered[0] += tokens[last_seen >= 0].sum()
            for i, strength in enumerate((last_seen + 1.0, *frequency), start=1):
                chosen = np.argpartition(-strength, options.columns)[: options.columns]
                covered[i] += tokens[chosen[strength[chosen] > 0]].sum()
        n = np.bincount(X.indices, minlength=n_words)
        last_seen[n > 0] = start
        frequency = frequency * 2.0 ** (-size / np.array(half_lives))[:, None] + n
    names = ["all words that came", "seen last", *(f"most frequent, {h:g}" for h in half_lives)]
    for name, share in zip(names, covered / total, strict=True):
        print(f"  {name:24s}{share:.4f}")


def kept(vectorizer: StreamingCountVectorizer) -> str:
    """Megabytes of a pickled vectorizer, and the words that it counts."""
    n_words = vectorizer._vocabulary.n_words
    return f"{len(pickle.dumps(vectorizer)) / 1e6:.2f} MB, {n_words:,} words"


def memory(minibatches: Iterator[list[str]], n_columns: int, every: int) -> None:
    """Print what a vectorizer takes along a stream."""
    vectorizer = StreamingCountVectorizer(max_features=n_columns)
    for i, minibatch in enumerate(minibatches, start=1):
        vectorizer.partial_fit(minibatch)
        if i % every == 0:
            print(f"  {vectorizer.n_documents_seen_:9,} documents: {kept(vectorizer)}", flush=True)


def new_words(n_minibatches: int) -> Iterator[list[str]]:
    """Yield minibatches of a thousand texts of eight words that never come again."""
    for i in range(n_minibatches):
        numbers = np.arange(8000).reshape(-1, 8) + 8000 * i
        yield [" ".join(f"new{number:x}" for number in row) for row in numbers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default="commit_subjects")
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--minibatch", type=int, default=1000)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    texts = corpora.texts(options.corpus)
    print(f"{options.corpus}: {len(texts):,} texts")
    if options.limits:
        limits(texts, options)
        return
    compared(texts, options)
    cuts = range(0, len(texts), options.minibatch)
    print(f"memory along {options.corpus}")
    memory(
        (texts[start : start + options.minibatch] for start in cuts),
        options.columns,
        len(cuts) // 6,
    )
    print("memory where every word is new")
    memory(new_words(120), options.columns, 20)


if __name__ == "__main__":
    main()
