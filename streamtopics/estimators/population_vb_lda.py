# SPDX-License-Identifier: BSD-3-Clause
"""LDA by population variational Bayes."""

from numbers import Real

import numpy as np

from streamtopics.base import StreamingTopicModel
from streamtopics.drift import DRIFT_CONSTRAINTS, Forgetting
from streamtopics.estimators.documentation import documented
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import Boost, PopulationVB
from streamtopics.validation import BOOSTING_SCALE, Interval


@documented
class PopulationVBLDA(Forgetting, StreamingTopicModel):
    """Latent Dirichlet allocation by population variational Bayes (PVB).

    The posterior for a population of documents like those that the stream has now::

        lam_t = (1 - rate) lam_{t-1} + rate (eta + population_size / B s_t)

    for a minibatch of B documents: stochastic variational inference with a constant
    step. What is known never counts for more than `population_size` documents.

    Parameters
    ----------
    {n_components}
    population_size : float, default=10000
        Documents that the posterior is for (the source's alpha, M in other papers).
    rate : float, default=0.1
        Step size, in (0, 1].
    {extra_boost}
    {doc_topic_prior}
    {topic_word_prior}
    {boosted_prior}
    {on_drift}
    {max_local_iter}
    {tol}
    {large_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
    {dirichlet_components}
    {drift_attributes}
    {common_attributes}

    See Also
    --------
    OnlineVBLDA : Decreasing steps, for a corpus.
    PowerPriorLDA : Forgets as fast, and counts what it has seen.

    References
    ----------
    J. McInerney, R. Ranganath and D. Blei (2015), "The population posterior and
    Bayesian modeling on streams".

    Examples
    --------
    >>> from streamtopics import PopulationVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = PopulationVBLDA(n_components=5, population_size=1000, batch_size=100)
    >>> model.set_params(random_state=0).fit(X).n_batch_iter_
    5
    """

    _parameter_constraints = (
        StreamingTopicModel._parameter_constraints
        | DRIFT_CONSTRAINTS
        | {
            "population_size": [Interval(Real, 0, np.inf, closed="neither")],
            "rate": [Interval(Real, 0, 1, closed="right")],
            "boosting_scale": [BOOSTING_SCALE],
        }
    )

    def __init__(
        self,
        n_components=10,
        *,
        population_size=10_000,
        rate=0.1,
        boosting_scale=0.0,
        doc_topic_prior=None,
        topic_word_prior=None,
        boosted_prior=None,
        drift_threshold=0.5,
        on_drift=None,
        max_local_iter=100,
        tol=1e-3,
        batch_size=1200,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.population_size = population_size
        self.rate = rate
        self.boosting_scale = boosting_scale
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.boosted_prior = boosted_prior
        self.drift_threshold = drift_threshold
        self.on_drift = on_drift
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> PopulationVB:
        return PopulationVB(self.population_size, self.rate, Boost(self.boosting_scale))

    def _model(self) -> LDA:
        local = Variational(self.tol, self.max_local_iter)
        return LDA(geometric_mean, local, local, self.seed_)
