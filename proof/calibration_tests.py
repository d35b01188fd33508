# SPDX-License-Identifier: BSD-3-Clause
"""Tests of calibration: p-values that are uniform for what is right.

`ranks`: the place of a true parameter among draws of its posterior is uniform, if truth and data
were drawn from the model (Cook, Gelman and Rubin 2006; Talts et al. 2018). A posterior that
forgets data has that property too for each parameter, but not for functions of parameter and data
such as their log joint density (Modrák et al. 2023). `alike`: what a sampler says of data that
are drawn anew after each of its moves has the law of the prior (Geweke 2004). Here chains are
short and many, each from a draw of the prior, so that their ends are independent, and need no
correction for the length of a chain.

All are chi-square tests in ten cells of equal size. Equal numbers are put in random order, so that
numbers of a few values only have the same law as others.

A p-value of each subject, drawn at random among its statistics (which depend on each other), is
compared with the uniform law by Kolmogorov and Smirnov's test, and the least of all, times their
number (Bonferroni), with half of the rate of false alarms; so has the former the other half. One
that is not a number counts as 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import chi2, kstest, ttest_ind

N_CELLS = 10
# Draws of a posterior for each replicate, one less than a multiple of the cells.
N_DRAWS = 99
# That all subjects are right, and the command says that they are not.
FALSE_ALARMS = 0.01
LEAST_EXPECTED = 5.0
# Replicates of a subject. With fewer than 283 a law of sets is one cell, which has no p-value; with
# few, p-values of the means of skewed numbers are too small too often.
FEWEST = 300
# What differs less is equal: the same sum in another order.
DECIMALS = 9

PValues = dict[str, float]


@dataclass(frozen=True)
class Subject:
    """What is tested.

    Attributes
    ----------
    name : str
    p_values : callable
        (number of replicates, rng) -> p-value of each statistic.
    replicates : int
        At the size of the command.
    exact : bool
        Whether theory says that it is calibrated. The others are shown, and do not count.
    """

    name: str
    p_values: Callable[[int, Generator], PValues]
    replicates: int = 5000
    exact: bool = True


@dataclass(frozen=True)
class Verdict:
    """Of all p-values together.

    Attributes
    ----------
    uniform : float
        p-value of Kolmogorov and Smirnov's test of one p-value of each subject.
    least : float
        The least of all, times their number.
    """

    uniform: float
    least: float

    @property
    def calibrated(self) -> bool:
        """Whether both are above half of the rate of false alarms."""
        return min(self.uniform, self.least) > FALSE_ALARMS / 2


def chi_square(seen: np.ndarray, expected: np.ndarray) -> float:
    """p-value of numbers in cells, those with less than five expected put together."""
    possible = expected > 0
    if seen[~possible].any():
        return 0.0
    seen, expected = seen[possible], expected[possible]
    few = expected < LEAST_EXPECTED
    if few.any():
        seen = np.append(seen[~few], seen[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(seen) - 1))


def uniform(u: np.ndarray) -> float:
    """p-value of numbers between 0 and 1."""
    cells = np.minimum((u * N_CELLS).astype(int), N_CELLS - 1)
    return chi_square(np.bincount(cells, minlength=N_CELLS), np.full(N_CELLS, len(u) / N_CELLS))


def ranks(truth: np.ndarray, draws: np.ndarray, rng: Generator) -> float:
    """p-value of the ranks of numbers, shape (n,), each among draws, shape (N_DRAWS, n)."""
    ties = (draws == truth).sum(axis=0)
    below = (draws < truth).sum(axis=0) + rng.integers(0, ties + 1)
    return uniform((below + 0.5) / (len(draws) + 1))


def alike(one: np.ndarray, other: np.ndarray, rng: Generator) -> float:
    """p-value of two independent samples, that they have one law."""
    both = np.concatenate([one, other]).round(DECIMALS)
    order = np.lexsort((rng.random(len(both)), both))
    cells = [np.count_nonzero(cell < len(one)) for cell in np.array_split(order, N_CELLS)]
    sizes = np.array([len(cell) for cell in np.array_split(order, N_CELLS)])
    share = len(one) / len(both)
    # Given the sizes of the cells, what is in one is not in another: with the variance of the
    # hypergeometric law this is the chi-square of the table of cells and samples.
    z2 = (np.array(cells) - share * sizes) ** 2 / (share * (1 - share) * sizes)
    return float(chi2.sf(z2.sum(), N_CELLS - 1))


def means(one: np.ndarray, other: np.ndarray) -> float:
    """p-value of two independent samples, that they have one mean (Welch)."""
    return float(ttest_ind(one, other, equal_var=False).pvalue)


def verdict(found: Mapping[str, PValues], rng: Generator) -> Verdict:
    """Test the p-values of subjects that are calibrated in theory."""
    each = [np.nan_to_num(list(p.values()), nan=0.0) for p in found.values()]
    one_of_each = [p[rng.integers(len(p))] for p in each]
    every = np.concatenate(each)
    least = min(1.0, float(every.min()) * len(every))
    return Verdict(float(kstest(one_of_each, "uniform").pvalue), least)
