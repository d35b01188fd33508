# SPDX-License-Identifier: BSD-3-Clause
"""A classifier with topics for each class."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import Commit, check_unchanged
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import CountsInput, Documents
from streamtopics.base.topic_model import DOCUMENTS_AT_ONCE, check_doc_topic_prior
from streamtopics.base.topics import LearntTopics
from streamtopics.base.typing import MatrixLike, OptionalArray, RandomState, WordPriorLike
from streamtopics.base.validation import (
    COMMON_CONSTRAINTS,
    POSITIVE_INT,
    WORD_PRIOR,
    Interval,
    check_prior,
    check_topic_word_prior,
    check_word_prior,
)
from streamtopics.estimators.by_rule import LearnsByRule
from streamtopics.estimators.labels import codes_of, read_labels
from streamtopics.local.step import minibatch_of
from streamtopics.local.two_blocks import TwoBlocks
from streamtopics.models.multi_view import MultiView
from streamtopics.posteriors import Learn, Stacked, TopicPosterior
from streamtopics.priors import Columns, class_words_prior
from streamtopics.updates import BPS, Rule
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep
from streamtopics.utils.structure import labelled, row_labels

# Sum of a document's prior over the topics of a block, when none is given.
DOC_TOPIC_MASS = 10.0

# A class further behind than this, in nats, has no part in the probabilities.
BEHIND = 20.0

# Weights of words in the topics of classes that are held at once.
WEIGHTS_AT_ONCE = 2**26


@documented
class MultiViewLDA(ClassifierMixin, LearnsByRule, LearntTopics, CountsInput):
    """A classifier with topics of each class and topics shared by all classes (MviewLDA).

    `predict` takes the class with the largest log p(class) + lower bound on log p(words | class).

    Parameters
    ----------
    n_local_topics : int, default=10
        Number of topics of each class.
    n_global_topics : int, default=8
        Number of shared topics.
    update : Rule or None, default=None
        A rule of `streamtopics.updates`: ``BPS(0.5)`` adds the prior of class topics again in each
        minibatch (a boost), ``PowerPrior(0.9)`` forgets. None is ``BPS(0.0)``, without a boost.
    doc_topic_prior : float or None, default=None
        Dirichlet parameter of a document's topic proportions, in tokens for each topic. None
        divides ten tokens among the topics of a class, and ten among the shared topics.
    local_share_prior : tuple of two floats, default=(1.0, 1.0)
        Parameters of the beta prior of the share of class topics in a document's words. (20, 20)
        keeps the share near a half, which favours shared topics.
    class_word_prior, boosted_prior : float, array-like of shape (n_features,) or \
            (n_classes, n_features), WordPrior, callable or None, default=None
        `class_word_prior` is the Dirichlet parameter of class topics, in tokens; None is
        `streamtopics.priors.ClassWords`. A flat prior hardly separates classes. `boosted_prior` is
        the prior added by a boost; None is `class_word_prior`. Rows are in the order of `classes_`.
        A callable is called with X and y of the first minibatch, and ``classes=``.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Dirichlet parameter of the shared topics, in tokens. None is 0.05 for each word.
    {sweeps_and_batches, max_iter}
    {common_parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Learnt documents of each class.
    topic_class_ : ndarray of shape (n_components,)
        Index in `classes_` of each topic's class; -1 for the shared topics, the last ones.
        n_components is n_classes * n_local_topics + n_global_topics.
    {dirichlet_components}
    {common_attributes}

    References
    ----------
    D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior
    knowledge in streaming variational Bayes", section 5.4.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import MultiViewLDA
    >>> texts = ["a ship at sea", "the deep sea", "a plane in the sky", "the blue sky"] * 5
    >>> labels = ["sea", "sea", "air", "air"] * 5
    >>> X = CountVectorizer().fit_transform(texts)
    >>> MultiViewLDA(2, 1, random_state=0).fit(X[:12], labels[:12]).predict(X[12:16])
    array(['sea', 'sea', 'air', 'air'], dtype='<U3')
    """

    _records: ClassVar[dict[str, dict[str, Any]]] = LearntTopics._records | {
        "update": {None: BPS(0.0)},
        "class_word_prior": {},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "n_local_topics": [POSITIVE_INT],
        "n_global_topics": [POSITIVE_INT],
        "doc_topic_prior": [None, Interval(Real, 1e-10, 1e10, closed="both")],
        "local_share_prior": [tuple, list],
        "class_word_prior": WORD_PRIOR,
    }

    classes_: np.ndarray
    n_local_topics: int
    n_global_topics: int
    doc_topic_prior: float | None
    local_share_prior: tuple[float, float] | list[float]
    max_local_iter: int
    local_tol: float

    def __init__(
        self,
        n_local_topics: int = 10,
        n_global_topics: int = 8,
        *,
        update: Rule | None = None,
        doc_topic_prior: float | None = None,
        local_share_prior: tuple[float, float] | list[float] = (1.0, 1.0),
        class_word_prior: WordPriorLike = None,
        boosted_prior: WordPriorLike = None,
        topic_word_prior: WordPriorLike = None,
        max_local_iter: int = 100,
        local_tol: float = 1e-3,
        batch_size: int = 1000,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn from labelled documents, in minibatches of `batch_size` rows.

        {learns_corpus}

        {X_to_learn}
        {labels}

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: OptionalArray = None) -> Self:
        """Learn from one minibatch by one step of the update rule.

        {learns_minibatch}

        {X_to_learn}
        {labels}
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; needed in the first call only.

        {returns_self}
        """
        return self._partial_fit(X=X, y=y, classes=classes)

    def _read(  # type: ignore[override]
        self, method: str, *, reset: bool = False, X: MatrixLike, y: Any, classes: Any = None
    ) -> Documents:
        X = self._counts(X, method, reset=reset)
        y = read_labels(y, X.shape[0], f"{type(self).__name__}.{method}")
        known = y if method == "fit" else classes
        if known is None and reset:
            raise ValueError(
                "classes is None in the first call of partial_fit; pass all classes of the "
                "stream, classes=numpy.unique(of all labels)"
            )
        if known is not None:
            known = unique_labels(read_labels(known, len(known), "partial_fit, classes"))
            if reset:
                self.classes_ = known
            check_unchanged("classes", known.tolist(), self.classes_.tolist())
        remedy = "leave these documents out, or start anew with all labels in classes="
        return Documents(X, {"y": y, "codes": codes_of(y, self.classes_.tolist(), remedy)})

    def _check(self, before: Commit | None) -> None:
        started = {}
        if before is not None:
            own, *_, shared = (part.shape[1] for part in before.posterior.parts)
            started = {"n_local_topics": own, "n_global_topics": shared}
        self._check_rule(before, Stacked.offers, "Stacked", **started)

    def _start(self, batch: Documents) -> None:
        n_words, n_classes = batch.X.shape[1], len(self.classes_)
        pair = check_prior(self.local_share_prior, "local_share_prior", {"(own, shared)": (2,)})
        self.share_prior_ = float(pair[0]), float(pair[1])
        etas = self._class_priors("class_word_prior", batch)
        given = self.boosted_prior is not None
        xis = self._class_priors("boosted_prior", batch) if given else [None] * n_classes
        shared = check_word_prior(self, "topic_word_prior", batch.X, None)
        own, common = (
            check_doc_topic_prior(self.doc_topic_prior, n, DOC_TOPIC_MASS)
            for n in (self.n_local_topics, self.n_global_topics)
        )
        self.seed_ = self._draw_seed()
        shape = n_words, self.n_local_topics
        parts = [TopicPosterior(eta, shape, own, xi) for eta, xi in zip(etas, xis, strict=True)]
        last = TopicPosterior(shared, (n_words, self.n_global_topics), common, seed=self.seed_)
        self._commit = self._first_commit(Stacked([*parts, last], n_boosted=n_classes))

    def _class_priors(self, name: str, batch: Documents) -> list[np.ndarray]:
        X, y, classes = batch.X, batch.columns["y"], self.classes_
        prior, n = getattr(self, name), len(classes)
        prior = class_words_prior if prior is None else prior
        if not callable(prior):
            prior = check_word_prior(self, name, X, n, "n_classes", y=y, classes=classes)
        else:
            made = prior(Columns(X).counts(name), y, classes=classes)
            prior = check_topic_word_prior(made, name, n, X.shape[1], "n_classes")
        prior = np.broadcast_to(prior, (len(prior), n))
        return [np.ascontiguousarray(prior[:, [j]]) for j in range(n)]

    def _learner(self, batch: Documents, pool: Workers) -> Learn:
        codes = batch.columns["codes"]
        return self._model().learner(self.posterior_, batch.minibatch, codes, pool)

    def _model(self) -> MultiView:
        n_local = self.posterior_.parts[0].shape[1]
        local = TwoBlocks(n_local, self.share_prior_, self.local_tol, self.max_local_iter)
        return MultiView(local, self.seed_)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the most probable class of each document.

        {X}

        Returns
        -------
        labels : ndarray of shape (n_documents,)
        """
        most_probable = self._classified(X, "predict", 0.0).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the probability of each class, for each document.

        Probabilities are overconfident for long documents, as in naive Bayes, and inexact below
        2e-9.

        {X}

        Returns
        -------
        probability : ndarray of shape (n_documents, n_classes)
            Columns are in the order of `classes_`; rows sum to 1. A document without words gets the
            shares of the classes in the learnt documents, after one is added to each class.
        """
        return np.asarray(np.exp(self._classified(X, "predict_proba", BEHIND)))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the log probability of each class, in nats; never -inf, also for unlikely classes.

        {X}

        Returns
        -------
        log_probability : ndarray of shape (n_documents, n_classes)
            Columns are in the order of `classes_`.
        """
        return self._classified(X, "predict_log_proba", np.inf)

    def _classified(self, X: MatrixLike, method: str, margin: float) -> np.ndarray:
        """Log probabilities of classes near the best."""
        check_is_fitted(self)
        X = self._counts(X, method)
        model = self._model()

        found = self._inferred(
            lambda pool: [
                model.log_joint(self.posterior_, minibatch_of(part), margin, pool)
                for part in self._parts(X)
            ]
        )
        log_joint = np.concatenate([np.empty((0, len(self.classes_))), *found])
        return np.asarray(log_softmax(log_joint, axis=1))

    def _parts(self, X: sparse.csr_matrix) -> Iterator[sparse.csr_matrix]:
        n_classes, n_local = len(self.classes_), self.posterior_.parts[0].shape[1]
        most_words, size = WEIGHTS_AT_ONCE // (n_classes * n_local), DOCUMENTS_AT_ONCE
        if X.shape[1] > most_words:
            size = min(size, max(1, most_words // np.diff(X.indptr).max(initial=1)))
        for start in range(0, X.shape[0], size):
            yield X[start : start + size]

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Return topic proportions: the mean over classes, weighted by the class probabilities.

        {X}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; columns are as in `topic_class_`. float64 for float64 input, else
            float32.
        """
        check_is_fitted(self)
        counts = self._counts(X, "transform")
        found = self._inferred(lambda pool: self._proportions(counts, pool))
        return labelled(self, found, row_labels(X))

    def _proportions(self, X: sparse.csr_matrix, pool: Workers) -> np.ndarray:
        model, posterior = self._model(), self.posterior_
        out, done = np.zeros((X.shape[0], posterior.shape[1]), X.dtype), 0
        *places, shared = posterior.places
        for part in map(minibatch_of, self._parts(X)):
            rows = slice(done, done + part.n_documents)
            log_joint = model.log_joint(posterior, part, BEHIND, pool)
            doc_topic = model.proportions(posterior, part, pool)
            probability = np.exp(log_softmax(log_joint, axis=1))
            for place, proportions, share in zip(places, doc_topic, probability.T, strict=True):
                weighted = proportions * share[:, None]
                n_local = place.stop - place.start
                out[rows, place] = weighted[:, :n_local]
                out[rows, shared] += weighted[:, n_local:]
            done = rows.stop
        return out

    @property
    def class_count_(self) -> np.ndarray:
        return self._whole(
            lambda: np.array([part.n_documents for part in self.posterior_.parts[:-1]])
        )

    @property
    def topic_class_(self) -> np.ndarray:
        check_is_fitted(self)
        sizes = [part.shape[1] for part in self.posterior_.parts]
        return np.repeat([*range(len(self.classes_)), -1], sizes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Two columns that are no words, as in scikit-learn's check, tell little.
        tags.classifier_tags.poor_score = True
        return tags
