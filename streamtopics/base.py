# SPDX-License-Identifier: BSD-3-Clause
"""What all streaming topic models share: the scikit-learn face of the engine.

An estimator says which rule and which model it is made of; validation, batching,
seeding, the order of a step and everything that is read off the posterior are
here. One call of `partial_fit` is one minibatch and one step of the rule:
validate, learn, then blend, and the blend is the only writer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from streamtopics.averaging import IterateAverage
from streamtopics.learnt import LearntTopics
from streamtopics.local.minibatches import minibatch_of
from streamtopics.messages import Minibatch
from streamtopics.metrics import predictive
from streamtopics.models import LDA
from streamtopics.parallel import Workers, workers
from streamtopics.posterior import LazyPosterior
from streamtopics.progress import Progress, progress
from streamtopics.records import RecordParameters
from streamtopics.updates.doc_topic import FIXED, DocTopicUpdate
from streamtopics.updates.rule import Rule
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    check_counts,
    check_doc_topic_prior,
    check_word_prior,
)

DOCUMENTS_AT_ONCE = 4096
FEW_STEPS = 5


class StreamingTopicModel(RecordParameters, LearntTopics, TransformerMixin, BaseEstimator):
    """Base of the estimators of topics over words.

    A subclass has an explicit `__init__` and the two methods `_rule` and
    `_model`; `_word_prior` is the name of the parameter with the prior of the topics,
    `_topics_have_priors` whether it may differ between them, `_doc_topic_mass` the
    sum of the documents' prior when none is given.
    """

    _parameter_constraints: dict = COMMON_CONSTRAINTS
    _records = ("topic_word_prior", "smoothing", "boosted_prior")
    _word_prior = "topic_word_prior"
    _topics_have_priors = True
    _doc_topic_mass = 10.0

    def _rule(self) -> Rule:
        """The update rule, from the parameters as they are now."""
        raise NotImplementedError

    def _model(self) -> LDA:
        """The model, from the parameters as they are now."""
        raise NotImplementedError

    def _averages(self) -> bool:
        """Whether the topics are the average of the iterates, not the last one."""
        return False

    def _doc_topic_update(self) -> DocTopicUpdate:
        """How the documents' prior is re-estimated."""
        return FIXED

    # Learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a corpus, in minibatches of `batch_size` rows, in order.

        Forgets what was learnt before. When it is interrupted, the model has
        learnt from the minibatches that were finished.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        ConvergenceWarning
            If the corpus makes so few minibatches that the topics hardly leave their
            random start.
        """
        with unchanged_unless_learnt(self), self._workers() as pool:
            X = self._counts(X, "fit", reset=True)
            self._start(X)
            n_batches = -(-X.shape[0] // self.batch_size)
            self._warn_of_few_steps(n_batches * self.max_iter * getattr(self, "n_passes", 1))
            total = self.max_iter * X.shape[0]
            with progress(type(self).__name__, total, enabled=self.verbose > 0) as report:
                for _ in range(self.max_iter):
                    self._fit_once(X, pool, report)
                    self.n_iter_ += 1
        return self

    def _fit_once(self, X: sparse.csr_matrix, pool: Workers, report: Progress) -> None:
        for start in range(0, X.shape[0], self.batch_size):
            batch = X[start : start + self.batch_size]
            if self.verbose > 0 and self.n_batch_iter_:
                ahead = self._completion(batch[: predictive.MONITORED], pool)
                report.score(predictive.per_token(*ahead))
            self._learn(minibatch_of(batch), pool)
            report.advance(batch.shape[0], float(batch.sum()))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one minibatch: one step of the update rule.

        When it fails nothing has changed. When it is interrupted, either nothing has
        changed or all of the minibatch was learnt, as `n_batch_iter_` tells. The
        first call fixes the number of topics and the priors; of a minibatch without
        rows nothing is learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._partial_fit(X, self._learn)

    def _partial_fit(self, X: Any, learn: Callable[[Minibatch, Workers], None]) -> Self:
        with unchanged_unless_learnt(self), self._workers() as pool:
            first = not self.__sklearn_is_fitted__()
            X = self._counts(X, "partial_fit", reset=first)
            if first:
                self._start(X)
            else:
                self._check_continuable()
            if X.shape[0]:
                learn(minibatch_of(X), pool)
        return self

    def _check_continuable(self) -> None:
        """Whether the parameters still fit the posterior."""
        if self.n_components != self.posterior_.shape[1]:
            raise ValueError(
                f"n_components is {self.n_components} now, but the model has "
                f"{self.posterior_.shape[1]} topics; set it back, or start anew with fit"
            )
        update = self._doc_topic_update()
        if update not in (FIXED, self.doc_topic_update_):
            raise ValueError(
                f"doc_topic_prior_update stands for {update} now, but the model was started with "
                f"{self.doc_topic_update_}; set it back or to 'fixed', or start anew with fit"
            )
        if self._averages() != hasattr(self, "average_"):
            raise ValueError(
                f"averaging is {self._averages()} now, but the model was started with "
                f"{not self._averages()}; set it back, or start anew with fit"
            )

    def _warn_of_few_steps(self, n_steps: int) -> None:
        if n_steps < FEW_STEPS and self.n_components > 1:
            remedy = "n_passes" if hasattr(self, "n_passes") else "max_iter"
            warnings.warn(
                f"{type(self).__name__}.fit makes only {n_steps} step(s) from a random start, too "
                f"few to find topics; for a corpus of few minibatches set {remedy} to about 10",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _counts(self, X: Any, method: str, *, reset: bool = False) -> sparse.csr_matrix:
        caller = f"{type(self).__name__}.{method}"
        return check_counts(self, X, reset=reset, caller=caller, allow_no_documents=method != "fit")

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        self._validate_params()
        with workers(self.n_jobs) as pool:
            yield pool

    def _start(self, X: sparse.csr_matrix) -> None:
        """Set the state before the first minibatch."""
        alpha = self._first_doc_topic_prior()
        n_priors = self.n_components if self._topics_have_priors else None
        eta = check_word_prior(self, self._word_prior, X, n_priors)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.seed_ = int(seed)
        self.n_iter_ = 0
        self.doc_topic_update_ = self._doc_topic_update()
        self.posterior_ = LazyPosterior(
            eta,
            (self.n_features_in_, self.n_components),
            alpha,
            self.doc_topic_update_.memory_size(self.n_components),
            self._boosted_prior(X),
        )
        if self._averages():
            self.average_ = IterateAverage(self.posterior_)
        elif hasattr(self, "average_"):
            del self.average_

    def _boosted_prior(self, X: sparse.csr_matrix) -> np.ndarray | None:
        """What a boost adds, where it is not the prior of the topics."""
        if getattr(self, "boosted_prior", None) is None:
            return None
        if self.boosting_scale == 0:
            warn_of_no_boost("a boosting_scale above 0, for example 0.1")
        return check_word_prior(self, "boosted_prior", X, self.n_components)

    def _first_doc_topic_prior(self) -> np.ndarray:
        """The documents' prior that the stream starts with."""
        return check_doc_topic_prior(self.doc_topic_prior, self.n_components, self._doc_topic_mass)

    def _learn(self, minibatch: Minibatch, pool: Workers) -> None:
        learn = self._model().learner(self.posterior_, minibatch, pool)
        self._learnt.blend(self._rule().step(self.posterior_, learn))

    # Inference

    def transform(self, X: Any) -> np.ndarray:
        """Topic proportions of documents: their posterior mean.

        Deterministic, and each row depends on its own document only. A document
        without words gets the mean of `doc_topic_prior_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; float64 for float64 input, else float32.
        """
        check_is_fitted(self)
        X = self._counts(X, "transform")
        with self._workers() as pool:
            return self._infer(X, pool)

    def _infer(self, X: sparse.csr_matrix, pool: Workers) -> np.ndarray:
        model = self._model()
        out = np.empty((X.shape[0], self.posterior_.shape[1]), X.dtype)
        for start in range(0, X.shape[0], DOCUMENTS_AT_ONCE):
            span = slice(start, start + DOCUMENTS_AT_ONCE)
            out[span] = model.infer(self._learnt, minibatch_of(X[span]), pool)
        return out

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        One token in five of each document is held out, by a rule that depends on
        the document alone; the proportions are inferred from the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the document's held-out tokens; 0 for a document
            that has none.
        """
        check_is_fitted(self)
        X = self._counts(X, "score_samples")
        with self._workers() as pool:
            return self._completion(X, pool)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Log predictive probability per held-out token, by document completion.

        Comparable between models, numbers of topics and sizes of test sets;
        higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        y : None
            Ignored.

        Returns
        -------
        score : float
            Nats per token; NaN if no token is held out.
        """
        check_is_fitted(self)
        X = self._counts(X, "score")
        with self._workers() as pool:
            return predictive.per_token(*self._completion(X, pool))

    def _completion(self, X: sparse.csr_matrix, pool: Workers) -> tuple[np.ndarray, float]:
        """Summed log probability of each document's held-out tokens, and their number."""
        observed, held_out = predictive.completion_split(X)
        words = np.unique(held_out.indices)
        topic_word = (self._learnt.rows(words.astype(np.int32)) / self._learnt.mass).T
        doc_topic = self._infer(observed, pool)
        log_probability = predictive.token_log_probability(
            doc_topic, topic_word, held_out[:, words]
        )
        return log_probability, float(held_out.sum(dtype=np.float64))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@contextmanager
def unchanged_unless_learnt(estimator: BaseEstimator) -> Iterator[None]:
    """Undo everything on failure, unless its `posterior_` learnt something meanwhile."""
    before = dict(vars(estimator))
    old = before.get("posterior_")
    n_before = None if old is None else old.n_batches
    try:
        yield
    except BaseException:
        posterior = vars(estimator).get("posterior_")
        if posterior is None or posterior.n_batches == (n_before if posterior is old else 0):
            vars(estimator).update(before)
            for name in vars(estimator).keys() - before.keys():
                delattr(estimator, name)
        raise


def warn_of_no_boost(remedy: str) -> None:
    """Say that knowledge is given and not used."""
    warnings.warn(
        f"boosted_prior is given, but nothing boosts it, so that it has no effect; use {remedy}",
        UserWarning,
        stacklevel=2,
    )
