# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by stochastic variational inference with Gibbs sampling in the documents."""

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.choices import BY_GIBBS, averaged
from streamtopics.estimators.documentation import documented
from streamtopics.local import Gibbs
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import StochasticVI


@documented
class VarGibbsLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by sparse stochastic inference (VarGibbs).

    The topics have a variational posterior, as in `OnlineVBLDA`, but the statistics of
    a minibatch come from collapsed Gibbs sampling under exp(E[log beta]).

    Parameters
    ----------
    {n_components}
    {kappa}
    tau : float, default=0
        Minibatches by which the step size is ahead: more slows the first steps down.
    {n_documents}
    {n_sweeps}
    {sparse_doc_topic_prior}
    {topic_word_prior}
    batch_size : int, default=1000
        Documents in a minibatch of `fit`. (`partial_fit` takes what it is given
        as one minibatch.) With a hundred, topics were measured to stay alike.
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    OnlineVBLDA : The same with variational inference.
    GibbsOnlineEM : The same local step under point estimates of the topics.

    References
    ----------
    D. Mimno, M. D. Hoffman and D. M. Blei (2012), "Sparse stochastic inference for
    latent Dirichlet allocation".

    Examples
    --------
    >>> from streamtopics import VarGibbsLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = VarGibbsLDA(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    _doc_topic_mass = 3.0

    def __init__(
        self,
        n_components=10,
        *,
        kappa=0.7,
        tau=0,
        n_documents=None,
        n_sweeps=5,
        doc_topic_prior=None,
        topic_word_prior=None,
        batch_size=1000,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kappa = kappa
        self.tau = tau
        self.n_documents = n_documents
        self.n_sweeps = n_sweeps
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> StochasticVI:
        return StochasticVI(self.kappa, self.tau, self.n_documents)

    def _model(self) -> LDA:
        local = Gibbs(self.n_sweeps, averaged(self.n_sweeps))
        return LDA(geometric_mean, local, BY_GIBBS, self.seed_)
