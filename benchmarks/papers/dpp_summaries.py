# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of opinions by DPPSummarizer, by the thesis' kernel, and by their rivals.

Opinosis: 26 topics of 51 to 575 sentences from reviews, with 3 to 5 reference summaries each;
two sentences are chosen. ROUGE without stems, small letters, the mean over references.
Redundancy is `summary_redundancy`, and two sentences are near-repeats if it is at least a half.
Errors are standard errors over topics; `random` is the mean of 100 draws, the thesis' kernel that
of three starts. TextRank is PageRank over the graph of sentences, with the cosine of the same
features as ours or with the overlap of its paper; MMR takes the sentence of the largest
0.7 centrality - 0.3 highest cosine with those taken. Centroid and TextRank do not know pieces of
sentences; `same quality` is ours with a power so large that diversity does not matter.

    STREAMTOPICS_DATA=... python -m benchmarks.papers.dpp_summaries
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from streamtopics import DPPSummarizer
from streamtopics.dpp.summary_kernel import (
    centrality,
    count_documents,
    inverse_document_frequency,
    weighted_units,
)
from streamtopics.metrics import rouge, summary_redundancy
from streamtopics.text import SentenceVectorizer

N_SENTENCES, N_RANDOM, N_STARTS = 2, 100, 3
NEAR_REPEAT = 0.5
ONLY_QUALITY = 1e6

Chooser = Callable[[int], list[int]]


class Topics(NamedTuple):
    """The corpus."""

    names: list[str]
    documents: list[list[str]]
    references: list[list[str]]


class Measured(NamedTuple):
    """What is measured of a method, an entry for each topic."""

    f1: np.ndarray
    recall: np.ndarray
    f2: np.ndarray
    recall2: np.ndarray
    fl: np.ndarray
    recall_l: np.ndarray
    redundancy: np.ndarray
    near_repeat: np.ndarray
    words: np.ndarray


def load() -> Topics:
    """Opinosis, from the folder of the corpora."""
    rows = corpora.rows("opinosis")
    return Topics(*([row[key] for row in rows] for key in ("topic", "sentences", "summaries")))


def measure(summaries: list[list[str]], references: list[list[str]]) -> Measured:
    """Of one summary for each topic."""
    found = []
    for order in (1, 2, "l"):
        scores = rouge(summaries, references, order=order)
        found += [scores.f1, scores.recall]
    redundancy = summary_redundancy(summaries)
    words = [np.mean([len(sentence.split()) for sentence in summary]) for summary in summaries]
    return Measured(*found, redundancy, redundancy >= NEAR_REPEAT, np.array(words))


def average(measured: list[Measured]) -> Measured:
    """The mean over runs, topic by topic."""
    return Measured(*(np.mean(values, axis=0) for values in zip(*measured, strict=True)))


# The rivals


def unit_rows(documents: list[list[str]], *, weighted: bool) -> list[Any]:
    """The features that ours has, of each document."""
    X = SentenceVectorizer(CountVectorizer(binary=True)).fit_transform(documents)
    weights = inverse_document_frequency(count_documents(X, X[0].shape[1]), len(X))
    return [weighted_units(rows.astype(float), weights if weighted else None) for rows in X]


def largest(values: np.ndarray) -> list[int]:
    """Places of the largest values, in the order of the document."""
    return sorted(np.argsort(-values, kind="stable")[:N_SENTENCES].tolist())


def page_rank(similarity: np.ndarray, damping: float = 0.85) -> np.ndarray:
    """The stationary weights of the nodes of a graph."""
    np.fill_diagonal(similarity, 0.0)
    total = similarity.sum(axis=1, keepdims=True)
    steps = similarity / np.where(total > 0, total, 1.0)
    rank = np.full(len(steps), 1 / len(steps))
    for _ in range(100):
        rank = (1 - damping) / len(steps) + damping * steps.T @ rank
    return rank


def text_rank(units: list[Any]) -> Chooser:
    """By the cosine of the features."""
    return lambda d: largest(page_rank((units[d] @ units[d].T).toarray()))


def overlap_rank(documents: list[list[str]]) -> Chooser:
    """By the number of common words over the sum of the logarithms of the lengths."""
    X = SentenceVectorizer(CountVectorizer(binary=True, dtype=float)).fit_transform(documents)

    def choose(d: int) -> list[int]:
        common = (X[d] @ X[d].T).toarray()
        logs = np.log(np.maximum(common.diagonal(), 1.0))
        scale = logs[:, None] + logs
        return largest(page_rank(np.where(scale > 0, common / np.where(scale > 0, scale, 1), 0)))

    return choose


def mmr(units: list[Any], trade: float = 0.7) -> Chooser:
    """Maximal marginal relevance (Carbonell and Goldstein 1998), relevance the centrality."""

    def choose(d: int) -> list[int]:
        relevance, similarity = centrality(units[d]), (units[d] @ units[d].T).toarray()
        chosen: list[int] = []
        for _ in range(N_SENTENCES):
            worst = similarity[:, chosen].max(axis=1) if chosen else np.zeros(len(relevance))
            value = trade * relevance - (1 - trade) * worst
            value[chosen] = -np.inf
            chosen.append(int(value.argmax()))
        return sorted(chosen)

    return choose


def rivals(topics: Topics) -> dict[str, list[list[list[str]]]]:
    """Summaries of each rival, of some runs."""
    rng = np.random.default_rng(0)
    documents = topics.documents
    plain, weighted = (unit_rows(documents, weighted=w) for w in (False, True))
    n_of = list(map(len, documents))
    choosers: dict[str, list[Chooser]] = {
        "lead": [lambda d: list(range(N_SENTENCES))],
        "random": [
            lambda d: sorted(rng.choice(n_of[d], N_SENTENCES, replace=False).tolist())
        ] * N_RANDOM,
        "shortest": [lambda d: largest(-np.array([len(s.split()) for s in documents[d]]))],
        "TextRank, overlap": [overlap_rank(documents)],
        "TextRank, unweighted": [text_rank(plain)],
        "TextRank, idf": [text_rank(weighted)],
        "centroid, unweighted": [lambda d: largest(centrality(plain[d]))],
        "centroid, idf": [lambda d: largest(centrality(weighted[d]))],
        "MMR, idf": [mmr(weighted)],
    }  # fmt: skip
    places = range(len(documents))
    return {
        name: [[[documents[d][i] for i in choose(d)] for d in places] for choose in runs]
        for name, runs in choosers.items()
    }


# Ours


def ours(topics: Topics) -> dict[str, list[list[list[str]]]]:
    """Summaries of DPPSummarizer, of some runs."""
    documents = topics.documents
    model = DPPSummarizer(N_SENTENCES)
    others = [
        DPPSummarizer(N_SENTENCES).fit(documents[:d] + documents[d + 1 :])
        for d in range(len(documents))
    ]
    found = {
        "default, unfitted": [model.transform(documents)],
        "default, fitted": [model.fit(documents).transform(documents)],
        "default, fitted on the other topics": [
            [one.transform([text])[0] for one, text in zip(others, documents, strict=True)]
        ],
        "same quality, unfitted": [
            DPPSummarizer(N_SENTENCES, quality_power=ONLY_QUALITY).transform(documents)
        ],
        "same quality, fitted": [
            DPPSummarizer(N_SENTENCES, quality_power=ONLY_QUALITY).fit_transform(documents)
        ],
    }
    for power in (1.0, 0.5, 0.25, 0.0):
        found[f"thesis, power {power:g}"] = []
    for seed in range(N_STARTS):
        thesis = DPPSummarizer(
            N_SENTENCES,
            quality="thesis",
            vectorizer=CountVectorizer(stop_words="english", max_features=500),
            random_state=seed,
        ).fit(documents)
        for power in (1.0, 0.5, 0.25, 0.0):
            summaries = thesis.set_params(quality_power=power).transform(documents)
            found[f"thesis, power {power:g}"].append(summaries)
    return found


# Tables


def as_table(found: dict[str, Measured]) -> str:
    """A row for each method."""
    lines = [
        "| method | ROUGE-1 F | recall | ROUGE-2 F | recall | ROUGE-L F | recall | redundancy "
        "| near-repeats | words |",
        "|---" * 10 + "|",
    ]
    for name, values in found.items():
        cells = [name]
        for field in values._fields[:7]:
            column = getattr(values, field)
            cells.append(f"{column.mean():.3f} ± {error(column):.3f}")
        cells += [f"{values.near_repeat.mean():.2f}", f"{values.words.mean():.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def error(values: np.ndarray) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5)


def differences(found: dict[str, Measured], pairs: list[tuple[str, str]]) -> str:
    """Mean differences over topics with their errors, of pairs of methods."""
    lines = ["| difference | ROUGE-1 F | ROUGE-2 F | ROUGE-L F | redundancy |", "|---" * 5 + "|"]
    for one, other in pairs:
        cells = [f"{one} - {other}"]
        for field in ("f1", "f2", "fl", "redundancy"):
            change = getattr(found[one], field) - getattr(found[other], field)
            cells.append(f"{change.mean():+.3f} ± {error(change):.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print both tables."""
    topics = load()
    found = {
        name: average([measure(summaries, topics.references) for summaries in runs])
        for name, runs in (rivals(topics) | ours(topics)).items()
    }
    best = "default, fitted"
    others = [name for name in found if name != best]
    unfitted = [("default, unfitted", name) for name in ("random", "TextRank, unweighted")]
    pairs = [(best, name) for name in others] + unfitted
    print(as_table(found), differences(found, pairs), sep="\n")


if __name__ == "__main__":
    main()
