# SPDX-License-Identifier: BSD-3-Clause
"""Word priors from knowledge: arrays for known columns, and records made into arrays in `fit`."""

from streamtopics.priors.class_words import ClassWords, class_words_prior
from streamtopics.priors.columns import MASS_PER_WORD, Columns, Symmetric, WordPrior, resolved
from streamtopics.priors.seeds import SeedWords, SentimentWords, seed_prior
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
