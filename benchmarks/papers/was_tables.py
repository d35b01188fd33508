# SPDX-License-Identifier: BSD-3-Clause
"""Tables I and II and Figure 4 of the WAS paper in kind: perplexity and coherence.

Source code cut into statements, presidential speeches and abstracts of NIPS; a third of the
documents is held out, anew for each split. Perplexity is that of half of the words of each
held-out sentence, drawn at random, given the other halves of all sentences of the document;
the vocabulary is that of the whole corpus. Coherence is UMass over the training documents, of
the top five words, in nats per pair of words: the paper's figures look like sums over ten pairs.
Beside it stands the share of distinct words among these, since all topics can repeat the same
ones. The dishes of SBP and of ICD are cut to eight, which the paper leaves open, as it does the
two parameters of ICD, which are 1. LDA over documents has one mixture for all sentences of a
document; LDA over sentences has one for each sentence and none for documents.

For Figure 4 the sticks of SBP are cut to 1 to 10 atoms; the others have no such number, and stand
with the same value beside each.
"""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics import WASTopicModel
from streamtopics.metrics import topic_coherence, topic_diversity
from streamtopics.metrics.predictive import token_log_probability
from streamtopics.text import SentenceVectorizer
from streamtopics.was import ICD, SBP, WAS, HDPFranchise
from streamtopics.was.prior import SentencePrior

# How many documents, None for all.
CORPORA: dict[str, int | None] = {
    "jhotdraw_statements": None,
    "berkeleydb_je_statements": 300,
    "presidential_speeches": 50,
    "nips_abstracts": 500,
}
# Twelve comparisons need so many to be beyond chance.
N_SPLITS = 11
# The b of the sticks and the other parameters. The paper has the table concentration of the HDP at
# 0.5 beside sticks of b = 1.
SETTINGS: dict[str, tuple[float, dict[str, float]]] = {
    "paper": (1.0, {"atom_prior": 1.0, "topic_word_prior": 1.0}),
    "defaults": (0.5, {}),
}
TRUNCATION = 8
MODELS: dict[str, Callable[[float], SentencePrior]] = {
    "WAS": lambda b: WAS(b=b),
    "HDP": lambda b: HDPFranchise(table_concentration=0.5),
    "SBP": lambda b: SBP(b=b, truncation=TRUNCATION),
    "ICD": lambda b: ICD(truncation=TRUNCATION),
    "LDA, documents": lambda b: SBP(b=b, truncation=1),
    "LDA, sentences": lambda b: SBP(b=b, truncation=1),
}
# At the paper's setting only: its sampler as it may have been, and fewer tables per sentence.
VARIANTS: dict[str, Callable[[float], SentencePrior]] = {
    "WAS, not exact": lambda b: WAS(b=b, exact=False),
    "WAS, b = 0.5": lambda b: WAS(b=0.5),
}
TABLES, FIGURE = "tables", "figure 4"
TOP_WORDS, PAPER_TRUNCATIONS = 5, range(1, 11)
N_COMPONENTS, N_SWEEPS = 20, 100
QUICK_COMPONENTS, QUICK_SWEEPS, QUICK_DOCUMENTS = 4, 6, 9


class Result(NamedTuple):
    """What is measured of a fit; atoms and tables are means over the training documents."""

    perplexity: float
    coherence: float
    diversity: float
    atoms: float
    tables: float
    seconds: float


class Split(NamedTuple):
    """Documents to learn from and others, with the latter's words halved."""

    train: corpora.SentenceCounts
    test: corpora.SentenceCounts
    observed: sparse.csr_matrix
    hidden: sparse.csr_matrix


def cells(quick: bool) -> Iterator[Cell]:
    """All models on all splits, table by table, and then the truncations of SBP."""
    for split_ in range(1 if quick else N_SPLITS):
        for corpus in ["jhotdraw_statements"] if quick else CORPORA:
            for setting in SETTINGS:
                for method in MODELS | (VARIANTS if setting == "paper" else {}):
                    yield _cell(TABLES, corpus, setting, split_, method)
        for setting in SETTINGS:
            for method in ("WAS", "HDP", "SBP"):
                yield _cell(FIGURE, "jhotdraw_statements", setting, split_, method)


def _cell(part: str, corpus: str, setting: str, split_: int, method: str) -> Cell:
    return {"part": part, "corpus": corpus, "setting": setting, "split": split_, "method": method}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Fit a model, or SBP at each truncation, and measure it on the split."""
    parts = split(counts(cell["corpus"], quick), cell["split"])
    b, _ = SETTINGS[cell["setting"]]
    method, truncations = cell["method"], PAPER_TRUNCATIONS
    of_sentences = method == "LDA, sentences"
    if cell["part"] == FIGURE and method == "SBP":
        for n_atoms in truncations:
            model = estimator(cell, SBP(b=b, truncation=n_atoms), quick)
            yield {"truncation": n_atoms} | measure(model, parts)._asdict()
        return
    model = estimator(cell, (MODELS | VARIANTS)[method](b), quick)
    found = measure(model, parts, of_sentences=of_sentences)._asdict()
    for n_atoms in truncations if cell["part"] == FIGURE else [TRUNCATION]:
        yield {"truncation": n_atoms} | found


@lru_cache(maxsize=2)
def counts(name: str, quick: bool) -> corpora.SentenceCounts:
    """A corpus of the paper's kind; quickly, a few pages of a dictionary."""
    if not quick:
        return corpora.sentences(name, n_documents=CORPORA[name])
    texts = [row["text"] for row in corpora.enclosed("definitions")]
    pages = [texts[i : i + 30] for i in range(0, 30 * QUICK_DOCUMENTS, 30)]
    vectorizer = SentenceVectorizer(CountVectorizer(token_pattern=r"\S+"))
    documents = [X[X.getnnz(axis=1) > 0] for X in vectorizer.fit_transform(pages)]
    groups = np.repeat(np.arange(len(documents)), [X.shape[0] for X in documents])
    X = sparse.vstack(documents, format="csr")
    return corpora.SentenceCounts(X, groups, vectorizer.get_feature_names_out())


def split(corpus: corpora.SentenceCounts, seed: int) -> Split:
    """A third of the documents held out, and half of the words of their sentences."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(corpus.n_documents)
    n_test = corpus.n_documents // 3
    train, test = corpus.documents(order[n_test:]), corpus.documents(order[:n_test])
    return Split(train, test, *halves(test.X, rng))


def halves(
    X: sparse.csr_matrix, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The words of each row, split at random; of an odd number one more is observed."""
    word = np.repeat(X.indices, X.data)
    length = X.sum(axis=1).A1
    row = np.repeat(np.arange(X.shape[0]), length)
    order = np.lexsort((rng.random(len(word)), row))
    place = np.arange(len(word)) - np.repeat(np.cumsum(length) - length, length)
    hidden = np.empty(len(word), bool)
    hidden[order] = place < length[row] // 2
    observed, other = (
        sparse.csr_matrix((np.ones(part.sum(), np.int64), (row[part], word[part])), X.shape)
        for part in (~hidden, hidden)
    )
    return observed, other


def measure(model: WASTopicModel, parts: Split, *, of_sentences: bool = False) -> Result:
    """Fit and evaluate; `of_sentences` makes each sentence a document of its own."""
    train, test = parts.train, parts.test
    groups = [np.arange(len(x.groups)) if of_sentences else x.groups for x in (train, test)]
    started = time.process_time()
    model.fit(train.X, groups=groups[0])
    seconds = time.process_time() - started
    theta = model.transform_sentences(parts.observed, groups=groups[1])
    log_probability = token_log_probability(theta, model.topic_word_, parts.hidden)
    top = np.argsort(-model.components_, axis=1, kind="stable")[:, :TOP_WORDS]
    membership = sparse.csr_matrix(
        (np.ones(len(train.groups)), (train.groups, np.arange(len(train.groups))))
    )
    coherence = topic_coherence(top, membership @ train.X, measure="umass")
    return Result(
        float(np.exp(-log_probability.sum() / parts.hidden.sum())),
        float(coherence.mean()),
        topic_diversity(top),
        float(model.n_atoms_.mean()),
        float(model.n_tables_.mean()),
        seconds,
    )


def estimator(cell: Cell, prior: SentencePrior, quick: bool, **others: Any) -> WASTopicModel:
    """One of the models, at the cell's setting."""
    n_sweeps = QUICK_SWEEPS if quick else N_SWEEPS
    return WASTopicModel(
        prior=prior,
        n_burn_in=n_sweeps // 2,
        random_state=cell["split"],
        **{"n_components": QUICK_COMPONENTS if quick else N_COMPONENTS, "n_sweeps": n_sweeps}
        | SETTINGS[cell["setting"]][1]
        | others,
    )


EXPERIMENT = Experiment(
    "was_tables",
    ("part", "corpus", "setting", "split", "method", "truncation"),
    Result._fields,
    cells,
    run,
)
