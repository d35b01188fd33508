# SPDX-License-Identifier: BSD-3-Clause
"""The sentence topic model as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import Commit, check_same
from streamtopics.base.glossary import documented
from streamtopics.base.sentence_topics import SentenceTopics
from streamtopics.base.sentences import Sentences
from streamtopics.base.typing import RandomState, WordPriorLike
from streamtopics.base.validation import (
    COMMON_CONSTRAINTS,
    POSITIVE_INT,
    HasMethods,
    Interval,
    StrOptions,
    check_word_prior,
)
from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates.online_em import running_mean
from streamtopics.updates.rates import MeanDecay
from streamtopics.utils.checks import MOST_PARTICLES, MOST_WHOLE, check_range, check_whole
from streamtopics.utils.parallel import Workers
from streamtopics.utils.progress import Progress
from streamtopics.utils.records import keep, of_record
from streamtopics.utils.structure import document_labels, from_arrow, in_memory, labelled
from streamtopics.was.corpus import SentenceCorpus, content_seeds, document_seeds, words_of
from streamtopics.was.franchise import HDPFranchise
from streamtopics.was.prior import LEAST, MOST, SentencePrior
from streamtopics.was.sampler import Averages, SentenceSampler, TopicCounts, word_statistics
from streamtopics.was.stick_breaking import SBP
from streamtopics.was.subtle import SubtleSentence, SubtleTopic, find_subtle
from streamtopics.was.weight_agnostic import WAS

# The source has b = 1; short sentences then get too many tables.
PRIORS = {"was": WAS(1.0, 0.5, 1.0), "hdp": HDPFranchise(0.5, 1.0), "sbp": SBP(1.0, 0.5)}
POSITIVE = Interval(Real, LEAST, MOST, closed="both")


@dataclass(frozen=True, kw_only=True)
class SentenceCommit(Commit):
    _holds = "n_atoms: D >=0; n_tables: D >=0"
    n_atoms: np.ndarray  # Mean by document, as for tables.
    n_tables: np.ndarray


# Averages over sweeps: tokens of words in topics, (n_words, K), and numbers of atoms and tables.
Learnt = tuple[np.ndarray, np.ndarray, np.ndarray]


@documented
class WASTopicModel(SentenceTopics):
    """Topic model of sentences in documents, with topics that may dominate a few sentences.

    An atom is a mixture of topics and belongs to one document; a sentence is a mixture of its
    document's atoms. Under the weight-agnostic prior (WAS) a sentence may give much weight to an
    atom that other sentences hardly use. So a topic can be rare in the corpus and dominant in some
    sentences: a subtle topic.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    prior : {"was", "hdp", "sbp"} or prior of sentences, default="was"
        A prior of `streamtopics.was`, or a name: "was" is ``WAS(a=1.0, b=0.5)``, "hdp"
        ``HDPFranchise(0.5, 1.0)``, and "sbp" ``SBP(a=1.0, b=0.5)``. Fields of a prior are nested
        parameters, such as ``prior__b``.
    atom_prior : float, default=0.1
        Dirichlet parameter of the topics of an atom (kappa in the paper). With the paper's 1 the
        proportions in atoms of short texts are too even.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=0.05
        Dirichlet parameter of the words of a topic, in tokens (eta in the paper, which takes 1).
    n_sweeps : int, default=100
        Gibbs sweeps over the corpus in `fit`, or over the first minibatch of `partial_fit`.
    n_burn_in : int, default=50
        Number of sweeps at the start that the averages over sweeps leave out.
    n_local_sweeps : int, default=30
        Sweeps over a document with fixed topics: in later minibatches, in `transform` and in
        scores. Results are averages over the last half of these sweeps.
    kappa : float, default=0.7
        Decay, in [0, 1], of the step size (1 + N / B)^-kappa of `partial_fit` with B documents
        after N earlier ones. With 1 all documents weigh alike; smaller values forget early ones.
    {common_parameters}

    {attributes, mean_components, topic_attributes}
    n_atoms_, n_tables_ : ndarray of shape (n_documents,)
        Number of atoms and of tables in each document of the last `fit` or `partial_fit`, averaged
        over sweeps. A table is a group of words of a sentence with one atom.
    {stream_attributes}

    Notes
    -----
    Counts must be whole numbers. Under WAS the time of a sweep over a document grows with the
    square of the number of tables, so cut documents of thousands of sentences into shorter ones.

    References
    ----------
    M. Das and C. Bhattacharyya, "WAS: Weight-agnostic hierarchical stick-breaking process",
    algorithm 1 and theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import WASTopicModel
    >>> document = np.array([[3, 2, 0, 0], [1, 2, 0, 0], [0, 0, 3, 2], [0, 0, 1, 2]])
    >>> model = WASTopicModel(n_components=2, n_sweeps=50, n_burn_in=25, random_state=0)
    >>> model = model.fit([document] * 10)
    >>> model.transform_sentences([document]).argmax(axis=1)  # The topic of each sentence.
    array([1, 1, 0, 0])
    """

    n_components: int
    prior: SentencePrior | str
    atom_prior: float
    n_sweeps: int
    n_burn_in: int
    n_local_sweeps: int
    kappa: float
    _records: ClassVar[dict[str, dict[str, Any]]] = SentenceTopics._records | {"prior": PRIORS}
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "prior": [StrOptions(set(PRIORS)), HasMethods(["sampler"])],
        "atom_prior": [POSITIVE],
        "n_burn_in": [Interval(Integral, 0, MOST_WHOLE, closed="both")],
        "n_local_sweeps": [POSITIVE_INT],
    }
    _whole_counts = True
    _commit: SentenceCommit

    def __init__(
        self,
        n_components: int = 20,
        *,
        prior: SentencePrior | str = "was",
        atom_prior: float = 0.1,
        topic_word_prior: WordPriorLike = 0.05,
        n_sweeps: int = 100,
        n_burn_in: int = 50,
        n_local_sweeps: int = 30,
        kappa: float = 0.7,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    # Learning

    def _check(self, before: SentenceCommit | None) -> None:
        if self.n_burn_in >= self.n_sweeps:
            raise ValueError(
                f"n_burn_in must be less than n_sweeps; got {self.n_burn_in} and {self.n_sweeps}"
            )
        if before is not None:
            check_same(self, n_components=before.posterior.shape[1])

    def _start(self, batch: Sentences) -> None:
        eta = check_word_prior(self, "topic_word_prior", batch.counts, None)
        self.seed_ = self._draw_seed()
        shape, nothing = (self.n_features_in_, self.n_components), np.zeros(0)
        posterior = TopicPosterior(eta, shape, seed=self.seed_)
        self._commit = SentenceCommit(posterior, n_atoms=nothing, n_tables=nothing)

    def _learn_all(self, batch: Sentences, pool: Workers) -> None:
        self._learn(batch, pool)
        self._commit = replace(self._commit, n_iter=1)

    def _learn(self, batch: Sentences, pool: Workers) -> None:
        """Take a step of online EM; the first minibatch is sampled with topics integrated out."""
        commit = self._commit
        posterior = commit.posterior
        words, corpus = words_of(batch)
        seeds = document_seeds(self.seed_, posterior.n_documents, corpus.n_documents)
        sample = self._chain if posterior.knows_nothing else self._given_topics
        counts, n_atoms, n_tables = sample(corpus, words, seeds, pool)
        statistics = Statistics(words, counts, np.diff(corpus.bounds).astype(np.float64))
        # In minibatches of the current size, not always a whole number.
        rate = MeanDecay(self.kappa)(posterior.n_documents / corpus.n_documents)
        new = replace(commit, n_atoms=n_atoms, n_tables=n_tables)
        posterior.blend(running_mean(posterior, statistics, rate), [self._swap(new)])

    def _chain(
        self, corpus: SentenceCorpus, words: np.ndarray, seeds: np.ndarray, pool: Workers
    ) -> Learnt:
        sampler, posterior, K = self._sampler, self.posterior_, self.n_components
        eta, eta_mass = posterior.prior_rows(words)[:, 0], float(posterior.prior_mass[0])
        topics = TopicCounts(np.zeros((len(words), K)), np.zeros(K), eta, eta_mass)
        counts, (n_atoms, n_tables) = np.zeros_like(topics.counts), np.zeros((2, len(seeds)))
        total, shown = len(seeds) * self.n_sweeps, self.verbose > 0
        with Progress(type(self).__name__, total, enabled=shown) as report:
            state, topics = sampler.start(corpus, topics, seeds)
            for number in range(self.n_sweeps):
                state, topics = sampler.sweep(corpus, state, topics, seeds, number, pool)
                report.update(corpus.n_documents, float(corpus.n_words))
                if number >= self.n_burn_in:
                    counts += topics.counts
                    n_atoms += distinct(corpus, state.dish)
                    n_tables += distinct(corpus, state.table)
        kept = self.n_sweeps - self.n_burn_in
        return counts / kept, n_atoms / kept, n_tables / kept

    def _given_topics(
        self, corpus: SentenceCorpus, words: np.ndarray, seeds: np.ndarray, pool: Workers
    ) -> Learnt:
        found = self._fold_in(corpus, words, seeds, pool)
        counts = word_statistics(corpus, found.word_topic, len(words))
        document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.documents))
        n_tables = np.bincount(document, found.n_tables, corpus.n_documents)
        return counts, found.n_dishes, n_tables.astype(np.float64, copy=False)

    n_atoms_ = of_record("n_atoms", "Mean count of atoms of each document last learnt.", np.copy)
    n_tables_ = of_record("n_tables", "Mean count of tables of each document last learnt.", np.copy)

    # Inference

    def transform(self, X: Any, groups: Any = None) -> np.ndarray:
        """Return the topic proportions of documents: means over sentences, weighted by tokens.

        {sentences, groups}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components), float64
            Rows sum to 1; documents without words have equal proportions.
        """
        groups = in_memory(groups)
        batch = self._read("transform", X=X, groups=groups)
        theta = self._inferred(lambda pool: self._sentence_topic(batch, pool))
        return labelled(self, document_means(batch, theta), document_labels(X, groups))

    def log_likelihood(
        self, X: Any, groups: Any = None, *, n_particles: int = 100, random_state: int = 0
    ) -> np.ndarray:
        """Estimate log p(words of each document) under the learnt topics by a particle filter.

        The estimate of p is unbiased, so its logarithm is too low on average; more particles reduce
        the bias. The prior `streamtopics.was.ICD` is refused, because `ICD` gives no probability of
        a word from earlier words.

        {sentences, groups}
        n_particles : int, default=100
            Number of samples of the topics of each document.
        random_state : int, default=0
            Seed of the particles.

        Returns
        -------
        log_likelihood : ndarray of shape (n_documents,), float64
            Nats; 0 for a document without words.
        """
        check_is_fitted(self)
        check_whole(self, most=MOST_PARTICLES, n_particles=n_particles)
        n_particles = int(n_particles)
        batch = self._read("log_likelihood", X=X, groups=groups)
        words, corpus = words_of(batch)
        seeds = content_seeds(corpus, words) ^ np.uint64(random_state)
        return self._inferred(
            lambda pool: self._sampler.log_likelihood(
                corpus, self._topics_of(words).T, seeds, n_particles=n_particles, workers=pool
            )
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
        """Return the topics that are rare in a corpus but dominate some sentences.

        {sentences, groups}
        max_share : float or None, default=None
            Largest share of all words that a subtle topic may have. None is 1 / (2 n_components),
            or 1 / n_components if no topic is found with the first limit.
        min_proportion : float, default=0.5
            A topic dominates a sentence if the topic has at least this proportion.
        n_sentences, n_words : int, default=5 and 8
            Maximal numbers of sentences and words returned for a topic.
        texts : sequence of sequences of str or None, default=None
            The sentences of each document, from `SentenceVectorizer.sentences`.
        feature_names : array-like of shape (n_features,) or None, default=None
            Words of the columns of X. None takes the names seen in `fit`, or else column numbers.

        Returns
        -------
        topics : list of SubtleTopic
            The rarest topic first, with sentences. ``pandas.DataFrame(topics)`` makes a data frame.
        """
        check_is_fitted(self)
        even = 1 / self.posterior_.shape[1]
        limits = (even / 2, even) if max_share is None else (max_share,)
        check_range(self, 0, 1, max_share=limits[0], min_proportion=min_proportion)
        batch = self._read("subtle_topics", X=X, groups=groups)
        n_rows = np.diff(batch.starts).tolist()
        texts = None if texts is None else [list(text) for text in from_arrow(texts)]
        if texts is not None and [len(text) for text in texts] != n_rows:
            raise ValueError(
                "texts must be the sentences of each document of X, from "
                f"SentenceVectorizer.sentences; got {sum(map(len, texts))} sentences in "
                f"{len(texts)} documents for {sum(n_rows)} in {len(n_rows)}"
            )
        theta, top_words = self._inferred(
            lambda pool: (self._sentence_topic(batch, pool), self.top_words(feature_names, n_words))
        )
        lengths = batch.lengths
        tried = (find_subtle(theta, lengths, limit, min_proportion) for limit in limits)
        found = next(filter(None, tried), [])
        topics = []
        for k, share, rows in found:
            documents, best = batch.documents[rows], []
            for row, d in zip(rows[:n_sentences].tolist(), documents.tolist(), strict=False):
                place = row - int(batch.starts[d])
                text = None if texts is None else texts[d][place]
                best.append(SubtleSentence(d, place, float(theta[row, k]), text))
            n_documents = len(np.unique(documents))
            topics.append(SubtleTopic(k, share, len(rows), n_documents, top_words[k], best))
        return topics

    def _sentence_topic(self, batch: Sentences, pool: Workers) -> np.ndarray:
        words, corpus = words_of(batch)
        return self._fold_in(corpus, words, content_seeds(corpus, words), pool).sentence_topic

    def _fold_in(
        self, corpus: SentenceCorpus, words: np.ndarray, seeds: np.ndarray, pool: Workers
    ) -> Averages:
        n, weights = self.n_local_sweeps, self._topics_of(words).T
        return self._sampler.fold_in(
            corpus, weights, seeds, n_sweeps=n, n_averaged=-(-n // 2), workers=pool
        )

    @property
    def _sampler(self) -> SentenceSampler:
        return SentenceSampler(self._record("prior", self.prior), self.atom_prior)


def distinct(corpus: SentenceCorpus, labels: np.ndarray) -> np.ndarray:
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.bounds))
    width = int(labels.max(initial=0)) + 1
    pairs = np.unique(document * width + labels)
    return np.bincount(pairs // width, minlength=corpus.n_documents).astype(np.float64)


def document_means(sentences: Sentences, sentence_topic: np.ndarray) -> np.ndarray:
    """Mean over the sentences of each document, weighted by words."""
    lengths, document, n = sentences.lengths, sentences.documents, sentences.n_documents
    sums = [np.bincount(document, lengths * column, n) for column in sentence_topic.T]
    totals = np.bincount(document, lengths, n)[:, None]
    means = np.full((n, len(sums)), 1 / len(sums))
    return np.asarray(np.divide(np.stack(sums, axis=1), totals, out=means, where=totals > 0))
