# SPDX-License-Identifier: BSD-3-Clause
"""Whether new documents and earlier ones are alike: by relabelling, and beside the stream's past.

Documents have features of each topic, with r_dwk = theta_dk phi_kw / sum_j theta_dj phi_jw:

    u_dk = sum_w n_dw r_dwk                 use of topic k,
    s_dk = sum_w n_dw r_dwk (-log phi_kw)   surprise in topic k,

made linear as u_dk - (u_k / n) n_d and s_dk - (s_k / u_k) u_dk, with the totals of all documents,
over sqrt(n_d), as long documents vary more. Each is standardised, and cut at three standard
deviations, since a document in a hundred would say more than the others. The feature of a word is
1 where a document has it, is not cut, and counts if five documents or more have it. Then

    T = (mean of the new - mean of the others) / (sd sqrt(1/n_new + 1/n_others)),

sd over all documents, and three statistics are large after a change:

    A_surprise = sqrt(sum over topics of max(0, T of the surprise)^2),
    A_use = sqrt(sum over topics of (T of the use)^2),
    A_words = sqrt(sum over the eight words with the largest T of max(0, T of the word)^2).

If the documents are exchangeable, so are their labels, and

    p = (1 + number of the B relabellings with A_b >= A) / (B + 1)

is at most a with probability at most a, whatever the model, the features and their number.

A stream that always moves a little is never exchangeable. So z, a statistic in standard deviations
over the relabellings, is compared with the m last ones, without outliers:

    mu = sum z_i / m,   S = sum (z_i - mu)^2,   p = P(t_f > (z - mu) / (s sqrt(1 + 1 / m))).

The variance within minibatches is 1, and that between them is none or is estimated (Laney's
p'-chart). As long as S is below the 0.95 quantile of chi-square with m - 1 degrees of freedom,
s^2 = max(1, (10 + S) / f) with f = m + 9, a prior worth ten minibatches that do not move; or else
s^2 = S / f with f = m - 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import chdtri, stdtr

from streamtopics.local import Gibbs
from streamtopics.metrics.predictive import token_probability
from streamtopics.utils.parallel import workers

# Short chains: proportions may be rough if they are so for all documents.
FAST = Gibbs(n_sweeps=8, n_averaged=6)
# No word is less probable, even under topics that were not smoothed.
LEAST = 1e-12
# Statistics that differ by this share of themselves are equal, but for the order of sums.
EQUAL = 1e-9
WITHIN = 3.0
# Words of the statistic, and the fewest documents that have each.
N_WORDS, LEAST_DOCUMENTS = 8, 5
# Labellings at once, so that their statistics of all words take little memory.
AT_ONCE = 64
# Minibatches that the prior of the chart is worth, and tests before values are clipped.
PRIOR, CLIPPED_FROM = 10, 4
# Probability that a stream that does not drift is taken for one that does.
DRIFTS = 0.05
# Standard deviation of a normal distribution over its median absolute deviation.
ROBUST = 1.4826


# Features


@dataclass(frozen=True)
class DocumentFeatures:
    """Tokens of documents, and use of and surprise in each topic under a model."""

    n_tokens: np.ndarray
    use: np.ndarray
    surprise: np.ndarray

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Surprise and use, (n, n_topics), made linear and scaled by length."""
        scale = np.sqrt(np.maximum(self.n_tokens, 1.0))[:, None]
        use = without_ratio(self.use, self.n_tokens[:, None]) / scale
        return without_ratio(self.surprise, self.use) / scale, use


def without_ratio(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Values less their sizes times the ratio of the sums of both; 0 where all sizes are."""
    total = sizes.sum(axis=0)
    ratio = np.divide(values.sum(axis=0), total, where=total > 0, out=np.zeros(values.shape[1]))
    linear: np.ndarray = values - ratio * sizes
    return linear


def document_features(model: Any, X: sparse.csr_matrix) -> DocumentFeatures:
    """Features of documents, row by row, under a fitted model, which does not learn."""
    X = X if X.dtype.kind == "f" else X.astype(np.float32)
    words, places = np.unique(X.indices, return_inverse=True)
    own = sparse.csr_matrix((X.data, places, X.indptr), shape=(X.shape[0], len(words)))
    doc_topic, topic_word, n_hidden = _proportions_and_topics(model, X, words)
    topic_word = np.maximum(topic_word, LEAST)
    of_tokens = token_probability(doc_topic, topic_word, own)
    weights = sparse.csr_matrix((own.data / of_tokens, own.indices, own.indptr), shape=own.shape)
    shown = slice(n_hidden, None)
    theta, phi = doc_topic[:, shown], np.ascontiguousarray(topic_word[shown].T)
    return DocumentFeatures(
        np.asarray(X.sum(axis=1, dtype=np.float64)).ravel(),
        theta * (weights @ phi),
        theta * (weights @ (-phi * np.log(phi))),
    )


def _proportions_and_topics(
    model: Any, X: sparse.csr_matrix, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Proportions of documents, columns of the topics, and how many of these are hidden."""
    model._validate()
    composition = model._composed()
    model._check_background(composition)
    thorough = composition.transform_inference or composition.inference.thorough()
    if isinstance(thorough, Gibbs):
        composition = replace(composition, transform_inference=FAST)
    with workers(model.n_jobs) as pool:
        found = composition.model(model.seed_).infer(model._learnt, model._minibatch(X), pool)
    topic_word = model._topics_of(words.astype(np.int32))
    return found.astype(np.float64), topic_word, model._n_hidden


# Statistics


class Comparison(NamedTuple):
    """New documents beside earlier ones."""

    # Of the surprise, the use and the words: statistic in standard deviations, and p-value.
    z: np.ndarray
    p: np.ndarray
    # T of each topic.
    surprise: np.ndarray
    use: np.ndarray


def permuted(n_new: int, n_others: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Truth values (n + 1, n_new + n_others): the new come first in row 0, anywhere in others."""
    keys = rng.random((n + 1, n_new + n_others))
    # Keys have 53 bits, and do not tie.
    labels: np.ndarray = keys <= np.partition(keys, n_new - 1, axis=1)[:, n_new - 1 : n_new]
    labels[0] = np.arange(n_new + n_others) < n_new
    return labels


def standardised(features: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1; of those that do not vary, 0."""
    centered = features - features.mean(axis=0)
    size = np.abs(features).max(axis=0, initial=0.0)
    sd = centered.std(axis=0, ddof=1)
    positive = sd > EQUAL * size
    standard: np.ndarray = np.where(positive, centered / np.where(positive, sd, 1.0), 0.0)
    return standard


def word_statistics(X: sparse.csr_matrix, labels: np.ndarray) -> np.ndarray:
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
        statistic = ((by_word @ some.T.astype(np.float32)).T - n_new * share) / sd
        top = np.partition(statistic, largest.start, axis=1)[:, largest]
        found[i : i + AT_ONCE] = np.sqrt((np.maximum(top, 0.0) ** 2).sum(axis=1))
    return found * _scale(labels)


def compare(
    surprise: np.ndarray, use: np.ndarray, X: sparse.csr_matrix, labels: np.ndarray
) -> Comparison:
    """Compare the new documents, of row 0 of the labels, with the others, by the other rows."""
    cut = np.clip(standardised(np.column_stack([surprise, use])), -WITHIN, WITHIN)
    # T under each row of labels: the sum of the others is that of the new with the other sign.
    statistic = labels.astype(np.float64) @ standardised(cut) * _scale(labels)
    of_surprise, of_use = np.split(statistic, 2, axis=1)
    parts = np.maximum(of_surprise, 0.0), of_use
    totals = [np.sqrt(np.einsum("bk,bk->b", part, part)) for part in parts]
    found = np.column_stack([*totals, word_statistics(X, labels)])
    true, others = found[0], found[1:]
    sd = others.std(axis=0)
    positive = sd > EQUAL * np.abs(others).max(axis=0)
    z = np.where(positive, (true - others.mean(axis=0)) / np.where(positive, sd, 1.0), 0.0)
    p = (1 + (others >= true - EQUAL * np.abs(true)).sum(axis=0)) / (1 + len(others))
    return Comparison(z, p, *np.split(statistic[0], 2))


def _scale(labels: np.ndarray) -> float:
    """Factor from the sum of the standardised new documents to T."""
    n_new = int(labels[0].sum())
    return float(np.sqrt(1.0 / n_new + 1.0 / (labels.shape[1] - n_new)))


def chart_p(past: np.ndarray, z: np.ndarray) -> np.ndarray:
    """p-values, (n,), of statistics that are large after a change, given their past, (m, n)."""
    m = len(past)
    if m >= CLIPPED_FROM:
        middle = np.median(past, axis=0)
        reach = WITHIN * ROBUST * np.median(np.abs(past - middle), axis=0)
        reach = np.where(reach > 0, reach, np.inf)
        past = np.clip(past, middle - reach, middle + reach)
    mu = past.mean(axis=0)
    squares = ((past - mu) ** 2).sum(axis=0)
    drifts = squares > chdtri(m - 1, DRIFTS)
    freedom = np.where(drifts, m - 1, PRIOR + m - 1)
    variance = np.where(drifts, squares, np.maximum(freedom, PRIOR + squares)) / freedom
    p: np.ndarray = stdtr(freedom, (mu - z) / np.sqrt(variance * (1.0 + 1.0 / m)))
    return p
