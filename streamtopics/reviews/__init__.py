# SPDX-License-Identifier: BSD-3-Clause
"""Topic models of reviews with ratings, of items and by users.

base            the parts that the estimators share
rating_lda      topics of praise and of blame
supervised_lda  topics that predict a rating
hidden_factors  a recommender whose factors are topics
inference       documents of `rating_lda`
factors         ratings and topics of `hidden_factors`
effects         users and items in ratings, and tables by label
batch_em        learning from a whole corpus
"""

from streamtopics.reviews.hidden_factors import HiddenFactorsTopics
from streamtopics.reviews.rating_lda import RatingLDA
from streamtopics.reviews.supervised_lda import SupervisedLDA

__all__ = ["HiddenFactorsTopics", "RatingLDA", "SupervisedLDA"]
