# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by streaming variational Bayes."""

from __future__ import annotations

from typing import Any, Literal

from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.estimators.named import BayesianLDA
from streamtopics.local import LocalStep
from streamtopics.models.sources import Start
from streamtopics.models.views import TopicView
from streamtopics.updates import SVB
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.utils.records import keep


@documented
class SVBLDA(BayesianLDA):
    """Latent Dirichlet allocation by streaming variational Bayes.

    The posterior after each minibatch is the prior of the next::

        lam_t = lam_{t-1} + s_t

    where s_t are the expected counts of words in topics, by mean-field inference
    in each document. Nothing is forgotten and no size of the corpus has to be
    guessed; the share of the prior in the topics falls with every token.

    {by_default}

    Parameters
    ----------
    {n_components}
    {start_of_doc_topic_prior}
    {suited_doc_topic_prior_update}
    {suited_topic_word_prior}
    {suited_inference}
    {suited_view}
    {growth}
    {pieces}
    {n_rounds}
    {few_start_rounds}
    {max_local_iter}
    {local_tol}
    {large_batch_size}
    {suited_max_iter}
    {common_parameters}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    BPSLDA : The same with a prior that does not vanish.

    References
    ----------
    T. Broderick, N. Boyd, A. Wibisono, A. C. Wilson and M. I. Jordan (2013),
    "Streaming variational Bayes"; section 3 of D. A. Nguyen, V. L. Ngo, K. A.
    Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior knowledge in
    streaming variational Bayes".

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = SVBLDA(n_components=5, random_state=0)
    >>> for start in range(0, 500, 100):
    ...     model = model.partial_fit(X[start : start + 100])
    >>> model.transform(X[:3]).shape
    (3, 5)
    >>> model.n_batch_iter_, model.n_documents_seen_
    (5, 500)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        inference: str | LocalStep = "auto",
        view: str | TopicView | None = "auto",
        prior_limit: float | None = 0.3,
        growth: float | None = None,
        start: str | Start = "spectral",
        inner_batch_size: int | Literal["auto"] | None = "auto",
        n_rounds: int = 1,
        n_start_rounds: int = 1,
        max_local_iter: int = 100,
        local_tol: float = 1e-3,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _parts(self) -> dict[str, Any]:
        return super()._parts() | {"update": SVB()}
