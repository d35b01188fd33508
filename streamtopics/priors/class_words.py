# SPDX-License-Identifier: BSD-3-Clause
"""Words typical of classes."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.priors.columns import Columns, PriorRecord, needed
from streamtopics.utils.checks import check_integer, check_not_masked, check_tokens
from streamtopics.utils.structure import check_one_kind, check_reach, in_order, to_csr


def class_words_prior(
    X: object,
    y: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    n_seeds: int = 5000,
    strength: float = 0.5,
    base: float = 0.01,
) -> np.ndarray:
    """Return a word prior with larger pseudo-counts for the words typical of each class.

    The seed words of a class are the words with the greatest tf-idf: the number of tokens of the
    word in the class, times ``log(n_documents / number of documents with the word)``.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Word counts of training documents only; in a search use `ClassWords`.
    y : array-like of shape (n_documents,)
        Class of each document.
    classes : array-like of shape (n_classes,), default=None
        Classes in the order of the rows; None is the sorted classes of `y`.
    n_seeds : int, default=5000
        Largest number of seed words of a class. Words in all documents are never seed words.
    strength, base : float, default=0.5 and 0.01
        Pseudo-counts, in tokens, of seed words and of other words, as in Nguyen et al. (2020).

    Returns
    -------
    prior : ndarray of shape (n_classes, n_features)
        The `class_word_prior` of `streamtopics.MultiViewLDA`.

    References
    ----------
    Section 5.4 of Nguyen et al. (2020), "Boosting prior knowledge in streaming variational Bayes",
    which does not define tf-idf.

    Examples
    --------
    >>> from streamtopics.priors import class_words_prior
    >>> X = [[3, 0, 2], [2, 1, 2], [0, 4, 1]]
    >>> class_words_prior(X, ["air", "air", "sea"], n_seeds=1)
    array([[0.5 , 0.01, 0.01],
           [0.01, 0.5 , 0.01]])
    """
    check_tokens(strength=strength, base=base)
    check_integer(n_seeds=n_seeds)
    for name, labels in (("y", y), ("classes", y if classes is None else classes)):
        check_not_masked(labels, "class_words_prior", name)
        check_one_kind(labels, name, "class_words_prior")
    counts, y = in_order(to_csr(X, "class_words_prior", default=None)), np.asarray(y)
    check_reach(counts, "class_words_prior")
    classes = np.unique(y) if classes is None else np.asarray(classes)
    if len(strange := np.setdiff1d(y, classes)):
        raise ValueError(
            f"y has the labels {strange.tolist()}, missing in classes={classes.tolist()}; add "
            "these classes, or leave their documents out"
        )
    frequency = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    idf = np.log(max(counts.shape[0], 1) / np.maximum(frequency, 1))
    prior = np.full((len(classes), counts.shape[1]), float(base))
    for row, label in zip(prior, classes, strict=True):
        weight = np.asarray(counts[y == label].sum(axis=0), np.float64).ravel() * idf
        first = np.argsort(-weight, kind="stable")[:n_seeds]
        row[first[weight[first] > 0]] = strength
    return prior


@dataclass(frozen=True, repr=False)
class ClassWords(PriorRecord):
    """A word prior for models with classes, made by `class_words_prior` in `fit`.

    Parameters
    ----------
    n_seeds, strength, base
        As in `class_words_prior`.

    Examples
    --------
    >>> from streamtopics import MultiViewLDA
    >>> from streamtopics.priors import ClassWords
    >>> X, y = [[3, 0, 2], [2, 1, 2], [0, 4, 1]], ["air", "air", "sea"]
    >>> model = MultiViewLDA(1, 1, class_word_prior=ClassWords(n_seeds=1)).fit(X, y)
    >>> model.posterior_.parts[1].eta.ravel()  # prior of the class "sea"
    array([0.01, 0.5 , 0.01])
    """

    n_seeds: int = 5000
    strength: float = 0.5
    base: float = 0.01

    def __post_init__(self) -> None:
        check_tokens(strength=self.strength, base=self.base)
        check_integer(n_seeds=self.n_seeds)

    def resolve(self, columns: Columns) -> np.ndarray:
        y = needed(
            columns.y,
            "ClassWords needs the class of each document, which this model is not given; use it "
            "as class_word_prior of MultiViewLDA, or pass SeedWords",
        )
        return class_words_prior(
            columns.counts("ClassWords"), y, classes=columns.classes, **asdict(self)
        )
