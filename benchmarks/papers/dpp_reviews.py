# SPDX-License-Identifier: BSD-3-Clause
"""Tables 9, 10 and 11 of Dupuy (2017): summaries and embeddings of reviews, and what is in them.

The thesis shows examples from 100,000 restaurant reviews, which are not at hand; here they are of
electronics and of films. As there, sentences are sets of the 500 most frequent words without stop
words, r = 10, each review has its own theta, gamma = 1 / V and little noise; beside it gamma and
the noise learnt. Half of the reviews are learnt from, and what examples show is counted on the
others:

    columns     Table 10: the ten largest and the ten smallest entries of each column; NPMI of
                their words within reviews, beside topics of LDA and words at random.
    neighbours  Table 11: the ten words of the highest cosine to each of the hundred most frequent
                ones; NPMI of both within reviews, beside the same by the topics of LDA, and words
                at random.
    summaries   Table 9: of reviews of at least eight sentences, five; the share of sentences with
                a word of opinion, and the words of a sentence, beside the other sentences of the
                same reviews, five at random, the five shortest, and the package's own summaries.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.review_topics import opinion_words
from streamtopics import DPPSummarizer, LowRankDPP, StreamingLDA
from streamtopics.metrics import topic_coherence
from streamtopics.text import SentenceVectorizer, split_sentences

V, RANK, NOISE, N_SPLITS = 500, 10, 1e-3, 11
ASKED, NEAREST, N_RANDOM, N_DRAWS = 100, 10, 50, 5
N_SENTENCES, LEAST_SENTENCES = 5, 8
CORPORA = {"reviews_electronics": (1000, 1000), "imdb_train": (2000, 4000)}
QUICK = {"speeches": (30, 42)}
PARTS, WORD = ("embeddings", "summaries"), re.compile(corpora.PROSE_WORD)
THESIS, LEARNT, TOPICS, RANDOM = "U", "U, noise learnt", "LDA", "random words"
MATCHED = "random words, as frequent as those of {}"


class Halves(NamedTuple):
    """Texts to learn from, and others."""

    train: list[str]
    test: list[str]


def cells(quick: bool) -> Iterator[Cell]:
    """Splits of each corpus."""
    for corpus in QUICK if quick else CORPORA:
        for part in PARTS:
            for split in range(1 if quick else N_SPLITS):
                yield {"corpus": corpus, "part": part, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Both tables of embeddings, or the one of summaries."""
    n_train, n_test = (QUICK if quick else CORPORA)[cell["corpus"]]
    texts = speeches() if quick else corpora.texts(cell["corpus"])
    split = cell["split"]
    order = np.random.default_rng(split).permutation(len(texts))
    chosen = [texts[i] for i in order[: n_train + n_test]]
    halves = Halves(chosen[:n_train], chosen[n_train:])
    if cell["part"] == "summaries":
        return summaries(halves, opinions(quick), split, 20 if quick else 300)
    return embeddings(halves, split)


def speeches() -> list[str]:
    """Ten paragraphs each of the speeches that come with the documentation."""
    texts = [row["text"] for row in corpora.enclosed("speeches")]
    return ["\n\n".join(texts[i : i + 10]) for i in range(0, len(texts), 10)]


def row(table: str, method: str, **values: Any) -> Row:
    """A row, empty where a table has no such value."""
    names = "npmi", "opinion", "density", "length", "text"
    return {"table": table, "method": method} | dict.fromkeys(names, "") | values


# Tables 10 and 11


def embeddings(halves: Halves, split: int) -> Iterator[Row]:
    """NPMI of the words that a model puts together, on the other texts."""
    counter = CountVectorizer(
        stop_words="english", token_pattern=corpora.PROSE_WORD, max_features=V, binary=True
    )
    vectorizer = SentenceVectorizer(counter)
    sentences = [X[X.getnnz(axis=1) > 0] for X in vectorizer.fit_transform(halves.train)]
    train = [X for X in sentences if X.shape[0]]
    names = vectorizer.get_feature_names_out()
    documents, test = whole(train), whole(vectorizer.transform(halves.test))
    asked = np.argsort(-documents.sum(axis=0), axis=None, kind="stable")[:ASKED]
    rng, other_rng = np.random.default_rng(split), np.random.default_rng([split, 1])
    rarest_first = np.argsort((documents > 0).sum(axis=0), kind="stable")
    for method, words_by_part, rows in vectors(train, documents, split):
        told = [names[part].tolist() for part in words_by_part]
        npmi = topic_coherence(words_by_part, test).mean()
        yield row("columns", method, npmi=float(npmi), text=shown(told))
        near = nearest(rows, asked)
        told = [[names[a], *names[some[:4]]] for a, some in zip(asked[:20], near[:20], strict=True)]
        yield row("neighbours", method, npmi=pair_npmi(asked, near, test), text=shown(told))
        drawn = as_frequent(np.repeat(words_by_part, N_DRAWS, axis=0), rarest_first, other_rng)
        npmi = topic_coherence(drawn, test).mean()
        yield row("columns", MATCHED.format(method), npmi=float(npmi))
    drawn = np.array([rng.choice(len(names), NEAREST, replace=False) for _ in range(N_RANDOM)])
    yield row("columns", RANDOM, npmi=float(topic_coherence(drawn, test).mean()))
    others = [np.delete(np.arange(len(names)), a) for a in asked]
    near = np.array([rng.choice(other, NEAREST, replace=False) for other in others])
    yield row("neighbours", RANDOM, npmi=pair_npmi(asked, near, test))


def whole(documents: Iterable[sparse.csr_matrix]) -> sparse.csr_array:
    """Counts of documents from those of their sentences: in how many a word is."""
    return sparse.csr_array(np.vstack([np.asarray(X.sum(axis=0)) for X in documents]))


def vectors(
    train: list[Any], documents: sparse.csr_array, split: int
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Each method with the words of its columns, and a vector for each word."""
    thesis: dict[str, Any] = {"gamma": 1 / V, "noise_level": NOISE}
    rounds = {"max_iter": 10, "tol": 0.01}
    for method, how in ((THESIS, thesis | rounds), (LEARNT, rounds)):
        model = LowRankDPP(n_components=RANK, theta="document", random_state=split, **how)
        model.fit(train)
        kept = model.components_[np.abs(model.components_).sum(axis=1) > 0]
        yield method, ends(kept), model.process().kernel.scaled
    lda = StreamingLDA(RANK, inference="gibbs", random_state=split).fit(documents)
    yield TOPICS, largest(lda.topic_word_), (lda.topic_word_ * lda.topic_weights_[:, None]).T


def largest(rows: np.ndarray) -> np.ndarray:
    """Places of the ten largest entries of each row."""
    return np.argsort(-rows, axis=1, kind="stable")[:, :NEAREST]


def ends(columns: np.ndarray) -> np.ndarray:
    """Places of the ten largest and of the ten smallest entries of each column, by turns."""
    return np.stack([largest(columns), largest(-columns)], axis=1).reshape(-1, NEAREST)


def nearest(rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The words of the highest cosine to each of some, but for itself."""
    cosines = cosine_similarity(rows[asked], rows)
    cosines[np.arange(len(asked)), asked] = -np.inf
    return largest(cosines)


def as_frequent(lists: np.ndarray, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each word of each list another, one of the ten nearest in an order of all words.

    None is of the list, and none is drawn twice for the list.
    """
    place, drawn = np.argsort(order), np.empty_like(lists)
    for own, other in zip(lists, drawn, strict=True):
        for i, word in enumerate(own):
            free = np.setdiff1d(order, [*own, *other[:i]])
            near = np.argsort(np.abs(place[free] - place[word]), kind="stable")[:NEAREST]
            other[i] = free[rng.choice(near)]
    return drawn


def pair_npmi(asked: np.ndarray, near: np.ndarray, X: sparse.csr_array) -> float:
    """Mean NPMI of words with those near them."""
    pairs = np.stack([np.repeat(asked, near.shape[1]), near.ravel()], axis=1)
    return float(topic_coherence(pairs, X).mean())


def shown(lists: list[list[str]]) -> str:
    """Lists of words on a line."""
    return "; ".join(" ".join(map(str, words)) for words in lists)


# Table 9


def opinions(quick: bool) -> frozenset[str]:
    """Words of opinion: those of Hu and Liu (2004), or of the package."""
    return frozenset[str]().union(*opinion_words(quick).values())


def summaries(halves: Halves, lexicon: frozenset[str], split: int, n_most: int) -> Iterator[Row]:
    """What is in the sentences of summaries, and in others of the same texts."""
    texts = [split_sentences(text) for text in halves.test]
    texts = [text for text in texts if len(text) >= LEAST_SENTENCES][:n_most]
    thesis = DPPSummarizer(
        N_SENTENCES,
        quality="thesis",
        vectorizer=CountVectorizer(stop_words="english", max_features=V),
        random_state=split,
    ).fit(halves.train)
    own = DPPSummarizer(N_SENTENCES).fit(halves.train)
    chosen = [found.indices for found in thesis.select(texts)]
    rng = np.random.default_rng(split)
    places = {
        "DPP": chosen,
        "the other sentences": [
            np.setdiff1d(np.arange(len(text)), some)
            for text, some in zip(texts, chosen, strict=True)
        ],
        "random": [rng.choice(len(text), N_SENTENCES, replace=False) for text in texts],
        "shortest": [shortest(text) for text in texts],
        "DPPSummarizer": [found.indices for found in own.select(texts)],
    }
    for method, all_places in places.items():
        picked = [[text[i] for i in some] for text, some in zip(texts, all_places, strict=True)]
        measured = [measure(some, lexicon) for some in picked if some]
        opinion, density, length = np.mean(measured, axis=0)
        text = " | ".join(picked[0]) if method == "DPP" else ""
        yield row("summaries", method, opinion=opinion, density=density, length=length, text=text)


def shortest(sentences: list[str]) -> np.ndarray:
    """The sentences of the fewest words."""
    lengths = [len(sentence.split()) for sentence in sentences]
    return np.argsort(lengths, kind="stable")[:N_SENTENCES]


def measure(sentences: list[str], lexicon: frozenset[str]) -> tuple[float, float, float]:
    """Share of sentences with a word of opinion, share of such words, and words of a sentence."""
    words = [WORD.findall(sentence.lower()) for sentence in sentences]
    found = [sum(word in lexicon for word in some) for some in words]
    n_words = sum(map(len, words))
    return float(np.mean(np.array(found) > 0)), sum(found) / max(n_words, 1), n_words / len(words)


EXPERIMENT = Experiment(
    "dpp_reviews",
    ("corpus", "part", "split", "table", "method"),
    ("npmi", "opinion", "density", "length", "text"),
    cells,
    run,
)
