# SPDX-License-Identifier: BSD-3-Clause
"""LDA by any rule, any local step and any view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from streamtopics.base.composition import (
    DOC_TOPIC_UPDATES,
    INFERENCE,
    STARTS,
    UPDATES,
    VIEWS,
    Averaging,
    Composition,
)
from streamtopics.base.drift import Drift
from streamtopics.base.glossary import documented
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.estimators.presets import PRESETS
from streamtopics.local import LocalStep
from streamtopics.models.sources import Start
from streamtopics.models.views import TopicView
from streamtopics.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.rule import Rule

PARTS: dict[str, dict[str, Any]] = {
    "update": UPDATES,
    "inference": INFERENCE,
    "view": VIEWS,
    "transform_inference": INFERENCE,
    "doc_topic_prior_update": DOC_TOPIC_UPDATES,
    "start": STARTS,
}


@documented
class StreamingLDA(StreamingTopicModel):
    """Latent Dirichlet allocation by any update rule, local step and view.

    A rule says how the topics take in a minibatch, a local step how the topics of a document
    are found, a view which weights of words it sees meanwhile. Each is a word, or a frozen
    record whose fields are parameters too: ``update__boost__scale``, ``inference__n_sweeps``.
    The default is Gibbs online EM, which predicts best on most texts that were measured.

    Parameters
    ----------
    {n_components}
    update : {"online_em", "svb", "bps", "power_prior", "hpp", "mhpp", "population_vb", \
            "svi"} or Rule, default="online_em"
        How the topics take in a minibatch; see `streamtopics.updates` for the records that
        the words stand for, and others.
    inference : {"gibbs", "variational"} or LocalStep, default="gibbs"
        How the topics of a document are found in learning: by collapsed Gibbs sampling,
        ``Gibbs(n_sweeps=5)``, or mean-field variational inference, ``Variational(tol=1e-3,
        max_iter=100)``.
    view : {"mean", "geometric_mean"} or view, default="mean"
        Weights of words that it sees: the expected topics, or exp(E[log beta]), which the
        exact bound of variational Bayes is for. With that one, words stay in the topic where
        they fell first, so that the topics of one pass are worse.
    transform_inference : {"gibbs", "variational"}, LocalStep or None, default=None
        The same in `transform` and in scores. None is a longer `inference`.
    doc_topic_prior : float, array-like of shape (n_components,), Symmetric or None, default=None
        Dirichlet parameter of the documents' topic proportions (the papers' alpha), in tokens,
        that the stream starts with. None is ``Symmetric(3)``, which together weighs three
        tokens: it suits short documents, and grows if they are long.
    doc_topic_prior_update : {"fixed_point", "gamma", "fixed"} or DocTopicUpdate, \
            default="fixed_point"
        How that prior is learnt; see `GibbsOnlineEM`.
    {small_topic_word_prior}
    {boosted_prior}
    {n_rounds}
    {n_start_rounds}
    warm_rounds : bool, default=False
        Whether a further round goes on from where the last one left the documents.
    {averaging}
    {on_drift}
    {small_batch_size}
    {max_iter}
    {common_parameters}

    Attributes
    ----------
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
    >>> model = StreamingLDA(5, update=PowerPrior(0.9, Boost(0.1)), random_state=0).fit(X)
    >>> model.set_params(update__boost__scale=0.2, inference__n_sweeps=10).inference
    Gibbs(n_sweeps=10, n_averaged=None)
    >>> model.retention_
    array([0.9, 0.9, 0.9, 0.9, 0.9])
    """

    _records: ClassVar[dict[str, dict[str, Any]]] = PARTS | StreamingTopicModel._records

    def __init__(
        self,
        n_components: int = 10,
        *,
        update: str | Rule = "online_em",
        inference: str | LocalStep = "gibbs",
        view: str | TopicView = "mean",
        transform_inference: str | LocalStep | None = None,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "fixed_point",
        topic_word_prior: WordPriorLike = 0.005,
        boosted_prior: WordPriorLike = None,
        n_rounds: int = 1,
        n_start_rounds: int = 10,
        warm_rounds: bool = False,
        averaging: Averaging = None,
        start: str | Start = "noise",
        growth: float = 1.0,
        prior_limit: float | None = None,
        inner_batch_size: int | None = None,
        drift_threshold: float = 0.5,
        on_drift: Callable[[Drift], Any] | None = None,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.update = update
        self.inference = inference
        self.view = view
        self.transform_inference = transform_inference
        self.doc_topic_prior = doc_topic_prior
        self.doc_topic_prior_update = doc_topic_prior_update
        self.topic_word_prior = topic_word_prior
        self.boosted_prior = boosted_prior
        self.n_rounds = n_rounds
        self.n_start_rounds = n_start_rounds
        self.warm_rounds = warm_rounds
        self.averaging = averaging
        self.start = start
        self.growth = growth
        self.prior_limit = prior_limit
        self.inner_batch_size = inner_batch_size
        self.drift_threshold = drift_threshold
        self.on_drift = on_drift
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def preset(cls, name: str, n_components: int = 10, **parameters: Any) -> Self:
        """Return the estimator of a method of the literature.

        Parameters
        ----------
        name : str
            A row of `streamtopics.estimators.presets.PRESETS`, such as "PowerPriorLDA".
        n_components : int, default=10
            Number of topics.
        **parameters : dict
            Other parameters than the preset's, also of its records: ``update__rho=0.95``.

        Returns
        -------
        model : StreamingLDA

        Examples
        --------
        >>> from streamtopics import StreamingLDA
        >>> StreamingLDA.preset("PowerPriorLDA", 20, update__rho=0.95).update
        PowerPrior(rho=0.95, boost=Boost(scale=0.0, norm='whole'))
        """
        if name not in PRESETS:
            raise ValueError(f"name must be one of {sorted(PRESETS)}; got {name!r}")
        model = cls(n_components, **PRESETS[name].parameters)
        return model.set_params(**parameters)

    def _composition(self) -> Composition:
        parts = {name: self._record(name, getattr(self, name)) for name in PARTS}
        parts["doc_topic"] = parts.pop("doc_topic_prior_update")
        return Composition(
            **parts,
            n_rounds=self.n_rounds,
            n_start_rounds=self.n_start_rounds,
            warm_rounds=self.warm_rounds,
            averaging=self.averaging,
            growth=self.growth,
            prior_limit=self.prior_limit,
            inner_batch_size=self.inner_batch_size,
        )
