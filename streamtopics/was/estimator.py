# SPDX-License-Identifier: BSD-3-Clause
"""The sentence topic model as an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import unchanged_unless_learnt
from streamtopics.base.topics import LearntTopics
from streamtopics.messages import Statistics
from streamtopics.metrics import predictive
from streamtopics.parallel import Workers, workers
from streamtopics.posteriors import TopicPosterior
from streamtopics.progress import progress
from streamtopics.records import RecordParameters
from streamtopics.sentences import Sentences, read_sentences
from streamtopics.updates.online_em import running_mean
from streamtopics.updates.schedules import MeanDecay
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    Interval,
    StrOptions,
    check_column_names,
    check_word_prior,
)
from streamtopics.was import sampler
from streamtopics.was.prior import HDP, LEAST, MOST, SBP, WAS, Prior
from streamtopics.was.sampler import Corpus, TopicCounts
from streamtopics.was.subtle import (
    SubtleSentence,
    SubtleTopic,
    check_number,
    check_share,
    find_subtle,
)

POSITIVE = Interval(Real, LEAST, MOST, closed="both")
STICKS = [POSITIVE, "array-like"]


@dataclass(frozen=True)
class Chain:
    """What a chain over a corpus with topics integrated out leaves behind.

    Attributes
    ----------
    counts : ndarray of shape (n_features, K), float64
        Mean number of tokens of each word in each topic.
    n_atoms, n_tables : ndarray of shape (n_documents,), float64
        Mean numbers of distinct atoms and of tables in each document.
    """

    counts: np.ndarray
    n_atoms: np.ndarray
    n_tables: np.ndarray


class WASTopicModel(RecordParameters, LearntTopics, TransformerMixin, BaseEstimator):
    """Topics of sentences, with atoms that a document's sentences share but do not weigh alike.

    Each sentence is a mixture of atoms, each atom of a document a mixture of topics.
    Under the weight-agnostic prior a sentence may give a lot of weight to an atom that
    hardly any other sentence has, so that a topic can be subtle: rare in the corpus and
    yet all that some sentences speak of.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    prior : {"was", "hdp", "sbp"}, default="was"
        Of the sentences: the weight-agnostic hierarchical stick-breaking process; the
        hierarchical Dirichlet process, whose sentences prefer what is frequent in the
        document; or sticks over `truncation` atoms that all sentences have.
    a, b : float or array-like, default=1.0 and 0.5
        Of the sticks of a sentence, Beta(a_j, b_j); the last of several holds for all
        later ones. With a = 1, b is the concentration of its tables: about
        b log(1 + n / b) of them for n words. The source has b = 1, which makes too many
        for short sentences. Of the "hdp" b is the table concentration, and a has to be 1.
    zeta : float, default=1.0
        Weight of a new atom against 1 for each that the document has; of the "hdp" the
        dish concentration. Not used by "sbp".
    truncation : int, default=8
        Atoms of a document under "sbp"; of longer `a` and `b` the rest is not used.
    atom_prior : float, default=0.1
        Dirichlet parameter of the topics of an atom (the source's kappa). The source has
        1, with which the topics of short texts come out far too even.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior or callable, \
            default=0.05
        Dirichlet parameter of the words of a topic (the source's eta), in tokens. The
        source has 1.
    n_sweeps : int, default=100
        Gibbs sweeps over the corpus in `fit`, and over the first minibatch.
    n_burn_in : int, default=50
        How many of those are left out of the averages.
    n_local_sweeps : int, default=30
        Sweeps over a document when the topics are given: in `partial_fit` after the
        first minibatch, and in `transform`. The last half is averaged.
    kappa : float, default=0.7
        Decay of the step size t^-kappa of later minibatches, in (0, 1]; t counts
        minibatches of the size of the current one.
    exact : bool, default=True
        Whether the sampler corrects for the order of the words, as it has to under the
        weight-agnostic prior. Without, it is somewhat faster and finds too many atoms.
    n_jobs : int or None, default=None
        Threads; -1 is all processors. The result is the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Of the sampler.
    verbose : int, default=0
        1 shows how far `fit` has come.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Tokens of each word in each topic for a document, smoothed: the prior's are over
        the documents too.
    topic_word_ : ndarray of shape (n_components, n_features)
        Word probabilities of the topics; rows sum to 1.
    topic_weights_ : ndarray of shape (n_components,)
        Share of all tokens seen that each topic explains.
    n_atoms_, n_tables_ : ndarray of shape (n_documents,)
        Mean numbers of atoms and of tables in the documents of the last `fit` or
        `partial_fit`.
    n_batch_iter_, n_documents_seen_ : int
        Minibatches and documents learnt from.
    n_tokens_seen_ : float
        Tokens learnt from.
    n_features_in_ : int
        Columns of the counts.

    See Also
    --------
    streamtopics.text.SentenceVectorizer : Makes sentences of raw documents.
    streamtopics.was.specific_comment_scores : Which comments speak to a part of an article.

    Notes
    -----
    Counts have to be whole numbers: sentences are sequences of words to the sampler. Under
    "was" a sweep over a document takes time that grows with the square of its tables: of
    thousands of sentences, cut it into parts.

    `fit` is batch Gibbs sampling with the topics integrated out; blocks of documents are
    swept side by side and see each other's changes after a sweep. `partial_fit` does the
    same with the first minibatch, and online EM with the later ones.

    References
    ----------
    M. Das and C. Bhattacharyya, "WAS: Weight-agnostic hierarchical stick-breaking process",
    algorithm 1 and theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import WASTopicModel
    >>> document = np.kron(np.eye(2, dtype=int), [[3, 2], [1, 2]])  # Four sentences.
    >>> model = WASTopicModel(n_components=2, n_sweeps=50, n_burn_in=25, random_state=0)
    >>> model = model.fit([document] * 10)
    >>> model.transform_sentences([document]).argmax(axis=1)
    array([1, 1, 0, 0])
    """

    _records = ("topic_word_prior",)
    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in ("n_components", "kappa", "n_jobs", "random_state", "verbose", "n_sweeps")
    } | {
        "prior": [StrOptions({"was", "hdp", "sbp"})],
        "a": STICKS,
        "b": STICKS,
        "zeta": [POSITIVE],
        "truncation": [Interval(Integral, 1, None, closed="left")],
        "atom_prior": [POSITIVE],
        "topic_word_prior": COMMON_CONSTRAINTS["smoothing"],
        "n_burn_in": [Interval(Integral, 0, None, closed="left")],
        "n_local_sweeps": [Interval(Integral, 1, None, closed="left")],
        "exact": ["boolean"],
    }

    def __init__(
        self,
        n_components=20,
        *,
        prior="was",
        a=1.0,
        b=0.5,
        zeta=1.0,
        truncation=8,
        atom_prior=0.1,
        topic_word_prior=0.05,
        n_sweeps=100,
        n_burn_in=50,
        n_local_sweeps=30,
        kappa=0.7,
        exact=True,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.prior = prior
        self.a = a
        self.b = b
        self.zeta = zeta
        self.truncation = truncation
        self.atom_prior = atom_prior
        self.topic_word_prior = topic_word_prior
        self.n_sweeps = n_sweeps
        self.n_burn_in = n_burn_in
        self.n_local_sweeps = n_local_sweeps
        self.kappa = kappa
        self.exact = exact
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from a corpus by Gibbs sampling. Forgets what was learnt before.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            Whole word counts: one matrix for all documents, with `groups`, or one of shape
            (n_sentences, n_features) for each document, as `SentenceVectorizer` makes them.
        y : None
            Ignored.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._learning("fit", X, groups, start=True) as (sentences, pool):
            self._learn_together(sentences, pool)
        return self

    def partial_fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from one minibatch; the first one as `fit` does, later ones by online EM.

        When it fails or is interrupted nothing has changed. Of a minibatch without
        documents nothing is learnt.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        y : None
            Ignored.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.

        Returns
        -------
        self : object
            The estimator.
        """
        first = not self.__sklearn_is_fitted__()
        with self._learning("partial_fit", X, groups, start=first) as (sentences, pool):
            if self.n_components != self.posterior_.shape[1]:
                raise ValueError(
                    f"n_components is {self.n_components} now, but the model has "
                    f"{self.posterior_.shape[1]} topics; set it back, or start anew with fit"
                )
            if sentences.n_documents == 0:
                return self
            if self.posterior_.knows_nothing:
                self._learn_together(sentences, pool)
            else:
                self._learn_apart(sentences, pool)
        return self

    @contextmanager
    def _learning(
        self, method: str, X: Any, groups: Any, *, start: bool
    ) -> Iterator[tuple[Sentences, Workers]]:
        """The checked sentences and the workers; all is undone if it fails."""
        with unchanged_unless_learnt(self), self._workers() as pool:
            sentences = self._sentences(X, groups, method, reset=start)
            if start:
                self._start(sentences.counts)
            yield sentences, pool

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        self._validate_params()
        if self.n_burn_in >= self.n_sweeps:
            raise ValueError(
                f"n_burn_in must be less than n_sweeps, or no sweep is left to average; got "
                f"n_burn_in={self.n_burn_in} and n_sweeps={self.n_sweeps}"
            )
        with workers(self.n_jobs) as pool:
            yield pool

    def _start(self, X: sparse.csr_matrix) -> None:
        n_features = X.shape[1]
        eta = check_word_prior(self, "topic_word_prior", X, None)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.n_features_in_ = n_features
        self.seed_ = int(seed)
        self.posterior_ = TopicPosterior(eta, (n_features, self.n_components))
        self.n_atoms_, self.n_tables_ = np.zeros((2, 0))

    def _learn_together(self, sentences: Sentences, pool: Workers) -> None:
        """Batch Gibbs sampling, as the first step of online EM."""
        words, corpus = self._corpus(sentences)
        chain = self._chain(corpus, words, pool)
        self._take_in(words, chain.counts, corpus, chain.n_atoms, chain.n_tables)

    def _chain(self, corpus: Corpus, words: np.ndarray, pool: Workers) -> Chain:
        prior, seeds = self._prior, self._seeds(corpus)
        n_words, K = len(words), self.n_components
        eta = self.posterior_.prior_rows(words)[:, 0]
        nothing = np.zeros((n_words, K)), np.zeros(K)
        topics = TopicCounts(*nothing, eta, float(self.posterior_.prior_mass[0]))
        counts, n_atoms, n_tables = np.zeros((n_words, K)), 0.0, 0.0
        total = corpus.n_documents * self.n_sweeps
        with progress("WASTopicModel", total, enabled=self.verbose > 0) as report:
            state, topics = sampler.start(corpus, prior, self.atom_prior, topics, seeds)
            for number in range(self.n_sweeps):
                state, topics = sampler.sweep(
                    corpus, state, prior, self.atom_prior, topics, seeds, number, pool
                )
                report.advance(corpus.n_documents, float(corpus.n_words))
                if number >= self.n_burn_in:
                    counts += topics.counts
                    n_atoms += distinct(corpus, state.dish)
                    n_tables += distinct(corpus, state.table)
        kept = self.n_sweeps - self.n_burn_in
        return Chain(counts / kept, n_atoms / kept, n_tables / kept)

    def _learn_apart(self, sentences: Sentences, pool: Workers) -> None:
        """Documents under the topics of now, and a step towards their statistics."""
        words, corpus = self._corpus(sentences)
        found = self._fold_in(corpus, words, self._seeds(corpus), pool)
        counts = sampler.word_statistics(corpus, found.word_topic, len(words))
        n_tables = np.add.reduceat(np.append(found.n_tables, 0.0), corpus.documents[:-1]) * (
            np.diff(corpus.documents) > 0
        )
        self._take_in(words, counts, corpus, found.n_dishes, n_tables)

    def _take_in(
        self,
        words: np.ndarray,
        counts: np.ndarray,
        corpus: Corpus,
        n_atoms: np.ndarray,
        n_tables: np.ndarray,
    ) -> None:
        """The step of online EM."""
        posterior = self.posterior_
        statistics = Statistics(words, counts, np.diff(corpus.bounds).astype(np.float64))
        before = posterior.n_documents / corpus.n_documents
        rate = MeanDecay(self.kappa)(before)
        posterior.blend(running_mean(posterior, statistics, rate))
        self.n_atoms_, self.n_tables_ = n_atoms, n_tables

    # Inference

    def transform(self, X: Any, groups: Any = None) -> np.ndarray:
        """Topic proportions of documents: the mean over their words.

        Each row depends on its own document only. A document without words gets equal
        proportions.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix; documents come in the
            order of their first rows.

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components), float64
            Rows sum to 1.
        """
        check_is_fitted(self)
        with self._workers() as pool:
            sentences = self._sentences(X, groups, "transform")
            words, corpus = self._corpus(sentences)
            theta = self._sentence_topic(words, corpus, pool)
        return document_means(corpus, theta)

    def transform_sentences(self, X: Any, groups: Any = None) -> np.ndarray:
        """Topic proportions of sentences: their posterior mean.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.

        Returns
        -------
        sentence_topic : ndarray of shape (n_sentences, n_components), float64
            A row for each row of X, or for each sentence, document after document.
        """
        check_is_fitted(self)
        with self._workers() as pool:
            sentences = self._sentences(X, groups, "transform_sentences")
            words, corpus = self._corpus(sentences)
            return sentences.as_passed(self._sentence_topic(words, corpus, pool))

    def score_samples(self, X: Any, groups: Any = None) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        One token in five of each sentence is held out, by a rule that depends on the
        sentence alone; its proportions are inferred from the others of the document.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the document's held-out tokens.
        """
        check_is_fitted(self)
        return self._completion(X, groups, "score_samples")[0]

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Log predictive probability per held-out token, by completion of the sentences.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        y : None
            Ignored.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.

        Returns
        -------
        score : float
            Nats per token, higher is better; NaN if no token is held out.
        """
        check_is_fitted(self)
        return predictive.per_token(*self._completion(X, groups, "score"))

    def log_likelihood(
        self, X: Any, groups: Any = None, *, n_particles: int = 100, seed: int = 0
    ) -> np.ndarray:
        """log p(words of each document) under the learnt topics, by a particle filter.

        The exponential is an unbiased estimate, so that the logarithm is too low on
        average; the more particles, the less. Particles seat the words in the order of the
        process (section III of the source), each given those before it.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.
        n_particles : int, default=100
        seed : int, default=0
            Another seed, another estimate; documents do not depend on each other.

        Returns
        -------
        log_likelihood : ndarray of shape (n_documents,), float64
            In nats; 0 for a document without words.
        """
        check_is_fitted(self)
        check_number("n_particles", n_particles)
        if not (isinstance(seed, Integral) and 0 <= seed < 2**64):
            raise ValueError(f"seed must be an integer in [0, 2**64); got {seed!r}")
        with self._workers() as pool:
            sentences = self._sentences(X, groups, "log_likelihood")
            words, corpus = self._corpus(sentences)
            return sampler.log_likelihood(
                corpus,
                self._prior,
                self.atom_prior,
                self._topic_weights(words),
                sampler.content_seeds(corpus, words) ^ np.uint64(seed),
                n_particles=n_particles,
                workers=pool,
            )

    def subtle_topics(
        self,
        X: Any,
        groups: Any = None,
        *,
        max_share: float | None = None,
        min_proportion: float = 0.5,
        n_sentences: int = 5,
        n_words: int = 8,
        texts: Sequence[Sequence[str]] | None = None,
        feature_names: Any = None,
    ) -> list[SubtleTopic]:
        """Topics that are rare in a corpus and dominate a few sentences, with these.

        Parameters
        ----------
        X : matrix of shape (n_sentences, n_features), or sequence of matrices
            As in `fit`.
        groups : array-like of shape (n_sentences,) or None, default=None
            The document of each row of X, if that is one matrix.
        max_share : float or None, default=None
            Of the words that a subtle topic may have; None is half of an even share,
            1 / (2 n_components).
        min_proportion : float, default=0.5
            Of a sentence that it must have to dominate it.
        n_sentences, n_words : int, default=5 and 8
            How many to tell, at most, of each topic.
        texts : sequence of sequences of str or None, default=None
            The sentences of each document, as `SentenceVectorizer.sentences` has them.
        feature_names : array-like of shape (n_features,) or None, default=None
            Words of the columns; None for their numbers.

        Returns
        -------
        topics : list of SubtleTopic
            The rarest first; as a frame by ``pandas.DataFrame(topics)``.
        """
        check_is_fitted(self)
        max_share = 0.5 / self.posterior_.shape[1] if max_share is None else max_share
        check_share("max_share", max_share)
        check_share("min_proportion", min_proportion)
        check_number("n_sentences", n_sentences)
        with self._workers() as pool:
            sentences = self._sentences(X, groups, "subtle_topics")
            self._check_texts(texts, sentences)
            words, corpus = self._corpus(sentences)
            theta = self._sentence_topic(words, corpus, pool)
        top_words = self.top_words(feature_names, n_words)
        found = find_subtle(
            theta,
            np.diff(corpus.sentences).astype(np.float64),
            sentences.documents,
            max_share=max_share,
            min_proportion=min_proportion,
        )
        topics = []
        for k, share, dominated in found:
            documents = sentences.documents[dominated]
            told = []
            for row, d in zip(dominated[:n_sentences].tolist(), documents.tolist(), strict=False):
                place = row - int(sentences.starts[d])
                text = None if texts is None else texts[d][place]
                told.append(SubtleSentence(d, place, float(theta[row, k]), text))
            n_documents = len(np.unique(documents))
            topics.append(SubtleTopic(k, share, len(dominated), n_documents, top_words[k], told))
        return topics

    def _check_texts(self, texts: Any, sentences: Sentences) -> None:
        if texts is None:
            return
        n_rows = np.diff(sentences.starts)
        if not (isinstance(texts, Sequence) and all(isinstance(t, list | tuple) for t in texts)):
            raise TypeError(
                "texts must be a list with the list of the sentences of each document, as "
                f"SentenceVectorizer.sentences makes it; got {type(texts).__name__}"
            )
        n_texts = [len(text) for text in texts]
        if not np.array_equal(n_texts, n_rows):
            raise ValueError(
                "texts must have the sentences of each document of X, as "
                f"SentenceVectorizer.sentences does; got {sum(n_texts)} sentences in "
                f"{len(n_texts)} documents for {n_rows.sum()} in {len(n_rows)}"
            )

    def _completion(self, X: Any, groups: Any, method: str) -> tuple[np.ndarray, float]:
        with self._workers() as pool:
            sentences = self._sentences(X, groups, method)
            observed, held_out = predictive.completion_split(sentences.counts)
            theta = self._sentence_topic(*self._corpus(sentences, observed), pool)
        words = np.unique(held_out.indices)
        topic_word = self._topic_weights(words.astype(np.int32)).T
        log_probability = predictive.token_log_probability(theta, topic_word, held_out[:, words])
        of_documents = np.bincount(sentences.documents, log_probability, sentences.n_documents)
        return of_documents, float(held_out.sum(dtype=np.float64))

    def _sentence_topic(self, words: np.ndarray, corpus: Corpus, pool: Workers) -> np.ndarray:
        seeds = sampler.content_seeds(corpus, words)
        return self._fold_in(corpus, words, seeds, pool).sentence_topic

    def _fold_in(
        self, corpus: Corpus, words: np.ndarray, seeds: np.ndarray, pool: Workers
    ) -> sampler.Averages:
        """Documents under the topics of now."""
        return sampler.fold_in(
            corpus,
            self._prior,
            self.atom_prior,
            self._topic_weights(words),
            seeds,
            n_sweeps=self.n_local_sweeps,
            n_averaged=-(-self.n_local_sweeps // 2),
            workers=pool,
        )

    def _topic_weights(self, words: np.ndarray) -> np.ndarray:
        """Probability of some words in each topic, of shape (len(words), K)."""
        return self.posterior_.rows(words) / self.posterior_.mass

    # Parts

    @property
    def _prior(self) -> Prior:
        if self.prior == "was":
            return WAS(self.a, self.b, self.zeta, self.exact)
        if self.prior == "sbp":
            return SBP(self.a, self.b, self.truncation)
        if not (np.ndim(self.a) == 0 and self.a == 1 and np.ndim(self.b) == 0):
            raise ValueError(
                "a must be 1 and b a number for prior='hdp', whose sticks are those of a "
                f"Dirichlet process; got a={self.a!r} and b={self.b!r}"
            )
        return HDP(self.b, self.zeta)

    def _seeds(self, corpus: Corpus) -> np.ndarray:
        return sampler.document_seeds(self.seed_, self.posterior_.n_documents, corpus.n_documents)

    def _sentences(self, X: Any, groups: Any, method: str, *, reset: bool = False) -> Sentences:
        n_words = None if reset else self.n_features_in_
        caller = f"{type(self).__name__}.{method}"
        X = list(X) if isinstance(X, Iterator) else X
        sentences = read_sentences(X, groups, n_words=n_words, whole=True, caller=caller)
        check_column_names(self, X, reset=reset)
        if method == "fit" and sentences.n_documents == 0:
            raise ValueError(f"X, passed to {caller}, has no documents; fit needs at least one")
        return sentences

    def _corpus(self, sentences: Sentences, counts: Any = None) -> tuple[np.ndarray, Corpus]:
        """The words that occur, and the corpus over them."""
        counts = sentences.counts if counts is None else counts
        corpus = sampler.corpus_of(counts, np.diff(sentences.starts))
        return sampler.own_words(corpus)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        return tags


def distinct(corpus: Corpus, labels: np.ndarray) -> np.ndarray:
    """How many labels the words of each document have, of shape (n_documents,)."""
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.bounds))
    pairs = np.unique(np.stack([document, labels]), axis=1)
    return np.bincount(pairs[0], minlength=corpus.n_documents).astype(np.float64)


def document_means(corpus: Corpus, sentence_topic: np.ndarray) -> np.ndarray:
    """Means over the sentences of each document, weighted by their words."""
    lengths = np.diff(corpus.sentences).astype(np.float64)
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.documents))
    K = sentence_topic.shape[1]
    sums = np.stack(
        [
            np.bincount(document, lengths * column, minlength=corpus.n_documents)
            for column in sentence_topic.T
        ],
        axis=1,
    )
    totals = np.diff(corpus.bounds)[:, None]
    return np.divide(sums, totals, out=np.full((corpus.n_documents, K), 1 / K), where=totals > 0)
