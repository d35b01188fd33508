# SPDX-License-Identifier: BSD-3-Clause
"""How much of a stream a vocabulary of 20,000 words covers, when it is learnt in different ways.

Tokens of the last tenth of a corpus in order of time that have a column: of the words that are
most frequent in the first tenth; in all of it; and now, test-then-train, by half-life.

    STREAMTOPICS_DATA=... python benchmarks/open_vocabulary.py [--columns 20000] [CORPUS]
"""

import argparse

import corpora

from streamtopics.text import StreamingCountVectorizer

MINIBATCH = 1000
HALF_LIVES = (None, 100_000, 20_000)


def followed(texts: list[str], n_columns: int, half_life: float | None) -> tuple[float, int]:
    """Tokens of the last tenth that had a column before they came, and columns recycled."""
    vectorizer = StreamingCountVectorizer(max_features=n_columns, half_life=half_life)
    covered, n_recycled = 0, 0
    for start in range(0, len(texts), MINIBATCH):
        minibatch = texts[start : start + MINIBATCH]
        if start >= 9 * len(texts) // 10:
            covered += int(vectorizer.transform(minibatch).sum())
        n_recycled += len(vectorizer.partial_fit(minibatch).recycled_)
    return covered, n_recycled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default="commit_subjects")
    parser.add_argument("--columns", type=int, default=20_000)
    options = parser.parse_args()
    texts = corpora.texts(options.corpus)
    first, last = texts[: len(texts) // 10], texts[9 * len(texts) // 10 :]
    total = StreamingCountVectorizer().fit_transform(last).sum()
    print(f"{options.corpus}: {len(texts):,} texts, {total:,} tokens in the last tenth")
    for name, part in (("the first tenth", first), ("all texts", texts)):
        vectorizer = StreamingCountVectorizer(max_features=options.columns).fit(part)
        print(f"  words of {name:18s} {vectorizer.transform(last).sum() / total:.3f}")
    for half_life in HALF_LIVES:
        covered, n_recycled = followed(texts, options.columns, half_life)
        print(
            f"  half-life {half_life!s:8s} {covered / total:.3f}  {n_recycled:,} columns recycled"
        )


if __name__ == "__main__":
    main()
