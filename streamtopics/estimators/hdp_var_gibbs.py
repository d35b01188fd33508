# SPDX-License-Identifier: BSD-3-Clause
"""A hierarchical Dirichlet process learnt by stochastic variational inference with Gibbs."""

import numpy as np

from streamtopics.estimators.documentation import documented
from streamtopics.estimators.hdp import HDPModel
from streamtopics.updates import StochasticVI
from streamtopics.updates.hdp import stick_weights


@documented
class HDPVarGibbs(HDPModel):
    """x."""

    _bayesian = True

    def __init__(
        self,
        n_components=2,
        *,
        kappa=0.7,
        tau=0,
        n_documents=None,
        n_sweeps=20,
        concentration=1.0,
        doc_concentration=2.0,
        topic_word_prior=None,
        batch_size=100,
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
        self.concentration = concentration
        self.doc_concentration = doc_concentration
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> StochasticVI:
        return StochasticVI(self.kappa, self.tau, self.n_documents)

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return stick_weights(tables, self.concentration)
