# SPDX-License-Identifier: BSD-3-Clause
"""LDA by any rule, any local step and any view."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.composition import (
    DOC_TOPIC_UPDATES,
    INFERENCE,
    STARTS,
    UPDATES,
    VIEWS,
    WORD_PRIOR,
    Composition,
    Schedule,
    auto_doc_topic,
    auto_inference,
    auto_view,
    auto_word_prior,
)
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import COMMON_CONSTRAINTS, POSITIVE_INT, StrOptions
from streamtopics.base.validation import WORD_PRIOR as WORD_PRIORS
from streamtopics.estimators.presets import PRESETS
from streamtopics.local import LocalStep, OneTopic
from streamtopics.messages import Statistics
from streamtopics.models.lda import Start, TopicView
from streamtopics.posteriors import Blend
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import check_one_of

PARTS: dict[str, dict[Any, Any]] = {
    "update": UPDATES,
    "inference": INFERENCE,
    "view": VIEWS,
    "doc_topic_prior_update": DOC_TOPIC_UPDATES,
    "start": STARTS,
    "schedule": {None: Schedule()},
}


@documented
class StreamingLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by any update rule, local step and view.

    A rule says how the topics take in a minibatch, a local step how the topics of a document
    are found, a view which weights of words it sees meanwhile. Each is a word, or a frozen
    record whose fields are parameters too: ``update__boost__scale``, ``inference__n_sweeps``.
    The defaults are what predicts best on the texts that were measured, short and long.

    Parameters
    ----------
    {n_components}
    update : {"svb", "bps", "online_em", "power_prior", "hpp", "mhpp", "population_vb", \
            "svi"} or Rule, default="svb"
        How the topics take in a minibatch; see `streamtopics.updates` for the records that
        the words stand for, and others.
    inference : {"auto", "gibbs", "variational", "one_topic"} or LocalStep, default="auto"
        How the topics of a document are found in learning: by collapsed Gibbs sampling,
        ``Gibbs(n_sweeps=5)``; by mean-field variational inference, ``Variational(tol=1e-3,
        max_iter=100)``; or as one topic and a background, ``OneTopic(share=0.8)``. "auto" goes by
        the mean length of the documents, of the corpus in `fit`, of the first minibatch with a
        token in `partial_fit`: one topic for less than 12 words, sampling up to 60, variational
        inference from there on. Of weights, such as tf-idf, words are counted by their entries,
        not by their sum. What came before the first token does not count.
        `transform` and scores take a longer one of the same kind.
    view : {"auto", "mean", "corrected_mean", "geometric_mean"} or view, default="auto"
        Weights of words that it sees: the expected topics; exp(psi(lam + 1/2)), which is nearly
        that; or exp(E[log beta]), which the exact bound of variational Bayes is for, and with
        which words stay in the topic where they fell first, so that the topics of one pass are
        worse. "auto" is the second for variational inference, the first for others.
    doc_topic_prior : float, array-like of shape (n_components,), Symmetric or None, default=None
        Dirichlet parameter of the documents' topic proportions (the papers' alpha), in tokens,
        that the stream starts with. None is ``Symmetric(3)`` (of `streamtopics.priors`), which
        together weighs three tokens: it suits short documents, and grows if they are long.
    doc_topic_prior_update : {"auto", "fixed_point", "gamma", "shares", "fixed"} or \
            DocTopicUpdate, default="auto"
        How that prior is learnt; see `GibbsOnlineEM`. "auto" is "shares" for one topic a
        document, in proportion to their number, and else "fixed_point".
    topic_word_prior : "auto", float, array-like of shape (n_features,) or \
            (n_components, n_features), WordPrior or callable, default="auto"
        Dirichlet parameter of the topics (the papers' eta): a pseudo-count, in tokens, of every
        word in every topic. "auto" is 0.02; in `fit` on less than 5,000 documents, which lack many
        of the words to come, it is ``1.5 / n_components``, between 0.02 and 0.15, with rules under
        which weights may grow. Give a number where `fit` is to be the same as
        `partial_fit`. An array, or a record such as `streamtopics.priors.SeedWords`, says which
        words to expect where.
    {boosted_prior}
    start : {"spectral", "noise"} or Start, default="spectral"
        What the topics that the first minibatch is seen with are made of. "spectral" is a cluster
        of documents for each topic, by k-means on vectors of their words: `fit` takes the clusters
        of the whole corpus, `partial_fit` those of the first minibatch, which is better large.
        They depend on no seed. "noise" is a topic at random for each, of the seed alone: streams of
        one seed can be merged then, and `fit` is the same as `partial_fit` on its minibatches, if
        `topic_word_prior` and `max_iter` are numbers.
    schedule : Schedule or None, default=None
        How minibatches are stepped through: in parts, with growing weights, under a limit of the
        prior, in rounds, or as an average. None is ``Schedule()``, whose fields are parameters too,
        such as ``schedule__n_rounds``; see `streamtopics.estimators.Schedule`.
    batch_size : int, default=1200
        Documents in a minibatch of `fit`. (`partial_fit` takes what it is given as one minibatch.)
    max_iter : int or "auto", default="auto"
        Passes of `fit` over the corpus. "auto" is one over at least 5,000 documents and 400,000
        tokens, and up to five over smaller corpora. Of one topic a document it is one over 5,000
        documents, and else two. It does not count in `partial_fit`.
    {common_parameters}

    Attributes
    ----------
    inference_ : LocalStep
        The local step that learnt last.
    {dirichlet_components}
    {drift_attributes}
    {common_attributes}

    Notes
    -----
    `drift_report` and `retention_` are there with rules that forget, `merge` with rules whose
    posteriors of two parts of a stream can be made one. A rule that needs what the local step,
    the view or the posterior does not have is refused by the names of both.

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.updates import Boost, PowerPrior
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = StreamingLDA(5, random_state=0).fit(X)
    >>> model.inference_
    Variational(tol=0.001, max_iter=100)
    >>> rule = PowerPrior(0.9, Boost(0.1))
    >>> model = StreamingLDA(5, update=rule, inference="gibbs", random_state=0).partial_fit(X)
    >>> model.set_params(update__boost__scale=0.2, inference__n_sweeps=10).inference
    Gibbs(n_sweeps=10, n_averaged=None)
    >>> model.retention_.round(3)
    array([0.9, 0.9, 0.9, 0.9, 0.9])
    """

    # What suits the documents that a stream began with.
    _suited: LocalStep = INFERENCE["gibbs"]
    _records: ClassVar[dict[str, dict[Any, Any]]] = PARTS | StreamingTopicModel._records
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "schedule": [Schedule, None],
        "max_iter": [POSITIVE_INT, StrOptions({"auto"})],
        "topic_word_prior": [*WORD_PRIORS, StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        update: str | Rule = "svb",
        inference: str | LocalStep = "auto",
        view: str | TopicView = "auto",
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        boosted_prior: WordPriorLike = None,
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.update = update
        self.inference = inference
        self.view = view
        self.doc_topic_prior = doc_topic_prior
        self.doc_topic_prior_update = doc_topic_prior_update
        self.topic_word_prior = topic_word_prior
        self.boosted_prior = boosted_prior
        self.start = start
        self.schedule = schedule
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def preset(cls, name: str, n_components: int = 10, **parameters: Any) -> Self:
        """Return the estimator of a method of the literature, with the settings of its source.

        Parameters
        ----------
        name : str
            A row of `streamtopics.estimators.presets.PRESETS`, such as "PowerPriorLDA"; of a class
            that has a row, such as `SVBLDA`, its own name.
        n_components : int, default=10
            Number of topics.
        **parameters : dict
            Other parameters than the preset's, also of its records: ``update__rho=0.95``.

        Returns
        -------
        model : StreamingLDA
            Of the class that it was asked of.

        Examples
        --------
        >>> from streamtopics import StreamingLDA
        >>> StreamingLDA.preset("PowerPriorLDA", 20, update__rho=0.95).update
        PowerPrior(rho=0.95, boost=Boost(scale=0.0, norm='whole'))
        """
        own = [kind.__name__ for kind in cls.__mro__ if kind.__name__ in PRESETS]
        check_one_of(own or sorted(PRESETS), name=name)
        row, known = PRESETS[name], cls._get_param_names()
        settings = row.parameters | (row.of_class if own else {})
        model = cls(n_components, **{k: v for k, v in settings.items() if k in known or not own})
        return model.set_params(**parameters)

    @property
    def inference_(self) -> LocalStep:
        """The local step that learnt last."""
        check_is_fitted(self)
        found: LocalStep = self._commit.update.inference
        return found

    @property
    def _begun(self) -> bool:
        """Whether a token was seen, where the local step goes by the documents."""
        begun = super()._begun
        return begun and not (is_auto(self.inference) and self._commit.posterior.n_tokens == 0)

    def _start(self, batch: Documents) -> None:
        waited = None if batch.is_corpus else self._commit
        self._suited = auto_inference(batch.X)
        super()._start(batch)
        if waited is not None:
            # Documents without a token, by which nothing was chosen, count all the same.
            posterior, none = self._commit.posterior, np.zeros(0, np.int32)
            lengths = np.zeros(waited.posterior.n_documents)
            found = Statistics(none, np.zeros((0, posterior.n_nodes)), lengths, n_batches=0)
            posterior.blend(Blend(1.0, 1.0, 0.0, found))

    def _word_prior(self, batch: Documents) -> np.ndarray:
        if not is_auto(self.topic_word_prior):
            return super()._word_prior(batch)
        prior = WORD_PRIOR
        if batch.is_corpus:
            prior = auto_word_prior(self._rule(), batch.n_documents, self.n_components)
        return np.full((1, 1), prior)

    def _rule(self) -> Any:
        """The rule, from the parameters as they are now."""
        return self._record("update", self.update)

    def _local_step(self) -> Any:
        """The local step that is set, or that suits the documents that the stream began with."""
        step = self._record("inference", self.inference)
        if not is_auto(step):
            return step
        suited = self._suited
        doc_topic = self._record("doc_topic_prior_update", self.doc_topic_prior_update)
        if isinstance(suited, OneTopic) and "log_theta" in getattr(doc_topic, "needs", ()):
            return INFERENCE["gibbs"]  # One topic has no proportions to learn it by.
        return suited

    def _composition(self) -> Composition:
        update, inference = self._rule(), self._local_step()
        view = self._record("view", self.view)
        doc_topic = self._record("doc_topic_prior_update", self.doc_topic_prior_update)
        return Composition(
            update,
            inference,
            auto_view(inference, update) if is_auto(view) else view,
            doc_topic=auto_doc_topic(inference) if is_auto(doc_topic) else doc_topic,
            start=self._record("start", self.start),
            schedule=self._record("schedule", self.schedule),
        )


def is_auto(value: object) -> bool:
    """Whether a part is left to the estimator."""
    return isinstance(value, str) and value == "auto"
