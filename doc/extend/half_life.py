# SPDX-License-Identifier: BSD-3-Clause
"""Topics with a half-life: an estimator made of existing parts."""

from numbers import Real

from streamtopics.base.composition import Composition, Schedule
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.validation import Interval
from streamtopics.local import Gibbs
from streamtopics.models.lda import mean
from streamtopics.models.spectral_start import SPECTRAL
from streamtopics.updates import Boost, FixedPoint, PowerPrior


class HalfLifeLDA(StreamingTopicModel):
    """Streaming LDA with a half-life: topics forget a half every few minibatches.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    half_life : float, default=20
        Number of minibatches after which half of the learnt counts is left.
    prior_share : float, default=0.1
        Pseudo-counts of the prior added for each token of a minibatch.
    doc_topic_prior, topic_word_prior, batch_size, max_iter, n_jobs, random_state, verbose
        As in `StreamingLDA`.

    Examples
    --------
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> HalfLifeLDA(n_components=3, half_life=1, random_state=0).fit(X).retention_
    array([0.5, 0.5, 0.5])
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "half_life": [Interval(Real, 0, None, closed="neither")],
        "prior_share": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, n_components=10, *, half_life=20, prior_share=0.1, doc_topic_prior=None,
        topic_word_prior=0.005, batch_size=100, max_iter=1, n_jobs=None, random_state=None,
        verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.half_life = half_life
        self.prior_share = prior_share
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs, self.random_state, self.verbose = n_jobs, random_state, verbose

    def _composition(self) -> Composition:
        rule = PowerPrior(0.5 ** (1 / self.half_life), Boost(self.prior_share))
        return Composition(
            rule, Gibbs(), mean, doc_topic=FixedPoint(), start=SPECTRAL, schedule=Schedule(growth=1)
        )
