# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by online EM with variational inference in the documents."""

from __future__ import annotations

from streamtopics.base.composition import Averaging, Composition, of_online_em
from streamtopics.base.glossary import documented
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.updates.doc_topic import DocTopicUpdate


@documented
class VariationalOnlineEM(StreamingTopicModel):
    """Latent Dirichlet allocation by variational online EM (V-OEM).

    The topics are parameters, not random variables: the M-step of a running mean of
    the expected statistics of a document, which are found by mean-field inference::

        s_t = (1 - r_t) s_{t-1} + r_t S_t / B,    beta = s_t normalised

    `GibbsOnlineEM` is the same with unbiased statistics; this one draws nothing
    at random but its start.

    Parameters
    ----------
    {n_components}
    {kappa}
    {tau}
    max_local_iter : int, default=20
        Sweeps over a document, at most, while learning; with `update_each_sweep`, exactly.
    local_tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens
        between topics; with `update_each_sweep`, only in `transform`.
    {update_each_sweep}
    {averaging}
    {start_of_doc_topic_prior}
    {doc_topic_prior_update}
    {small_topic_word_prior}
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {mean_components}
    {common_attributes}

    See Also
    --------
    GibbsOnlineEM : The same with Gibbs sampling.
    StreamingLDA.preset : "SinglePassLDA" updates after each sweep, with kappa 1 and a gamma prior.

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import VariationalOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = VariationalOnlineEM(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float = 0.7,
        tau: float = 0,
        max_local_iter: int = 20,
        local_tol: float = 1e-3,
        update_each_sweep: bool = False,
        averaging: Averaging = None,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "fixed_point",
        topic_word_prior: WordPriorLike = 0.005,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kappa = kappa
        self.tau = tau
        self.max_local_iter = max_local_iter
        self.local_tol = local_tol
        self.update_each_sweep = update_each_sweep
        self.averaging = averaging
        self.doc_topic_prior = doc_topic_prior
        self.doc_topic_prior_update = doc_topic_prior_update
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _composition(self) -> Composition:
        n_sweeps = 1 if self.update_each_sweep else self.max_local_iter
        return of_online_em(self, Variational(self.local_tol, n_sweeps), self.max_local_iter, 1)
