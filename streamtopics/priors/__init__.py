# SPDX-License-Identifier: BSD-3-Clause
"""Word priors from knowledge: Zipf's law, seed words, and the words of classes.

A prior is an array of pseudo-counts, so that an entry of 5 weighs as much as five tokens
seen. The functions make such an array for columns that are known. The records, such as
`SeedWords`, are parameters of models, and make it when a model is fitted. `Symmetric` is for
the topics of documents instead.
"""

from streamtopics.priors.class_words import ClassWords, class_words_prior
from streamtopics.priors.columns import MASS_PER_WORD, Columns, Symmetric, WordPrior, resolved
from streamtopics.priors.seeds import SeedWords, seed_prior
from streamtopics.priors.sentiment_words import SentimentWords
from streamtopics.priors.zipf import ZipfPrior, word_ranks, zipf_prior

__all__ = [
    "MASS_PER_WORD",
    "ClassWords",
    "Columns",
    "SeedWords",
    "SentimentWords",
    "Symmetric",
    "WordPrior",
    "ZipfPrior",
    "class_words_prior",
    "resolved",
    "seed_prior",
    "word_ranks",
    "zipf_prior",
]
