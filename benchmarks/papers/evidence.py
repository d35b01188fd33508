# SPDX-License-Identifier: BSD-3-Clause
"""The variational bound on the log probability of documents under given topics.

With b_kw the topics that are seen, E[log theta_dk] = psi(gamma_dk) - psi(sum_j gamma_dj) under
q(theta_d) = Dirichlet(gamma_d), and q(z) the best for it, the bound is

    sum_d [ sum_w n_dw log sum_k b_kw exp(E[log theta_dk]) - KL(q(theta_d) || Dirichlet(alpha)) ].
"""

import numpy as np
from scipy import sparse

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.local.step import minibatch_of
from streamtopics.models.lda import geometric_mean, mean, visible_topics
from streamtopics.utils.parallel import SERIAL

BOUND = frozenset({"local_bound"})
LOCAL = Variational(1e-5, 100)


def evidence_lower_bound(model: StreamingTopicModel, X: sparse.csr_matrix) -> float:
    """Return the bound in nats per token, by coordinate ascent, whatever the model infers by.

    The topics are exp(E[log beta]) if that is the model's view, else the point estimate.
    """
    view = geometric_mean if model._commit.update.view.keeps_bound else mean
    source, minibatch = model.posterior_, minibatch_of(X.astype(np.float64))
    topics = visible_topics(view, source, minibatch, SERIAL, log=view.log)
    nothing_random = np.zeros(minibatch.n_documents, np.uint64)
    statistics, _ = LOCAL.step(minibatch, topics, nothing_random, SERIAL, report=BOUND)
    total = float(statistics.local_bound or 0.0) + float(topics.log_factors @ minibatch.word_counts)
    return total / minibatch.n_tokens
