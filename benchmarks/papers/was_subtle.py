# SPDX-License-Identifier: BSD-3-Clause
"""Finding the sentences of subtle topics, by WAS and its rivals: what Figure 3 of its paper shows.

Documents of make_subtle_corpus: 12 sentences of 8 words over six major topics and two subtle
ones, which have a small share of the words each and fill the sentences they are in. A subtle
topic is matched with the learnt one that has most of its words in common (the sum over words
of the lesser probability); of a sentence a topic has what it has of its words, by Bayes' rule,
given the proportions of the sentence. A sentence counts as found if the matched topic has half
of it. Average precision takes the sentences in the order of that share; beside it stands that
of the order by the proportions themselves, which are all the same within a document for LDA over
documents. A subtle topic counts as missed if the first is below a quarter, and as merged if both
have the same match. A row has means over the subtle topics that have a sentence; perplexity is
that of half of the words in the sentences of further documents, as in was_tables.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score

from benchmarks.corpora import SentenceCounts
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.was_tables import MODELS, SETTINGS, Split, estimator, halves, measure
from streamtopics import WASTopicModel
from tests.reference.subtle_corpus import make_subtle_corpus

SHARES, N_SPLITS = (0.0025, 0.005, 0.009), 11
N_DOCUMENTS, N_TEST, QUICK_DOCUMENTS, QUICK_TEST = 200, 50, 20, 5
N_COMPONENTS, MISSED = 10, 0.25
VALUES = (
    "precision", "recall", "average_precision", "by_proportions", "missed", "merged", "perplexity",
)  # fmt: skip


class Data(NamedTuple):
    """A corpus drawn, and the truth about its training sentences and subtle topics."""

    parts: Split
    sentence_topic: np.ndarray
    topic_word: np.ndarray
    subtle: np.ndarray


def cells(quick: bool) -> Iterator[Cell]:
    """All shares of the subtle topics and both settings, split by split."""
    for split in range(1 if quick else N_SPLITS):
        for setting in SETTINGS:
            for share in (0.009,) if quick else SHARES:
                yield {"setting": setting, "share": share, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All models on one corpus."""
    sizes = (QUICK_DOCUMENTS, QUICK_TEST) if quick else (N_DOCUMENTS, N_TEST)
    data = draw_data(*sizes, cell["share"], cell["split"])
    b, _ = SETTINGS[cell["setting"]]
    for name, prior in MODELS.items():
        model = estimator(cell, prior(b), quick, n_components=N_COMPONENTS)
        found = evaluate(model, data, of_sentences=name == "LDA, sentences")
        yield {"method": name} | found


def draw_data(n_train: int, n_test: int, share: float, seed: int) -> Data:
    """Documents to learn from and others, with the latter's words halved."""
    corpus = make_subtle_corpus(n_train + n_test, subtle_share=share, random_state=seed)
    n_sentences, n_words = corpus.X[0].shape
    groups = np.repeat(np.arange(n_train + n_test), n_sentences)
    both = SentenceCounts(sparse.vstack(corpus.X, format="csr"), groups, np.arange(n_words))
    train = both.documents(np.arange(n_train))
    test = both.documents(np.arange(n_train, n_train + n_test))
    parts = Split(train, test, *halves(test.X, np.random.default_rng(seed)))
    sentence_topic = corpus.sentence_topic[:n_train].ravel()
    return Data(parts, sentence_topic, corpus.topic_word, corpus.subtle)


def topic_shares(X: sparse.csr_matrix, theta: np.ndarray, topic_word: np.ndarray) -> np.ndarray:
    """The mean over each sentence's words of p(topic | word, proportions of the sentence)."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    each = theta[row] * topic_word.T[X.indices]
    each *= (X.data / each.sum(axis=1))[:, None]
    by_sentence = sparse.csr_matrix((np.ones(len(row)), np.arange(len(row)), X.indptr))
    return np.asarray(by_sentence @ each / X.sum(axis=1).A)


def evaluate(model: WASTopicModel, data: Data, *, of_sentences: bool) -> dict[str, float]:
    """Fit, look for each subtle topic that has a sentence, and average over these."""
    train = data.parts.train
    result = measure(model, data.parts, of_sentences=of_sentences)
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
        precision = average_precision_score(truth, share)
        found.append(
            (
                both / max(1, np.count_nonzero(hits)),
                both / np.count_nonzero(truth),
                precision,
                average_precision_score(truth, theta[:, match]),
                float(precision < MISSED),
                float(matches.count(match) > 1),
            )
        )
    means = np.mean(found, axis=0) if found else np.full(len(VALUES) - 1, np.nan)
    return dict(zip(VALUES, [*means.tolist(), result.perplexity], strict=True))


EXPERIMENT = Experiment("was_subtle", ("setting", "share", "split", "method"), VALUES, cells, run)
