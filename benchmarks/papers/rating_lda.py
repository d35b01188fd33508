# SPDX-License-Identifier: BSD-3-Clause
"""The models of chapter 2 of Dupuy's thesis, as in its Figure 4.

Priors are learnt, as in the source, and beside that this package's defaults, which do not.
Log-perplexity per word of held-out reviews whose ratings are not known, in nats (lower is
better): left-to-right where the proportions are not known either, exact in them where they
are those of the item or the user. As in the source stop words go, words in more than a fifth
of the reviews, and all but the 10,000 most frequent others; a tenth of the reviews is held out.

The corpora have neither items nor users, so that there each review is an item of its own. The
synthetic reviews have both, and there each test review is of an item and a user that were seen.
"""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from streamtopics import HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.datasets import make_rated_reviews
from streamtopics.reviews.base import RatedTopicModel
from tests.reference.unrated import log_likelihood

SYNTHETIC = "synthetic"
# How many reviews.
CORPORA = {SYNTHETIC: 3000, "rated_movie_reviews": 2500, "imdb_train": 2500}
# Four times as many, by which a difference is told to change with their number; few splits.
LONG, N_LONG, SPLITS_LONG = "imdb_train, 10,000", 10_000, 3
SETTINGS_LONG = ("LDA-R", 32), ("HFT", 32), ("LDA-R", 128)
# Twelve comparisons need so many to be beyond chance.
N_SPLITS = 11
COMPONENTS = (8, 32, 128)
N_PARTICLES = 10
QUICK_REVIEWS, QUICK_TEST = 80, 4


class Reviews(NamedTuple):
    """Counts and ratings, with items and users where there are any, and the true topics."""

    X: sparse.csr_matrix
    ratings: np.ndarray
    whose: dict[str, np.ndarray]
    words: np.ndarray | None = None
    topic_word: np.ndarray | None = None

    def rows(self, chosen: np.ndarray) -> "Reviews":
        """Some of the reviews."""
        whose = {name: labels[chosen] for name, labels in self.whose.items()}
        return self._replace(X=self.X[chosen], ratings=self.ratings[chosen], whose=whose)


@lru_cache(maxsize=2)
def reviews_of(corpus: str, quick: bool) -> Reviews:
    """The reviews of a corpus, or synthetic ones."""
    n = QUICK_REVIEWS if quick else CORPORA.get(corpus, N_LONG)
    return synthetic(n) if corpus == SYNTHETIC else real(corpus.partition(",")[0], n)


def real(name: str, n_documents: int) -> Reviews:
    """Reviews spread evenly over a corpus."""
    rows = corpora.rows(name)
    places = np.linspace(0, len(rows) - 1, min(n_documents, len(rows))).astype(int)
    rows = [rows[i] for i in places]
    ratings = np.array([float(row["label"]) for row in rows])
    return counted([row["text"] for row in rows], ratings)


def counted(texts: list[str], ratings: np.ndarray) -> Reviews:
    """Reviews of these texts, with the words that the source keeps."""
    vectorizer = CountVectorizer(
        stop_words="english",
        token_pattern=corpora.PROSE_WORD,
        max_df=0.2,
        max_features=10_000,
        dtype=np.float32,
    )
    X = vectorizer.fit_transform(texts)
    return Reviews(X, ratings, {}, vectorizer.get_feature_names_out())


def synthetic(n_documents: int) -> Reviews:
    """Reviews of a hundred items by two hundred users, of 30 descriptive topics."""
    data = make_rated_reviews(
        n_documents,
        n_items=100,
        n_users=200,
        n_components=30,
        n_features=1000,
        qualitative_share=0.1,
        doc_topic_prior=0.1,
        random_state=0,
    )
    whose = {"items": data.item, "users": data.user}
    return Reviews(data.X.astype(np.float32), data.ratings, whose, None, data.topic_word)


def models(K: int, seed: int, has_whose: bool) -> dict[str, RatedTopicModel]:
    """What is compared, by name."""
    common = {"n_components": K, "random_state": seed, "n_jobs": 1}
    learnt = {"learn_priors": True} | common
    profiles = {"": "document", "-C": "item", "-U": "user"} if has_whose else {"": "document"}
    found: dict[str, RatedTopicModel] = {
        "SLDA": SupervisedLDA(**learnt),
        "HFT": HiddenFactorsTopics(**common),
        "SLDA, defaults": SupervisedLDA(**common),
    }
    for suffix, profile in profiles.items():
        plain = {"profile": profile, "qualitative": False}
        found |= {
            f"LDA{suffix or '-0'}": RatingLDA(**plain, **learnt),
            f"LDA-R{suffix}": RatingLDA(profile=profile, **learnt),
            f"LDA{suffix or '-0'}, defaults": RatingLDA(**plain, **common),
            f"LDA-R{suffix}, defaults": RatingLDA(profile=profile, **common),
            f"LDA-R{suffix}, refined": RatingLDA(profile=profile, refine=True, **common),
        }
    return found


def cells(quick: bool) -> Iterator[Cell]:
    """All models on all splits; with this package's defaults on the first only."""
    for split in range(1 if quick else N_SPLITS):
        for corpus in [SYNTHETIC] if quick else CORPORA:
            for K in (4,) if quick else COMPONENTS:
                for method in models(K, split, corpus == SYNTHETIC):
                    if "," not in method or split == 0:
                        yield {"corpus": corpus, "k": K, "split": split, "method": method}
    for split in range(0 if quick else SPLITS_LONG):
        for method, K in SETTINGS_LONG:
            yield {"corpus": LONG, "k": K, "split": split, "method": method}


def halved(reviews: Reviews, seed: int) -> tuple[Reviews, Reviews]:
    """Reviews to learn from, and a tenth that is held out, in random order."""
    n = reviews.X.shape[0]
    held_out = np.random.default_rng(seed).permutation(n)[: n // 10]
    return reviews.rows(np.setdiff1d(np.arange(n), held_out)), reviews.rows(held_out)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Log-perplexity per word, and the processor's seconds of the fit."""
    reviews = reviews_of(cell["corpus"], quick)
    train, test = halved(reviews, cell["split"])
    if quick:
        test = test.rows(np.arange(QUICK_TEST))
    model = models(cell["k"], cell["split"], bool(reviews.whose))[cell["method"]]
    own = {} if isinstance(model, SupervisedLDA) else train.whose
    start = time.process_time()
    model.fit(train.X, train.ratings, **own)
    seconds = time.process_time() - start
    accepted = own.keys() if isinstance(model, RatingLDA) else own.keys() & {"items"}
    known = {label: test.whose[label] for label in accepted}
    logs = log_likelihood(model, test.X, n_particles=N_PARTICLES, **known)
    value = -float(logs.sum() / test.X.sum(dtype=np.float64))
    yield {"log_perplexity": value, "seconds": seconds}


EXPERIMENT = Experiment(
    "rating_lda", ("corpus", "k", "split", "method"), ("log_perplexity", "seconds"), cells, run
)
