# SPDX-License-Identifier: BSD-3-Clause
"""Whether measurements bear out what a paper says: paired tests of differences.

A claim says that one method has a lower (or higher) value than others, that it is not much worse,
or that they are alike: that neither is worse than the other by more than so much. Its differences
to each of them, on the same splits, are tested by a permutation of signs: exact up to 16 pairs, and
for more the normal limit of the same statistic, their mean. That all of several differences are
above 0 has the largest of their p-values. That one of them is has the p-value of the largest
standardised mean, where a split changes its sign in all of them at once (Westfall and Young, 1993);
of more than 16 pairs it is n times the least p-value. That most are, m of n, has
(n - m + 1) p_(m), of the m-th least p-value (Benjamini and Heller, 2008).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import erfc, isfinite, sqrt
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, str]]
Key = tuple[str, ...]
LEVEL = 0.05
EXACT = 16
CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "not decidable"


@dataclass(frozen=True)
class Claim:
    """One method is said to be better than others.

    Attributes
    ----------
    method : str
        That is said to be better.
    than : tuple of str
        The others.
    value : str
        Column that is compared.
    lower : bool
        Whether lower values are better.
    series : str
        Column of the methods' names.
    by : tuple of str
        Columns of which each combination is a comparison of its own.
    pairs : tuple of str
        Columns that say which rows are of the same split.
    where : mapping
        Values of columns that its rows have, among those of the item.
    margin : float
        By what share of the other's value it is better at least; below 0, by what share it may be
        worse.
    alike : float or None
        Share of the other's value by which their means differ at most, in the place of one being
        better.
    absolute : bool
        Whether `margin` and `alike` are in the unit of the value, and no shares.
    most : bool
        Whether it is enough that most of the comparisons hold.
    """

    method: str
    than: tuple[str, ...]
    value: str
    lower: bool = True
    series: str = "method"
    by: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ("split",)
    where: Mapping[str, Any] = field(default_factory=dict)
    margin: float = 0.0
    alike: float | None = None
    absolute: bool = False
    most: bool = False

    def holds_by(self, mine: np.ndarray, theirs: np.ndarray) -> list[np.ndarray]:
        """By how much each of its parts holds on each split; less than 0 where it does not.

        There are two where the methods are alike: neither is worse by too much.
        """
        scale = 1.0 if self.absolute else np.abs(theirs)
        if self.alike is not None:
            return [self.alike * scale + mine - theirs, self.alike * scale - mine + theirs]
        sign = -1.0 if self.lower else 1.0
        return [sign * (mine - theirs) - self.margin * scale]

    def says(self) -> str:
        """What it says of the two, but for the value."""
        if self.alike is not None:
            return f"within {self._amount(self.alike)} of it"
        word = "lower" if self.lower else "higher"
        if self.margin:
            by = self._amount(abs(self.margin))
            return f"{word} by {by}" if self.margin > 0 else f"{word}, or worse by less than {by}"
        return word

    def _amount(self, value: float) -> str:
        return f"{value:g}" if self.absolute else f"{100 * value:g} %"


@dataclass(frozen=True)
class Comparison:
    """A method beside another on some splits.

    Attributes
    ----------
    other : str
    where : tuple of str
        Values of the claim's `by`.
    pairs : tuple
        Splits that both have.
    parts : tuple of tuple of float
        By how much each part of the claim holds on each of them.
    """

    other: str
    where: tuple[str, ...]
    pairs: tuple[Key, ...]
    parts: tuple[tuple[float, ...], ...]

    @property
    def gain(self) -> float:
        """Mean of what the claim holds by, of the part that holds least; less than 0 if not."""
        return float(np.mean(self.parts, axis=1).min())

    @property
    def better(self) -> float:
        """The p-value, one-sided, of the claim."""
        return max(sign_test(np.array(part)) for part in self.parts)

    @property
    def worse(self) -> float:
        """The p-value of its opposite."""
        return opposite([self])


def sign_test(differences: np.ndarray) -> float:
    """Return the one-sided p-value of a mean above 0, by permutation of signs."""
    return largest_test(np.asarray(differences, dtype=np.float64)[:, None])


def largest_test(differences: np.ndarray) -> float:
    """Return the p-value of one of several means being above 0.

    Parameters
    ----------
    differences : ndarray of shape (n_pairs, n_means)
        0 where there is no pair.
    """
    norms = np.sqrt((differences**2).sum(axis=0))
    told = differences[:, norms > 0] / norms[norms > 0]
    told = told[(told != 0).any(axis=1)]
    if not told.size:
        return 1.0
    n, n_means = told.shape
    found = told.sum(axis=0).max()
    if n > EXACT:
        return min(1.0, n_means * 0.5 * erfc(found / sqrt(2.0)))
    sums = signs_of(n) @ told
    return float((sums.max(axis=1) >= found - 1e-12 * n).mean())


@cache
def signs_of(n: int) -> np.ndarray:
    """All signs of n pairs, of shape (2^n, n)."""
    return np.array(list(product((1.0, -1.0), repeat=n)))


def opposite(compared: Sequence[Comparison]) -> float:
    """Return the p-value of a claim not holding in one of its comparisons."""
    pairs = {pair: i for i, pair in enumerate(sorted({p for one in compared for p in one.pairs}))}
    parts = [(one.pairs, part) for one in compared for part in one.parts]
    table = np.zeros((len(pairs), len(parts)))
    for column, (own, part) in enumerate(parts):
        table[[pairs[pair] for pair in own], column] = part
    return largest_test(-table)


def in_most(p: Sequence[float], m: int) -> float:
    """Return the p-value of at least `m` of several hypotheses being false, by Bonferroni."""
    return min(1.0, (len(p) - m + 1) * sorted(p)[m - 1])


def has(row: Mapping[str, str], where: Mapping[str, Any]) -> bool:
    """Whether a row has, in each of some columns, the value or one of the values wanted."""
    for name, wanted in where.items():
        some = wanted if isinstance(wanted, list) else [wanted]
        if row[name] not in map(str, some):
            return False
    return True


def comparisons(claim: Claim, rows: Rows, *, complete: bool = False) -> list[Comparison]:
    """All comparisons that a claim makes, in the order of the rows.

    If `complete`, ValueError where one of the methods has no value that the other has.
    """
    cells: dict[Key, dict[str, dict[Key, float]]] = defaultdict(lambda: defaultdict(dict))
    names = (claim.method, *claim.than)
    for row in rows:
        if row[claim.value] and row[claim.series] in names and has(row, claim.where):
            where, pair = (tuple(row[name] for name in names) for names in (claim.by, claim.pairs))
            own, value = cells[where][row[claim.series]], float(row[claim.value])
            if pair in own or not isfinite(value):
                raise ValueError(f"{row[claim.series]}, {where}, {pair}: twice, or {value}")
            own[pair] = value
    found = []
    for where, methods in cells.items():
        for other in claim.than:
            mine, theirs = methods.get(claim.method, {}), methods.get(other, {})
            if complete and mine.keys() != theirs.keys():
                raise ValueError(f"{claim.method} and {other}, {where}: not of the same splits")
            if both := sorted(mine.keys() & theirs.keys()):
                a, b = (np.array([values[pair] for pair in both]) for values in (mine, theirs))
                parts = tuple(tuple(part.tolist()) for part in claim.holds_by(a, b))
                found.append(Comparison(other, where, tuple(both), parts))
    if complete and not found:
        raise ValueError(f"{claim.method} is compared with nothing")
    return found


@dataclass(frozen=True)
class Tested:
    """A claim, its comparisons, and the p-values of it and of its opposite."""

    claim: Claim
    comparisons: list[Comparison]
    better: float
    worse: float


def weigh(claim: Claim, found: list[Comparison]) -> Tested:
    """Return p-values: of the claim in all or most comparisons, and of this being untrue."""
    if not found:
        return Tested(claim, found, 1.0, 1.0)
    better = [one.better for one in found]
    if not claim.most:
        return Tested(claim, found, max(better), opposite(found))
    n = len(found)
    m = n // 2 + 1
    worse = in_most([one.worse for one in found], n - m + 1)
    return Tested(claim, found, in_most(better, m), worse)


def verdict(claims: Sequence[Tested]) -> tuple[str, float]:
    """Return the verdict on claims together, and the p-value that it rests on.

    They are confirmed if each is, refuted if the opposite of one of them is beyond chance, their
    number taken into account, and not decidable otherwise.
    """
    worse = in_most([one.worse for one in claims], 1)
    better = max(one.better for one in claims)
    if worse < LEVEL:
        return REFUTED, worse
    return (CONFIRMED, better) if better < LEVEL else (OPEN, better)
