# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the topic shares of documents, by period, and what they say of the means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Documents of a period below which its shares are shown, but not compared.
LEAST = 30
# Half the width of a 95 % interval of a normal distribution, in standard deviations.
WIDE = 1.959964


@dataclass
class ShareSums:
    """Sums over the documents of each period.

    Attributes
    ----------
    n : ndarray of shape (n_periods,)
        Documents.
    sums, squares : ndarray of shape (n_periods, n_topics)
        Of their shares, and of the squares of these.
    """

    n: np.ndarray
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def zeros(cls, n_periods: int, n_topics: int) -> ShareSums:
        """Sums over no documents."""
        shape = n_periods, n_topics
        return cls(np.zeros(n_periods), np.zeros(shape), np.zeros(shape))

    def add(self, of: np.ndarray, shares: np.ndarray) -> None:
        """Take in documents of the periods `of`; those of -1 are left out."""
        known = of >= 0
        of, shares = of[known], shares[known]
        self.n += np.bincount(of, minlength=len(self.n))
        np.add.at(self.sums, of, shares)
        np.add.at(self.squares, of, shares**2)

    def joined(self, of: np.ndarray, n_periods: int) -> ShareSums:
        """The sums of longer periods; `of` says which one each of these falls into."""
        found = ShareSums.zeros(n_periods, self.sums.shape[1])
        np.add.at(found.n, of, self.n)
        np.add.at(found.sums, of, self.sums)
        np.add.at(found.squares, of, self.squares)
        return found

    def means(self) -> np.ndarray:
        """Mean shares, of shape (n_periods, n_topics); NaN where there is no document."""
        return self.sums / np.where(self.n > 0, self.n, np.nan)[:, None]

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of 95 % intervals of the means.

        They are Wilson's for a proportion, with so many documents as would have the spread that
        is found between the shares of documents of one period.
        """
        means, n = self.means(), self.n[:, None]
        within = np.nansum(self.squares - n * means**2, axis=0)
        most = np.nansum((n - 1) * means * (1 - means), axis=0)
        spread = np.clip(within / np.where(most > 0, most, np.inf), 0, 1)
        part = WIDE**2 * spread / np.maximum(n, 1)
        half = np.sqrt(part * means * (1 - means) + part**2 / 4)
        return (means + part / 2 - half) / (1 + part), (means + part / 2 + half) / (1 + part)
