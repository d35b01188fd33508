# SPDX-License-Identifier: BSD-3-Clause
"""Tests of change between new and earlier documents: by relabelling, and relative to the past.

Each word belongs to the topic k of its greatest probability phi. Sums over the different words of a
document d are divided by the square root of their number m_d, because long documents vary more:

    u_dk = words of topic k, s_dk = -log phi of these words (their surprise).

New and earlier documents are put into blocks of equal size at random, about 64 in all. The sums of
blocks are made linear as u_k - (total u_k / total m) m and s_k - (total s_k / total u_k) u_k,
standardised, and cut at three standard deviations. A word has the number of documents with it; the
256 words with the largest differences between blocks count, of five documents or more. Then

    T = (mean of the new - mean of the others) / (sd sqrt(1/n_new + 1/n_others)),

with sd over all blocks. Three statistics are large after a change:

    A_surprise = sqrt(sum over topics of max(0, T of the surprise)^2),
    A_use = sqrt(sum over topics of (T of the use)^2),
    A_words = sqrt(sum over the eight words with the largest T of max(0, T of the word)^2).

If the documents are exchangeable, so are the labels of blocks, and

    p = (1 + number of the B relabellings with A_b >= A) / (B + 1)

is at most a with probability at most a, whatever the model, the features and their number.

A stream that always moves a little is never exchangeable. So z, a statistic in standard deviations
over the relabellings, is compared with the m last values, without outliers:

    mu = sum z_i / m,   S = sum (z_i - mu)^2,   p = P(t_f > (z - mu) / (s sqrt(1 + 1 / m))).

The variance within minibatches is 1; the variance between minibatches is none or is estimated
(Laney's p'-chart). If S is below the 0.95 quantile of chi-square with m - 1 degrees of freedom, s^2
= max(1, (10 + S) / f) with f = m + 9, a prior worth ten minibatches without change; else s^2 = S /
f with f = m - 1.
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
    """Values less their sizes times the ratio of the sums of both; 0 if all sizes are 0."""
    total = sizes.sum(axis=0)
    ratio = np.divide(values.sum(axis=0), total, where=total > 0, out=np.zeros(values.shape[1]))
    linear: np.ndarray = values - ratio * sizes
    return linear


def block_features(
    model: Any, X: sparse.csr_matrix, n_new: int, rng: np.random.Generator
) -> BlockFeatures:
    """Features of blocks of documents, the first `n_new` of which are new, under a fitted model."""
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
    """The block of each document, -1 for the few left over; how many are new, and all of them."""
    sides = n_new, n_before
    size = max(1, min(sum(sides) // N_BLOCKS, min(sides) // LEAST_BLOCKS))
    block, first = np.full(sum(sides), -1), 0
    for own, n in zip((block[:n_new], block[n_new:]), sides, strict=True):
        own[rng.permutation(n)[: n // size * size]] = first + np.arange(n // size).repeat(size)
        first += n // size
    return block, n_new // size, first


def leading_topics(model: Any, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The topic in which each word is most probable, -log of that, and the number of topics."""
    n_topics = 1
    topic, probability = np.empty(len(words), np.intp), np.empty(len(words))
    for start in range(0, len(words), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        phi = model._topics_of(words[some])[model._n_hidden :]
        n_topics = len(phi)
        topic[some] = own = phi.argmax(axis=0)
        probability[some] = phi[own, np.arange(len(own))]
    return topic, -np.log(np.maximum(probability, LEAST)), n_topics


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


def dispersed(words: np.ndarray) -> np.ndarray:
    """The columns of the words whose numbers differ most between blocks: variance over mean."""
    ratio = words.var(axis=0) / np.maximum(words.mean(axis=0), LEAST)
    found: np.ndarray = words[:, np.argsort(-ratio, kind="stable")[:N_CANDIDATES]]
    return found


def compare(features: BlockFeatures, n: int, rng: np.random.Generator) -> Comparison:
    """Compare the new blocks with the others, by a hundred relabellings, and n if they may differ.

    A change makes blocks differ under any label. So z is in standard deviations over a hundred
    relabellings of blocks without the difference of the two groups, and T then in those within.
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
    """T under each row of labels: the sum of the others is that of the new with the other sign."""
    n_new = int(labels[0].sum())
    scale = np.sqrt(1.0 / n_new + 1.0 / (labels.shape[1] - n_new))
    found: np.ndarray = labels.astype(np.float64) @ (scale * standard)
    return found


def totals(statistic: np.ndarray, n_topics: int) -> np.ndarray:
    """The three statistics (n, 3) of rows of T: of the surprise, the use and the words."""
    of_surprise, of_use, of_words = np.split(statistic, (n_topics, 2 * n_topics), axis=1)
    if of_words.shape[1] > N_WORDS:
        of_words = np.partition(of_words, -N_WORDS, axis=1)[:, -N_WORDS:]
    parts = np.maximum(of_surprise, 0.0), of_use, np.maximum(of_words, 0.0)
    found: np.ndarray = np.sqrt([np.einsum("bk,bk->b", part, part) for part in parts]).T
    return found


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
