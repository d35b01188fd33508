# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Pitman and Yor: large ones grow as under the HDP, small ones are many more."""

from dataclasses import dataclass

from streamtopics.was import Franchise


@dataclass(frozen=True)
class PitmanYor(Franchise):
    """Sentences are Pitman-Yor processes over the dishes of a Dirichlet process.

    Parameters
    ----------
    concentration : float
        Weight of a new table in an empty sentence.
    discount : float
        In [0, 1): what a table lacks to the weight of its words, and each table adds to
        that of a new one. With 0 this is the HDP.
    dish_concentration : float
        Weight of a new dish, where each table of the document has 1.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import WASTopicModel
    >>> documents = [np.kron(np.eye(2, dtype=int), [[3, 2], [1, 2]])] * 10
    >>> model = WASTopicModel(2, prior=PitmanYor(0.5, 0.25), n_sweeps=50, n_burn_in=25,
    ...                       random_state=0).fit(documents)
    >>> model.set_params(prior__discount=0.0).prior
    PitmanYor(concentration=0.5, discount=0.0, dish_concentration=1.0)
    """

    concentration: float = 0.5
    discount: float = 0.25
    dish_concentration: float = 1.0

    def __post_init__(self):
        if not (0 <= self.discount < 1 and self.concentration > 0):
            raise ValueError(f"discount must be in [0, 1) and concentration positive; got {self}")

    def join_table(self, n_words):
        return n_words - self.discount

    def open_table(self, n_words, n_tables):
        return self.concentration + self.discount * n_tables

    def open_dish(self, n_tables, n_dishes):
        return self.dish_concentration
