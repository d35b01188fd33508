# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by incremental EM on single Gibbs samples."""

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.choices import BY_GIBBS
from streamtopics.estimators.documentation import documented
from streamtopics.local import Gibbs
from streamtopics.merging import Mergeable
from streamtopics.models import LDA
from streamtopics.models.views import mean
from streamtopics.updates import OnlineEM


@documented
class StreamingGibbsLDA(Mergeable, StreamingTopicModel):
    """Latent Dirichlet allocation by streaming Gibbs sampling (SGS).

    `GibbsOnlineEM` with the step size 1 / t, a fixed prior of the documents, and
    the topics that the last sweep drew instead of averages: cheap to distribute,
    but early draws lock in.

    Parameters
    ----------
    {n_components}
    n_sweeps : int, default=20
        Gibbs sweeps over each document, of which the last counts.
    {sparse_doc_topic_prior}
    smoothing : float, array-like of shape (n_features,) or (n_components, n_features), \
            WordPrior or callable, default=0.05
        Pseudo-count of every word in every topic, in tokens. Ten times that of the
        other online EM, because with little of it early draws lock in.
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {mean_components}
    {common_attributes}

    See Also
    --------
    GibbsOnlineEM : The same with averages and a choice of the step size.

    References
    ----------
    Y. Gao, J. Chen and J. Zhu (2016), "Streaming Gibbs sampling for LDA model", as it
    is used in chapter 3 of C. Dupuy (2017), "Inference and applications for topic
    models".

    Examples
    --------
    >>> from streamtopics import StreamingGibbsLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = StreamingGibbsLDA(n_components=5, random_state=0).fit(X)
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
        n_sweeps=20,
        doc_topic_prior=None,
        smoothing=0.05,
        batch_size=100,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_sweeps = n_sweeps
        self.doc_topic_prior = doc_topic_prior
        self.smoothing = smoothing
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> OnlineEM:
        return OnlineEM(1.0)

    def _model(self) -> LDA:
        return LDA(mean, Gibbs(self.n_sweeps, 0), BY_GIBBS, self.seed_)
