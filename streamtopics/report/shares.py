# SPDX-License-Identifier: BSD-3-Clause
"""Mean shares of topics by period, and how well they are known."""

from typing import NamedTuple

import numpy as np

# Half the width of a 95 % interval of a normal distribution, in standard deviations.
WIDE = 1.959964


class ShareSums(NamedTuple):
    """Documents of each period, and the sums of their shares, and of the squares of these."""

    n: np.ndarray
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def zeros(cls, n_periods: int, n_topics: int) -> "ShareSums":
        """Sums over no documents."""
        shape = n_periods, n_topics
        return cls(np.zeros(n_periods), np.zeros(shape), np.zeros(shape))

    def add(self, of: np.ndarray, shares: np.ndarray) -> None:
        """Take in documents of the periods `of`; those of -1 are left out."""
        of, shares = of[of >= 0], shares[of >= 0]
        self._add(of, np.ones(len(of)), shares, shares**2)

    def joined(self, of: np.ndarray, n_periods: int) -> "ShareSums":
        """The sums of longer periods; `of` says which one each of these falls into."""
        found = ShareSums.zeros(n_periods, self.sums.shape[1])
        found._add(of, *self)
        return found

    def _add(self, of: np.ndarray, *tables: np.ndarray) -> None:
        for own, table in zip(self, tables, strict=True):
            np.add.at(own, of, table)

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
        # Where no period has two documents, these may differ as much as can be.
        spread = np.clip(np.divide(within, most, np.ones_like(most), where=most > 0), 0, 1)
        part = WIDE**2 * spread / np.maximum(n, 1)
        half = np.sqrt(part * means * (1 - means) + part**2 / 4)
        return (means + part / 2 - half) / (1 + part), (means + part / 2 + half) / (1 + part)
