# SPDX-License-Identifier: BSD-3-Clause
"""A prior of documents that is the same for all topics, by its mass."""

from dataclasses import dataclass

from streamtopics.utils.checks import LEAST_PRIOR, MOST_PRIOR, check_range


@dataclass(frozen=True)
class Symmetric:
    """A Dirichlet prior with the same parameter for all topics, by what they sum to.

    As `doc_topic_prior` of a model it weighs as many tokens of a document whatever the number of
    topics, where a number is the parameter of each.

    Parameters
    ----------
    mass : float
        What the parameters sum to, in tokens, in [1e-10, 1e10].

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.priors import Symmetric
    >>> X = make_lda_corpus(n_documents=50, n_features=40, random_state=0).X
    >>> model = StreamingLDA(4, doc_topic_prior=Symmetric(2.0), doc_topic_prior_update="fixed")
    >>> model.fit(X).doc_topic_prior_
    array([0.5, 0.5, 0.5, 0.5])
    """

    mass: float

    def __post_init__(self) -> None:
        check_range(self, LEAST_PRIOR, MOST_PRIOR, mass=self.mass)
