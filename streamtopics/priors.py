# SPDX-License-Identifier: BSD-3-Clause
"""Word priors from knowledge: Zipf's law, seed words, and the words of classes.

Each function returns an array to be passed as `topic_word_prior`: pseudo-counts,
so an entry of 5 weighs as much as five tokens seen.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.structure import check_structure

__all__ = [
    "MASS_PER_WORD",
    "SeedPull",
    "class_prior",
    "seed_prior",
    "seed_pulls",
    "word_ranks",
    "zipf_prior",
]

MASS_PER_WORD = 0.05


def word_ranks(words: Sequence[str], vocabulary: Mapping[str, int] | Sequence[str]) -> np.ndarray:
    """Ranks of a vocabulary's words in a list of words, the most frequent first.

    The ranks are those among the words of the vocabulary, 1 for the first of
    them; words that are not in the list share the mean of the ranks left.

    Parameters
    ----------
    words : sequence of str
        For example the words of a language by frequency.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.

    Returns
    -------
    ranks : ndarray of shape (n_features,)

    Examples
    --------
    >>> from streamtopics.priors import word_ranks
    >>> word_ranks(["the", "of", "cat"], ["cat", "gnu", "the", "yak"])
    array([2. , 3.5, 1. , 3.5])
    """
    columns = _columns(vocabulary)
    listed = [columns[word] for word in dict.fromkeys(words) if word in columns]
    n, n_listed = len(columns), len(listed)
    ranks = np.full(n, (n_listed + 1 + n) / 2)
    ranks[listed] = np.arange(1, n_listed + 1)
    return ranks


def zipf_prior(
    ranks: Sequence[float] | None = None,
    *,
    counts: Sequence[float] | None = None,
    exponent: float = 1.07,
    mass: float | None = None,
) -> np.ndarray:
    """A word prior by Zipf's law: eta_w proportional to rank_w ** -exponent.

    Parameters
    ----------
    ranks : array-like of shape (n_features,), default=None
        Rank of each word, 1 for the most frequent; see `word_ranks`.
    counts : array-like of shape (n_features,), default=None
        Instead of ranks: how often each word was seen so far. Words seen equally
        often share the mean of their ranks.
    exponent : float, default=1.07
        The value used for English in the source.
    mass : float or None, default=None
        Sum of the prior over the words, in tokens for each topic. None is 0.05
        tokens for each word, the mass of the estimators' default prior. The
        source leaves it open; results depend on it more than on the shape.

    Returns
    -------
    prior : ndarray of shape (n_features,)
        Positive, with sum `mass`.

    Raises
    ------
    ValueError
        If not exactly one of `ranks` and `counts` is given, or one of the
        arguments is out of its range.

    References
    ----------
    Equation 45 of D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than
    (2020), "Boosting prior knowledge in streaming variational Bayes".

    Examples
    --------
    >>> from streamtopics.priors import zipf_prior
    >>> zipf_prior(counts=[10, 70, 0, 20], exponent=1.0, mass=25.0)
    array([ 4., 12.,  3.,  6.])
    """
    if (ranks is None) == (counts is None):
        raise ValueError("pass exactly one of ranks and counts")
    if ranks is None:
        ranks = _ranks_of_counts(_vector(counts, "counts", 0.0))
    else:
        ranks = _vector(ranks, "ranks", 1.0)
    if not (isinstance(exponent, Real) and 0 <= exponent < np.inf):
        raise ValueError(f"exponent must be a number in [0, inf); got {exponent!r}")
    if mass is None:
        mass = MASS_PER_WORD * len(ranks)
    if not (isinstance(mass, Real) and 0 < mass < np.inf):
        raise ValueError(f"mass must be a number in (0, inf); got {mass!r}")
    share = (ranks / ranks.min()) ** -float(exponent)
    if share.min() == 0:
        raise ValueError(f"exponent {exponent!r} leaves nothing for the last rank; 1 is usual")
    return mass * share / share.sum()


def _vector(values: Sequence[float], name: str, least: float) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must have shape (n_features,); got {values.shape}")
    if not (np.isfinite(values).all() and (values >= least).all()):
        raise ValueError(
            f"{name} must be finite and at least {least:g}; the smallest is {values.min():g}"
        )
    return values


def _ranks_of_counts(counts: np.ndarray) -> np.ndarray:
    """Mean rank of each count among all, 1 for the largest."""
    ordered = np.sort(-counts)
    first = np.searchsorted(ordered, -counts, side="left")
    last = np.searchsorted(ordered, -counts, side="right")
    return (first + 1 + last) / 2


class SeedPull(NamedTuple):
    """What a seed word is expected to do; one row of the table of `seed_pulls`."""

    topic: int
    name: str
    word: str
    column: int
    pseudo_count: float
    odds: float
    prior_share: float


def seed_prior(
    seeds: Mapping[int | str, Sequence[str]],
    vocabulary: Mapping[str, int] | Sequence[str],
    strength: float,
    *,
    n_components: int | None = None,
    base: float = MASS_PER_WORD,
    elsewhere: float | None = None,
    missing: str = "error",
) -> np.ndarray:
    """A prior under which some words belong to some topics.

    Parameters
    ----------
    seeds : mapping of topic to words
        Topics are positions (int), or names (str), which take the positions 0, 1,
        ... in the order of the mapping.
    vocabulary : mapping of word to column, or sequence of words by column
        `CountVectorizer.vocabulary_` or `get_feature_names_out()`.
    strength : float
        Pseudo-count added for each seed word in its topic, in tokens.
    n_components : int or None, default=None
        Number of topics; None for as many as the seeds name.
    base : float, default=0.05
        Pseudo-count of every word in every topic.
    elsewhere : float or None, default=None
        Pseudo-count, instead of `base`, of a seed word in the topics that it is no seed of:
        much less says that it is hardly ever said there. None is `base`.
    missing : {"error", "ignore"}, default="error"
        What to do with a seed word that is not in the vocabulary.

    Returns
    -------
    prior : ndarray of shape (n_components, n_features)

    Raises
    ------
    ValueError
        If a seed word is not in the vocabulary, a topic does not exist, or a
        number is out of its range.
    TypeError
        If topics are named by a mixture of positions and names.

    See Also
    --------
    seed_pulls : What each of the seeds is expected to do.

    Examples
    --------
    >>> from streamtopics.priors import seed_prior
    >>> seed_prior({"sea": ["ship"], "air": ["plane"]}, ["plane", "ship", "sun"], 5.0, base=0.5)
    array([[0.5, 5.5, 0.5],
           [5.5, 0.5, 0.5]])
    """
    columns = _columns(vocabulary)
    elsewhere = base if elsewhere is None else elsewhere
    for name, value in [("strength", strength), ("base", base), ("elsewhere", elsewhere)]:
        if not (isinstance(value, Real) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a number in (0, inf); got {value!r}")
    topics = _topics(seeds, n_components)
    prior = np.full((n_components or max(topics.values()) + 1, len(columns)), float(base))
    own = {t: _seed_columns(words, columns, t, missing) for t, words in seeds.items()}
    prior[:, [column for words in own.values() for column in words]] = elsewhere
    for topic, words in own.items():
        prior[topics[topic], words] = base + strength
    return prior


def seed_pulls(
    seeds: Mapping[int | str, Sequence[str]],
    vocabulary: Mapping[str, int] | Sequence[str],
    strength: float,
    *,
    counts: Sequence[float] | None = None,
    n_components: int | None = None,
    base: float = MASS_PER_WORD,
    elsewhere: float | None = None,
    missing: str = "error",
) -> list[SeedPull]:
    """A dry run of `seed_prior`: what each seed word is expected to do.

    Parameters
    ----------
    seeds, vocabulary, strength, n_components, base, elsewhere, missing
        As in `seed_prior`.
    counts : array-like of shape (n_features,), default=None
        How often each word occurs in the stream, as far as known.

    Returns
    -------
    table : list of SeedPull
        A row for each seed word, ready for `pandas.DataFrame`. `odds` is how much
        more a token of the word is drawn, in the first minibatch, to the seeded
        topic than to one where it is no seed. `prior_share` is what part of the
        word's count in the topic the prior would be if all its tokens seen went
        there: near 1 the seed decides, near 0 the stream has washed it out (and a
        `boosting_scale` or more strength is called for); NaN without `counts`.

    Examples
    --------
    >>> from streamtopics.priors import seed_pulls
    >>> row = seed_pulls({"sea": ["ship"]}, ["plane", "ship"], 9.5, base=0.5, counts=[7, 90])[0]
    >>> row.word, row.odds, row.prior_share
    ('ship', 7.333333333333333, 0.1)
    """
    prior = seed_prior(
        seeds, vocabulary, strength, n_components=n_components, base=base, elsewhere=elsewhere,
        missing=missing,
    )  # fmt: skip
    other = base if elsewhere is None else elsewhere
    columns = _columns(vocabulary)
    seen = np.full(len(columns), np.nan) if counts is None else _vector(counts, "counts", 0.0)
    if len(seen) != len(columns):
        raise ValueError(f"counts must have shape ({len(columns)},); got ({len(seen)},)")
    topics = _topics(seeds, n_components)
    table = []
    for topic, words in seeds.items():
        for word in dict.fromkeys(words):
            if word not in columns:
                continue
            k, column = topics[topic], columns[word]
            own = float(prior[k, column])
            odds = (1 + own) / (1 + other)
            share = own / (own + seen[column])
            table.append(SeedPull(k, str(topic), word, column, own, odds, float(share)))
    return table


def class_prior(
    X: Any,
    y: Sequence,
    *,
    classes: Sequence | None = None,
    n_seeds: int = 5000,
    strength: float = 0.5,
    base: float = 0.01,
) -> np.ndarray:
    """A prior of the words of classes, from labelled documents: the words typical of each.

    The seed words of a class are those of greatest tf-idf, the tokens of the word in the
    class times the logarithm of how many documents there are for each that has the word.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Word counts.
    y : array-like of shape (n_documents,)
        Class of each document.
    classes : array-like of shape (n_classes,), default=None
        The classes, in the order of the rows that are wanted; one that no document has gets
        no seeds. None for those of `y`, sorted.
    n_seeds : int, default=5000
        Seed words of a class, at most: words that the class lacks, or that all documents
        have, are none. The source's number.
    strength : float, default=0.5
        Pseudo-count of a seed word in the topics of its class, in tokens; the source's.
    base : float, default=0.01
        Pseudo-count of every other word; the source's.

    Returns
    -------
    prior : ndarray of shape (n_classes, n_features)
        The `class_word_prior` of `streamtopics.MultiViewLDA`.

    Raises
    ------
    ValueError
        If X and y do not fit or have no documents, X has negative or infinite values or NaN,
        `y` has a label that `classes` lacks, or a number is out of its range.

    Notes
    -----
    Where this is made from the documents that a model is then tested on, the test is worth
    nothing: pass the function itself as `class_word_prior`, and the estimator applies it to
    what it is given to learn.

    References
    ----------
    Section 5.4 of D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020),
    "Boosting prior knowledge in streaming variational Bayes", which leaves open what its
    tf-idf is.

    Examples
    --------
    >>> from streamtopics.priors import class_prior
    >>> X = [[3, 0, 2], [2, 1, 2], [0, 4, 1]]
    >>> class_prior(X, ["air", "air", "sea"], n_seeds=1)
    array([[0.5 , 0.01, 0.01],
           [0.01, 0.5 , 0.01]])
    """
    for name, value in [("strength", strength), ("base", base)]:
        if not (isinstance(value, Real) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a number in (0, inf); got {value!r}")
    if not (isinstance(n_seeds, Integral) and n_seeds >= 1):
        raise ValueError(f"n_seeds must be a positive number of words; got {n_seeds!r}")
    X, y, classes = _check_labelled(X, y, classes)
    having = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    rarity = np.log(X.shape[0] / np.maximum(having, 1))
    prior = np.full((len(classes), X.shape[1]), float(base))
    for row, label in zip(prior, classes, strict=True):
        weight = np.asarray(X[y == label].sum(axis=0), np.float64).ravel() * rarity
        first = np.argsort(-weight, kind="stable")[:n_seeds]
        row[first[weight[first] > 0]] = strength
    return prior


def _check_labelled(
    X: Any, y: Sequence, classes: Sequence | None
) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Labelled counts, and all classes."""
    check_structure(X, "class_prior")
    # As a sum of coordinates a word that is stored twice in a row is one.
    X, y = sparse.coo_matrix(X).tocsr(), np.asarray(y)
    if X.shape[0] == 0:
        raise ValueError("X has no documents to tell typical words by; pass some")
    if not (np.isfinite(X.data) & (X.data >= 0)).all():
        raise ValueError(
            "X has values that are negative, infinite or NaN, which no counts of words are; check "
            "how it was made"
        )
    if y.shape != (X.shape[0],):
        raise ValueError(
            f"y must have a label for each of the {X.shape[0]} rows of X; its shape is {y.shape}"
        )
    classes = np.unique(y) if classes is None else np.asarray(classes)
    if len(strange := np.setdiff1d(y, classes)):
        raise ValueError(
            f"y has the labels {strange.tolist()}, which are not in classes="
            f"{classes.tolist()}; name them there, or leave their documents out"
        )
    return X, y, classes


def _columns(vocabulary: Mapping[str, int] | Sequence[str]) -> Mapping[str, int]:
    if isinstance(vocabulary, str):
        raise TypeError(
            f"vocabulary must be a mapping of words to columns or a sequence of words; got the "
            f"string {vocabulary!r}"
        )
    if isinstance(vocabulary, set | frozenset):
        raise TypeError("vocabulary must have an order; got a set. Pass the words by column")
    n = len(vocabulary)
    if not isinstance(vocabulary, Mapping):
        vocabulary = {word: column for column, word in enumerate(vocabulary)}
    if not vocabulary:
        raise ValueError("vocabulary is empty; fit the vectorizer on some documents first")
    if len(vocabulary) != n or sorted(vocabulary.values()) != list(range(n)):
        raise ValueError(
            "vocabulary must give each word one column, 0 to n_features - 1; it has repeated words "
            "or other columns. Pass vectorizer.vocabulary_ or vectorizer.get_feature_names_out()"
        )
    return vocabulary


def _topics(seeds: Mapping[int | str, Sequence[str]], n_components: int | None) -> dict:
    """Position of each topic that `seeds` names."""
    if not isinstance(seeds, Mapping) or not seeds:
        raise ValueError(f"seeds must map at least one topic to its words; got {seeds!r}")
    if not (n_components is None or (isinstance(n_components, Integral) and n_components >= 1)):
        raise ValueError(
            f"n_components must be None or a positive number of topics; got {n_components!r}"
        )
    named = [isinstance(topic, str) for topic in seeds]
    if all(named):
        topics = {topic: position for position, topic in enumerate(seeds)}
    elif not any(named) and all(isinstance(t, Integral) and t >= 0 for t in seeds):
        topics = {topic: int(topic) for topic in seeds}
    else:
        raise TypeError(
            f"the topics of seeds must be all names (str) or all positions (int from 0); "
            f"got {list(seeds)!r}"
        )
    if n_components is not None and max(topics.values()) >= n_components:
        raise ValueError(
            f"seeds name a topic at position {max(topics.values())}, but n_components is "
            f"{n_components}; positions start at 0"
        )
    return topics


def _seed_columns(
    words: Sequence[str], columns: Mapping[str, int], topic: int | str, missing: str
) -> list[int]:
    if isinstance(words, str):
        raise TypeError(f"the seeds of topic {topic!r} must be a list of words; got {words!r}")
    if missing not in ("error", "ignore"):
        raise ValueError(f"missing must be 'error' or 'ignore'; got {missing!r}")
    unknown = [word for word in words if word not in columns]
    if unknown and missing == "error":
        raise ValueError(
            f"seed words of topic {topic!r} that are not in the vocabulary: {unknown}; leave them "
            "out, pass missing='ignore', or check the vectorizer's lower case and min_df"
        )
    return list({columns[word] for word in words if word in columns})
