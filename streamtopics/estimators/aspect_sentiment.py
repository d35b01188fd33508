# SPDX-License-Identifier: BSD-3-Clause
"""Sentiments of documents, and aspects of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from streamtopics.base.frame import FEW_STEPS, Commit, check_unchanged, warn_of_few_steps
from streamtopics.base.glossary import documented
from streamtopics.base.sentence_topics import SentenceTopics
from streamtopics.base.sentences import Sentences
from streamtopics.base.topic_model import DOCUMENTS_AT_ONCE
from streamtopics.base.typing import OptionalArray, RandomState, SentencesLike, WordPriorLike
from streamtopics.base.validation import (
    COMMON_CONSTRAINTS,
    POSITIVE_INT,
    Interval,
    StrOptions,
    check_word_prior,
)
from streamtopics.estimators.by_rule import LearnsByRule
from streamtopics.models.asum import ASUM, SentenceInference
from streamtopics.posteriors import Learn, TopicPosterior
from streamtopics.updates import BPS, Rule
from streamtopics.utils.checks import is_whole
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep
from streamtopics.utils.structure import document_labels, has_entries, in_memory, labelled

DEFAULT_RULE = BPS(0.5, "topic")
AT_LEAST_ONE = Interval(Real, 1, 1e10, closed="both")


@documented
class AspectSentimentModel(LearnsByRule, SentenceTopics):
    """The aspect and sentiment unification model (ASUM), learnt from seed words.

    A topic is an aspect together with a sentiment, such as praise of food. Each sentence has one
    topic. A document has proportions of sentiments and, within each sentiment, of aspects. The
    prior assigns words to sentiments. On a stream seed words fade unless `update` adds the prior
    again (a boost).

    Parameters
    ----------
    n_aspects : int, default=10
        Number of aspects of each sentiment.
    sentiments : sequence of str or of int, default=("positive", "negative")
        Names of at least two sentiments, in the order of the rows of `topic_word_prior`.
    topic_word_prior, boosted_prior : float, array-like of shape (n_features,) or \
            (n_sentiments, n_features), WordPrior, callable or None, default=None
        `topic_word_prior` is the Dirichlet parameter of the topics of each sentiment (the papers'
        eta), in tokens. `streamtopics.priors.SeedWords` makes a prior from seed words. None is 0.05
        for each word; with "em" all sentiments then learn the same topics. `boosted_prior` is the
        prior added by a boost; None is `topic_word_prior`.
    update : Rule or None, default=None
        How the posterior learns a minibatch; see `streamtopics.updates`. None is ``BPS(0.5,
        "topic")``, which adds half a pseudo-count of the prior for each token of a topic. "whole",
        as in Nguyen et al., adds as much to rare topics as to frequent topics; learnt words then
        hardly count in rare topics.
    doc_sentiment_prior : float, default=1.0
        Dirichlet parameter of a document's sentiments (the papers' gamma), at least 1. With 1 the
        prior is flat; each unit above 1 acts like one more sentence of every sentiment.
    doc_aspect_prior : float, default=2.0
        Dirichlet parameter of the aspects in each sentiment (the papers' alpha; 1 in Nguyen et
        al.). Both priors of documents may change after the first call, with effect at once.
    inference : {"em", "frank_wolfe"}, default="em"
        How the proportions of a document are found: by EM, or by the less exact Frank-Wolfe steps
        of Nguyen et al.
    {sweeps_and_batches, max_iter}
    {common_parameters}

    Attributes
    ----------
    sentiment_names_ : ndarray of shape (n_sentiments,)
        The names in the order of `sentiments`. n_components below is n_sentiments * n_aspects; the
        first topics are all aspects of the first sentiment.
    classes_ : ndarray of shape (n_sentiments,)
        The names sorted, as in `predict_proba`.
    {dirichlet_components}
    {topic_attributes}
    {stream_attributes}

    References
    ----------
    Y. Jo and A. H. Oh (2011), "Aspect and sentiment unification model for online review
    analysis".

    D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior
    knowledge in streaming variational Bayes", section 5.2.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import AspectSentimentModel
    >>> from streamtopics.priors import SeedWords
    >>> from streamtopics.text import SentenceVectorizer
    >>> texts = ["Good room. The staff was friendly.", "Bad food. The soup was cold."] * 50
    >>> X = SentenceVectorizer(CountVectorizer(stop_words="english")).fit_transform(texts)
    >>> seeds = SeedWords({"positive": ["good"], "negative": ["bad"]}, strength=1.0)
    >>> model = AspectSentimentModel(2, topic_word_prior=seeds, batch_size=20, random_state=0)
    >>> model.fit(X).predict(X)[:2]
    array(['positive', 'negative'], dtype='<U8')
    """

    _records: ClassVar[dict[str, dict[str, Any]]] = SentenceTopics._records | {
        "update": {None: DEFAULT_RULE}
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "n_aspects": [POSITIVE_INT],
        "sentiments": ["array-like"],
        "doc_sentiment_prior": [AT_LEAST_ONE],
        "doc_aspect_prior": [AT_LEAST_ONE],
        "inference": [StrOptions({"em", "frank_wolfe"})],
    }
    n_aspects: int
    sentiments: Sequence[str] | Sequence[int]
    doc_sentiment_prior: float
    doc_aspect_prior: float
    inference: Literal["em", "frank_wolfe"]
    max_local_iter: int
    local_tol: float

    def __init__(
        self,
        n_aspects: int = 10,
        *,
        sentiments: Sequence[str] | Sequence[int] = ("positive", "negative"),
        topic_word_prior: WordPriorLike = None,
        boosted_prior: WordPriorLike = None,
        update: Rule | None = None,
        doc_sentiment_prior: float = 1.0,
        doc_aspect_prior: float = 2.0,
        inference: Literal["em", "frank_wolfe"] = "em",
        max_local_iter: int = 100,
        local_tol: float = 1e-3,
        batch_size: int = 1000,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _check(self, before: Commit | None) -> None:
        offers = TopicPosterior.offers | {"local_bound"}
        started = {} if before is None else {"n_aspects": self._n_aspects}
        self._check_rule(before, offers, f"the local step {self.inference!r}", **started)
        if before is not None:
            now = _checked_sentiments(self.sentiments).tolist()
            check_unchanged("sentiments", now, self.sentiment_names_.tolist())

    def _start(self, batch: Sentences) -> None:
        self.sentiment_names_ = _checked_sentiments(self.sentiments)
        self.classes_ = np.sort(self.sentiment_names_)
        X = batch.counts
        shape = X.shape[1], len(self.classes_) * int(self.n_aspects)
        eta = self._prior("topic_word_prior", X)
        xi = None if self.boosted_prior is None else self._prior("boosted_prior", X)
        self.seed_ = self._draw_seed()
        self._commit = self._first_commit(TopicPosterior(eta, shape, xi=xi, seed=self.seed_))
        rounds = getattr(self._rule, "n_rounds", getattr(self._rule, "max_rounds", 1))
        n_steps = -(-batch.n_documents // self.batch_size) * self.max_iter * rounds
        if batch.is_corpus and n_steps < FEW_STEPS:
            rule = f"Rounds({DEFAULT_RULE}, n_rounds=10)"
            warn_of_few_steps(self, f"make batch_size smaller, or take update={rule}")

    def _prior(self, name: str, X: sparse.csr_matrix) -> np.ndarray:
        names = self.sentiment_names_
        prior = check_word_prior(self, name, X, len(names), "n_sentiments", classes=names)
        return prior if prior.shape[1] == 1 else np.repeat(prior, self.n_aspects, axis=1)

    def _learner(self, batch: Sentences, pool: Workers) -> Learn:
        return self._model.learner(self.posterior_, batch.batch, pool)

    def predict(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Return the most probable sentiment of each document.

        {sentences, groups}

        Returns
        -------
        sentiment : ndarray of shape (n_documents,)
            A name for each document; in a tie, as without seed words, the first in `classes_`.
        """
        most_probable = self._sentiments(X, groups, "predict").argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def predict_proba(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Return the proportions of sentiments in each document, the papers' pi.

        {sentences, groups}

        Returns
        -------
        proportions : ndarray of shape (n_documents, n_sentiments), float64
            Columns are in the order of `classes_`; rows sum to 1. A document without words has
            equal proportions.
        """
        return self._sentiments(X, groups, "predict_proba")

    def transform(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Return the joint proportions of sentiments and aspects in each document.

        {sentences, groups}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_sentiments * n_aspects), float64
            Rows sum to 1; the first columns are all aspects of the first sentiment.
        """
        groups = in_memory(groups)
        batch = self._read("transform", X=X, groups=groups)
        found = self._inferred(lambda pool: self._found(batch, pool).proportions)
        return labelled(self, found, document_labels(X, groups))

    def _sentence_topic(self, batch: Sentences, pool: Workers) -> np.ndarray:
        return self._found(batch, pool).probabilities

    def _sentiments(self, X: object, groups: OptionalArray, method: str) -> np.ndarray:
        batch = self._read(method, X=X, groups=groups)
        psi = self._inferred(lambda pool: self._found(batch, pool).proportions)
        n_sentiments = len(self.classes_)
        by_sentiment = psi.reshape(len(psi), n_sentiments, psi.shape[1] // n_sentiments)
        return np.asarray(by_sentiment.sum(axis=2)[:, np.argsort(self.sentiment_names_)])

    def _found(self, batch: Sentences, pool: Workers) -> SentenceInference:
        model, posterior = self._model, self.posterior_
        parts = list(batch.cut(DOCUMENTS_AT_ONCE)) or [batch]
        found = [model.infer(posterior, part.batch, pool) for part in parts]
        columns = zip(*(vars(part).values() for part in found), strict=True)
        return SentenceInference(*map(np.concatenate, columns))

    def get_feature_names_out(self, input_features: OptionalArray = None) -> np.ndarray:
        """Return names of the columns of `transform`: "positive_0" is the first positive aspect.

        Returns
        -------
        names : ndarray of shape (n_sentiments * n_aspects,), object
        """
        super().get_feature_names_out(input_features)
        names = [f"{name}_{t}" for name in self.sentiment_names_ for t in range(self._n_aspects)]
        return np.array(names, dtype=object)

    @property
    def _n_aspects(self) -> int:
        return int(self.posterior_.shape[1]) // len(self.classes_)

    @property
    def _model(self) -> ASUM:
        stops = self.local_tol, self.max_local_iter
        priors = self.doc_sentiment_prior, self.doc_aspect_prior
        frank_wolfe = self.inference == "frank_wolfe"
        return ASUM(*stops, frank_wolfe, len(self.classes_), *priors, self.seed_)


def _checked_sentiments(sentiments: Any) -> np.ndarray:
    names = list(sentiments) if has_entries(sentiments) else []
    one_kind = all(isinstance(name, str) for name in names) or all(map(is_whole, names))
    if not one_kind or len(set(names)) < max(2, len(names)):
        raise ValueError(
            "sentiments must be two or more different names, all str or all int, such as "
            f"('positive', 'negative'); got {sentiments!r}"
        )
    return np.array(names)
