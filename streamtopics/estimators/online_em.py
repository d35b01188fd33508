# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by online EM: `StreamingLDA` with a running mean of expected statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Composition, Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import StrOptions
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.local import Gibbs, OneTopic, Variational
from streamtopics.models.lda import Start
from streamtopics.updates import DampedNewton, MeanDecay, OnlineEM, Rule
from streamtopics.updates.doc_topic import DocTopicUpdate, RunningMean
from streamtopics.utils.records import keep


class OnlineEMLDA(StreamingLDA):
    """Base of the two, which read documents by one local step unless they are short."""

    kappa: float
    tau: float
    n_sweeps: int
    update_each_sweep: bool
    view = "auto"

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau))

    def _sweeps(self, n_sweeps: int) -> Any:
        """The local step with so many sweeps."""

    def _local_step(self) -> Any:
        if self.update_each_sweep:
            return self._sweeps(1)
        suited = super()._local_step()
        return suited if isinstance(suited, OneTopic) else self._sweeps(self.n_sweeps)

    def _composition(self) -> Composition:
        found = super()._composition()
        if isinstance(found.doc_topic, RunningMean | DampedNewton):
            learns: Any = found.doc_topic
            learns = replace(learns, step_size=MeanDecay(self.kappa, self.tau))
            found = replace(found, doc_topic=learns)
        if self.update_each_sweep:
            n = self.n_sweeps
            rounds = replace(found.schedule, n_rounds=n, n_start_rounds=1, warm_rounds=True)
            found = replace(found, schedule=rounds)
        return found


@documented
class GibbsOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by Gibbs online EM (G-OEM).

    The topics are parameters: the M-step of a running mean of a document's expected statistics,
    which collapsed Gibbs sampling finds, averaged by Rao-Blackwell::

        s_t = (1 - r_t) s_{t-1} + r_t S_t / B,    beta = s_t normalised

    {by_default}

    Parameters
    ----------
    {n_components}
    {part_kappa}
    {tau}
    n_sweeps : int, default=5
        Gibbs sweeps over each document; the last quarter is averaged.
    {update_each_sweep}
    {mean_topic_word_prior}
    inference : {"auto", "gibbs"}, default="auto"
        "auto" reads documents of less than 12 words as one topic and a background.
    schedule : Schedule or None, default=None
        As in `StreamingLDA`; None is ``Schedule(n_start_rounds=10)``, so that topics have a shape
        before any are forgotten. With `update_each_sweep` its rounds have no effect.
    {as_streaming_mean}

    Attributes
    ----------
    {mean_components}
    {common_attributes}

    Notes
    -----
    A count c is sampled as ceil(c) tokens that weigh c / ceil(c) each: exact for whole counts.
    TF-IDF with rows of norm 1 makes documents of a few tokens, which the learnt prior outweighs:
    give counts, or scale the rows up.

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> GibbsOnlineEM(n_components=5, random_state=0).fit(X).transform(X[:3]).shape
    (3, 5)
    """

    _records: ClassVar[dict[str, dict[Any, Any]]] = OnlineEMLDA._records | {
        "schedule": {None: Schedule(n_start_rounds=10)},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = OnlineEMLDA._parameter_constraints | {
        "inference": [StrOptions({"auto", "gibbs"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float = 0.85,
        tau: float = 0,
        n_sweeps: int = 5,
        update_each_sweep: bool = False,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike = 0.02,
        inference: Literal["auto", "gibbs"] = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _sweeps(self, n_sweeps: int) -> Gibbs:
        return Gibbs(n_sweeps)


@documented
class VariationalOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by variational online EM (V-OEM).

    As `GibbsOnlineEM`, with the expected statistics of a document by mean-field inference, which
    draws nothing at random but is biased.

    {by_default}

    Parameters
    ----------
    {n_components}
    {part_kappa}
    {tau}
    max_local_iter : int, default=20
        Largest number of sweeps over a document in learning; with `update_each_sweep`, exactly.
    local_tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens between topics;
        with `update_each_sweep`, only in `transform`.
    {update_each_sweep}
    {mean_topic_word_prior}
    inference : {"auto", "variational"}, default="auto"
        "auto" reads documents of less than 12 words as one topic and a background.
    schedule : Schedule or None, default=None
        As in `StreamingLDA`. With `update_each_sweep` its rounds have no effect.
    {as_streaming_mean}

    Attributes
    ----------
    {mean_components}
    {common_attributes}

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import VariationalOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> VariationalOnlineEM(n_components=5, random_state=0).fit(X).transform(X[:3]).shape
    (3, 5)
    """

    max_local_iter: int
    local_tol: float

    _parameter_constraints: ClassVar[dict[str, Any]] = OnlineEMLDA._parameter_constraints | {
        "inference": [StrOptions({"auto", "variational"})],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float = 0.85,
        tau: float = 0,
        max_local_iter: int = 20,
        local_tol: float = 1e-3,
        update_each_sweep: bool = False,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike = 0.02,
        inference: Literal["auto", "variational"] = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    @property
    def n_sweeps(self) -> int:  # type: ignore[override]
        """The same as `max_local_iter`."""
        return self.max_local_iter

    def _sweeps(self, n_sweeps: int) -> Variational:
        return Variational(self.local_tol, n_sweeps)
