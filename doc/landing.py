# SPDX-License-Identifier: BSD-3-Clause
"""Draw the picture of the first page: topics of the addresses on the state of the union, by decade.

    STREAMTOPICS_DATA=... python doc/landing.py

The texts are in the public domain; a document is a paragraph.
"""

import gzip
import json
import os
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot as plt
from sklearn.pipeline import Pipeline, make_pipeline

from streamtopics import StreamingLDA
from streamtopics.inspection import plot_shares, shares_over_time
from streamtopics.text import StreamingCountVectorizer

OUTPUT = Path(__file__).parent / "_static" / "landing.svg"
N_TOPICS, N_DRAWN, MIN_LETTERS = 20, 9, 200


def main() -> None:
    """Learn the topics and draw the largest."""
    texts, years = paragraphs()
    model = learnt(texts)
    draw(model, model[0], texts, [year // 10 * 10 for year in years])


def paragraphs() -> tuple[list[str], list[int]]:
    """Return the longer paragraphs of the addresses, and their years."""
    path = Path(os.environ["STREAMTOPICS_DATA"], "state_of_the_union.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        addresses = [json.loads(line) for line in file]
    parts = [
        (part, int(address["time"]))
        for address in addresses
        for part in address["text"].replace("\r", "").split("\n\n")
        if len(part) >= MIN_LETTERS
    ]
    texts, years = zip(*parts, strict=True)
    return list(texts), list(years)


def learnt(texts: list[str]) -> Pipeline:
    """Return words and topics of the texts."""
    words = StreamingCountVectorizer(
        stop_words="english", min_df=20, max_df=0.2, token_pattern=r"[^\W\d_]{4,}"
    )
    return make_pipeline(words, StreamingLDA(N_TOPICS, random_state=0)).fit(texts)


def draw(model, words, texts, decades) -> None:
    """Write the picture: shares of the topics that change most, with three telling words each."""
    found = shares_over_time(model, texts, decades)
    names = words.get_feature_names_out()
    tops = model[-1].top_words(names, n_words=3, relevance=0.5)
    drawn = sorted(found.shares.std(axis=0).argsort()[::-1][:N_DRAWN])
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "landing", "font.size": 9})
    _, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    labels = [" ".join(tops[topic]) for topic in drawn]
    plot_shares(found.times, found.shares[:, drawn], labels, ax=ax)
    handles, names = ax.get_legend_handles_labels()
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": 3}
    ax.legend(handles, names, frameon=False, fontsize=8, columnspacing=1, handlelength=1, **place)
    ax.figure.savefig(OUTPUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
