# SPDX-License-Identifier: BSD-3-Clause
"""What the estimators of a hierarchical Dirichlet process share."""

from numbers import Real

import numpy as np

from streamtopics.base import StreamingTopicModel
from streamtopics.estimators.choices import BY_GIBBS, averaged
from streamtopics.messages import Minibatch
from streamtopics.models import HDP, LDA
from streamtopics.models.views import mean
from streamtopics.parallel import Workers
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.hdp import Tables, take_in
from streamtopics.validation import Interval

POSITIVE = Interval(Real, 1e-3, 1e6, closed="both")
# Share of the tokens that a topic needs to be called active.
ACTIVE = 0.01


class HDPModel(StreamingTopicModel):
    """Base of the estimators that find the number of topics.

    A subclass says what its weights of topics are, and whether it is Bayesian.
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "concentration": [POSITIVE],
        "doc_concentration": [POSITIVE],
    }
    _bayesian = False
    _topics_have_priors = False

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        """pi, from the running tables; `gain` is what a document's counted."""
        raise NotImplementedError

    @property
    def n_topics_(self) -> int:
        """Number of topics represented, with those that hardly any word belongs to."""
        return self._n_features_out

    @property
    def n_active_topics_(self) -> int:
        """Number of topics with more than 1 % of the tokens learnt from."""
        return int((self.topic_weights_ > ACTIVE).sum())

    def _model(self) -> LDA:
        """LDA with the topics there are: what infers the topics of given documents."""
        return LDA(mean, BY_GIBBS, BY_GIBBS, self.seed_)

    def _check_continuable(self) -> None:
        """`n_components` is for the start only."""

    def _doc_topic_update(self) -> DocTopicUpdate:
        return Tables()

    def _first_doc_topic_prior(self) -> np.ndarray:
        each = self.doc_concentration / (self.n_components + self.concentration)
        return np.full(self.n_components, each)

    def _learn(self, minibatch: Minibatch, pool: Workers) -> None:
        model = HDP(
            self.concentration, self.doc_concentration, self.n_sweeps, averaged(self.n_sweeps),
            self.seed_, self._bayesian,
        )  # fmt: skip
        statistics = model.learn(self.posterior_, minibatch)
        posterior, blend = take_in(
            self.posterior_, statistics, self._rule(), self._weights, self.doc_concentration
        )
        posterior.blend(blend)
        self.posterior_ = posterior
