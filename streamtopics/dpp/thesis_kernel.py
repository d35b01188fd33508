# SPDX-License-Identifier: BSD-3-Clause
"""The thesis' own kernel of a summary, learnt from a corpus by `LowRankDPP`.

    L(x, y) = (p(x) p(y))^{power / 2} phi(x)'A phi(y),    A = gamma I + U Diag(theta) U',

with p the law of independent words, the share of the sentences that have each, U and gamma
of the corpus, and theta of the document. p falls by a factor of fifty or more with each word, so
that with power 1 the shortest sentences win.

Source: Dupuy (2017), section 4.4.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.estimator import LowRankDPP
from streamtopics.dpp.summary_kernel import Candidates, powered


def known_sentences(documents: Iterable[sparse.csr_matrix]) -> list[sparse.csr_matrix]:
    """Return the sentences of each document that have a known word, as sets of words.

    Examples
    --------
    >>> from scipy import sparse
    >>> from streamtopics.dpp.thesis_kernel import known_sentences
    >>> known_sentences([sparse.csr_matrix([[0, 2], [0, 0], [-1, 1]])])[0].toarray()
    array([[0., 1.],
           [1., 1.]])
    """
    known: Iterator[Any] = (X[X.getnnz(axis=1) > 0] for X in documents)
    return [(X != 0).astype(np.float64) for X in known]


def thesis_candidates(
    model: LowRankDPP, X: sparse.csr_matrix, quality_power: float, *, quality: Floats | None = None
) -> Candidates:
    """Return the candidates of a document under the kernel of this module.

    The model is fitted to sentences as sets of words. Reported as quality is log p, in nats,
    unless a quality of each sentence is given, in place of p.

    Examples
    --------
    >>> from scipy import sparse
    >>> from streamtopics import LowRankDPP
    >>> from streamtopics.dpp.thesis_kernel import thesis_candidates
    >>> X = sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0]])
    >>> model = LowRankDPP(n_components=2, random_state=0).fit([X])
    >>> thesis_candidates(model, X, 1.0).quality.round(2)  # p is 5/6 and 1/2 of the words.
    array([-0.88, -0.88])
    """
    [theta] = model.transform(known_sentences([X]))
    process = model.process(theta)
    features = process.measure.features(X)
    if quality is not None:
        return Candidates(process.kernel, features, quality, powered(quality, quality_power))
    log_p = process.measure.log_p(X)
    return Candidates(process.kernel, features, log_p, 0.5 * quality_power * log_p)
