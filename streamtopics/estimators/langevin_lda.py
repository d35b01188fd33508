# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by stochastic gradient Riemannian Langevin dynamics."""

from numbers import Real

import numpy as np

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.choices import BY_GIBBS, averaged
from streamtopics.estimators.documentation import documented
from streamtopics.local import Gibbs
from streamtopics.models import LDA
from streamtopics.models.views import mean
from streamtopics.updates import Langevin
from streamtopics.validation import Interval

POSITIVE = Interval(Real, 0, np.inf, closed="neither")


@documented
class LangevinLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by stochastic gradient Langevin dynamics (LDS).

    The topics make noisy gradient steps of size a (1 + t / b)^-c, so that the
    iterates of a long stream are near to draws from their posterior. A step costs as
    much as the vocabulary, and its iterates were measured to predict worse than
    any other method here.

    Parameters
    ----------
    {n_components}
    step_a, step_b, step_c : float, default=0.01, 1000.0, 0.6
        Of the step size, from the source.
    {n_documents}
    n_sweeps : int, default=200
        Gibbs sweeps over each document; the last quarter of them is averaged.
    {sparse_doc_topic_prior}
    {topic_word_prior}
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The last iterate, not normalised. What it owes to the prior cannot be told from
        the rest: `prior_retention_` is 0, and `topic_weights_` are shares of it.
    {common_attributes}

    See Also
    --------
    GibbsOnlineEM : The same local step under point estimates of the topics.

    References
    ----------
    S. Patterson and Y. W. Teh (2013), "Stochastic gradient Riemannian Langevin
    dynamics on the probability simplex".

    Examples
    --------
    >>> from streamtopics import LangevinLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = LangevinLDA(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "step_a": [POSITIVE],
        "step_b": [POSITIVE],
        "step_c": [POSITIVE],
    }

    _doc_topic_mass = 3.0

    def __init__(
        self,
        n_components=10,
        *,
        step_a=0.01,
        step_b=1000.0,
        step_c=0.6,
        n_documents=None,
        n_sweeps=200,
        doc_topic_prior=None,
        topic_word_prior=None,
        batch_size=100,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.step_a = step_a
        self.step_b = step_b
        self.step_c = step_c
        self.n_documents = n_documents
        self.n_sweeps = n_sweeps
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> Langevin:
        return Langevin(self.step_a, self.step_b, self.step_c, self.seed_, self.n_documents)

    def _model(self) -> LDA:
        local = Gibbs(self.n_sweeps, averaged(self.n_sweeps))
        return LDA(mean, local, BY_GIBBS, self.seed_)
