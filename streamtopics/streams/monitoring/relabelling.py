# SPDX-License-Identifier: BSD-3-Clause
"""A test of whether new documents and earlier ones are alike, by relabelling them.

Each column f of features is standardised, and cut at three standard deviations, since a document
in a hundred would say more than the others; that of a word is 1 where a document has it, is not
cut, and counts if five documents or more have it. Each is compared by

    T = (mean of the new - mean of the others) / (sd sqrt(1/n_new + 1/n_others)),

sd over all documents, and there are three statistics, which are large after a change:

    A_surprise = sqrt(sum over topics of max(0, T of the surprise)^2),
    A_use = sqrt(sum over topics of (T of the use)^2),
    A_words = sqrt(sum over the eight words with the largest T of max(0, T of the word)^2).

Documents of a new kind are spread over all topics, each of which is surprised a little: the sum
sees it, a maximum does not. Documents that are gone surprise none; the use of topics sees them.
The words see a few new documents that have words of their own.
If the documents are exchangeable, so are their labels, and

    p = (1 + number of the B relabellings with A_b >= A) / (B + 1)

is at most a with probability at most a, whatever the model, the features and their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

# Statistics that differ by this share of themselves are equal, but for the order of sums.
EQUAL = 1e-9
WITHIN = 3.0
# Words of the statistic, and the fewest documents that have each.
N_WORDS, LEAST_DOCUMENTS = 8, 5
# Labellings at once, so that their statistics of all words take little memory.
AT_ONCE = 64


class Comparison(NamedTuple):
    """New documents beside earlier ones.

    Of the surprise, the use and the words: `z` is the statistic in standard deviations over the
    relabellings, `p` its p-value by rank among them. `surprise` and `use` are T of each topic.
    """

    z: np.ndarray
    p: np.ndarray
    surprise: np.ndarray
    use: np.ndarray


def relabelled(n_new: int, n_others: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Truth values (n + 1, n_new + n_others): the new come first in row 0, anywhere in others."""
    keys = rng.random((n + 1, n_new + n_others))
    # Keys have 53 bits, and do not tie.
    labels: np.ndarray = keys <= np.partition(keys, n_new - 1, axis=1)[:, n_new - 1 : n_new]
    labels[0] = np.arange(n_new + n_others) < n_new
    return labels


def standardised(features: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1; of those that do not vary, 0."""
    centred = features - features.mean(axis=0)
    size = np.abs(features).max(axis=0, initial=0.0)
    sd = centred.std(axis=0, ddof=1)
    varies = sd > EQUAL * size
    standard: np.ndarray = np.where(varies, centred / np.where(varies, sd, 1.0), 0.0)
    return standard


def without_outliers(features: np.ndarray) -> np.ndarray:
    """Columns standardised, cut at `WITHIN` standard deviations, and standardised again."""
    return standardised(np.clip(standardised(features), -WITHIN, WITHIN))


def differences(standard: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """T of each column of standardised features under each row of labels."""
    # The sum of the others is that of the new with the other sign.
    sums: np.ndarray = labels.astype(np.float64) @ standard
    differs: np.ndarray = sums * _scale(labels)
    return differs


def surprise_and_use(differs: np.ndarray) -> np.ndarray:
    """A_surprise and A_use, (n_labellings, 2), of T of each topic's surprise and of its use."""
    surprise, use = np.split(differs, 2, axis=1)
    parts = np.maximum(surprise, 0.0), use
    return np.column_stack([np.sqrt(np.einsum("bk,bk->b", part, part)) for part in parts])


def words_of_their_own(X: sparse.csr_matrix, labels: np.ndarray) -> np.ndarray:
    """A_words under each row of labels, for counts of the words in each document."""
    has: sparse.csr_matrix = X.copy()
    has.data = (X.data > 0).astype(np.float32)
    n_with = np.asarray(has.sum(axis=0, dtype=np.float64)).ravel()
    common = np.flatnonzero((n_with >= LEAST_DOCUMENTS) & (n_with < len(labels[0])))
    found = np.zeros(len(labels))
    if len(common) == 0:
        return found
    # Sums of zeros and ones are exact in single precision.
    by_word, share = has[:, common].T.tocsr(), n_with[common] / X.shape[0]
    sd = np.sqrt(share * (1.0 - share) * X.shape[0] / (X.shape[0] - 1))
    largest = slice(-min(N_WORDS, len(common)), None)
    for i in range(0, len(labels), AT_ONCE):
        some = labels[i : i + AT_ONCE]
        n_new = some.sum(axis=1, dtype=np.float64)[:, None]
        differs = ((by_word @ some.T.astype(np.float32)).T - n_new * share) / sd
        top = np.partition(differs, largest.start, axis=1)[:, largest]
        found[i : i + AT_ONCE] = np.sqrt((np.maximum(top, 0.0) ** 2).sum(axis=1))
    return found * _scale(labels)


def compare(
    surprise: np.ndarray, use: np.ndarray, X: sparse.csr_matrix, labels: np.ndarray
) -> Comparison:
    """Compare the new documents, of row 0 of the labels, with the others, by the other rows.

    Surprise and use are of shape (n_documents, n_topics), X are the counts of words.
    """
    differs = differences(without_outliers(np.column_stack([surprise, use])), labels)
    found = np.column_stack([surprise_and_use(differs), words_of_their_own(X, labels)])
    true, others = found[0], found[1:]
    sd = others.std(axis=0)
    varies = sd > EQUAL * np.abs(others).max(axis=0)
    z = np.where(varies, (true - others.mean(axis=0)) / np.where(varies, sd, 1.0), 0.0)
    p = (1 + (others >= true - EQUAL * np.abs(true)).sum(axis=0)) / (1 + len(others))
    return Comparison(z, p, *np.split(differs[0], 2))


def _scale(labels: np.ndarray) -> float:
    """Factor from the sum of the standardised new documents to T."""
    n_new = int(labels[0].sum())
    return float(np.sqrt(1.0 / n_new + 1.0 / (labels.shape[1] - n_new)))
