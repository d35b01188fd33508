# SPDX-License-Identifier: BSD-3-Clause
"""Finding the sentences of subtle topics, by WAS and its rivals.

Documents of make_subtle_corpus: 12 sentences of 8 words over six major topics and two subtle
ones, which have a small share of the words each and fill the sentences they are in. A subtle
topic is matched with the learnt one that has most of its words in common (the sum over words
of the lesser probability); of a sentence a topic has what it has of its words, by Bayes' rule,
given the proportions of the sentence. A sentence counts as found if the matched topic has half
of it. Average precision takes the sentences in the order of that share; beside it stands that
of the order by the proportions themselves, which are all the same within a document for LDA over
documents. A subtle topic counts as missed if the first is below a quarter, and as merged if both
have the same match. Means over seeds and topics; perplexity is that of half of the words in the
sentences of further documents, as in was_tables.py.

    python benchmarks/papers/was_subtle.py --output FOLDER
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import was_tables
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.metrics import average_precision_score

sys.path.insert(0, str(Path(__file__).parent.parent))
from corpora import SentenceCounts

from streamtopics import WASTopicModel
from streamtopics.datasets import make_subtle_corpus

N_TEST = 50
MISSED = 0.25


class Found(NamedTuple):
    """What is measured of a subtle topic."""

    precision: float
    recall: float
    average_precision: float
    by_proportions: float
    is_merged: bool
    perplexity: float


class Data(NamedTuple):
    """A corpus drawn, and the truth about its training sentences and subtle topics."""

    parts: was_tables.Split
    sentence_topic: np.ndarray
    topic_word: np.ndarray
    subtle: np.ndarray


def draw_data(n_train: int, share: float, seed: int) -> Data:
    """Documents to learn from and others, with the latter's words halved."""
    corpus = make_subtle_corpus(n_train + N_TEST, subtle_share=share, random_state=seed)
    n_sentences, n_words = corpus.X[0].shape
    groups = np.repeat(np.arange(n_train + N_TEST), n_sentences)
    both = SentenceCounts(sparse.vstack(corpus.X, format="csr"), groups, np.arange(n_words))
    train = both.documents(np.arange(n_train))
    test = both.documents(np.arange(n_train, n_train + N_TEST))
    halves = was_tables.halves(test.X, np.random.default_rng(seed))
    sentence_topic = corpus.sentence_topic[:n_train].ravel()
    parts = was_tables.Split(train, test, *halves)
    return Data(parts, sentence_topic, corpus.topic_word, corpus.subtle)


def topic_shares(X: sparse.csr_matrix, theta: np.ndarray, topic_word: np.ndarray) -> np.ndarray:
    """The mean over each sentence's words of p(topic | word, proportions of the sentence)."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    each = theta[row] * topic_word.T[X.indices]
    each *= (X.data / each.sum(axis=1))[:, None]
    by_sentence = sparse.csr_matrix((np.ones(len(row)), np.arange(len(row)), X.indptr))
    return by_sentence @ each / X.sum(axis=1).A


def evaluate(model: WASTopicModel, data: Data, *, of_sentences: bool) -> list[Found]:
    """Fit, and look for each subtle topic that has a sentence."""
    train = data.parts.train
    result = was_tables.measure(model, data.parts, of_sentences=of_sentences)
    groups = np.arange(len(train.groups)) if of_sentences else train.groups
    theta = model.transform_sentences(train.X, groups=groups)
    shares = topic_shares(train.X, theta, model.topic_word_)
    matches = [
        int(np.minimum(model.topic_word_, data.topic_word[k]).sum(axis=1).argmax())
        for k in data.subtle
    ]
    found = []
    for k, match in zip(data.subtle, matches, strict=True):
        truth = data.sentence_topic == k
        if not truth.any():
            continue
        share = shares[:, match]
        hits = share >= 0.5
        both = np.count_nonzero(hits & truth)
        found.append(
            Found(
                both / max(1, np.count_nonzero(hits)),
                both / np.count_nonzero(truth),
                average_precision_score(truth, share),
                average_precision_score(truth, theta[:, match]),
                matches.count(match) > 1,
                result.perplexity,
            )
        )
    return found


def as_table(found: dict[str, list[Found]]) -> str:
    """A row for each model; the error is that of the mean over topics."""
    lines = [
        "| model | precision | recall | average precision | by proportions | missed | merged "
        "| perplexity |",
        "|---" * 8 + "|",
    ]
    for name, values in found.items():
        columns = Found(*map(np.array, zip(*values, strict=True)))
        cells = [name, f"{columns.precision.mean():.2f}", f"{columns.recall.mean():.2f}"]
        for precisions in (columns.average_precision, columns.by_proportions):
            error = precisions.std(ddof=1) / len(values) ** 0.5
            cells.append(f"{precisions.mean():.2f} ± {error:.2f}")
        missed = np.count_nonzero(columns.average_precision < MISSED)
        cells.append(f"{missed} of {len(values)}")
        cells += [f"{np.count_nonzero(columns.is_merged)}", f"{columns.perplexity.mean():.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(tables: dict[tuple[str, float], dict[str, list[Found]]], path: Path) -> None:
    """Average precision by the share of the words, a panel for each setting."""
    settings = list(dict.fromkeys(setting for setting, _ in tables))
    figure = Figure(figsize=(4 * len(settings), 3.2), layout="constrained")
    axes = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for ax, setting in zip(axes, settings, strict=True):
        chosen = {share: found for (name, share), found in tables.items() if name == setting}
        for model in next(iter(chosen.values())):
            means = [
                np.mean([value.average_precision for value in found[model]])
                for found in chosen.values()
            ]
            ax.plot([100 * share for share in chosen], means, "o-", label=model)
        ax.set_xlabel("share of the words, %")
        ax.set_title(setting)
        ax.set_ylim(0, 1)
    axes[0].set_ylabel("average precision")
    axes[-1].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0025, 0.005, 0.009])
    parser.add_argument("--settings", nargs="+", default=list(was_tables.SETTINGS))
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tables: dict[tuple[str, float], dict[str, list[Found]]] = {}
    for setting in options.settings:
        for share in options.shares:
            found: dict[str, list[Found]] = {name: [] for name in was_tables.MODELS}
            for seed in range(options.seeds):
                data = draw_data(options.documents, share, seed)
                for name, prior in was_tables.MODELS.items():
                    model = was_tables.estimator(setting, prior, seed, options)
                    found[name] += evaluate(model, data, of_sentences=name == "LDA, sentences")
            tables[setting, share] = found
            text = as_table(found)
            print(
                f"{options.documents} documents, {setting}, each subtle topic with "
                f"{100 * share:g} % of the words\n{text}",
                flush=True,
            )
            stem = f"was_subtle_{options.documents}_{setting}_{share}"
            (options.output / f"{stem}.md").write_text(text, encoding="utf-8")
    draw(tables, options.output / f"was_subtle_{options.documents}.png")


if __name__ == "__main__":
    main()
