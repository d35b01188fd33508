# SPDX-License-Identifier: BSD-3-Clause
"""Topic models of rated reviews.

base            shared parts of the estimators
rating_lda      topics of praise and of blame
supervised_lda  topics that predict a rating
hidden_factors  a recommender whose factors are topics
inference       the E-step of `rating_lda`
factors         ratings and topics of `hidden_factors`
effects         of users and items on ratings
batch_em        learning from a whole corpus
"""

from streamtopics.reviews.hidden_factors import HiddenFactorsTopics
from streamtopics.reviews.rating_lda import RatingLDA
from streamtopics.reviews.supervised_lda import SupervisedLDA

__all__ = ["HiddenFactorsTopics", "RatingLDA", "SupervisedLDA"]
