# SPDX-License-Identifier: BSD-3-Clause
"""What is read off a fitted estimator, and how an array becomes a line of a file.

When attributes of the estimators get other names, only this file changes: the names of
quantities, which are the keys of the files, stay.
"""

import hashlib
import inspect
from functools import partial

import numpy as np
from scipy import sparse

from streamtopics import metrics, priors
from streamtopics.reviews.base import RatedTopicModel
from streamtopics.utils.checks import EXCLUDED
from tests.fingerprints.corpora import N_WORDS
from tests.reference import unrated

# Of a summary, against other last bits in other libraries and processors. Mostly 1e-5 would
# do; but inference ends where a sweep moves less than 1e-3, which may be a sweep earlier.
RTOL, DIGITS = 1e-3, 9
EVERY, FEW = 3, 20
# Quantities that are sampled or go by the order of words, even of models that are not sampled.
LEFT_TO_RIGHT = "left to right"
FRAGILE = (LEFT_TO_RIGHT,)

# Quantities, by the names of attributes without the underscore at their end.
ARRAYS = (
    "components", "topic_word", "topic_weights", "prior_retention", "doc_topic_prior",
    "topic_word_prior", "qualitative_prior", "retention", "retention_history",
    "effective_sample_size", "n_tokens_seen", "n_batch_iter", "class_count", "coef",
    "noise_variance", "objective", "offset", "peakedness", "n_atoms", "n_tables", "theta", "gamma",
    "noise_level", "expected_size",
)  # fmt: skip
TABLES = "profiles", "items", "users"
METHODS = (
    "transform", "transform_sentences", "score_samples", "predict", "predict_proba",
    "predict_words",
)  # fmt: skip


def measure(model, data):
    """All quantities that an estimator has, by name."""
    found = {name: getattr(model, f"{name}_") for name in ARRAYS if hasattr(model, f"{name}_")}
    tables = {name: getattr(model, f"{name}_") for name in TABLES if hasattr(model, f"{name}_")}
    found |= {name: table.values for name, table in tables.items()}
    if hasattr(model, "effects_"):
        found["effects of items"] = model.effects_.items.values
        found["effects of users"] = model.effects_.users.values
    return found | answers(model, data)


def answers(model, data):
    """What the methods say of every third row."""
    asked = {name: values[::EVERY] for name, values in data.items() if name != "y"}
    found = {}
    for name in METHODS:
        of_nobody = name == "predict_words" and "items" not in asked
        if hasattr(model, name) and not of_nobody:
            method = getattr(model, name)
            known = inspect.signature(method).parameters
            found[name] = method(**{key: asked[key] for key in asked if key in known})
    rated = isinstance(model, RatedTopicModel)
    if rated or hasattr(model, "log_likelihood"):
        likelihood = partial(unrated.log_likelihood, model) if rated else model.log_likelihood
        few = {name: values[:FEW] for name, values in data.items() if name != "y"}
        known = inspect.signature(likelihood).parameters
        few = {name: values for name, values in few.items() if name in known}
        few["X"] = few["X"].ceil()
        found[LEFT_TO_RIGHT] = likelihood(**few, n_particles=5)
    return found


def natural_parameters(model, data):
    """Of a model that streams by `StreamingBayes`: those of all its nodes."""
    posterior = model.posterior_
    blocks = {f"node {name}": posterior[name] for name in posterior.blocks}
    return measure(model, data) | blocks | {"mass": posterior.mass}


def draws(model, data):
    """Of a determinantal process also some sets drawn from it."""
    drawn = model.sample(3, random_state=0)
    gain = model.gain_over_independent(**data)
    sizes = [np.shape(points)[0] for points in drawn]
    return measure(model, data) | {"sizes of draws": sizes, "draws": flat(drawn), "gain": gain}


def flat(parts):
    dense = [part.toarray() if sparse.issparse(part) else np.asarray(part) for part in parts]
    return np.concatenate([np.ravel(part) for part in dense])


def summaries(model, data):
    """Of a summarizer: the sentences it takes, and a digest."""
    chosen = model.select(data["raw_documents"][::EVERY])
    digest = model.digest(data["raw_documents"][::EVERY], n_sentences=5)
    return {
        "document_frequency": model.document_frequency_,
        "indices": flat([summary.indices for summary in chosen]),
        "scores": flat([summary.scores for summary in chosen]),
        "transform": flat(model.transform(data["raw_documents"][::EVERY])),
        "digest": [[found.document, found.index, found.score] for found in digest],
    }


def of_metrics(model, data):
    """The metrics of one model."""
    X, whole = data["X"], sparse.csr_matrix(np.ceil(data["X"][:20].toarray()))
    top = np.argsort(-model.components_, axis=1, kind="stable")[:, :6]
    observed, held_out = metrics.completion_split(X)
    likelihood = metrics.left_to_right(
        whole, model.topic_word_, model.doc_topic_prior_, n_particles=5
    )
    coherence = {
        f"coherence {name}": metrics.topic_coherence(top, X, measure=name)
        for name in ("npmi", "umass", "c_v")
    }
    return coherence | {
        "diversity": metrics.topic_diversity(top),
        "perplexity": metrics.perplexity(model, X),
        "log predictive": metrics.log_predictive_probability(model, X),
        "observed": observed.toarray(),
        "held out": held_out.toarray(),
        LEFT_TO_RIGHT: likelihood.log_likelihood,
    }


def of_priors(model, data):
    """The priors from knowledge; there is no model."""
    words = [f"w{i}" for i in range(N_WORDS)]
    seeds = {"odd": words[1:20:2], "even": words[:20:2], "late": words[-5:]}
    counts = np.asarray(data["X"].sum(axis=0)).ravel()
    prior = priors.seed_prior(seeds, words, 3.0)
    own = [(prior[k, words.index(w)], w) for k, some in enumerate(seeds.values()) for w in some]
    pulls = [
        [n, (1 + n) / 1.05 * max(1.0, EXCLUDED * n / 0.05) ** 2, n / (n + counts[words.index(w)])]
        for n, w in own
    ]
    return {
        "word ranks": priors.word_ranks(words[::-3], words),
        "zipf of ranks": priors.zipf_prior(priors.word_ranks(words[::-3], words)),
        "zipf of counts": priors.zipf_prior(counts=counts, exponent=0.9, mass=7.0),
        "seeds": priors.seed_prior(seeds, words, 3.0, n_components=5),
        "seeds elsewhere": priors.seed_prior(seeds, words, 3.0, base=0.5, elsewhere=0.01),
        "pulls": pulls,
        "classes": priors.class_words_prior(data["X"], data["y"], n_seeds=9),
    }


def of_corpus(model, data):
    """The input of all other cases; there is no model."""
    return {
        name: values.toarray() if sparse.issparse(values) else values
        for name, values in data.items()
    }


def fingerprint(values):
    """Hash, shape and summary of an array, as a line of text."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "OUS":
        content, kind = "\0".join(map(str, values.ravel())).encode(), "text"
        values = np.zeros(values.shape)
    else:
        content, kind = values.tobytes(), values.dtype.str
    shape = "x".join(map(str, values.shape)) or "1"
    digest = hashlib.sha256(f"{kind} {shape} ".encode() + content).hexdigest()[:16]
    return " ".join([digest, shape, *(f"{number:.{DIGITS}g}" for number in summary(values))])


def summary(values):
    """Numbers that are not finite; sum, sum of squares and a projection of the others."""
    values = np.asarray(values, dtype=np.float64).ravel()
    finite = np.where(np.isfinite(values), values, 0.0)
    direction = np.cos(np.arange(1.0, len(values) + 1))
    return (values != finite).sum(), finite.sum(), (finite**2).sum(), finite @ direction


def same_summary(line, other):
    """Whether two lines are of arrays that are alike up to rounding."""
    (_, shape, *mine), (_, other_shape, *theirs) = line.split(), other.split()
    mine, theirs = np.array(mine, dtype=float), np.array(theirs, dtype=float)
    length = max(mine[2], theirs[2]) ** 0.5
    size = np.maximum(np.maximum(np.abs(mine), np.abs(theirs)), [0.0, length, 0.0, length])
    return shape == other_shape and bool((np.abs(mine - theirs) <= RTOL * size).all())


def same_shape(line, other):
    """Whether two lines are of arrays of one shape, with as many numbers that are not finite."""
    return line.split()[1:3] == other.split()[1:3]


def same_dimensions(line, other):
    """The same, but axes may have other lengths."""
    (_, shape, strange, *_), (_, other_shape, other_strange, *_) = line.split(), other.split()
    return shape.count("x") == other_shape.count("x") and strange == other_strange
