# SPDX-License-Identifier: BSD-3-Clause
"""The classes and functions that every file may name, beside those that skops trusts itself."""

# Of any module of the package.
OURS = """
    Alarm AspectSentimentModel Averages BPS BPSLDA Background BatchInfo BayesCommit Bernoulli
    BetaBinomial BinCache Block Boost ChangedTopic ClassWords ClosedVocabulary ColumnSums Commit
    Composition CorrectedMean Counting DPPSummarizer DampedNewton Decay DensePosterior
    DirichletProcess Drift DriftMonitor DriftTest Effects EmpiricalPowerPrior Exponential Factors
    FactorsCommit Fitted Fixed FixedMeasure FixedPoint FixedRate Fourier GammaPrior Gaussian
    GaussianMixture GeometricMean Gibbs GibbsOnlineEM GivenTopics Growing GuidedTopics HDPFranchise
    HDPGibbsOnlineEM HDPVarGibbs HiddenFactorsTopics HierarchicalPowerPrior HintedDocuments
    HintedStart ICD ItemColumns ItemCounts Items IterateAverage Kernel KnownTopic LDA Langevin
    LearnsDocTopicPrior Learnt LengthMultinomial Lifetimes LinearRegression LowRankDPP Mean
    MeanDecay MeanFieldRegression Memory Minibatch MultiViewLDA NaiveBayesMixture NamedVectorizer
    NewTopic NewWord NodeStatistics NoiseStart Normal OneOrMixed OneTopic Online OnlineEM
    OpenVocabulary Optimization Parameters Poisson Policy PopulationVB Position PowerPrior Process
    ProgressReport Rate RatingCommit RatingLDA Response ResponseMoments Resumed Retention Rounds
    Rows SBP SVB SVBHPP SVBLDA SamplerState ScaledDecay Schedule ScoreHistory Seats SeedWords Seeds
    SemiSupervised SentenceCommit SentenceVectorizer SentimentWords Shares Snapshot SpectralStart
    Stacked StackedStatistics State Statistics StochasticVI StreamingBayes StreamingCountVectorizer
    StreamingLDA StreamingMixture StreamingPipeline SummaryCommit SupervisedCommit SupervisedLDA
    Symmetric Table TableStatistics Tallies TopicCommit TopicCounts TopicLifetime TopicPosterior
    TopicTracker Traits Variational VariationalOnlineEM VectorMoments WAS WASTopicModel Weighted
    Window WithPseudoTokens WordCounts WordSets WordsAndLengths ZipfPrior class_words_prior
    mark_negations split_sentences
"""
OTHERS = """
    builtins.frozenset datetime.date datetime.datetime datetime.timedelta datetime.timezone
    functools.partial scipy.sparse._csc.csc_array scipy.sparse._csc.csc_matrix
    scipy.sparse._csr.csr_array scipy.sparse._csr.csr_matrix
    sklearn.utils._metadata_requests.MetadataRequest
    sklearn.utils._metadata_requests.MethodMetadataRequest zoneinfo.ZoneInfo
"""
_OURS, _OTHERS = frozenset(OURS.split()), frozenset(OTHERS.split())


def is_known(name: str) -> bool:
    """Whether a file may name a class or function, by its module and its name."""
    package, _, inside = name.partition(".")
    return inside.rpartition(".")[2] in _OURS if package == "streamtopics" else name in _OTHERS
