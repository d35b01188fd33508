# SPDX-License-Identifier: BSD-3-Clause
"""A test of whether new documents and earlier ones are alike, by relabelling them.

Each column f of features is standardised, and cut at three standard deviations, since a document
in a hundred would say more than the others. It is compared by

    T = (mean of the new - mean of the others) / (sd sqrt(1/n_new + 1/n_others)),

sd over all documents, and there are three statistics, which are large after a change:

    A_score = -T of the score,
    A_surprise = sqrt(sum over topics of max(0, T of the surprise)^2),
    A_use = sqrt(sum over topics of (T of the use)^2).

Documents of a new kind are spread over all topics, each of which is surprised a little: the sum
sees it, a maximum does not. Documents that are gone surprise none; the use of topics sees them.
If the documents are exchangeable, so are their labels, and

    p = (1 + number of the B relabellings with A_b >= A) / (B + 1)

is at most a with probability at most a, whatever the model, the features and their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Statistics that differ by this share of themselves are equal, but for the order of sums.
EQUAL = 1e-9
WITHIN = 3.0


class Comparison(NamedTuple):
    """New documents beside earlier ones.

    Attributes
    ----------
    z, p : ndarray of shape (3,)
        Of the score, the surprise and the use: the statistic in standard deviations over the
        relabellings, and its p-value by rank among them.
    surprise, use : ndarray of shape (n_topics,)
        T of each topic.
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
    n_new = int(labels[0].sum())
    n_others = labels.shape[1] - n_new
    # The sum of the others is that of the new with the other sign.
    sums: np.ndarray = labels.astype(np.float64) @ standard
    differs: np.ndarray = sums * np.sqrt(1.0 / n_new + 1.0 / n_others)
    return differs


def statistics(differs: np.ndarray) -> np.ndarray:
    """A_score, A_surprise and A_use, of T of the score, each topic's surprise and its use."""
    n_topics = differs.shape[1] // 2
    surprise = np.maximum(differs[:, 1 : 1 + n_topics], 0.0)
    parts = surprise, differs[:, 1 + n_topics :]
    lengths = (np.sqrt(np.einsum("bk,bk->b", part, part)) for part in parts)
    return np.column_stack([-differs[:, 0], *lengths])


def compare(
    score: np.ndarray, surprise: np.ndarray, use: np.ndarray, labels: np.ndarray
) -> Comparison:
    """Compare the new documents, of row 0 of the labels, with the others, by the other rows."""
    differs = differences(without_outliers(np.column_stack([score, surprise, use])), labels)
    found = statistics(differs)
    true, others = found[0], found[1:]
    sd = others.std(axis=0)
    z = np.where(sd > 0, (true - others.mean(axis=0)) / np.where(sd > 0, sd, 1.0), 0.0)
    p = (1 + (others >= true - EQUAL * np.abs(true)).sum(axis=0)) / (1 + len(others))
    return Comparison(z, p, *np.split(differs[0, 1:], 2))
