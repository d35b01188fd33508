# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchical Dirichlet process learnt by online EM with Gibbs sampling."""

from __future__ import annotations

import numpy as np

from streamtopics.base.glossary import documented
from streamtopics.base.typing import RandomState, WordPriorLike
from streamtopics.estimators.hdp import HDPModel
from streamtopics.updates import MeanDecay, OnlineEM, Rule
from streamtopics.updates.hdp import mean_weights
from streamtopics.utils.records import keep


@documented
class HDPGibbsOnlineEM(HDPModel):
    """Hierarchical Dirichlet process by Gibbs online EM: finds the number of topics.

    As in `GibbsOnlineEM` the topics are the M-step of a running mean, and the documents
    are sampled; but a token may also open a new topic, and a topic worth less than a
    word of a minibatch is dropped, so that nothing is truncated. The weights of the
    topics are the M-step of the expected numbers of tables in the Chinese restaurant
    franchise::

        pi_k = S_k / (sum_j S_j + concentration),    doc_topic_prior_ = doc_concentration * pi

    Parameters
    ----------
    {first_n_components}
    update : Rule or None, default=None
        How topics and tables take in a minibatch, in the place of online EM with `kappa` and
        `tau`, such as ``PowerPrior(Memory(10_000))``, under which topics that are gone are dropped.
    {kappa}
    {tau}
    {many_sweeps}
    {concentration}
    {doc_concentration}
    topic_word_prior : float, array-like of shape (n_features,), WordPrior or callable, default=0.01
        Pseudo-count of every word in every topic, in tokens. Only a small one lets the first words
        of a topic draw others out of one that is two: from 0.05 on, some stay merged for good.
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {hdp_attributes}
    {mean_components}
    {common_attributes}

    See Also
    --------
    GibbsOnlineEM : The same with a given number of topics.
    HDPVarGibbs : The same local step under a posterior of topics and weights.

    Notes
    -----
    The documents of a minibatch share the topics that are born in it, so that they are sampled one
    after the other; inference for given documents knows no topics but those represented. The
    topics of the first minibatch are sampled with the others' words integrated out.

    `births_report` says when topics came and went. A topic is born with the first minibatch that
    has eight tables of it, and dead when it is dropped, or has had less than a fifth of the tokens
    to be expected by its share for as long as 24 of its tables were.

    Two topics that say the same are not merged: on streams of less than some hundred minibatches
    expect up to twice as many active topics as there are.

    References
    ----------
    C. Dupuy (2017), "Inference and applications for topic models", section 3.4.

    Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei (2006), "Hierarchical Dirichlet
    processes".

    Examples
    --------
    >>> from streamtopics import HDPGibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = HDPGibbsOnlineEM(random_state=0).fit(X)
    >>> model.n_active_topics_ > model.n_components
    True
    >>> model.transform(X[:3]).shape == (3, model.n_topics_)
    True
    """

    update: Rule | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        update: Rule | None = None,
        kappa: float = 0.7,
        tau: float = 0,
        n_sweeps: int = 20,
        concentration: float = 1.0,
        doc_concentration: float = 2.0,
        topic_word_prior: WordPriorLike = 0.01,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau)) if self.update is None else self.update

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return mean_weights(tables, gain * float(self.concentration))
