# SPDX-License-Identifier: BSD-3-Clause
"""Measures of topic models of any package, and scorers for model selection."""

from streamtopics.metrics.coherence import topic_coherence
from streamtopics.metrics.left_to_right import Likelihood, left_to_right
from streamtopics.metrics.open_vocabulary import OpenVocabularyScorer, open_vocabulary_probability
from streamtopics.metrics.predictive import (
    completion_split,
    log_predictive_probability,
    perplexity,
    unlike_known,
)
from streamtopics.metrics.relevance import relevant_words
from streamtopics.metrics.scorers import CoherenceScorer, DiversityScorer, PredictiveScorer
from streamtopics.metrics.similarity import topic_diversity, topic_exclusivity
from streamtopics.metrics.summaries import Rouge, RougeScorer, rouge, summary_redundancy

__all__ = [
    "CoherenceScorer",
    "DiversityScorer",
    "Likelihood",
    "OpenVocabularyScorer",
    "PredictiveScorer",
    "Rouge",
    "RougeScorer",
    "completion_split",
    "left_to_right",
    "log_predictive_probability",
    "open_vocabulary_probability",
    "perplexity",
    "relevant_words",
    "rouge",
    "summary_redundancy",
    "topic_coherence",
    "topic_diversity",
    "topic_exclusivity",
    "unlike_known",
]
