# SPDX-License-Identifier: BSD-3-Clause
"""LDA that forgets at a fixed rate."""

from numbers import Real

from streamtopics.base import StreamingTopicModel
from streamtopics.drift import DRIFT_CONSTRAINTS, Forgetting
from streamtopics.estimators.documentation import documented
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import Boost, PowerPrior
from streamtopics.validation import BOOSTING_SCALE, Interval


@documented
class PowerPriorLDA(Forgetting, StreamingTopicModel):
    """Latent Dirichlet allocation with exponential forgetting (SVB-PP).

    With each minibatch the posterior loses the share 1 - rho, and the prior gets it
    back::

        lam_t = rho lam_{t-1} + (1 - rho) eta + s_t

    so that it stands for the last 1 / (1 - rho) minibatches. A rho picked by held-out
    score is a hard rival of the rates that `SVBHPP` learns.

    Parameters
    ----------
    {n_components}
    rho : float, default=0.9
        Share of the posterior that is kept with each minibatch, in [0, 1]; 1 is
        `SVBLDA`, 0 starts anew with every minibatch.
    {extra_boost}
    {doc_topic_prior}
    {topic_word_prior}
    {boosted_prior}
    {n_passes}
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
    SVBHPP : Learns the rate from the stream.

    References
    ----------
    A. Masegosa, D. Ramos-Lopez, A. Salmeron, H. Langseth and T. D. Nielsen (2020),
    "Variational inference over nonstationary data streams for exponential family
    models", equation 23.

    Examples
    --------
    >>> from streamtopics import PowerPriorLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = PowerPriorLDA(n_components=5, rho=0.5, random_state=0)
    >>> for start in range(0, 500, 100):
    ...     model = model.partial_fit(X[start : start + 100])
    >>> model.retention_
    array([0.5, 0.5, 0.5, 0.5, 0.5])
    """

    _parameter_constraints = (
        StreamingTopicModel._parameter_constraints
        | DRIFT_CONSTRAINTS
        | {
            "rho": [Interval(Real, 0, 1, closed="both")],
            "boosting_scale": [BOOSTING_SCALE],
        }
    )

    def __init__(
        self,
        n_components=10,
        *,
        rho=0.9,
        boosting_scale=0.0,
        doc_topic_prior=None,
        topic_word_prior=None,
        boosted_prior=None,
        n_passes=1,
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
        self.rho = rho
        self.boosting_scale = boosting_scale
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.boosted_prior = boosted_prior
        self.n_passes = n_passes
        self.drift_threshold = drift_threshold
        self.on_drift = on_drift
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> PowerPrior:
        return PowerPrior(self.rho, Boost(self.boosting_scale), self.n_passes)

    def _model(self) -> LDA:
        local = Variational(self.tol, self.max_local_iter)
        return LDA(geometric_mean, local, local, self.seed_)
