# SPDX-License-Identifier: BSD-3-Clause
"""Table III of the WAS paper in kind: which comments speak to a part of an article.

The articles are source files of installed packages, cut into statements; their comments are
documentation strings. A comment is specific to a file if it documents a function, a method or a
class of it. It is not if it documents the whole module, or if it was written for another file.
So the labels come from where a text stands, and nothing that is scored has a part in them. For
each file as many comments of others are drawn, with the same chances, as it has specific ones,
after at most SPECIFIC of these have been drawn.

The models are learnt from the files and the comments of the split, without labels, and score a
comment by `specific_comment_scores`. Beside them stand rules without a model: the length of the
comment, the mean of its words' inverse document frequencies, and by cosines of tf-idf vectors
its likeness to the file as a whole, to the likest statement, and the latter less the mean, which
is the score of the models.

Average precision and the area under the ROC curve are of the comments of a file, and precision
is that of the first n, n the number of specific ones, so that recall and F1 are the same; each
is a mean over files. AUC is also told against the comments on whole modules alone, and against
those of other files alone: a score may tell a part from the whole, or what belongs to a file from
what does not, and not both.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import normalize

from benchmarks import corpora
from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.statements import statements_of
from benchmarks.papers.was_tables import MODELS, SETTINGS, estimator
from streamtopics import WASTopicModel
from streamtopics.datasets import load_docstrings
from streamtopics.text import SentenceVectorizer

PACKAGES = ("stdlib", "numpy", "scipy", "sklearn", "joblib")
N_SPLITS, N_FILES, QUICK_FILES = 11, 60, 6
# Of a file: specific comments and statements that are looked at; files with less are left out.
LEAST_SPECIFIC, SPECIFIC, MOST_STATEMENTS = 3, 6, 200
N_COMPONENTS = 50
WORD = r"[^\W\d_]{3,}"
VALUES = ("precision", "average_precision")
SPECIFIC_TO_PART, ON_WHOLE, STRANGE = range(3)


class File(NamedTuple):
    """A source file: its statements, and the texts on it and on parts of it."""

    statements: list[str]
    general: list[str]
    specific: list[str]


class Article(NamedTuple):
    """Counts of a file's statements and of the sentences of comments, and what these are on."""

    X: sparse.csr_matrix
    comments: list[sparse.csr_matrix]
    kinds: np.ndarray


def cells(quick: bool) -> Iterator[Cell]:
    """All models and rules, split by split, at both settings."""
    for split in range(1 if quick else N_SPLITS):
        for setting in SETTINGS:
            for method in (*MODELS, *(RULES if setting == "paper" else ())):
                if method != "LDA, sentences":
                    yield {"setting": setting, "split": split, "method": method}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """Score the comments of each file."""
    articles = drawn(cell["split"], quick)
    if cell["method"] in RULES:
        scores = RULES[cell["method"]](articles)
    else:
        b, _ = SETTINGS[cell["setting"]]
        n = {} if quick else {"n_components": N_COMPONENTS}
        model = estimator(cell, MODELS[cell["method"]](b), quick, **n)
        model.fit([one.X for one in articles] + [X for one in articles for X in one.comments])
        scores = [specific_comment_scores(model, one) for one in articles]
    each = [of_ranking(one.kinds, s) for one, s in zip(articles, scores, strict=True)]
    yield dict(zip(VALUES, np.nanmean(each, axis=0).tolist(), strict=True))


def specific_comment_scores(model: WASTopicModel, one: Article) -> np.ndarray:
    """Score how much each comment speaks to some statements of a file and not to all of it.

    The similarity of a comment and a statement is sum_k sqrt(theta_k phi_k) of their topic
    proportions (Bhattacharyya). The score is that of the comment's best statement less the mean
    over the statements, weighted by their words; 0 for a comment without words.
    """
    lengths = np.asarray(one.X.sum(axis=1)).ravel()
    theta = np.sqrt(model.transform_sentences([one.X]))
    similarity = (np.sqrt(np.asarray(model.transform(one.comments))) @ theta.T)[:, lengths > 0]
    weights = lengths[lengths > 0] / lengths.sum()
    known = np.array([comment.sum() > 0 for comment in one.comments])
    return np.where(known, similarity.max(axis=1) - similarity @ weights, 0.0)


def of_ranking(kinds: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Precision at the number of the specific comments, and average precision.

    Where scores are equal, precision is what it would be on average over their orders.
    """
    labels = kinds == SPECIFIC_TO_PART
    n = np.count_nonzero(labels)
    least = np.sort(scores)[-n]
    above, tied = scores > least, scores == least
    hits = np.count_nonzero(labels & above)
    hits += (n - np.count_nonzero(above)) * labels[tied].mean()
    return hits / n, average_precision_score(labels, scores)


# Rules without a model: each takes all articles and returns the scores of each one's comments.


def by_length(articles: Sequence[Article]) -> list[np.ndarray]:
    """Short comments first."""
    return [np.array([-X.sum() for X in one.comments], float) for one in articles]


def by_rarity(articles: Sequence[Article]) -> list[np.ndarray]:
    """The mean inverse document frequency of a comment's words."""
    idf = _tf_idf(articles).idf_
    return [np.array([(X @ idf).sum() / X.sum() for X in one.comments]) for one in articles]


def by_file(articles: Sequence[Article]) -> list[np.ndarray]:
    """The cosine with the whole file."""
    weights = _tf_idf(articles)
    return [
        (_totals(one, weights) @ weights.transform(sparse.csr_matrix(one.X.sum(axis=0))).T)
        .toarray()
        .ravel()
        for one in articles
    ]


def by_best(articles: Sequence[Article]) -> list[np.ndarray]:
    """The cosine with the likest statement."""
    return [cosines.max(axis=1) for cosines in _cosines(articles)]


def by_contrast(articles: Sequence[Article]) -> list[np.ndarray]:
    """The cosine with the likest statement, less the mean over statements by their words."""
    return [
        cosines.max(axis=1) - cosines @ (one.X.sum(axis=1).A1 / one.X.sum())
        for one, cosines in zip(articles, _cosines(articles), strict=True)
    ]


RULES = {
    "short first": by_length,
    "rare words": by_rarity,
    "tf-idf, whole file": by_file,
    "tf-idf, best statement": by_best,
    "tf-idf, best less mean": by_contrast,
}


def _tf_idf(articles: Sequence[Article]) -> TfidfTransformer:
    return TfidfTransformer().fit(sparse.vstack([one.X for one in articles]))


def _totals(article: Article, weights: TfidfTransformer) -> sparse.csr_matrix:
    """The tf-idf vector of each comment."""
    rows = [sparse.csr_matrix(X.sum(axis=0)) for X in article.comments]
    return normalize(weights.transform(sparse.vstack(rows, format="csr")))


def _cosines(articles: Sequence[Article]) -> list[np.ndarray]:
    """Of each comment with each statement."""
    weights = _tf_idf(articles)
    return [
        (_totals(one, weights) @ normalize(weights.transform(one.X)).T).toarray()
        for one in articles
    ]


# The data


@lru_cache(maxsize=1)
def files(quick: bool) -> list[File]:
    """Files with a text on the whole and texts on enough of their parts.

    Quickly, pages of a dictionary, each with definitions of one kind: some are statements and
    others stand for comments.
    """
    if quick:
        rows = sorted(corpora.enclosed("definitions"), key=lambda row: str(row["label"]))
        pages = [[row["text"] for row in rows[i : i + 20]] for i in range(0, len(rows), 20)]
        return [File(page[:14], [" ".join(page)], page[14:]) for page in pages]
    texts = load_docstrings(packages=PACKAGES)
    own: dict[str, tuple[list[str], list[str]]] = {}
    for text, module, name in zip(texts.data, texts.modules, texts.names, strict=True):
        own.setdefault(module, ([], []))[name != module].append(text)
    found = []
    for module, statements in sorted(statements_of(PACKAGES)):
        general, specific = own.get(module, ([], []))
        if general and len(specific) >= LEAST_SPECIFIC:
            found.append(File(statements[:MOST_STATEMENTS], general, specific))
    return found


@lru_cache(maxsize=1)
def drawn(split: int, quick: bool) -> list[Article]:
    """Some files, and of each specific comments, those on the whole and as many strange ones."""
    rng, every = np.random.default_rng(split), files(quick)
    n_files = QUICK_FILES if quick else N_FILES
    chosen = [every[i] for i in rng.permutation(len(every))[:n_files]]
    own = [
        [one.specific[i] for i in rng.permutation(len(one.specific))[:SPECIFIC]] for one in chosen
    ]
    texts, kinds = [], []
    for place, (one, specific) in enumerate(zip(chosen, own, strict=True)):
        others = [text for i, some in enumerate(own) if i != place for text in some]
        strange = [others[i] for i in rng.permutation(len(others))[: len(specific)]]
        texts.append([*specific, *one.general, *strange])
        kinds.append(np.repeat(range(3), [len(specific), len(one.general), len(strange)]))
    return counted([one.statements for one in chosen], texts, kinds)


def counted(
    statements: list[list[str]], texts: list[list[str]], kinds: list[np.ndarray]
) -> list[Article]:
    """Counts, over the words of statements; comments without any of them are left out."""
    counter = CountVectorizer(stop_words="english", token_pattern=WORD, min_df=2)
    vectorizer = SentenceVectorizer(counter)
    articles = vectorizer.fit_transform(statements)
    found = []
    for X, own, kind in zip(articles, texts, kinds, strict=True):
        comments = [one[one.getnnz(axis=1) > 0] for one in vectorizer.transform(own)]
        known = np.array([one.shape[0] > 0 for one in comments])
        kept = [one for one in comments if one.shape[0] > 0]
        n_specific = np.count_nonzero(kind[known] == SPECIFIC_TO_PART)
        if 0 < n_specific < len(kept):
            found.append(Article(X[X.getnnz(axis=1) > 0], kept, kind[known]))
    return found


EXPERIMENT = Experiment("was_comments", ("setting", "split", "method"), VALUES, cells, run)
