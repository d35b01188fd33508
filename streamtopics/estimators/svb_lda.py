# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by streaming variational Bayes."""

from streamtopics.base import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import SVB


class SVBLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by streaming variational Bayes.

    The posterior after each minibatch is the prior of the next::

        lam_t = lam_{t-1} + s_t

    where s_t are the expected counts of words in topics, by mean-field inference
    in each document. Nothing is forgotten and no size of the corpus has to be
    guessed; the share of the prior in the topics falls with every token.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
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
    BPSLDA : The same with a prior that does not vanish.

    References
    ----------
    T. Broderick, N. Boyd, A. Wibisono, A. C. Wilson and M. I. Jordan (2013),
    "Streaming variational Bayes"; section 3 of D. A. Nguyen, V. L. Ngo, K. A.
    Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior knowledge in
    streaming variational Bayes".

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = SVBLDA(n_components=5, random_state=0)
    >>> for start in range(0, 500, 100):
    ...     model = model.partial_fit(X[start : start + 100])
    >>> model.transform(X[:3]).shape
    (3, 5)
    >>> model.n_batch_iter_, model.n_documents_seen_
    (5, 500)
    """

    def __init__(
        self,
        n_components=10,
        *,
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

    def _rule(self) -> SVB:
        return SVB(n_passes=self.n_passes)

    def _model(self) -> LDA:
        return LDA(geometric_mean, Variational(self.tol, self.max_local_iter), self.seed_)
