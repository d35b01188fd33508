# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1, 2 and 3 of Dupuy's thesis: the topics of reviews, their words and what is said of them.

Films (Tables 2 and 3): of each split nine reviews of ten are learnt from. LDA-R has a topic of
praise and one of blame (Table 2), which stand beside the topics of LDA-0 whose top words have most
opinions of a kind. Of LDA-R, SLDA and HFT (Table 3) all are chosen like these. `opinion` is the
share of the ten top words that a list of opinion words (Hu and Liu's) has on the right side, less
those on the wrong one. `shared` is how many of the top words of LDA-R's descriptive topics another
method's have, as a share, topics matched for the most. The score of the topic "share" is the share
of the words of a review that LDA-R learns to be opinions.

Synthetic reviews of items (Table 1): learnt topics are matched with the true descriptive ones for
the most probability in common. A top word is an `outlier` if the true topic says it less often
than the reviews do as a whole; the share of such words among the eight top words of the five
topics with most words.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from json import loads

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.rating_lda import SYNTHETIC, Reviews, counted, halved, models, reviews_of
from streamtopics.priors.seeds import NEGATIVE_WORDS, POSITIVE_WORDS

FILMS = ("rated_movie_reviews", "imdb_train")
# Tables by their number of topics; the first is of synthetic reviews.
TABLE_1, TABLE_2, TABLE_3 = 128, 32, 100
QUICK_TOPICS, QUICK_REVIEWS, N_SPLITS = 4, 60, 11
N_WORDS, N_SHOWN = 10, 8
N_LEADING, LEADING_WORDS = 5, 8
VALUES = ("score", "opinion", "shared", "outliers", "words")
NOTHING = dict.fromkeys(VALUES, "")
Words = Sequence[Sequence[str]]


def cells(quick: bool) -> Iterator[Cell]:
    """Each corpus and number of topics, split by split."""
    for split in range(1 if quick else N_SPLITS):
        yield {"corpus": SYNTHETIC, "k": QUICK_TOPICS if quick else TABLE_1, "split": split}
        for corpus in FILMS[:1] if quick else FILMS:
            for K in (QUICK_TOPICS,) if quick else (TABLE_2, TABLE_3):
                yield {"corpus": corpus, "k": K, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """The topics of a split and what is measured of them."""
    if cell["corpus"] == SYNTHETIC:
        yield from of_items(cell, quick)
    else:
        yield from of_films(cell, quick)


def of_items(cell: Cell, quick: bool) -> Iterator[Row]:
    """Outliers among the top words, without and with profiles of items."""
    reviews = reviews_of(SYNTHETIC, quick)
    assert reviews.topic_word is not None
    train, _ = halved(reviews, cell["split"])
    overall = np.asarray(train.X.sum(axis=0)).ravel() / train.X.sum()
    for method in ("LDA-0", "LDA-C"):
        model = models(cell["k"], cell["split"], True)[method]
        model.fit(train.X, train.ratings, **train.whose)
        leading = np.argsort(-model.components_.sum(axis=1))[:N_LEADING]
        share = outliers(model.topic_word_[leading], reviews.topic_word[:-2], overall)
        yield {"method": method, "topic": "leading"} | NOTHING | {"outliers": share}


def outliers(learnt: np.ndarray, true: np.ndarray, overall: np.ndarray) -> float:
    """Share of the top words that the matching true topic says less often than all reviews do."""
    found = []
    for topic in learnt:
        match = true[np.minimum(true, topic).sum(axis=1).argmax()]
        top = np.argsort(-topic)[:LEADING_WORDS]
        found.append((match[top] < overall[top]).mean())
    return float(np.mean(found))


def of_films(cell: Cell, quick: bool) -> Iterator[Row]:
    """Topics of praise and blame, the descriptive ones with most words, and those in common."""
    reviews = speeches() if quick else reviews_of(cell["corpus"], False)
    train, _ = halved(reviews, cell["split"])
    words, lists = reviews.words, opinion_words(quick)
    described = {}
    of_table_2 = cell["k"] == TABLE_2
    for method in ("LDA-R", "LDA-0") if of_table_2 else ("LDA-R", "SLDA", "HFT"):
        model = models(cell["k"], cell["split"], False)[method].fit(train.X, train.ratings)
        top = [list(topic) for topic in model.top_words(words, n_words=N_WORDS, relevance=1)]
        own = of_table_2 and method == "LDA-R"
        ends = (len(top) - 2, len(top) - 1) if own else extremes(top, lists)
        scores = model.coef_ if method == "SLDA" else np.full(len(top), np.nan)
        for k, side in zip(ends, lists, strict=True):
            row = {"score": float(scores[k]), "opinion": opinion(top[k], side, lists)}
            yield {"method": method, "topic": side} | NOTHING | row | {"words": " ".join(top[k])}
        if own:
            omega = model.qualitative_prior_
            for name, share in ((method, float(omega[1] / omega.sum())), ("a tenth", 0.1)):
                yield {"method": name, "topic": "share"} | NOTHING | {"score": share}
        order = [k for k in np.argsort(-model.components_.sum(axis=1)) if k not in ends]
        for place, k in enumerate(order[:N_SHOWN], 1):
            row = {"score": float(scores[k]), "words": " ".join(top[k])}
            yield {"method": method, "topic": f"topic {place}"} | NOTHING | row
        described[method] = [top[k] for k in range(len(top)) if method != "LDA-R" or k < cell["k"]]
    for method in [name for name in described if name != "LDA-R"]:
        share = shared(described["LDA-R"], described[method])
        yield {"method": method, "topic": "all"} | NOTHING | {"shared": share}


def extremes(top: Words, lists: dict[str, set[str]]) -> tuple[int, int]:
    """The topics with most words of praise and of blame."""
    praise, blame = (int(np.argmax([opinion(one, side, lists) for one in top])) for side in lists)
    return praise, blame


def opinion(top: Sequence[str], side: str, lists: dict[str, set[str]]) -> float:
    """Share of words that are on a side, less those on the other."""
    signs = [sum((word in own) * (1 if name == side else -1) for name, own in lists.items())
             for word in top]  # fmt: skip
    return float(np.mean(signs))


def shared(first: Words, second: Words) -> float:
    """Share of the top words that topics have in common, when they are matched for the most."""
    common = np.array([[len(set(one) & set(other)) for other in second] for one in first])
    rows, columns = linear_sum_assignment(-common)
    return float(common[rows, columns].mean() / N_WORDS)


@lru_cache(maxsize=2)
def opinion_words(quick: bool) -> dict[str, set[str]]:
    """Words of praise and of blame."""
    if quick:
        return {"praise": set(POSITIVE_WORDS), "blame": set(NEGATIVE_WORDS)}
    read = loads((corpora.folder() / "sentiment_words.json").read_text(encoding="utf-8"))
    return {"praise": set(read["opinion_positive"]), "blame": set(read["opinion_negative"])}


def speeches() -> Reviews:
    """Paragraphs of speeches, rated by their length."""
    texts = [row["text"] for row in corpora.enclosed("speeches")[:QUICK_REVIEWS]]
    return counted(texts, np.log([float(len(text)) for text in texts]))


EXPERIMENT = Experiment(
    "review_topics", ("corpus", "k", "split", "method", "topic"), VALUES, cells, run
)
