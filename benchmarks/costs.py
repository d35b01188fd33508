# SPDX-License-Identifier: BSD-3-Clause
"""What the methods of four chapters of the guide cost on real data, in CPU seconds on one thread.

Each is run three times, and the least is printed: classes and sentiments of text, summaries of
reviews, and a regression on the electricity market by three rules.

    STREAMTOPICS_DATA=... python -m benchmarks.costs [classes sentiments summaries electricity]
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks import corpora
from benchmarks.papers import bps_case_2, bps_case_4, hpp_electricity
from streamtopics import DPPSummarizer, MultiViewLDA, StreamingBayes

N_RUNS = 3
Costs = Iterator[tuple[str, float]]


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def classes() -> Costs:
    """Ten topics of each class of newsgroups and eight shared ones."""
    data = bps_case_4.load("newsgroups")
    model = MultiViewLDA(10, 8, random_state=0)
    yield (
        f"MultiViewLDA.fit, {data.X.shape[0]:,} documents",
        seconds(lambda: model.fit(data.X, data.y)),
    )
    yield f"predict, {data.test.shape[0]:,} documents", seconds(lambda: model.predict(data.test))


def sentiments() -> Costs:
    """Fifty aspects of reviews of electronics, with the defaults of the package."""
    data, (n_test, size, _) = (
        bps_case_2.reviews("reviews_electronics"),
        bps_case_2.SETS["reviews_electronics"],
    )
    model, train = bps_case_2.models(data)["package"], data.X[n_test:]

    def learn() -> None:
        for start in range(0, len(train), size):
            model.partial_fit(train[start : start + size])

    yield f"AspectSentimentModel, {len(train):,} reviews by {size}", seconds(learn)


def summaries() -> Costs:
    """Three sentences of each of 5,000 film reviews."""
    reviews, model = list(islice(corpora.texts("imdb_train"), 5000)), DPPSummarizer(3)
    yield "DPPSummarizer.fit, 5,000 reviews", seconds(lambda: model.fit(reviews))
    yield "transform, 5,000 reviews", seconds(lambda: model.transform(reviews))


def electricity() -> Costs:
    """The months of the electricity market of the HPP paper."""
    months = hpp_electricity.of_split(0, quick=False).values()
    for name in ("SVB", "PP 0.9", "HPP"):
        model = StreamingBayes(hpp_electricity.MODEL, hpp_electricity.RULES[name])

        def learn(model: StreamingBayes = model) -> None:
            for month in months:
                model.partial_fit(month.X, month.y)

        yield f"StreamingBayes, 32 months, {name}", seconds(learn)


METHODS = {one.__name__: one for one in (classes, sentiments, summaries, electricity)}


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", default=METHODS)
    for method in parser.parse_args().methods:
        for runs in zip(*(METHODS[method]() for _ in range(N_RUNS)), strict=True):
            print(f"{runs[0][0]}: {min(cost for _, cost in runs):.2f} s", flush=True)


if __name__ == "__main__":
    main()
