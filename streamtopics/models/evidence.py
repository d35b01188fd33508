# SPDX-License-Identifier: BSD-3-Clause
"""The variational bound on the log probability of documents under given topics.

With b_kw the topics that are seen, E[log theta_dk] = psi(gamma_dk) - psi(sum_j gamma_dj) under
q(theta_d) = Dirichlet(gamma_d), and q(z) the best for it, the bound is

    sum_d [ sum_w n_dw log sum_k b_kw exp(E[log theta_dk]) - KL(q(theta_d) || Dirichlet(alpha)) ].
"""

from numbers import Real

import numpy as np

from streamtopics.local import Variational
from streamtopics.messages import Minibatch
from streamtopics.models.lda import log_factors, visible_topics
from streamtopics.models.sources import Source
from streamtopics.models.views import GeometricMean, Mean
from streamtopics.utils.checks import MOST_WHOLE, is_whole
from streamtopics.utils.parallel import Workers

BOUND = frozenset({"local_bound"})


def check_local(local_tol: float, max_local_iter: int) -> Variational:
    """Coordinate ascent with these settings; ValueError if they are none."""
    if not (isinstance(local_tol, Real) and 0 <= local_tol < np.inf):
        raise ValueError(f"local_tol must be a finite number of at least 0; got {local_tol!r}")
    if not (is_whole(max_local_iter) and 1 <= max_local_iter <= MOST_WHOLE):
        raise ValueError(
            f"max_local_iter must be a whole number of at least 1; got {max_local_iter!r}"
        )
    return Variational(float(local_tol), int(max_local_iter))


def bound_of_documents(
    view: GeometricMean | Mean,
    local: Variational,
    source: Source,
    minibatch: Minibatch,
    workers: Workers,
) -> float:
    """Sum of the bounds of all documents, in nats; with more sweeps of `local` none falls."""
    topics = visible_topics(view, source, minibatch, workers)
    nothing_random = np.zeros(minibatch.n_documents, np.uint64)
    statistics, _ = local.step(minibatch, topics, nothing_random, workers, report=BOUND)
    factors = log_factors(view, source, minibatch.words, topics.weights)
    return float(statistics.local_bound or 0.0) + float(factors @ minibatch.word_counts)
