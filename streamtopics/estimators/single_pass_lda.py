# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by incremental EM, boosted, with a gamma prior."""

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.choices import DOC_TOPIC_UPDATES, SWEEPS_OF_TRANSFORM
from streamtopics.estimators.documentation import documented
from streamtopics.local import Variational
from streamtopics.merging import Mergeable
from streamtopics.models import LDA
from streamtopics.models.views import mean
from streamtopics.updates import OnlineEM
from streamtopics.updates.doc_topic import DocTopicUpdate


@documented
class SinglePassLDA(Mergeable, StreamingTopicModel):
    """Latent Dirichlet allocation by single-pass incremental EM (SPLDA).

    `VariationalOnlineEM`, boosted, with the step size 1 / t, so that nothing is
    forgotten, and a gamma prior on the documents' prior.

    Parameters
    ----------
    {n_components}
    max_local_iter : int, default=20
        Sweeps over the minibatch, with an update of the topics after each.
    tol : float, default=1e-3
        In `transform`, a document is done when a sweep moves less than this share of
        its tokens between topics.
    {start_of_doc_topic_prior}
    {smoothing}
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {mean_components}
    {common_attributes}

    See Also
    --------
    VariationalOnlineEM : The same with a choice of the step size.

    Notes
    -----
    The comparison in Dupuy (2017), "Inference and applications for topic models",
    uses the method in this form; the method of the reference has a variational
    posterior of the topics.

    References
    ----------
    I. Sato, K. Kurihara and H. Nakagawa (2010), "Deterministic single-pass algorithm
    for LDA".

    Examples
    --------
    >>> from streamtopics import SinglePassLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = SinglePassLDA(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    _word_prior = "smoothing"
    _keeps_means = True
    _doc_topic_mass = 3.0

    def __init__(
        self,
        n_components=10,
        *,
        max_local_iter=20,
        tol=1e-3,
        doc_topic_prior=None,
        smoothing=0.005,
        batch_size=100,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.doc_topic_prior = doc_topic_prior
        self.smoothing = smoothing
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _doc_topic_update(self) -> DocTopicUpdate:
        return DOC_TOPIC_UPDATES["gamma"]

    def _rule(self) -> OnlineEM:
        return OnlineEM(1.0, 0.0, self.max_local_iter, self._doc_topic_update())

    def _model(self) -> LDA:
        local = Variational(self.tol, 1, log_theta=True)
        inference = Variational(self.tol, SWEEPS_OF_TRANSFORM)
        return LDA(mean, local, inference, self.seed_, keep_documents=True)
