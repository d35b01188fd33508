# SPDX-License-Identifier: BSD-3-Clause
"""Tests of change between new and earlier documents: by relabelling, and relative to the past.

Each word belongs to the topic k with the greatest probability phi. A document of m different
words has by topic

    use u_k = number of words of topic k,  surprise s_k = sum of -log phi of these words,

divided by sqrt(m), because long documents vary more. About 64 random blocks of equal size hold
new or earlier documents. The sums of blocks are made linear,

    u_k - (total u_k / total m) m,  s_k - (total s_k / total u_k) u_k,

standardised, and cut at three standard deviations. Other features are the numbers of documents
with a word, for the 256 words with the largest differences between blocks. For each feature

    T = (mean of new - mean of other blocks) / (sd sqrt(1/n_new + 1/n_others)).

The statistics A are the norms of max(0, T) of surprise, of T of use, and of max(0, T) of the eight
words with the largest T. For exchangeable documents and B relabellings with statistics A_b

    p = (1 + number of A_b >= A) / (B + 1)

is at most a with probability at most a, for any model. A stream always moves a little. So the
chart compares z, A in standard deviations over relabellings, with m last values, without outliers:

    mu = sum z_i / m,  S = sum (z_i - mu)^2,  p = P(t_f > (z - mu) / (s sqrt(1 + 1 / m))).

With drift (S above the 0.95 quantile of chi-square with m - 1 degrees of freedom) s^2 = S / f and
f = m - 1. Otherwise s^2 = max(1, (10 + S) / f) and f = m + 9: a prior of variance 1 is worth ten
minibatches (Laney's p'-chart).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import chdtri, stdtr

from streamtopics.kernels import rows

# Least probability of a word, also under unsmoothed topics.
LEAST = 1e-12
# Statistics within this relative difference are equal up to rounding.
EQUAL = 1e-9
WITHIN = 3.0
# Words in the statistic, candidates, and fewest documents of each.
N_WORDS, N_CANDIDATES, LEAST_DOCUMENTS = 8, 256, 5
# Relabellings always drawn, and most of them that may reach a statistic before more are drawn.
N_FIRST, N_LARGER = 99, 3
# Blocks in all, and fewest of new or of earlier documents, given enough documents.
N_BLOCKS, LEAST_BLOCKS = 64, 8
# Words looked up at once, to save memory.
AT_ONCE = 4096
# Products at once. BLAS uses threads for more, and threads wait on a busy machine.
MULTIPLIED = 200_000
# Weight of the prior of the chart in minibatches, and tests before values are clipped.
PRIOR, CLIPPED_FROM = 10, 4
# Probability to find drift in a stream without drift.
DRIFTS = 0.05
# Standard deviation of a normal distribution over the median absolute deviation.
ROBUST = 1.4826


# Features


class BlockFeatures(NamedTuple):
    """Sums over blocks of documents, new documents first."""

    n_new: int
    # (n_blocks, n_topics): surprise and use, made linear
    surprise: np.ndarray
    use: np.ndarray
    # (n_blocks, n_words): documents with each word
    words: np.ndarray


def without_ratio(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Values less sizes times the ratio of sums, by column."""
    total = sizes.sum(axis=0)
    ratio = np.divide(values.sum(axis=0), total, where=total > 0, out=np.zeros(values.shape[1]))
    return np.asarray(values - ratio * sizes)


def block_features(
    model: Any, X: sparse.csr_matrix, n_new: int, rng: np.random.Generator
) -> BlockFeatures:
    """Features of blocks under a fitted model; the first `n_new` documents are new."""
    model._validate()
    model._check_background(model._composed())
    block, n_new_blocks, n_blocks = blocks(n_new, X.shape[0] - n_new, rng)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    chosen = (X.data > 0) & (block[row] >= 0)
    row, columns = row[chosen], X.indices[chosen]
    words, places = rows.used_columns(columns, X.shape[1])
    scale = 1.0 / np.sqrt(np.maximum(np.bincount(row, minlength=X.shape[0]), 1))[row]
    topic, surprise, n_topics = leading_topics(model, words)
    block = block[row]
    length = np.bincount(block, scale, n_blocks)[:, None]
    cell, shape = block * n_topics + topic[places], (n_blocks, n_topics)
    use = np.bincount(cell, scale, n_blocks * n_topics).reshape(shape)
    of_surprise = np.bincount(cell, scale * surprise[places], n_blocks * n_topics).reshape(shape)
    common = np.bincount(places, minlength=len(words)) >= LEAST_DOCUMENTS
    number = np.cumsum(common) - 1
    kept, n_words = common[places], int(np.count_nonzero(common))
    cell = block[kept] * n_words + number[places[kept]]
    return BlockFeatures(
        n_new_blocks,
        without_ratio(of_surprise, use),
        without_ratio(use, length),
        np.bincount(cell, minlength=n_blocks * n_words).reshape(n_blocks, n_words),
    )


def blocks(n_new: int, n_before: int, rng: np.random.Generator) -> tuple[np.ndarray, int, int]:
    """The block of each document, or -1; numbers of new and of all blocks."""
    sides = n_new, n_before
    size = max(1, min(sum(sides) // N_BLOCKS, min(sides) // LEAST_BLOCKS))
    block, first = np.full(sum(sides), -1), 0
    for own, n in zip((block[:n_new], block[n_new:]), sides, strict=True):
        own[rng.permutation(n)[: n // size * size]] = first + np.arange(n // size).repeat(size)
        first += n // size
    return block, n_new // size, first


def leading_topics(model: Any, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The topic and -log probability of each word, and n_topics."""
    # No word belongs to a free cluster.
    learnt = (model.doc_topic_prior_ > 0)[:, None]
    topic, probability = np.empty(len(words), np.intp), np.empty(len(words))
    for start in range(0, len(words), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        phi = learnt * model._topics_of(words[some])[model._n_hidden :]
        topic[some] = own = phi.argmax(axis=0)
        probability[some] = phi[own, np.arange(len(own))]
    return topic, -np.log(np.maximum(probability, LEAST)), len(learnt)


# Statistics


class Comparison(NamedTuple):
    """Statistics of new documents beside earlier documents."""

    # Of the surprise, the use and the words: statistic in standard deviations, and p-value.
    z: np.ndarray
    p: np.ndarray
    # T of each topic.
    surprise: np.ndarray
    use: np.ndarray


def permuted(n_new: int, n_others: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Labels (n + 1, n_blocks), True for new: true in row 0, otherwise random."""
    keys = rng.random((n + 1, n_new + n_others))
    # Keys have 53 bits, and do not tie.
    labels: np.ndarray = keys <= np.partition(keys, n_new - 1, axis=1)[:, n_new - 1 : n_new]
    labels[0] = np.arange(n_new + n_others) < n_new
    return labels


def standardised(features: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1; 0 for constant columns."""
    centered = features - features.mean(axis=0)
    size = np.abs(features).max(axis=0, initial=0.0)
    sd = centered.std(axis=0, ddof=1)
    positive = sd > EQUAL * size
    return np.asarray(np.where(positive, centered / np.where(positive, sd, 1.0), 0.0))


def dispersed(words: np.ndarray) -> np.ndarray:
    """Columns of words with the greatest variance over mean."""
    ratio = words.var(axis=0) / np.maximum(words.mean(axis=0), LEAST)
    return np.asarray(words[:, np.argsort(-ratio, kind="stable")[:N_CANDIDATES]])


def compare(features: BlockFeatures, n: int, rng: np.random.Generator) -> Comparison:
    """Compare new blocks with others, by 99 relabellings, or `n` if p may be small.

    For z and T the standard deviations are within the two groups.
    """
    n_new, k = features.n_new, features.use.shape[1]
    cut = np.clip(standardised(np.hstack([features.surprise, features.use])), -WITHIN, WITHIN)
    values = np.hstack([standardised(cut), standardised(dispersed(features.words))])
    within = np.vstack([part - part.mean(axis=0) for part in (values[:n_new], values[n_new:])])
    sd = within.std(axis=0, ddof=1)
    labels = permuted(n_new, len(values) - n_new, min(n, N_FIRST), rng)
    statistic = differences(values, labels)
    difference = statistic[0] / np.where(sd > EQUAL, sd, 1.0)
    found, usual = totals(statistic, k), totals(differences(standardised(within), labels[1:]), k)
    true, spread = totals(difference[None], k)[0], usual.std(axis=0)
    positive = spread > EQUAL * np.abs(usual).max(axis=0)
    z = np.where(positive, (true - usual.mean(axis=0)) / np.where(positive, spread, 1.0), 0.0)
    least = found[0] - EQUAL * np.abs(found[0])
    n_larger, n_drawn = (found[1:] >= least).sum(axis=0), len(labels) - 1
    if n > n_drawn and n_larger.min() <= N_LARGER:
        labels = permuted(n_new, len(values) - n_new, n - n_drawn, rng)
        n_larger += (totals(differences(values, labels), k)[1:] >= least).sum(axis=0)
        n_drawn = n
    return Comparison(z, (1 + n_larger) / (1 + n_drawn), difference[:k], difference[k : 2 * k])


def differences(standard: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """T under each row of labels, from the sum of the new."""
    n_new = int(labels[0].sum())
    scale = np.sqrt(1.0 / n_new + 1.0 / (labels.shape[1] - n_new))
    n_parts = min(len(labels), 1 + labels.size * standard.shape[1] // MULTIPLIED)
    parts, scaled = np.array_split(labels, n_parts), scale * standard
    return np.vstack([part.astype(np.float64) @ scaled for part in parts])


def totals(statistic: np.ndarray, n_topics: int) -> np.ndarray:
    """The statistics A, (n, 3), of rows of T."""
    of_surprise, of_use, of_words = np.split(statistic, (n_topics, 2 * n_topics), axis=1)
    if of_words.shape[1] > N_WORDS:
        of_words = np.partition(of_words, -N_WORDS, axis=1)[:, -N_WORDS:]
    parts = np.maximum(of_surprise, 0.0), of_use, np.maximum(of_words, 0.0)
    return np.asarray(np.sqrt([np.einsum("bk,bk->b", part, part) for part in parts]).T)


def chart_p(past: np.ndarray, z: np.ndarray) -> np.ndarray:
    """p-values of the chart for statistics z with the past (m, n)."""
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
    return np.asarray(stdtr(freedom, (mu - z) / np.sqrt(variance * (1.0 + 1.0 / m))))
