# SPDX-License-Identifier: BSD-3-Clause
"""Texts through time: how well each minibatch is predicted before it is learnt.

The abstracts of NIPS by year, with 100 words picked by TF-IDF and 10 topics, as in
section 6.2 of Masegosa et al. (2020), whose corpus is another; tweets on health by month
and the subjects of commits by quarter, with the whole vocabulary. Nats per held-out token
of the minibatch to come, by document completion, weighted by the tokens (test-then-train),
from the second minibatch on; mean and range over the seeds. Beside the rules of the paper
stand some fixed rates, a restart with every minibatch, and boosts on top of forgetting.

    STREAMTOPICS_DATA=... python -m benchmarks.papers.hpp_text [STREAM ...] --output FOLDER
"""

import argparse
import datetime
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks import corpora
from streamtopics import SVBHPP, StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.metrics import completion_split, log_predictive_probability


def month(time: str) -> str:
    """2013-05 of 2013-05-21T08:00:00."""
    return time[:7]


def quarter(time: int) -> str:
    """2013-Q2 of a moment in seconds since 1970."""
    date = datetime.datetime.fromtimestamp(time, datetime.UTC)
    return f"{date.year}-Q{(date.month + 2) // 3}"


LEAST_DOCUMENTS = 50


class Stream(NamedTuple):
    """Minibatches in the order of time, and how to cut them."""

    corpus: str
    period: object
    components: int
    tfidf_words: int | None


STREAMS = {
    "nips": Stream("nips_abstracts", str, 10, 100),
    "tweets": Stream("health_tweets", month, 20, None),
    "commits": Stream("commit_subjects", quarter, 20, None),
}


def minibatches(stream: Stream) -> tuple[list[str], list[sparse.csr_matrix]]:
    """Names of the periods, and the counts of each; small ones are joined to the next."""
    rows = corpora.rows(stream.corpus)
    periods = np.array([stream.period(row["time"]) for row in rows])
    vectorizer = CountVectorizer(stop_words="english", min_df=5, dtype=np.float32)
    X = vectorizer.fit_transform(row["text"] for row in rows)
    if stream.tfidf_words is not None:
        weight = np.asarray(TfidfTransformer().fit_transform(X).sum(axis=0)).ravel()
        X = X[:, np.sort(np.argsort(-weight)[: stream.tfidf_words])]
    names, batches, waiting = [], [], []
    for name in sorted(set(periods)):
        waiting.append(X[periods == name])
        if sum(part.shape[0] for part in waiting) >= LEAST_DOCUMENTS:
            names.append(name)
            batches.append(sparse.vstack(waiting, format="csr"))
            waiting = []
    return names, batches


def methods(K: int, n_documents: float, seed: int) -> Iterator[tuple[str, StreamingTopicModel]]:
    """What is compared, by name; n_documents is that of a minibatch."""
    common = {"n_components": K, "random_state": seed, "n_jobs": 2}
    passes = common | {"schedule__n_rounds": 5}
    keep = partial(StreamingLDA.preset, "PowerPriorLDA", **passes)
    population = partial(StreamingLDA.preset, "PopulationVBLDA", **common)
    hpp, two = partial(SVBHPP.preset, "SVBHPP", **common), (0.05, 0.95)
    yield "SVB", keep(update__rho=1.0)
    for rho in (0.99, 0.9, 0.5):
        yield f"PP {rho}", keep(update__rho=rho)
    yield "restart", keep(update__rho=0.0)
    for rate, size in ((0.1, 10 * n_documents), (0.5, 2 * n_documents)):
        yield f"PVB {rate}", population(update__population_size=size, update__rate=rate)
    yield "HPP, start 0.5", hpp()
    yield "HPP", hpp(rate_starts=two)
    yield "MHPP, start 0.5", hpp(rate="topic")
    yield "MHPP, start 0.95", hpp(rate="topic", rate_starts=(0.95,))
    yield "MHPP", hpp(rate="topic", rate_starts=two)
    yield "point estimate", hpp(rate_estimate="point")
    yield "point, by topic", hpp(rate="topic", rate_estimate="point")
    yield "PP 0.9, boost 0.1", keep(update__rho=0.9, update__boost__scale=0.1)
    yield "HPP, boost 0.1", hpp(rate_starts=two, boosting_scale=0.1)


def prequential(
    model: StreamingTopicModel, batches: list[sparse.csr_matrix]
) -> tuple[float, np.ndarray]:
    """Nats per token of the minibatches to come, and the mean retention of each."""
    total = tokens = 0.0
    for t, X in enumerate(batches):
        if t > 0:
            n = float(completion_split(X)[1].sum())
            if n > 0:
                total += n * log_predictive_probability(model, X)
                tokens += n
        model.partial_fit(X)
    return total / tokens, model.retention_history_.mean(axis=1)


def draw(names: list[str], retentions: dict[str, np.ndarray], title: str, path: Path) -> None:
    """Mean retention of the topics through the stream."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    ax = figure.subplots()
    for method, values in retentions.items():
        ax.plot(values, label=method)
    step = max(1, len(names) // 12)
    ax.set_xticks(range(0, len(names), step), names[::step], rotation=45)
    ax.set_ylabel("mean retention")
    ax.set_title(title)
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.streams:
        stream = STREAMS[name]
        names, batches = minibatches(stream)
        n_documents = np.mean([X.shape[0] for X in batches])
        n_tokens = sum(X.sum() for X in batches)
        print(
            f"{name}: {len(batches)} minibatches of {n_documents:.0f} documents, {n_tokens:,.0f} "
            f"tokens, {batches[0].shape[1]:,} words, K = {stream.components}",
            flush=True,
        )
        scores: dict[str, list[float]] = {}
        retentions: dict[str, np.ndarray] = {}
        for seed in range(options.seeds):
            for method, model in methods(stream.components, n_documents, seed):
                score, retention = prequential(model, batches)
                scores.setdefault(method, []).append(score)
                if isinstance(model, SVBHPP):
                    retentions.setdefault(method, retention)
        lines = ["| rule | nats per token | range |", "|---|---|---|"]
        for method, values in scores.items():
            lines.append(
                f"| {method} | {np.mean(values):.3f} | {min(values):.3f} to {max(values):.3f} |"
            )
        text = "\n".join(lines) + "\n"
        print(text, flush=True)
        (options.output / f"hpp_{name}.md").write_text(text, encoding="utf-8")
        draw(names, retentions, name, options.output / f"hpp_{name}.png")


if __name__ == "__main__":
    main()
