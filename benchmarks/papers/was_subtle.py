# SPDX-License-Identifier: BSD-3-Clause
"""Finding the sentences of subtle topics, by WAS and its rivals: what Figure 3 of its paper shows.

Documents of make_subtle_corpus: 12 sentences of 8 words over six major topics and two subtle
ones, which have a small share of the words each and fill the sentences they are in. A subtle
topic is matched with the learnt one that has most of its words in common (the sum over words
of the lesser probability); of a sentence a topic has what it has of its words, by Bayes' rule,
given the proportions of the sentence. A sentence counts as found if the matched topic has half
of it: recall. Average precision takes the sentences in the order of that share. A row has means
over the subtle topics that have a sentence.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score

from benchmarks.corpora import SentenceCounts
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.was_tables import MODELS, SETTINGS, estimator
from streamtopics import WASTopicModel
from tests.reference.subtle_corpus import make_subtle_corpus

SHARES, N_SPLITS = (0.0025, 0.005, 0.009), 11
# Documents, and those that are drawn beside them.
N_DOCUMENTS, N_MORE, QUICK_DOCUMENTS, QUICK_MORE = 200, 50, 20, 5
N_COMPONENTS = 10
VALUES = "recall", "average_precision"


class Data(NamedTuple):
    """A corpus drawn, and the truth about its sentences and subtle topics."""

    train: SentenceCounts
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
    sizes = (QUICK_DOCUMENTS, QUICK_MORE) if quick else (N_DOCUMENTS, N_MORE)
    data = draw_data(*sizes, cell["share"], cell["split"])
    b, _ = SETTINGS[cell["setting"]]
    for name, prior in MODELS.items():
        model = estimator(cell, prior(b), quick, n_components=N_COMPONENTS)
        found = evaluate(model, data, of_sentences=name == "LDA, sentences")
        yield {"method": name} | found


def draw_data(n_train: int, n_more: int, share: float, seed: int) -> Data:
    """Documents to learn from: the first of those that are drawn."""
    corpus = make_subtle_corpus(n_train + n_more, subtle_share=share, random_state=seed)
    n_sentences, n_words = corpus.X[0].shape
    groups = np.repeat(np.arange(n_train), n_sentences)
    X = sparse.vstack(corpus.X[:n_train], format="csr")
    train = SentenceCounts(X, groups, np.arange(n_words))
    return Data(train, corpus.sentence_topic[:n_train].ravel(), corpus.topic_word, corpus.subtle)


def topic_shares(X: sparse.csr_matrix, theta: np.ndarray, topic_word: np.ndarray) -> np.ndarray:
    """The mean over each sentence's words of p(topic | word, proportions of the sentence)."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    each = theta[row] * topic_word.T[X.indices]
    each *= (X.data / each.sum(axis=1))[:, None]
    by_sentence = sparse.csr_matrix((np.ones(len(row)), np.arange(len(row)), X.indptr))
    return np.asarray(by_sentence @ each / X.sum(axis=1).A)


def evaluate(model: WASTopicModel, data: Data, *, of_sentences: bool) -> dict[str, float]:
    """Fit, look for each subtle topic that has a sentence, and average over these."""
    X = data.train.X
    groups = np.arange(len(data.train.groups)) if of_sentences else data.train.groups
    model.fit(X, groups=groups)
    shares = topic_shares(X, model.transform_sentences(X, groups=groups), model.topic_word_)
    found = []
    for k in data.subtle:
        truth = data.sentence_topic == k
        match = np.minimum(model.topic_word_, data.topic_word[k]).sum(axis=1).argmax()
        if truth.any():
            share = shares[:, match]
            recall = np.count_nonzero((share >= 0.5) & truth) / np.count_nonzero(truth)
            found.append((recall, average_precision_score(truth, share)))
    means = np.mean(found, axis=0) if found else np.full(len(VALUES), np.nan)
    return dict(zip(VALUES, means.tolist(), strict=True))


EXPERIMENT = Experiment("was_subtle", ("setting", "share", "split", "method"), VALUES, cells, run)
