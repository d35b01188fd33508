# SPDX-License-Identifier: BSD-3-Clause
"""LDA by any update rule, inference and view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from streamtopics.base.composition import (
    DOC_TOPIC_UPDATES,
    INFERENCE,
    SHORT,
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
from streamtopics.base.editable import Editable
from streamtopics.base.frame import check_same
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import COMMON_CONSTRAINTS, POSITIVE_INT, StrOptions
from streamtopics.base.validation import WORD_PRIOR as WORD_PRIORS
from streamtopics.estimators.presets import OF_CLASSES, PRESETS
from streamtopics.local import LocalStep, OneTopic
from streamtopics.messages import Statistics
from streamtopics.models.lda import Start, TopicView
from streamtopics.posteriors import Blend
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import check_one_of
from streamtopics.utils.records import keep, of_record


@documented
class StreamingLDA(Editable):
    """Latent Dirichlet allocation with a choice of update rule, inference and view of the topics.

    `update`, `inference` and `view` are names or objects. The fields of these objects are
    parameters too, such as ``update__boost__scale`` and ``inference__n_sweeps``. `drift_` exists if
    the update rule forgets, and `merge` if models with this rule can be merged.

    {parameters, n_components, update}
    inference : {"auto", "gibbs", "variational", "one_topic"} or LocalStep, default="auto"
        How the topics of a document are inferred in learning: by ``Gibbs(n_sweeps=5)``,
        ``Variational(tol=1e-3, max_iter=100)`` or ``OneTopic(share=0.8)`` of `streamtopics.local`.
        "auto" depends on the mean length of the documents of `fit`, or of the first minibatch:
        "one_topic" below 12 words, "gibbs" below 60 words, else "variational".
    view : {"auto", "mean", "corrected_mean", "geometric_mean"} or view, default="auto"
        Word weights of the topics beta for `inference`. "mean" is E[beta]. "corrected_mean" is
        ``exp(psi(lam + 1/2)) / sum(lam)`` (digamma psi, Dirichlet parameters lam), almost E[beta].
        "geometric_mean" is ``exp(E[log beta])`` of exact variational Bayes, in one pass worse than
        "mean". "auto" is "mean", or "corrected_mean" for variational inference without "online_em".
    doc_topic_prior : float, array-like of shape (n_components,), Symmetric or None, default=None
        Initial Dirichlet parameter of the documents' topic proportions (the papers' alpha), in
        tokens. None is ``Symmetric(3)``: three tokens in all topics together.
    doc_topic_prior_update : {"auto", "fixed_point", "gamma", "shares", "fixed"} or \
            DocTopicUpdate, default="auto"
        How `doc_topic_prior` is learnt; see `streamtopics.updates`. "fixed" does not learn the
        prior. "auto" is "shares" if each document has one topic, else "fixed_point".
    topic_word_prior : "auto", float, array-like of shape (n_features,) or \
            (n_components, n_features), WordPrior or callable, default="auto"
        Dirichlet parameter of the topics (the papers' eta): a pseudo-count, in tokens, of every
        word in every topic. "auto" is 0.02. Exception: with "svb" or "bps", `fit` on fewer than
        5,000 documents takes ``1.5 / n_components``, but at least 0.02 and at most 0.15.
    {boosted_prior}
    start : {"spectral", "noise"} or Start, default="spectral"
        "spectral" makes the first topics from clusters of the documents in `fit` or in the first
        minibatch, by k-means on word vectors. "noise" depends on the seed alone, so models with
        equal seeds can merge.
    schedule : Schedule or None, default=None
        How minibatches are cut into parts, weighted, repeated in rounds and averaged. None is
        ``Schedule()`` of `streamtopics.estimators`.
    batch_size : int, default=1200
        Documents in a minibatch of `fit`.
    max_iter : int or "auto", default="auto"
        Passes of `fit` over the corpus. "auto" is 1 for a corpus of at least 5,000 documents and
        400,000 tokens, and up to 5 for a smaller corpus. If each document has one topic, "auto" is
        1 from 5,000 documents on, else 2.
    {common_parameters}

    Attributes
    ----------
    inference_ : LocalStep
        The `inference` of the last minibatch; with "auto" the chosen local step.
    {dirichlet_components, drift_attributes, edit_attributes, common_attributes}

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> StreamingLDA(5, random_state=0).fit(X).inference_  # Chosen by "auto".
    Variational(tol=0.001, max_iter=100)
    >>> StreamingLDA(5, inference="gibbs").set_params(inference__n_sweeps=10).inference
    Gibbs(n_sweeps=10, n_averaged=None, rounding='auto')
    """

    # Suited to the documents at the beginning of the stream, of one topic if shorter than this.
    _suited: LocalStep = INFERENCE["gibbs"]
    _one_topic_below: ClassVar[int] = SHORT
    _records: ClassVar[dict[str, dict[Any, Any]]] = Editable._records | {
        "update": UPDATES,
        "inference": INFERENCE,
        "view": VIEWS,
        "doc_topic_prior_update": DOC_TOPIC_UPDATES,
        "start": STARTS,
        "schedule": {None: Schedule()},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "schedule": [Schedule, None],
        "max_iter": [POSITIVE_INT, StrOptions({"auto"})],
        "topic_word_prior": [*WORD_PRIORS, StrOptions({"auto"})],
    }
    update: str | Rule
    inference: str | LocalStep
    view: str | TopicView
    doc_topic_prior_update: str | DocTopicUpdate
    topic_word_prior: WordPriorLike | Literal["auto"]
    start: str | Start
    schedule: Schedule | None

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
        keep(self, locals())

    @classmethod
    def preset(cls, name: str, n_components: int = 10, **parameters: Any) -> Self:
        """Return an estimator with the settings of a published method.

        Parameters
        ----------
        name : str
            A key of `streamtopics.estimators.presets.PRESETS`, for example "PowerPriorLDA". In a
            subclass such as `SVBLDA` the name must be that of the subclass.
        n_components : int, default=10
        **parameters : dict
            Parameters that replace settings of the method, such as ``update__rho=0.95``.

        Returns
        -------
        model : StreamingLDA
        """
        own = [kind.__name__ for kind in cls.__mro__ if kind.__name__ in PRESETS]
        check_one_of(own or sorted(PRESETS), name=name)
        settings, known = PRESETS[name], cls._get_param_names()
        if own:
            settings = {k: v for k, v in settings.items() if k in known} | OF_CLASSES.get(name, {})
        return cls(n_components, **settings).set_params(**parameters)

    inference_ = of_record("update.inference", "The local step of the last minibatch.")

    @property
    def _begun(self) -> bool:
        begun = super()._begun
        return begun and not (is_auto(self.inference) and self._commit.posterior.n_tokens == 0)

    def _start(self, batch: Documents) -> None:
        waited = None if batch.is_corpus else self._commit
        if waited is not None:
            check_same(self, **self._started())
        self._suited = auto_inference(batch.X, self._one_topic_below)
        super()._start(batch)
        if waited is not None:
            # Documents without a token count as well; nothing was chosen by them.
            posterior, none = self._commit.posterior, np.zeros(0, np.int32)
            lengths = np.zeros(waited.posterior.n_documents)
            found = Statistics(none, np.zeros((0, posterior.n_nodes)), lengths, n_batches=0)
            posterior.blend(Blend(1.0, 1.0, 0.0, found))
            self._commit = replace(self._commit, begun=waited.begun, drift=waited.drift)

    def _word_prior(self, batch: Documents) -> np.ndarray:
        if not is_auto(self.topic_word_prior):
            return super()._word_prior(batch)
        prior = WORD_PRIOR
        if batch.is_corpus:
            prior = auto_word_prior(self._rule(), batch.n_documents, self.n_components)
        return np.full((1, 1), prior)

    def _rule(self) -> Any:
        return self._record("update", self.update)

    def _local_step(self) -> Any:
        step = self._record("inference", self.inference)
        if not is_auto(step):
            return step
        doc_topic = self._record("doc_topic_prior_update", self.doc_topic_prior_update)
        if isinstance(self._suited, OneTopic) and "log_theta" in getattr(doc_topic, "needs", ()):
            return INFERENCE["gibbs"]  # One topic has no proportions to learn it by.
        return self._suited

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
    return isinstance(value, str) and value == "auto"
