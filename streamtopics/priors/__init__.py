# SPDX-License-Identifier: BSD-3-Clause
"""Word priors from knowledge: Zipf's law, seed words, and the words of classes.

A prior is an array of pseudo-counts, so that an entry of 5 weighs as much as five tokens
seen. The functions make such an array for columns that are known. The records, such as
`SeedWords`, are parameters of models, and make it when a model is fitted. `Symmetric` is for
the topics of documents instead.
"""

from streamtopics.priors.checks import MASS_PER_WORD
from streamtopics.priors.class_words import ClassWords, class_words_prior
from streamtopics.priors.columns import Columns, WordPrior, resolved
from streamtopics.priors.seed_words import SeedWords
from streamtopics.priors.seeds import SeedPull, seed_prior, seed_pulls
from streamtopics.priors.sentiment_words import SentimentWords
from streamtopics.priors.symmetric import Symmetric
from streamtopics.priors.zipf import ZipfPrior, word_ranks, zipf_prior

__all__ = [
    "MASS_PER_WORD",
    "ClassWords",
    "Columns",
    "SeedPull",
    "SeedWords",
    "SentimentWords",
    "Symmetric",
    "WordPrior",
    "ZipfPrior",
    "class_words_prior",
    "resolved",
    "seed_prior",
    "seed_pulls",
    "word_ranks",
    "zipf_prior",
]
