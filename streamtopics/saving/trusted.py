# SPDX-License-Identifier: BSD-3-Clause
"""The classes and functions that every file may name, beside those that skops trusts itself."""

from __future__ import annotations

# By room, whichever of its modules they are in.
OURS = {
    "base": "Commit Composition Drift Schedule TopicCommit",
    "dpp": """
        Background Baskets Bernoulli ColumnSums Counting DPPSummarizer Fitted Fourier Gaussian
        Items Kernel Known Learnt LengthMultinomial LowRankDPP Online Parameters Poisson Process
        VectorMoments Weighted WordCounts WordSets WordsAndLengths
    """,
    "estimators": """
        AspectSentimentModel BPSLDA BayesCommit GibbsOnlineEM GuidedTopics HDPGibbsOnlineEM
        HDPVarGibbs HintedDocuments MultiViewLDA SVBHPP SVBLDA StreamingBayes StreamingLDA
        StreamingMixture VariationalOnlineEM
    """,
    "local": "Gibbs WithPseudoTokens OneOrMixed OneTopic SemiSupervised Variational",
    "messages": "Minibatch NodeStatistics StackedStatistics Statistics TableStatistics",
    "models": """
        BetaBinomial CorrectedMean GaussianMixture GeometricMean HintedStart LDA LinearRegression
        Mean MeanFieldRegression NaiveBayesMixture NoiseStart SpectralStart
    """,
    "posteriors": "Block DensePosterior IterateAverage Kept Rows Stacked State TopicPosterior",
    "priors": "ClassWords SeedWords SentimentWords Symmetric ZipfPrior class_words_prior",
    "reviews": """
        Effects Factors FactorsCommit HiddenFactorsTopics Moments RatingCommit RatingLDA Response
        SupervisedCommit SupervisedLDA Table
    """,
    "streams": """
        Alarm BatchInfo ChangedTopic DriftMonitor DriftTest EarlyStopping KnownTopic
        NewTopic NewWord Position ProgressReport Resumed ScoreHistory Snapshot State TopicTracker
    """,
    "text": """
        ClosedVocabulary NamedVectorizer OpenVocabulary Policy SentenceVectorizer
        StreamingCountVectorizer StreamingPipeline mark_negations split_sentences
    """,
    "updates": """
        AdaptiveRate Ascent BPS Boost DampedNewton Decay DirichletProcess EmpiricalPowerPrior
        Exponential Fixed FixedPoint FixedRate GammaPrior Gradients Growing HierarchicalPowerPrior
        IncrementalVB Langevin LearnsDocTopicPrior Lifetimes MeanDecay Memory MemoizedVB Normal
        OnlineEM PopulationVB PowerPrior Rate Rounds SVB ScaledDecay Seeds Shares
        StochasticVI Tallies TopicLifetime Traits Window
    """,
    "was": """
        Assignments Averages GivenTopics HDPFranchise ICD SBP Seats SentenceCommit TopicCounts WAS
        WASTopicModel
    """,
}
OTHERS = {
    "builtins.frozenset",
    "datetime.date",
    "datetime.datetime",
    "datetime.timedelta",
    "datetime.timezone",
    "functools.partial",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    "zoneinfo.ZoneInfo",
}
_NAMES = {room: frozenset(names.split()) for room, names in OURS.items()}


def is_known(name: str) -> bool:
    """Whether a file may name a class or function, by its module and its name."""
    package, _, inside = name.partition(".")
    room, _, last = inside.partition(".")
    if package == "streamtopics":
        return last.rpartition(".")[2] in _NAMES.get(room, ())
    return name in OTHERS
