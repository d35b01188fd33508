# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by stochastic variational inference."""

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.documentation import documented
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import StochasticVI
from streamtopics.updates.doc_topic import DampedNewton, DocTopicUpdate, Fixed
from streamtopics.validation import StrOptions

DOC_TOPIC_UPDATES = {"fixed": Fixed(), "newton": DampedNewton()}


@documented
class OnlineVBLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by stochastic variational inference (OLDA, SVI).

    Each minibatch is taken for the whole corpus, and the posterior moves a step
    towards what it would be then::

        lam_t = (1 - r_t) lam_{t-1} + r_t (eta + D/B s_t)

    Parameters
    ----------
    {n_components}
    {kappa}
    tau : float, default=0
        Minibatches by which the step size is ahead: more slows the first steps down.
    {n_documents}
    {max_local_iter}
    {tol}
    {doc_topic_prior}
    doc_topic_prior_update : {"fixed", "newton"}, default="fixed"
        "newton" moves it by a damped Newton step on each minibatch after the tenth.
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
    SVBLDA : Needs neither a step size nor a size of the corpus.
    VarGibbsLDA : The same with Gibbs sampling in the documents.

    References
    ----------
    M. D. Hoffman, D. M. Blei and F. Bach (2010), "Online learning for latent
    Dirichlet allocation".

    Examples
    --------
    >>> from streamtopics import OnlineVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = OnlineVBLDA(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "doc_topic_prior_update": [StrOptions(set(DOC_TOPIC_UPDATES))],
    }

    def __init__(
        self,
        n_components=10,
        *,
        kappa=0.7,
        tau=0,
        n_documents=None,
        max_local_iter=100,
        tol=1e-3,
        doc_topic_prior=None,
        doc_topic_prior_update="fixed",
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
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.doc_topic_prior = doc_topic_prior
        self.doc_topic_prior_update = doc_topic_prior_update
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _doc_topic_update(self) -> DocTopicUpdate:
        return DOC_TOPIC_UPDATES[self.doc_topic_prior_update]

    def _rule(self) -> StochasticVI:
        return StochasticVI(self.kappa, self.tau, self.n_documents, self._doc_topic_update())

    def _model(self) -> LDA:
        learns_alpha = self.doc_topic_prior_update != "fixed"
        local = Variational(self.tol, self.max_local_iter, log_theta=learns_alpha)
        return LDA(geometric_mean, local, local, self.seed_)
