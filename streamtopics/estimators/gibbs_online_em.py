# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by online EM with Gibbs sampling in the documents."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Averaging
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import StrOptions
from streamtopics.estimators.named import OnlineEMLDA
from streamtopics.local import Gibbs, LocalStep
from streamtopics.models.sources import Start
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
    n_start_rounds : int, default=10
        Rounds of EM over each of the first three minibatches, so that the topics have a
        shape before any of these are forgotten. With 1 two of the topics of a
        synthetic stream were stuck in one half of the time, with 10 one time in ten;
        on text it makes no difference. Of no effect with `update_each_sweep`.
    {update_each_sweep}
    {averaging}
    {start_of_doc_topic_prior}
    {suited_doc_topic_prior_update}
    {mean_topic_word_prior}
    {read_inference}
    {pieces}
    {large_batch_size}
    {suited_max_iter}
    {common_parameters}

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
    A count c is sampled as ceil(c) tokens that weigh c / ceil(c) each in the
    document's topic counts: exact for whole counts, a reading of what a fraction
    may mean for others. TF-IDF with rows of norm 1 says that a document is a few tokens
    long, and the learnt prior then outweighs it: give counts, or scale the rows up, or
    set a small `doc_topic_prior` and ``doc_topic_prior_update="fixed"``.

    `transform` estimates the posterior mean of the proportions by the last 30 of 40
    sweeps, seeded by what a document holds.

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
        n_start_rounds: int = 10,
        update_each_sweep: bool = False,
        averaging: Averaging = None,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike = 0.02,
        inference: Literal["auto", "gibbs"] = "auto",
        prior_limit: float | None = 0.3,
        start: str | Start = "spectral",
        inner_batch_size: int | Literal["auto"] | None = "auto",
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _sweeps(self, n_sweeps: int) -> LocalStep:
        return Gibbs(n_sweeps)
