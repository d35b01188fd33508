# SPDX-License-Identifier: BSD-3-Clause
"""The classes and functions that files may name: those of this list, and none else.

Add yours in the line of its module, and say in it what it holds: see `checks`. What its
`__getstate__` gives must be a dict of None, truth values, numbers, texts, bytes, arrays, sparse
matrices, lists, tuples, sets, dicts, and objects of these classes. Modules of the list are imported
when a file names something in them; nothing is imported by a name that is not here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from streamtopics.saving.upgrades import RENAMED

# Files have these names: what moves gets a line in `RENAMED`.
KNOWN: dict[str, tuple[str, ...]] = {
    # Estimators
    "streamtopics.dpp.summarizer": ("DPPSummarizer", "Known"),
    "streamtopics.estimators.aspect_sentiment": ("AspectSentimentModel",),
    "streamtopics.estimators.bps_lda": ("BPSLDA",),
    "streamtopics.estimators.gibbs_online_em": ("GibbsOnlineEM",),
    "streamtopics.estimators.guided_topics": ("GuidedTopics", "HintedDocuments"),
    "streamtopics.estimators.hdp_gibbs_online_em": ("HDPGibbsOnlineEM",),
    "streamtopics.estimators.hdp_var_gibbs": ("HDPVarGibbs",),
    "streamtopics.estimators.multi_view_lda": ("MultiViewLDA",),
    "streamtopics.estimators.streaming_bayes": ("StreamingBayes", "BayesCommit"),
    "streamtopics.estimators.streaming_lda": ("StreamingLDA",),
    "streamtopics.estimators.streaming_mixture": ("StreamingMixture",),
    "streamtopics.estimators.svb_hpp": ("SVBHPP",),
    "streamtopics.estimators.svb_lda": ("SVBLDA",),
    "streamtopics.estimators.variational_online_em": ("VariationalOnlineEM",),
    "streamtopics.reviews.hidden_factors": ("HiddenFactorsTopics", "FactorsCommit"),
    "streamtopics.reviews.rating_lda": ("RatingLDA", "RatingCommit"),
    "streamtopics.reviews.supervised_lda": ("SupervisedLDA", "SupervisedCommit"),
    "streamtopics.was.estimator": ("WASTopicModel", "SentenceCommit"),
    # Texts
    "streamtopics.text.named": ("NamedCounts", "NamedVectorizer"),
    "streamtopics.text.negation": ("mark_negations",),
    "streamtopics.text.pipeline": ("StreamingPipeline",),
    "streamtopics.text.sentence_vectorizer": ("SentenceVectorizer",),
    "streamtopics.text.splitting": ("split_sentences",),
    "streamtopics.text.streaming_vectorizer": ("StreamingCountVectorizer",),
    "streamtopics.text.vocabulary": ("ClosedVocabulary", "OpenVocabulary", "Policy"),
    "sklearn.frozen": ("FrozenEstimator",),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.utils.metadata_routing": ("MetadataRequest",),
    "sklearn.feature_extraction.text": (
        "CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer",
    ),
    # What estimators hold
    "streamtopics.base.composition": ("Composition", "Schedule"),
    "streamtopics.base.drift": ("Drift",),
    "streamtopics.base.frame": ("Commit",),
    "streamtopics.base.topic_model": ("TopicCommit",),
    "streamtopics.dpp.kernel": ("Kernel", "Process"),
    "streamtopics.dpp.learning": ("Fitted", "Online"),
    "streamtopics.dpp.estimator": ("LowRankDPP", "Learnt"),
    "streamtopics.dpp.likelihood": ("Parameters",),
    "streamtopics.dpp.measures.bags": ("LengthMultinomial", "Poisson"),
    "streamtopics.dpp.measures.bernoulli": ("Bernoulli",),
    "streamtopics.dpp.measures.fourier": ("Fourier",),
    "streamtopics.dpp.measures.gaussian": ("Gaussian",),
    "streamtopics.dpp.measures.items": ("Items",),
    "streamtopics.dpp.measures.weighted": ("Weighted",),
    "streamtopics.dpp.noise": ("Background", "Counting"),
    "streamtopics.dpp.totals": (
        "Baskets", "ColumnSums", "Known", "VectorMoments", "WordCounts", "WordSets",
        "WordsAndLengths",
    ),
    "streamtopics.local.gibbs": ("Gibbs",),
    "streamtopics.local.hinted": ("Hinted", "OneOrMixed", "Told"),
    "streamtopics.local.one_topic": ("OneTopic",),
    "streamtopics.local.variational": ("Variational",),
    "streamtopics.messages": (
        "Minibatch", "NodeStatistics", "SideBySideStatistics", "Statistics", "TableStatistics",
    ),
    "streamtopics.models.beta_binomial": ("BetaBinomial",),
    "streamtopics.models.gaussian_mixture": ("GaussianMixture",),
    "streamtopics.models.linear_regression": ("LinearRegression",),
    "streamtopics.models.mean_field_regression": ("MeanFieldRegression",),
    "streamtopics.models.naive_bayes_mixture": ("NaiveBayesMixture",),
    "streamtopics.models.sources": ("HintedStart", "NoiseStart"),
    "streamtopics.models.spectral_start": ("SpectralStart",),
    "streamtopics.models.views": ("CorrectedMean", "GeometricMean", "Mean"),
    "streamtopics.posteriors.all_words": ("Kept",),
    "streamtopics.posteriors.average": ("IterateAverage",),
    "streamtopics.posteriors.dense": ("Block", "DensePosterior"),
    "streamtopics.posteriors.rows": ("Rows",),
    "streamtopics.posteriors.stacked": ("SideBySide",),
    "streamtopics.posteriors.state": ("State",),
    "streamtopics.posteriors.topics": ("TopicPosterior",),
    "streamtopics.priors.class_words": ("ClassWords", "class_words_prior"),
    "streamtopics.priors.seeds": ("SeedWords",),
    "streamtopics.priors.sentiment_words": ("SentimentWords",),
    "streamtopics.priors.columns": ("Symmetric",),
    "streamtopics.priors.zipf": ("ZipfPrior",),
    "streamtopics.reviews.effects": ("Effects", "Table"),
    "streamtopics.reviews.factors": ("Factors",),
    "streamtopics.reviews.response": ("Moments", "Response"),
    "streamtopics.updates.adaptive": ("AdaptiveRate", "Gradients"),
    "streamtopics.updates.births": ("DirichletProcess", "Life", "Lives", "Seeds", "Tallies"),
    "streamtopics.updates.bps": ("BPS", "Boost"),
    "streamtopics.updates.doc_topic": (
        "DampedNewton", "Fixed", "FixedPoint", "GammaPrior", "LearnsDocTopicPrior", "Shares",
    ),
    "streamtopics.updates.empirical_power_prior": ("EmpiricalPowerPrior",),
    "streamtopics.updates.growing": ("Growing",),
    "streamtopics.updates.hierarchical_power_prior": ("Ascent", "HierarchicalPowerPrior"),
    "streamtopics.updates.langevin": ("Langevin",),
    "streamtopics.updates.online_em": ("OnlineEM",),
    "streamtopics.updates.population": ("PopulationVB",),
    "streamtopics.updates.power_prior": ("FixedRate", "Memory", "PowerPrior"),
    "streamtopics.updates.rates": ("Exponential", "Normal", "Rate"),
    "streamtopics.updates.rule": ("Rounds",),
    "streamtopics.updates.schedules": ("Decay", "MeanDecay", "ScaledDecay"),
    "streamtopics.updates.stochastic": ("StochasticVI",),
    "streamtopics.updates.svb": ("SVB",),
    "streamtopics.updates.window": ("IncrementalVB", "MemoizedVB", "Window"),
    "streamtopics.was.prior": ("Seats",),
    "streamtopics.was.compound": ("ICD",),
    "streamtopics.was.franchise": ("HDPFranchise",),
    "streamtopics.was.sampler": ("Assignments", "Averages", "GivenTopics", "TopicCounts"),
    "streamtopics.was.stick_breaking": ("SBP",),
    "streamtopics.was.weight_agnostic": ("WAS",),
    # Callbacks
    "streamtopics.streams.callbacks": (
        "BatchInfo", "EarlyStopping", "ProgressReport", "ScoreHistory", "ScoreRow",
    ),
    "streamtopics.streams.checkpoint": ("Resumed",),
    "streamtopics.streams.monitoring.alarm": (
        "Alarm", "ChangedTopic", "DriftTest", "NewTopic", "NewWord",
    ),
    "streamtopics.streams.monitoring.monitor": ("DriftMonitor",),
    "streamtopics.streams.tracking.snapshots": ("KnownTopic", "Moment", "Snapshot", "State"),
    "streamtopics.streams.tracking.tracker": ("TopicTracker",),
    # Of Python, NumPy and SciPy
    "builtins": ("bool", "float", "int", "list", "slice"),
    "functools": ("partial",),
    "numpy": (
        "bool", "bool_", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
        "uint32", "uint64",
    ),
    "numpy.random": ("RandomState",),
    "scipy.sparse": ("csc_array", "csc_matrix", "csr_array", "csr_matrix"),
}  # fmt: skip
MODULES: dict[str, list[str]] = {}
for _module, _names in KNOWN.items():
    for _name in _names:
        MODULES.setdefault(_name, []).append(_module)


def name_of(value: Any) -> str | None:
    """The name of a class or function in files; None if it is not known."""
    name = getattr(value, "__name__", None)
    for module in MODULES.get(name, ()) if isinstance(name, str) else ():
        if getattr(import_module(module), str(name), None) is value:
            return f"{module}.{name}"
    return None


def named(name: Any) -> Any:
    """Return the class or function of a name in a file.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    name = RENAMED.get(name, name) if isinstance(name, str) else ""
    module, _, last = name.rpartition(".")
    if last not in KNOWN.get(module, ()):
        raise ValueError(
            f"there is no class or function {name!r} in streamtopics.saving.known; a later "
            "version of streamtopics may have it"
        )
    return getattr(import_module(module), last)
