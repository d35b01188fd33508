# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a Pitman-Yor process: more small tables than under the HDP."""

from dataclasses import dataclass

from streamtopics.was import Franchise


@dataclass(frozen=True)
class PitmanYor(Franchise):
    """A Pitman-Yor process of tables in each sentence, a Dirichlet process of dishes in a document.

    Parameters
    ----------
    concentration : float
        Weight of a new table in an empty sentence.
    discount : float
        Number d in [0, 1). A table of n words has the weight n - d, and each table adds d to
        the weight of a new table. With 0 the prior is the HDP.
    dish_concentration : float
        Weight of a new dish; a dish of m tables has the weight m.

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
