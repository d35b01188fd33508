# SPDX-License-Identifier: BSD-3-Clause
"""Zipf's law: few words are frequent."""

import reprlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from streamtopics.priors.columns import (
    MASS_PER_WORD,
    Columns,
    PriorRecord,
    Vocabulary,
    check_words,
    word_columns,
)
from streamtopics.utils.checks import MOST_SCALE, check_number, check_tokens, floats


def word_ranks(words: Collection[str], vocabulary: Vocabulary) -> np.ndarray:
    """Return the rank of each word of a vocabulary by frequency, 1 for the most frequent.

    Only words of `vocabulary` are ranked. Each word absent from `words` has the mean of the
    remaining ranks.

    Parameters
    ----------
    words : sequence of str
        Words, the most frequent first, such as a frequency list of a language.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.

    Returns
    -------
    ranks : ndarray of shape (n_features,)

    Examples
    --------
    >>> from streamtopics.priors import word_ranks
    >>> word_ranks(["the", "of", "cat"], ["cat", "gnu", "the", "yak"])
    array([2. , 3.5, 1. , 3.5])
    """
    check_words("words", words, ordered=True)
    columns = word_columns(vocabulary)
    listed = [columns[word] for word in dict.fromkeys(words) if word in columns]
    n, n_listed = len(columns), len(listed)
    ranks = np.full(n, (n_listed + 1 + n) / 2)
    ranks[listed] = np.arange(1, n_listed + 1)
    return ranks


def zipf_prior(
    ranks: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    exponent: float = 1.07,
    mass: float | None = None,
) -> np.ndarray:
    """Return a word prior by Zipf's law, ``eta_w`` proportional to ``rank_w ** -exponent``.

    Parameters
    ----------
    ranks : array-like of shape (n_features,), default=None
        Rank of each word, 1 for the most frequent; see `word_ranks`.
    counts : array-like of shape (n_features,), default=None
        Number of occurrences of each word. Pass either `counts` or `ranks`.
    exponent : float, default=1.07
        Exponent of the law; Nguyen et al. take 1.07 for English.
    mass : float or None, default=None
        Sum of the prior over the words, in tokens for each topic. None is 0.05 times `n_features`.
        Results depend more on `mass` than on `exponent`.

    Returns
    -------
    prior : ndarray of shape (n_features,)
        Positive, with sum `mass`.

    References
    ----------
    Equation 45 of Nguyen et al. (2020), "Boosting prior knowledge in streaming variational Bayes".

    Examples
    --------
    >>> from streamtopics.priors import zipf_prior
    >>> zipf_prior(counts=[10, 70, 0, 20], exponent=1.0, mass=25.0)
    array([ 4., 12.,  3.,  6.])
    """
    _check_law(exponent, mass)
    if (ranks is None) == (counts is None):
        raise ValueError("pass exactly one of ranks and counts")
    name, given, least = ("ranks", ranks, 1) if counts is None else ("counts", counts, 0)
    values = floats(given, name)  # type: ignore[arg-type]
    if values.ndim != 1 or not (np.isfinite(values).all() and (values >= least).all()):
        raise ValueError(
            f"{name} must have shape (n_features,), of finite numbers of at least {least}; got "
            f"{reprlib.repr(given)}"
        )
    rank = values if counts is None else rankdata(-values)
    share: np.ndarray = (rank / rank.min()) ** -float(exponent)
    mass = MASS_PER_WORD * len(rank) if mass is None else mass
    return np.asarray(mass * share / share.sum())


def _check_law(exponent: float, mass: float | None) -> None:
    check_number(least=0, most=MOST_SCALE, exponent=exponent)
    if mass is not None:
        check_tokens(mass=mass)


@dataclass(frozen=True, repr=False)
class ZipfPrior(PriorRecord):
    """A word prior by Zipf's law, made by `zipf_prior` in `fit`.

    Parameters
    ----------
    words : sequence of str or None, default=None
        Words, the most frequent first. None ranks words by their counts in `fit`, or in the first
        minibatch of `partial_fit`.
    exponent, mass
        As in `zipf_prior`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.priors import ZipfPrior
    >>> X = [[1, 7, 0, 2]] * 10
    >>> model = SVBLDA(2, topic_word_prior=ZipfPrior(mass=25.0, exponent=1.0), batch_size=2)
    >>> model.fit(X).posterior_.eta.ravel()
    array([ 4., 12.,  3.,  6.])
    """

    words: Collection[str] | None = None
    exponent: float = 1.07
    mass: float | None = None

    def __post_init__(self) -> None:
        if self.words is not None:
            check_words("words", self.words, ordered=True)
        _check_law(self.exponent, self.mass)

    def resolve(self, columns: Columns) -> np.ndarray:
        if self.words is not None:
            ranks = word_ranks(self.words, columns.vocabulary("ZipfPrior with words"))
            return zipf_prior(ranks, exponent=self.exponent, mass=self.mass)
        seen = np.asarray(columns.counts("ZipfPrior").sum(axis=0)).ravel()
        return zipf_prior(counts=seen, exponent=self.exponent, mass=self.mass)
