# SPDX-License-Identifier: BSD-3-Clause
"""Whether measurements bear out what a paper says: paired tests of differences.

A claim says that one method has a lower (or higher) value than others. Its differences to each
of them, on the same splits, are tested by a permutation of signs: exact up to 16 pairs, and for
more the normal limit of the same statistic. Of several comparisons the p-values are corrected by
Holm's method.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import erfc, sqrt
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, str]]
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
    """

    method: str
    than: tuple[str, ...]
    value: str
    lower: bool = True
    series: str = "method"
    by: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ("split",)
    where: Mapping[str, Any] = field(default_factory=dict)


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
        Median of what the method is better by; less than 0 if it is worse.
    better, worse : float
        p-values, one-sided, of its being better and worse, before correction.
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


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, by Holm's method."""
    order, n = np.argsort(p), len(p)
    found, least = [0.0] * n, 0.0
    for place, i in enumerate(order):
        least = max(least, min(1.0, (n - place) * p[i]))
        found[i] = least
    return found


def has(row: Mapping[str, str], where: Mapping[str, Any]) -> bool:
    """Whether a row has, in each of some columns, the value or one of the values wanted."""
    for name, wanted in where.items():
        some = wanted if isinstance(wanted, list) else [wanted]
        if row[name] not in map(str, some):
            return False
    return True


def comparisons(claim: Claim, rows: Rows) -> list[Comparison]:
    """All comparisons that a claim makes, in the order of the rows."""
    cells: dict[tuple[str, ...], dict[str, dict[tuple[str, ...], float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in rows:
        if row[claim.value] not in ("", "nan") and has(row, claim.where):
            where, pair = (tuple(row[name] for name in names) for names in (claim.by, claim.pairs))
            cells[where][row[claim.series]][pair] = float(row[claim.value])
    found = []
    for where, methods in cells.items():
        for other in claim.than:
            mine, theirs = methods.get(claim.method, {}), methods.get(other, {})
            both = sorted(mine.keys() & theirs.keys())
            if both:
                sign = -1.0 if claim.lower else 1.0
                d = sign * np.array([mine[pair] - theirs[pair] for pair in both])
                found.append(
                    Comparison(
                        other, where, len(both), float(np.median(d)), sign_test(d), sign_test(-d)
                    )
                )
    return found


def verdict(found: Iterable[Comparison]) -> tuple[str, float]:
    """Return the verdict on a claim, and the p-value that it rests on.

    It is confirmed if the method is better in all comparisons, each beyond chance; refuted if
    it is worse beyond chance in one of them; and not decidable otherwise.
    """
    found = list(found)
    if not found:
        return OPEN, 1.0
    better = max(holm([one.better for one in found]))
    worse = min(holm([one.worse for one in found]))
    if worse < LEVEL:
        return REFUTED, worse
    return (CONFIRMED, better) if better < LEVEL else (OPEN, better)
