# SPDX-License-Identifier: BSD-3-Clause
"""Topics of the current season: the estimator that goes with the rule `Seasons`."""

from numbers import Integral, Real

from seasons import Seasons

from streamtopics.base import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.validation import Interval


class SeasonsLDA(StreamingTopicModel):
    """Latent Dirichlet allocation that forgets when a new season starts.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    season_length : int, default=12
        Minibatches of a season.
    carried : float, default=0.1
        Share of the posterior that the next season starts with.
    doc_topic_prior, topic_word_prior, max_local_iter, tol, batch_size, max_iter, n_jobs, \
            random_state, verbose
        As in `SVBLDA`.

    Examples
    --------
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = SeasonsLDA(n_components=5, season_length=2, batch_size=100, random_state=0)
    >>> model.fit(X).transform(X[:3]).shape
    (3, 5)
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "season_length": [Interval(Integral, 1, None, closed="left")],
        "carried": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        n_components=10,
        *,
        season_length=12,
        carried=0.1,
        doc_topic_prior=None,
        topic_word_prior=None,
        max_local_iter=100,
        tol=1e-3,
        batch_size=1200,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.season_length = season_length
        self.carried = carried
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> Seasons:
        return Seasons(self.season_length, self.carried)

    def _model(self) -> LDA:
        local = Variational(self.tol, self.max_local_iter)
        return LDA(geometric_mean, local, local, self.seed_)
