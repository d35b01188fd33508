# SPDX-License-Identifier: BSD-3-Clause
"""LDA with a prior that a stream does not wash out."""

from numbers import Real

import numpy as np

from streamtopics.base import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import BPS
from streamtopics.validation import Interval, StrOptions


class BPSLDA(StreamingTopicModel):
    """Latent Dirichlet allocation whose prior knowledge is boosted on the stream.

    With each minibatch the prior is added again, in proportion to what the
    minibatch says::

        lam_t = lam_{t-1} + s_t + r_t eta,    r_t = scale * |s_t| / |eta|

    so that the share of the prior in the topics stays near scale / (1 + scale)
    however long the stream is. It is additive smoothing towards the prior with a
    mass that grows with the stream: worth it where the prior carries knowledge
    that the data lack, harmful where the prior is wrong, and no remedy for a
    `topic_word_prior` of the wrong mass, which should be tuned first.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    boosting_scale : float, default=0.1
        Pseudo-counts of the prior added for each token (the source's s); 0 is
        `SVBLDA`.
    boosting_norm : {"whole", "topic"}, default="whole"
        "whole" gives each topic the same part of the boost, as in the source, so
        that rarely used topics are pulled hardest; "topic" gives each topic a
        boost in proportion to its own tokens.
    doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
        Dirichlet parameter of the documents' topic proportions (the papers'
        alpha), in tokens. None is 10 / n_components: together the weight of ten
        tokens, which suits long and short documents alike; with less, short ones
        are fitted too closely.
    topic_word_prior : float, array-like of shape (n_features,) or \
            (n_components, n_features), or None, default=None
        Dirichlet parameter of the topics (the papers' eta): a pseudo-count, in
        tokens, for every word. None is 0.05 for each. See `streamtopics.priors` for priors
        that carry knowledge.
    n_passes : int, default=1
        Rounds of coordinate ascent between topics and documents inside a
        minibatch. 1 is the single update of the sources, and what was measured
        best on held-out text: more rounds fit the minibatch, not the stream.
    max_local_iter : int, default=100
        Sweeps over a document, at most.
    tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens
        between topics.
    batch_size : int, default=1200
        Documents in a minibatch of `fit`. (`partial_fit` takes what it is given
        as one minibatch.) Much smaller ones fix the topics too early; much larger
        ones leave a corpus of some ten thousand documents too few steps.
    max_iter : int, default=1
        Passes of `fit` over the corpus; more than one counts the data again.
    n_jobs : int or None, default=None
        Threads; None is 1 and -1 all processors. The results are the same bits
        for any number. Under `joblib.parallel_config` with a backend of processes
        or a cluster, documents are sent there.
    random_state : int, RandomState instance or None, default=None
        Seed of the random topics that the first minibatch starts from.
    verbose : int, default=0
        1 shows the progress of `fit` with its speed and the held-out score of
        the minibatches to come.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Dirichlet parameters of the topics: pseudo-counts, not normalised.
    topic_word_ : ndarray of shape (n_components, n_features)
        Mean word probabilities of the topics; rows sum to 1.
    topic_weights_ : ndarray of shape (n_components,)
        Share of all tokens seen that each topic explains.
    prior_retention_ : ndarray of shape (n_components,)
        Share of each topic's mass still owed to the prior.
    doc_topic_prior_ : ndarray of shape (n_components,)
        The prior of the documents in use.
    n_batch_iter_, n_documents_seen_, n_tokens_seen_ : int, int, float
        What has been learnt from, counting repeated passes.
    n_iter_ : int
        Passes that `fit` has finished; 0 after `partial_fit` alone.
    posterior_ : LazyPosterior
        The state of the engine.
    seed_ : int
        The seed drawn from `random_state`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in `fit`, when they were all strings.

    See Also
    --------
    SVBLDA : The same without boosting.
    streamtopics.priors : Priors from Zipf's law and from seed words.

    References
    ----------
    D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020),
    "Boosting prior knowledge in streaming variational Bayes", equations 34 and
    43, algorithm 8.

    Examples
    --------
    >>> from streamtopics import BPSLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = BPSLDA(n_components=5, boosting_scale=0.25, random_state=0).fit(X)
    >>> round(float((model.components_.sum() - 5 * 200 * 0.05) / X.sum()), 3)
    1.25
    """

    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "boosting_scale": [Interval(Real, 0, np.inf, closed="left")],
        "boosting_norm": [StrOptions({"whole", "topic"})],
    }

    def __init__(
        self,
        n_components=10,
        *,
        boosting_scale=0.1,
        boosting_norm="whole",
        doc_topic_prior=None,
        topic_word_prior=None,
        n_passes=1,
        max_local_iter=100,
        tol=1e-3,
        batch_size=1200,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.boosting_scale = boosting_scale
        self.boosting_norm = boosting_norm
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.n_passes = n_passes
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> BPS:
        return BPS(self.boosting_scale, self.boosting_norm, self.n_passes)

    def _model(self) -> LDA:
        return LDA(geometric_mean, Variational(self.tol, self.max_local_iter), self.seed_)
