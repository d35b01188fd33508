# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by online EM with Gibbs sampling in the documents."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import StrOptions
from streamtopics.estimators.named import OnlineEMLDA
from streamtopics.local import Gibbs
from streamtopics.models.lda import Start
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.utils.records import keep


@documented
class GibbsOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by Gibbs online EM (G-OEM).

    The topics are parameters, not random variables: the M-step of a running mean of
    the expected statistics of a document, which are found by collapsed Gibbs
    sampling and averaged by Rao-Blackwell::

        s_t = (1 - r_t) s_{t-1} + r_t S_t / B,    beta = s_t normalised

    The longer the chains, the less biased the statistics, where those of variational
    inference stay so.

    {by_default}

    Parameters
    ----------
    {n_components}
    {part_kappa}
    {tau}
    {n_sweeps}
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

    See Also
    --------
    VariationalOnlineEM : The same with variational inference.
    StreamingLDA.preset : With "VarGibbsLDA" the same local step under a variational posterior.

    Notes
    -----
    A count c is sampled as ceil(c) tokens that weigh c / ceil(c) each in the document's topic
    counts: exact for whole counts. TF-IDF with rows of norm 1 says that a document is a few tokens
    long, and the learnt prior then outweighs it: give counts, or scale the rows up.

    `transform` averages the last 30 of 40 sweeps, seeded by what a document holds.

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = GibbsOnlineEM(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    n_sweeps: int

    _sweeps_in = "n_sweeps"
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
