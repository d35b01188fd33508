# SPDX-License-Identifier: BSD-3-Clause
"""Saves and loads models, by skops."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any
from zipfile import ZipFile

from streamtopics.posteriors.dense import FAMILIES, Block
from streamtopics.saving.checks import check_held, objects_in
from streamtopics.saving.files import replace_file
from streamtopics.text.languages import IS_LOADING, Tokenizer

# Classes and functions allowed in every file, beside those of skops: of the package, and others.
OURS = """
    Alarm AspectSentimentModel Averages BPS BPSLDA Background BatchInfo Bernoulli BetaBinomial
    BinCache Block Boost BudgetedPowerPrior Cells ChangedTopic ClassWords ClosedVocabulary
    ColumnSums Commit Composition CorrectedMean Counting DPPSummarizer DampedNewton Decay
    DensePosterior DirichletProcess Documents Drift DriftMonitor DriftTest Edit EditStep Edits
    Effects EmpiricalPowerPrior Exponential Factors FactorsCommit Fitted Fixed FixedMeasure
    FixedPoint FixedRate Fourier GammaPrior Gaussian GaussianMixture GeometricMean Gibbs
    GibbsOnlineEM GivenTopics Growing GuidedTopics HDPFranchise HDPGibbsOnlineEM HDPVarGibbs
    HiddenFactorsTopics HierarchicalPowerPrior HintedDocuments HintedStart ICD ItemColumns
    ItemCounts Items IterateAverage Kernel KnownTopic LDA Langevin LearnsDocTopicPrior Learnt
    LengthMultinomial Lifetimes LinearRegression Lists LowRankDPP Mean MeanDecay MeanFieldRegression
    Memory Minibatch MultiViewLDA NaiveBayesMixture NamedVectorizer NewTopic NewWord NodeStatistics
    NoiseStart Normal OneOrMixed OneTopic Online OnlineEM OpenVocabulary Optimization Parameters
    PhraseTable Phrases Poisson Policy PopulationVB Position PowerPrior Process ProgressReport Rate
    RatingCommit RatingLDA Response ResponseMoments Resumed Rounds Rows SBP SVB SVBHPP SVBLDA
    SamplerState ScaledDecay Schedule ScoreHistory Seats SeedWords Seeds SemiSupervised
    SentenceCommit SentenceVectorizer SentimentWords Shares Snapshot SpectralStart Stacked
    StackedStatistics State Statistics StochasticVI StreamingBayes StreamingCountVectorizer
    StreamingLDA StreamingMixture StreamingPipeline SummaryCommit SupervisedCommit SupervisedLDA
    Symmetric Table TableStatistics Tallies Tokenizer TopicCommit TopicCounts TopicLabels
    TopicLifetime TopicPosterior TopicStream TopicTracker Traits Variational VariationalOnlineEM
    VectorMoments WAS WASTopicModel Weighted Window WithPseudoTokens WordCounts WordSets
    WordsAndLengths ZipfPrior class_words_prior mark_negations split_sentences
"""
OTHERS = """
    builtins.frozenset datetime.date datetime.datetime datetime.timedelta datetime.timezone
    functools.partial scipy.sparse._csc.csc_array scipy.sparse._csc.csc_matrix
    scipy.sparse._csr.csr_array scipy.sparse._csr.csr_matrix
    sklearn.utils._metadata_requests.MetadataRequest
    sklearn.utils._metadata_requests.MethodMetadataRequest zoneinfo.ZoneInfo
"""
# Of a class made by Python code, with objects made of attributes.
PYTHON_TYPE = 1 << 9


class LoadError(ValueError):
    """Raised if a file cannot be loaded; the message gives the remedy."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to one file, in the format of `skops.io`. `load` restores it exactly.

    After a crash you have either the old file or the new file, never a mixture.

    Parameters
    ----------
    model : estimator
        Fitted or not; or a pipeline with vectorizers of this package or scikit-learn's. Your own
        rules, priors and other parts must be classes or functions of a module, not lambdas.
    path : str or path-like
        The file, replaced if present.

    Examples
    --------
    >>> import tempfile
    >>> from streamtopics import GibbsOnlineEM, load, save
    >>> with tempfile.NamedTemporaryFile(suffix=".model") as file:
    ...     save(GibbsOnlineEM(5, random_state=0), file.name)
    ...     load(file.name)
    GibbsOnlineEM(n_components=5, random_state=0)
    """
    skops = import_module("skops.io")  # takes a second
    check_held(model)
    content = BytesIO()
    skops.dump(model, content)
    for name in skops.get_untrusted_types(file=content):
        if not is_known(name) and not _can_be_found(name):
            raise TypeError(
                f"the model holds {name}, but files keep only functions and classes of a module; "
                "set None before saving, and the object again after loading"
            )
    with ZipFile(content, "a") as archive:
        archive.comment = f"streamtopics {import_module('streamtopics').__version__}".encode()
    with replace_file(Path(path)) as send:
        send(content.getbuffer())


def load(path: str | os.PathLike[str], trusted: Sequence[str | type] = ()) -> Any:
    """Load a model saved by `save`.

    Loading runs only code of this package and code named in `trusted`.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str or type, default=()
        Names of other code that the file needs: classes and functions, for example
        ``["adagrad.AdaGradVI"]`` or ``["jieba:lcut"]``. The name of a module imports the module,
        but trusts none of its classes. Name only code that you know, and only for files from a
        trusted source.

    Raises
    ------
    LoadError
        If the file is damaged, or needs code not in `trusted`.
    """
    skops = import_module("skops.io")
    several = [trusted] if isinstance(trusted, str) else trusted
    given = [t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in several]
    source = "another program"
    try:
        # A ZipFile that opens the file itself can leave it open if memory lacks.
        with Path(path).open("rb") as file:
            with ZipFile(file) as archive:
                source = archive.comment.decode() or source
            named = skops.get_untrusted_types(file=file)
            _check_trusted(path, named, given)
            for name in given:
                with suppress(AttributeError, ImportError, ValueError):
                    resolve_name(name)
            context = copy_context()
            context.run(IS_LOADING.set, True)
            model = context.run(skops.load, file, trusted=named)
        parts = [*objects_in(model, {})]
        others = {one.name for one in parts if isinstance(one, Tokenizer)}
        families = {one.family.__name__ for one in parts if isinstance(one, Block)}
        others |= {name for name in families if not name.startswith(FAMILIES)}
        _check_trusted(path, sorted(others), given)
        check_held(model)
    except (MemoryError, OSError, LoadError):
        # The content is right, or the error was already told.
        raise
    except Exception as error:
        version = import_module("streamtopics").__version__
        why = (
            "install the module, or add its folder to PYTHONPATH"
            if isinstance(error, ModuleNotFoundError)
            else "define the class or function where the file names it, or import its module"
            if isinstance(error, AttributeError) and _is_strange(error.obj)
            else f"the file is damaged or cut, or of another version: it was written by {source}, "
            f"this is streamtopics {version}"
        )
        raise LoadError(f"{path} cannot be loaded: {error!r}; {why}") from error
    return model


def _check_trusted(path: str | os.PathLike[str], named: list[str], given: list[str]) -> None:
    if strange := [name for name in named if not is_known(name) and name not in given]:
        raise LoadError(
            f"{path} names {', '.join(strange)}, not part of streamtopics; if you trust the "
            f"source of the file, load it with trusted={[*given, *strange]}, or by the command "
            f"with --trust {','.join([*given, *strange])}"
        )


def _is_strange(owner: object) -> bool:
    return isinstance(owner, ModuleType) and not owner.__name__.startswith("streamtopics")


def is_known(name: str) -> bool:
    """Whether a class or function is allowed in every file."""
    is_ours = name.startswith("streamtopics.")
    return name.rpartition(".")[2] in OURS.split() if is_ours else name in OTHERS.split()


def _can_be_found(name: str) -> bool:
    """Whether `load` can find a class or function, and make an instance."""
    if name.startswith(("streamtopics.", "numpy.", "__main__.")):
        return False
    try:
        found: Any = resolve_name(name)
        is_class = isinstance(found, type)
        _ = found.__new__(found) if is_class else None
    except (ImportError, AttributeError, TypeError, ValueError):
        return False
    return not is_class or bool(found.__flags__ & PYTHON_TYPE)
