# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchical Dirichlet process learnt by stochastic variational inference with Gibbs."""

from __future__ import annotations

import numpy as np

from streamtopics.base.glossary import documented
from streamtopics.base.typing import RandomState, WordPriorLike
from streamtopics.estimators.hdp import HDPModel
from streamtopics.updates import Decay, StochasticVI
from streamtopics.updates.hdp import stick_weights
from streamtopics.utils.records import keep


@documented
class HDPVarGibbs(HDPModel):
    """Hierarchical Dirichlet process by Gibbs within variational inference.

    Topics and sticks have variational posteriors, Dirichlet and beta; documents are
    sampled with sticks of their own, drawn anew from their posterior given the
    document's tables after every sweep. A token may open a new topic, and a topic worth
    less than a word of a minibatch is dropped.

    Parameters
    ----------
    {first_n_components}
    {kappa}
    tau : float, default=0
        Minibatches by which the step size is ahead: more slows the first steps down.
    {n_documents}
    {many_sweeps}
    {concentration}
    {doc_concentration}
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Dirichlet parameter of the topics (the papers' eta), in tokens. None is 0.05 for each word.
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {hdp_attributes}
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    HDPGibbsOnlineEM : The same with point estimates of topics and weights; faster.
    StreamingLDA.preset : With "VarGibbsLDA" the same with a given number of topics.

    Notes
    -----
    The documents of a minibatch are sampled one after the other, as in
    `HDPGibbsOnlineEM`. `doc_topic_prior_` comes from the means of the sticks.

    References
    ----------
    C. Wang and D. M. Blei (2012), "Truncation-free online variational inference for
    Bayesian nonparametric models".

    C. Dupuy (2017), "Inference and applications for topic models", section 3.4.

    Examples
    --------
    >>> from streamtopics import HDPVarGibbs
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = HDPVarGibbs(random_state=0).fit(X)
    >>> model.n_active_topics_ > model.n_components
    True
    >>> model.transform(X[:3]).shape == (3, model.n_topics_)
    True
    """

    n_documents: int | None
    _bayesian = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        kappa: float = 0.7,
        tau: float = 0,
        n_documents: int | None = None,
        n_sweeps: int = 20,
        concentration: float = 1.0,
        doc_concentration: float = 2.0,
        topic_word_prior: WordPriorLike = None,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> StochasticVI:
        return StochasticVI(Decay(self.kappa, self.tau), self.n_documents)

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return stick_weights(tables, float(self.concentration))
