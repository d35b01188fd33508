# SPDX-License-Identifier: BSD-3-Clause
"""LDA with a prior that a stream does not wash out."""

from __future__ import annotations

from typing import Literal

from streamtopics.base.composition import Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.estimators.named import BayesianLDA
from streamtopics.local import LocalStep
from streamtopics.models.lda import Start, TopicView
from streamtopics.updates import BPS
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.utils.records import keep


@documented
class BPSLDA(BayesianLDA):
    """Latent Dirichlet allocation whose prior knowledge is boosted on the stream.

    With each minibatch the prior is added again, in proportion to what the minibatch says::

        lam_t = lam_{t-1} + s_t + r_t eta,    r_t = scale * |s_t| / |eta|

    so that its share in the topics stays near scale / (1 + scale) however long the stream is. Worth
    it where the prior carries knowledge that the data lack, harmful where it is wrong.

    {by_default}

    Parameters
    ----------
    {n_components}
    boosting_scale : float, default=0.1
        Pseudo-counts of the prior added for each token (the source's s); 0 is `SVBLDA`.
    boosting_norm : {"whole", "topic"}, default="whole"
        "whole" gives each topic the same part of the boost, as in the source, so that rarely used
        topics are pulled hardest; "topic" gives each a boost in proportion to its own tokens.
    {boosted_prior}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    SVBLDA : The same without boosting.
    streamtopics.priors : Priors from Zipf's law and from seed words.

    References
    ----------
    D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior
    knowledge in streaming variational Bayes", equations 34 and 43, algorithm 8.

    Examples
    --------
    >>> from streamtopics import BPSLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = BPSLDA(5, boosting_scale=0.25, topic_word_prior=0.05, random_state=0).fit(X)
    >>> learnt = model.components_.sum() - 5 * 200 * 0.05
    >>> round(float(learnt / model.n_tokens_seen_), 3)
    1.25
    """

    boosting_scale: float
    boosting_norm: Literal["whole", "topic"]

    def __init__(
        self,
        n_components: int = 10,
        *,
        boosting_scale: float = 0.1,
        boosting_norm: Literal["whole", "topic"] = "whole",
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        boosted_prior: WordPriorLike = None,
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

    def _rule(self) -> BPS:
        return BPS(self.boosting_scale, self.boosting_norm)
