# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by streaming variational Bayes."""

from __future__ import annotations

from typing import Literal

from streamtopics.base.composition import Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.estimators.named import BayesianLDA
from streamtopics.local import LocalStep
from streamtopics.models.lda import Start, TopicView
from streamtopics.updates import SVB
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.utils.records import keep


@documented
class SVBLDA(BayesianLDA):
    """Latent Dirichlet allocation by streaming variational Bayes.

    The posterior after each minibatch is the prior of the next::

        lam_t = lam_{t-1} + s_t

    where s_t are the expected counts of words in topics, by mean-field inference in each document.
    Nothing is forgotten; the share of the prior in the topics falls with every token.

    {by_default}

    Parameters
    ----------
    {n_components}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    BPSLDA : The same with a prior that does not vanish.

    References
    ----------
    T. Broderick, N. Boyd, A. Wibisono, A. C. Wilson and M. I. Jordan (2013), "Streaming variational
    Bayes".

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = SVBLDA(n_components=5, random_state=0).partial_fit(X[:100]).partial_fit(X[100:200])
    >>> model.n_batch_iter_, model.n_documents_seen_
    (2, 200)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        inference: str | LocalStep = "auto",
        view: str | TopicView = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> SVB:
        return SVB()
