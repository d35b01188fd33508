# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchical Dirichlet process learnt by online EM with Gibbs sampling."""

import numpy as np

from streamtopics.estimators.documentation import documented
from streamtopics.estimators.hdp import HDPModel
from streamtopics.updates import OnlineEM
from streamtopics.updates.hdp import mean_weights


@documented
class HDPGibbsOnlineEM(HDPModel):
    """x."""

    _word_prior = "smoothing"

    def __init__(
        self,
        n_components=2,
        *,
        kappa=0.7,
        tau=0,
        n_sweeps=20,
        concentration=1.0,
        doc_concentration=2.0,
        smoothing=0.1,
        batch_size=100,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kappa = kappa
        self.tau = tau
        self.n_sweeps = n_sweeps
        self.concentration = concentration
        self.doc_concentration = doc_concentration
        self.smoothing = smoothing
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> OnlineEM:
        return OnlineEM(self.kappa, self.tau)

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return mean_weights(tables, gain * self.concentration)
