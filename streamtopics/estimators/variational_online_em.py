# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by online EM with variational inference in the documents."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import StrOptions
from streamtopics.estimators.named import OnlineEMLDA
from streamtopics.local import Variational
from streamtopics.models.lda import Start
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.utils.records import keep


@documented
class VariationalOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by variational online EM (V-OEM).

    As `GibbsOnlineEM`, with the expected statistics of a document by mean-field inference, which
    draws nothing at random but is biased::

        s_t = (1 - r_t) s_{t-1} + r_t S_t / B,    beta = s_t normalised

    {by_default}

    Parameters
    ----------
    {n_components}
    {part_kappa}
    {tau}
    max_local_iter : int, default=20
        Sweeps over a document, at most, while learning; with `update_each_sweep`, exactly.
    local_tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens
        between topics; with `update_each_sweep`, only in `transform`.
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

    See Also
    --------
    GibbsOnlineEM : The same with Gibbs sampling.
    StreamingLDA.preset : "SinglePassLDA" updates after each sweep, with kappa 1 and a gamma prior.

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import VariationalOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> model = VariationalOnlineEM(n_components=5, random_state=0).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 5)
    """

    max_local_iter: int
    local_tol: float

    _sweeps_in = "max_local_iter"
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

    def _sweeps(self, n_sweeps: int) -> Variational:
        return Variational(self.local_tol, n_sweeps)
