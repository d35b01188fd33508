# SPDX-License-Identifier: BSD-3-Clause
"""Whether measurements bear out what a paper says, in counts and sizes of paired differences.

A claim says that one method has a lower (or higher) value than others, that it is not much worse,
or that they are alike: that neither is worse than the other by more than so much. Each comparison
is of the same splits. It holds, or is opposite, where its mean is beyond chance by a permutation of
signs (p < .05, one-sided): exact up to 16 pairs, and for more the normal limit of the same
statistic. No count is corrected: of twenty comparisons of equal methods one holds by chance, and
one is opposite. Claims that are parts of one statement have one verdict, see `verdict`.
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
CHANCE = 0.05
EXACT = 16
CONFIRMED, MOSTLY, LEVEL, IN_PART = "confirmed", "mostly", "level", "in part"
REFUTED, SCALE, OPEN = "refuted", "not tested at the paper's scale", "not decidable"
WORDS = CONFIRMED, MOSTLY, LEVEL, IN_PART, REFUTED, SCALE, OPEN
NEARLY_ALL, PART = 0.95, 0.25


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
        Whether the paper says no more than that most of the comparisons hold.
    of : str
        Which of several statements of its item it is a part of; empty if there is one.
    moves : bool
        Whether the difference comes nearer to the claim with the length of the stream.
    """

    method: str
    than: tuple[str, ...]
    value: str
    lower: bool = True
    series: str = "method"
    by: tuple[str, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    margin: float = 0.0
    alike: float | None = None
    absolute: bool = False
    most: bool = False
    of: str = ""
    moves: bool = False

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
    pairs : tuple of str
        Splits that both have.
    parts : tuple of tuple of float
        By how much each part of the claim holds on each of them.
    difference, level : float
        Means over the splits: of the method's value less the other's, and of the other's.
    """

    other: str
    where: tuple[str, ...]
    pairs: tuple[str, ...]
    parts: tuple[tuple[float, ...], ...]
    difference: float
    level: float

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
        """The p-value of its opposite; of two parts no more than one can fail."""
        return min(sign_test(-np.array(part)) for part in self.parts)


def sign_test(differences: np.ndarray) -> float:
    """Return the one-sided p-value of a mean above 0, by permutation of signs."""
    told = np.asarray(differences, dtype=np.float64)
    told = told[told != 0]
    n, found = len(told), told.sum()
    if n > EXACT:
        return 0.5 * erfc(found / sqrt(2.0 * (told**2).sum()))
    return float((signs_of(n) @ told >= found - 1e-12 * np.abs(told).sum()).mean())


@cache
def signs_of(n: int) -> np.ndarray:
    """All signs of n pairs, of shape (2^n, n)."""
    return np.array(list(product((1.0, -1.0), repeat=n))).reshape(2**n, n)


def has(row: Mapping[str, str], where: Mapping[str, Any]) -> bool:
    """Whether a row has, in each of some columns, the value or one of the values wanted."""
    for name, wanted in where.items():
        some = wanted if isinstance(wanted, list) else [wanted]
        if row[name] not in map(str, some):
            return False
    return True


def comparisons(claim: Claim, rows: Rows) -> list[Comparison]:
    """All comparisons that a claim makes, in the order of the rows.

    ValueError where one of the methods has no value that the other has.
    """
    cells: dict[Key, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    names = (claim.method, *claim.than)
    for row in rows:
        if row[claim.value] and row[claim.series] in names and has(row, claim.where):
            where, pair = tuple(row[name] for name in claim.by), row["split"]
            own, value = cells[where][row[claim.series]], float(row[claim.value])
            if pair in own or not isfinite(value):
                raise ValueError(f"{row[claim.series]}, {where}, {pair}: twice, or {value}")
            own[pair] = value
    found = []
    for where, methods in cells.items():
        for other in claim.than:
            mine, theirs = methods.get(claim.method, {}), methods.get(other, {})
            if mine.keys() != theirs.keys() or not mine:
                raise ValueError(f"{claim.method} and {other}, {where}: not of the same splits")
            both = sorted(mine)
            a, b = (np.array([values[pair] for pair in both]) for values in (mine, theirs))
            parts = tuple(tuple(part.tolist()) for part in claim.holds_by(a, b))
            means = float((a - b).mean()), float(b.mean())
            found.append(Comparison(other, where, tuple(both), parts, *means))
    if not found:
        raise ValueError(f"{claim.method} is compared with nothing")
    return found


@dataclass(frozen=True)
class Finding:
    """What came of one statement: its claims, each with its comparisons, and the verdict."""

    claims: tuple[Claim, ...]
    compared: tuple[tuple[Comparison, ...], ...]
    word: str

    @property
    def every(self) -> list[Comparison]:
        """All comparisons."""
        return [one for some in self.compared for one in some]

    @property
    def n_hold(self) -> int:
        """How many hold beyond chance."""
        return sum(one.better < CHANCE for one in self.every)

    @property
    def n_opposite(self) -> int:
        """How many are opposite beyond chance."""
        return sum(one.worse < CHANCE for one in self.every)

    @property
    def signed(self) -> list[float]:
        """Differences, above 0 as is claimed; of methods said to be alike, the one less another."""
        return [
            -one.difference if claim.lower and claim.alike is None else one.difference
            for claim, some in zip(self.claims, self.compared, strict=True) for one in some
        ]  # fmt: skip

    @property
    def effect(self) -> float:
        """Mean of these, or of their sizes where methods are said to be alike."""
        alike = self.claims[0].alike is not None
        return float(np.mean(np.abs(self.signed) if alike else self.signed))


def findings(claims: Sequence[Claim], rows: Rows, margins: Mapping[str, float]) -> list[Finding]:
    """What came of each statement; `margins` says of values which differences are small."""
    found = []
    for name in dict.fromkeys(one.of for one in claims):
        own = tuple(one for one in claims if one.of == name)
        compared = tuple(tuple(comparisons(one, rows)) for one in own)
        found.append(Finding(own, compared, verdict(own, compared, margins.get(own[0].value, 0.0))))
    return found


def verdict(
    claims: Sequence[Claim], compared: Sequence[Sequence[Comparison]], margin: float
) -> str:
    """Return the verdict on a statement, the first of these that its comparisons fit.

    level : 95 % of the comparisons differ by less than `margin`, for the claim or against it;
        never if the claim has a margin of its own, or is that methods are alike
    confirmed : the mean is as claimed beyond chance, and 95 % of the comparisons hold,
        or more than half if the claim says most
    mostly : the mean is as claimed beyond chance, and more than half of the comparisons hold
    in part : a quarter of the comparisons hold or more, at least as many as are opposite
    refuted : the mean is opposite beyond chance
    not tested at the paper's scale : in part or refuted by a stream of less than a tenth of the
        paper's length, where the differences come nearer to the claim with the length
    not decidable : anything else
    """
    every = [one for some in compared for one in some]
    n, n_hold = len(every), sum(one.better < CHANCE for one in every)
    n_opposite = sum(one.worse < CHANCE for one in every)
    sized = any(one.margin or one.alike is not None for one in claims)
    if not sized and sum(abs(one.difference) < margin for one in every) >= NEARLY_ALL * n:
        return LEVEL
    sums: dict[str, list[float]] = defaultdict(list)
    for one in every:
        least = one.parts[int(np.argmin(np.mean(one.parts, axis=1)))]
        for pair, value in zip(one.pairs, least, strict=True):
            sums[pair].append(value)
    means = np.array([np.mean(values) for values in sums.values()])
    if sign_test(means) < CHANCE and n_hold > n / 2:
        enough = n_hold >= NEARLY_ALL * n or all(one.most for one in claims)
        return CONFIRMED if enough else MOSTLY
    if n_hold >= max(n_opposite, PART * n):
        word = IN_PART
    else:
        word = REFUTED if sign_test(-means) < CHANCE else OPEN
    return SCALE if word != OPEN and any(one.moves for one in claims) else word
