# SPDX-License-Identifier: BSD-3-Clause
"""Typical words of the columns of an embedding, and similar words."""

from collections.abc import Sequence

import numpy as np

from streamtopics.dpp.arrays import Floats, Places
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.marginal import expected_size, expected_with_word
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Background

NEARLY_NONE = 1e-9


def word_probabilities(measure: BaseMeasure, u: Floats) -> Floats:
    """Return the probability that a sentence from p(x) (u'phi(x))^2 has each word.

    u is not 0 everywhere; its scale does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Bernoulli
    >>> from streamtopics.dpp.words import word_probabilities
    >>> word_probabilities(Bernoulli([0.2, 0.5]), np.array([3.0, 0.0]))
    array([1. , 0.5])
    """
    return _share_with_word(measure, Kernel(u[:, None] / np.abs(u).max(), np.ones(1)))


def telling_words(measure: BaseMeasure, components: Floats, n: int) -> Sequence[Places]:
    """Return the places of the n words with the largest P log(P / P0), for each row u.

    P is `word_probabilities` under u, P0 the same under p(x) |phi(x)|^2, of no direction.
    The most typical come first; there are none for a row of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp import Bernoulli
    >>> from streamtopics.dpp.words import telling_words
    >>> U = np.array([[0.0, 2.0, -3.0], [0.0, 0.0, 0.0]])
    >>> telling_words(Bernoulli([0.1, 0.1, 0.1]), U, 2)
    [array([2, 1]), array([], dtype=int64)]
    """
    V = measure.v.size
    usual = _share_with_word(measure, Kernel(np.zeros((V, 1)), np.zeros(1), NEARLY_NONE))
    found = []
    for u in components:
        if not u.any():
            found.append(np.zeros(0, dtype=np.int64))
            continue
        P = np.clip(word_probabilities(measure, u), 1e-300, 1.0)
        weight = P * np.log(P / np.maximum(usual, 1e-300))
        found.append(np.argsort(-weight, kind="stable")[:n])
    return found


def _share_with_word(measure: BaseMeasure, kernel: Kernel) -> Floats:
    """Return the share of the expected points of a kernel that have each word."""
    process = Process(measure, kernel, Background(0.0))
    return expected_with_word(process) / expected_size(process)


def embedding_cosines(some: Floats, rows: Floats) -> Floats:
    """Return the cosines of some rows with others; 0 for a row of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.words import embedding_cosines
    >>> embedding_cosines(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0], [6.0, 8.0], [0.0, 0.0]]))
    array([[0.8, 1. , 0. ]])
    """
    return _units(some) @ _units(rows).T


def _units(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
