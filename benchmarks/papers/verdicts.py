# SPDX-License-Identifier: BSD-3-Clause
"""Whether measurements bear out what a paper says: paired tests of differences.

A claim says that one method has a lower (or higher) value than others, that it is not much worse,
or that they are alike. Its differences to each of them, on the same splits, are tested by a
permutation of signs: exact up to 16 pairs, and for more the normal limit of the same statistic,
their mean. That a claim holds in m of n comparisons has the p-value (n - m + 1) p_(m), of the m-th
least of theirs (Benjamini and Heller, 2008): the largest of all where it has to hold in each of
them, n times the least where one is enough.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        Share of the other's value by which the two differ at most, in the place of one being
        better.
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
    most: bool = False

    def holds_by(self, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """By how much the claim holds on each split; less than 0 where it does not."""
        if self.alike is not None:
            return self.alike * np.abs(theirs) - np.abs(mine - theirs)
        sign = -1.0 if self.lower else 1.0
        return sign * (mine - theirs) - self.margin * np.abs(theirs)

    def says(self) -> str:
        """What it says of the two, but for the value."""
        if self.alike is not None:
            return f"within {100 * self.alike:g} % of it"
        word = "lower" if self.lower else "higher"
        if self.margin:
            by = f"{100 * abs(self.margin):g} %"
            return f"{word} by {by}" if self.margin > 0 else f"{word}, or worse by less than {by}"
        return word


@dataclass(frozen=True)
class Comparison:
    """A method beside another on some splits.

    Attributes
    ----------
    other : str
    where : tuple of str
        Values of the claim's `by`.
    n : int
        Pairs.
    gain : float
        Mean of what the claim holds by; less than 0 if it does not.
    better, worse : float
        p-values, one-sided, of the claim and of its opposite.
    """

    other: str
    where: tuple[str, ...]
    n: int
    gain: float
    better: float
    worse: float


def sign_test(differences: np.ndarray) -> float:
    """Return the one-sided p-value of a mean above 0, by permutation of signs."""
    d = np.asarray(differences, dtype=np.float64)
    d = d[d != 0]
    if not len(d):
        return 1.0
    if len(d) > EXACT:
        return 0.5 * erfc(d.sum() / sqrt(2.0 * (d @ d)))
    signs = np.array(list(product((1.0, -1.0), repeat=len(d))))
    sums = signs @ d
    rounding = 1e-12 * np.abs(d).sum()
    return float((sums >= d.sum() - rounding).mean())


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
                d = claim.holds_by(a, b)
                found.append(
                    Comparison(
                        other, where, len(both), float(d.mean()), sign_test(d), sign_test(-d)
                    )
                )
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
    n = len(found)
    if not n:
        return Tested(claim, found, 1.0, 1.0)
    m = n // 2 + 1 if claim.most else n
    better = in_most([one.better for one in found], m)
    return Tested(claim, found, better, in_most([one.worse for one in found], n - m + 1))


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
