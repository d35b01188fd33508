# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of latent Dirichlet allocation.

A subclass has an explicit `__init__` and `_composition`, which makes the parts from the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from streamtopics.base.composition import (
    Composition,
    auto_passes,
    check_needs,
    check_parts,
    of_corpus,
)
from streamtopics.base.frame import (
    FEW_STEPS,
    Commit,
    check_same,
    check_same_state,
    check_unchanged,
    same,
    warn_of_few_steps,
    warn_of_no_boost,
)
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import CountsInput, Documents
from streamtopics.base.merging import Mergeable
from streamtopics.base.retention import ReportsRetention
from streamtopics.base.topics import LearntTopics
from streamtopics.base.typing import MatrixLike, OptionalArray
from streamtopics.base.validation import COMMON_CONSTRAINTS, check_prior, check_word_prior
from streamtopics.local.step import Source, minibatch_of
from streamtopics.messages import Minibatch
from streamtopics.metrics import predictive
from streamtopics.models.sources import NOISE
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.priors import Symmetric
from streamtopics.updates.average import IterateAverage
from streamtopics.updates.births import Lifetimes
from streamtopics.updates.doc_topic import FIXED
from streamtopics.updates.drift import drift_of, kept_records
from streamtopics.utils.parallel import Workers
from streamtopics.utils.progress import Progress
from streamtopics.utils.structure import labelled, row_labels

DOCUMENTS_AT_ONCE = 4096
# The beginning of a stream is learnt anew when it has grown by one document in so many.
EVERY = 10


@dataclass(frozen=True)
class TopicCommit(Commit):
    _holds = (
        "posterior: V K; average: V K; posterior.n_dimensions: =M; begun.X: f N V >=0; "
        "begun.columns: f N *; begun.vectors: f * M; alpha: * >=0"
    )
    posterior: TopicPosterior
    # The average of iterates, if the topics are an average.
    average: IterateAverage | None = None
    # Births and deaths, if topics come and go.
    lifetimes: Lifetimes | None = None
    # Topics made by a start from the corpus, until the first minibatch has seen them.
    first: Source | None = None
    # Documents of the beginning of the stream, during the second learning.
    begun: Documents | None = None
    # Dirichlet parameter of the proportions at the start.
    alpha: Any = None
    # The `streamtopics.editing.records.Edits` of the topics, if edited.
    edits: Any = None

    @property
    def n_hidden(self) -> int:
        """Number of background topics, the first of the posterior."""
        return int(self.update.inference.n_background)

    def copied(self) -> Self:
        # Alpha is never written in place; a rule may remember the same array.
        alpha = self.posterior.alpha
        posterior, average = deepcopy((self.posterior, self.average), {id(alpha): alpha})
        return replace(self, posterior=posterior, average=average)


@documented
class StreamingTopicModel(Mergeable, ReportsRetention, LearntTopics, CountsInput):
    """Base of the estimators of topics over words."""

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS
    # Whether topics may have different priors.
    _topics_have_priors = True
    # Default sum of the documents' prior.
    _doc_topic_mass = 3.0
    _commit: TopicCommit
    n_components: int
    boosted_prior: Any = None
    doc_topic_prior: Any = None

    # Makes the rule, the local steps and the view from the current parameters.
    _composition: Callable[..., Composition]

    # Learning

    def fit(self, X: MatrixLike, y: OptionalArray = None) -> Self:
        """Learn from a corpus, in minibatches of `batch_size` rows, in order.

        {learns_corpus}
        Warns if a random start has too few minibatches to find topics.

        {X_to_learn}
        {y_ignored}

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(self, X: MatrixLike, y: OptionalArray = None, *, time: object = None) -> Self:
        """Learn from one minibatch: one step of the update rule.

        {learns_minibatch}

        {X_to_learn}
        {y_ignored}
        {time}

        {returns_self}
        """
        return self._partial_fit(X=X, time=time)

    def _composed(self) -> Composition:
        """Parts by the current parameters; if equal, those of the last step."""
        made, commit = self._made.get("composition"), self._commit
        if commit is None or made is not commit.update:
            made = self._composition()
            if commit is not None and same(made, commit.update):
                made = self._made["composition"] = commit.update
        return made

    def _check(self, before: TopicCommit | None) -> None:
        now, commit = self._composed(), self._commit
        if commit is None or now is not commit.update:
            parameters = signature(type(self)).parameters.items()
            check_parts(now, [name for name, own in parameters if own.default == "auto"])
        if before is None:
            return
        check_same(self, **self._started())
        learnt_by, state = before.update, before.state
        if now is learnt_by:
            return
        check_needs(now)
        averaging = now.schedule.averaging
        check_unchanged("schedule__averaging", averaging, learnt_by.schedule.averaging)
        self._check_background(now)
        if type(now.doc_topic) not in (type(FIXED), type(learnt_by.doc_topic)):
            if hasattr(self, "doc_topic_prior_update"):
                check_unchanged("doc_topic_prior_update", now.doc_topic, learnt_by.doc_topic)
            check_unchanged("inference", now.inference, learnt_by.inference)
        # Only the rule's, without the pieces around it; an HDP has its own.
        own = state[0] if isinstance(state, tuple) else None
        check_same_state(now.update, learnt_by.update, own, before.posterior)

    def _check_background(self, now: Composition) -> None:
        if now.inference.n_background != self._n_hidden:
            check_unchanged("inference", now.inference, self._commit.update.inference)

    def _started(self) -> dict[str, Any]:
        return {"n_components": self._commit.posterior.n_nodes - self._n_hidden}

    def _n_passes(self, batch: Documents) -> int:
        if self.max_iter != "auto":
            return super()._n_passes(batch)
        return auto_passes(self._composition().inference, batch.n_documents, batch.n_tokens)

    def _start(self, batch: Documents) -> None:
        composition = self._composition()
        check_needs(composition)
        n_hidden = composition.inference.n_background
        shape = self.n_features_in_, self.n_components + n_hidden
        alpha = with_hidden(self._first_doc_topic_prior(), n_hidden)
        eta, xi = with_hidden(self._word_prior(batch), n_hidden), None
        if self.boosted_prior is not None:
            boosted = check_word_prior(self, "boosted_prior", batch.X, self.n_components)
            xi = with_hidden(boosted, n_hidden)
        if batch.is_corpus or self._commit is None:
            self.seed_ = self._draw_seed()
        given = batch.vectors
        directions = None if given is None else self._prior_directions(given, shape[1])
        alike = eta.shape[1] == 1 and xi is None and directions is None and not n_hidden
        least = composition.rounding_of(self.n_components) if alike else 0.0
        posterior = TopicPosterior(eta, shape, alpha, xi, self.seed_, directions, least)
        averaging = composition.schedule.averaging
        average = IterateAverage(posterior, uniform=averaging == "uniform") if averaging else None
        state = composition.rule.init(posterior)
        commit = TopicCommit(posterior, state, update=composition, average=average, alpha=alpha)
        if batch.is_corpus:
            size = min(self.batch_size, composition.part_size(shape[1]) or self.batch_size)
            n_batches = -(-batch.n_documents // size) * self._n_passes(batch)
            rounds = map(composition.rule.n_rounds_of, range(min(n_batches, FEW_STEPS)))
            if sum(rounds) < FEW_STEPS and self.n_components > 1 and composition.start == NOISE:
                # More passes would overfit few documents.
                warn_of_few_steps(
                    self, "take start='spectral', or set schedule__n_rounds to about 10"
                )
            if of_corpus(composition.start) and composition.births is None:
                model = composition.model(self.seed_)
                commit = replace(commit, first=model.first_topics(posterior, batch.minibatch))
        self._commit = commit

    def _prior_directions(self, vectors: np.ndarray, n_nodes: int) -> np.ndarray:
        """The prior of the topics' directions: the mean of all vectors."""
        prior = np.zeros((n_nodes, vectors.shape[1] + 1))
        prior[self._composition().inference.n_background :, -1] = 1.0
        return prior

    def _word_prior(self, batch: Documents) -> np.ndarray:
        n_priors = self.n_components if self._topics_have_priors else None
        return check_word_prior(self, "topic_word_prior", batch.X, n_priors)

    @property
    def _n_hidden(self) -> int:  # type: ignore[override]
        return self._commit.n_hidden

    def _first_doc_topic_prior(self) -> np.ndarray:
        return check_doc_topic_prior(self.doc_topic_prior, self.n_components, self._doc_topic_mass)

    def _learn(self, batch: Documents, pool: Workers) -> None:
        composition = self._composed()
        blend, found = self._stepped(composition, batch, pool)
        self._carry_out(composition, blend, found, batch.time)

    def _carry_out(
        self, composition: Composition, blend: Blend, found: dict[str, Any], time: object = None
    ) -> None:
        commit = self._commit
        posterior = found.get("posterior", commit.posterior)
        if posterior.xi is not None:
            warn_of_no_boost(blend, "an update with a boost, such as BPS(0.1)")
        drift = commit.drift
        if composition.traits.forgets:
            record = drift_of(posterior, blend, time, self._n_hidden)
            if drift:
                record = replace(record, batch=drift[-1].batch + 1)
            drift = kept_records(drift, record)
        if composition.doc_topic == FIXED != commit.update.doc_topic:
            # The part of the update's own documents waits for that update.
            composition = replace(composition, doc_topic=commit.update.doc_topic)
        if composition.start.of_seed != commit.update.start.of_seed and not posterior.knows_nothing:
            composition = replace(composition, start=commit.update.start)  # Of these documents.
        # Other learning than of its documents ends a beginning.
        new = replace(commit, **({"begun": None} | found), update=composition, drift=drift)
        (commit.average or posterior).blend(blend, [self._swap(new)])

    def _stepped(
        self, composition: Composition, batch: Documents, pool: Workers
    ) -> tuple[Blend, dict[str, Any]]:
        """The blend of a minibatch, with other changes of the commit record."""
        commit, model = self._commit, composition.model(self.seed_)
        most, old = composition.schedule.n_start_documents, commit.posterior
        begun = None if commit.edits and commit.edits.steps else commit.begun
        begins = begun is not None or not (batch.is_corpus or commit.n_batches)
        whole = batch.after(begun) if most and begins else None
        n = 0 if whole is None else whole.n_documents
        if whole is not None and (n >= most or EVERY * (n - whole.n_learnt) >= whole.n_learnt):
            least = getattr(old._state.S, "least", 0.0)
            # None in files of earlier versions.
            alpha = old.alpha if commit.alpha is None else commit.alpha
            alpha = np.broadcast_to(alpha, old.n_nodes)
            fresh = TopicPosterior(
                old.eta, old.shape, alpha, old.xi, self.seed_, old.prior_directions, least
            )
            state = composition.rule.init(fresh)
            blend, state = composition.step(fresh, whole.minibatch, state, model, pool)
            # Tokens of forgotten words count as well.
            n_tokens = old.n_tokens + batch.minibatch.n_tokens - blend.statistics.n_tokens
            fresh._state = fresh._state._replace(n_tokens=n_tokens)
            n_batches = max(old.n_batches + 1, blend.statistics.n_batches)
            statistics = replace(blend.statistics, n_batches=n_batches)
            rest = replace(whole, n_learnt=n) if n < most else None
            found = {"posterior": fresh, "state": state, "first": None, "begun": rest}
            return replace(blend, statistics=statistics), found
        blend, state = composition.step(
            commit.posterior, batch.minibatch, commit.state, model, pool, first=commit.first
        )
        return blend, {"state": state, "first": None, "begun": whole}

    def _check_mergeable(self, name: str, model: Any) -> None:
        super()._check_mergeable(name, model)
        if name == "base" and model._commit.begun is not None:
            most = model._commit.update.schedule.n_start_documents
            raise ValueError(
                f"base has learnt {model.n_documents_seen_} documents, and copies learn these "
                f"anew; let base learn n_start_documents={most} first, or start with 0"
            )

    def _show(self, batch: Documents, pool: Workers, report: Progress) -> None:
        if self.n_batch_iter_:
            ahead = self._completion(batch.X[: predictive.MONITOR_SIZE], pool)
            report.score(predictive.per_token(*ahead))

    def _commit_without(self, words: np.ndarray, names: dict[int, Any]) -> Any:
        commit = super()._commit_without(words, names)
        lifetimes = commit.lifetimes and commit.lifetimes.with_names(names)
        begun = commit.begun and commit.begun.without(words)
        return replace(commit, begun=begun, lifetimes=lifetimes)

    def _state_without(self, words: np.ndarray) -> Any:
        return self._commit.update.rule.without_words(self._commit.state, words)

    @property
    def _learnt(self) -> TopicPosterior | IterateAverage:
        return self._commit.average or self._commit.posterior

    # Drift

    def _check_forgets(self) -> None:
        check_is_fitted(self)
        # Of the rule of the last step, whatever the parameters are now.
        update = self._commit.update
        if not update.rule.traits.forgets:
            raise AttributeError(
                f"{type(self).__name__} has no `drift_` with {update.update}, which forgets "
                "nothing; start anew and use a rule such as PowerPrior(0.9)"
            )

    @property
    def effective_sample_size_(self) -> np.ndarray:
        """Sum of the Dirichlet parameters of each topic, prior included, in weighted tokens."""
        self._check_forgets()
        return self._whole(lambda: self._learnt.mass[self._n_hidden :])

    # Inference

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Return the posterior mean of the topic proportions of each document.

        Each row depends on one document only. A document without words gets the mean of
        the Dirichlet prior `doc_topic_prior_`.

        {X}

        {doc_topic}
        """
        return labelled(self, self._shares(X, "transform"), row_labels(X))

    def _shares(self, X: MatrixLike, method: str, **data: object) -> np.ndarray:
        check_is_fitted(self)
        batch = self._read(method, reset=False, X=X, **data)
        found = self._inferred(lambda pool: self._infer(batch.X, pool, batch.vectors))
        if not self._n_hidden:
            return found
        own = found[:, self._n_hidden :]
        return np.asarray(own / own.sum(axis=1, keepdims=True))

    def _infer(self, X: sparse.csr_matrix, pool: Workers, vectors: Any = None) -> np.ndarray:
        composition = self._composed()
        self._check_background(composition)
        model = composition.model(self.seed_)
        out = np.empty((X.shape[0], len(self._learnt.alpha)), X.dtype)
        for start in range(0, X.shape[0], DOCUMENTS_AT_ONCE):
            span = slice(start, start + DOCUMENTS_AT_ONCE)
            minibatch = self._minibatch(X[span])
            if vectors is not None:
                minibatch = replace(minibatch, vectors=vectors[span])
            out[span] = model.infer(self._learnt, minibatch, pool)
        return out

    def _minibatch(self, X: sparse.csr_matrix) -> Minibatch:
        return minibatch_of(X)

    def score_samples(self, X: MatrixLike) -> np.ndarray:
        """Return the log predictive probability of each document's held-out tokens.

        Every fifth token of each document is held out, and predicted from the other tokens.

        {X}

        {log_probability}
        """
        return self._completed("score_samples", X)[0]

    def score(self, X: MatrixLike, y: OptionalArray = None) -> float:
        """Return the log predictive probability per held-out token, by document completion.

        Higher is better. Compare scores only between models with the same vocabulary.

        {X}
        {y_ignored}

        {score}
        """
        return predictive.per_token(*self._completed("score", X))

    def _completed(self, method: str, X: MatrixLike, **data: object) -> tuple[np.ndarray, float]:
        check_is_fitted(self)
        batch = self._read(method, reset=False, X=X, **data)
        return self._inferred(lambda pool: self._completion(batch.X, pool, batch.vectors))

    def held_out_log_probability(self, observed: MatrixLike, held_out: MatrixLike) -> np.ndarray:
        """Return the log probability of tokens, given the observed tokens of their documents.

        Parameters
        ----------
        observed, held_out : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts of the given and the predicted tokens, for example from
            `streamtopics.metrics.completion_split`.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,), float64
            Sum over the held-out tokens of each document, in nats.
        """
        check_is_fitted(self)
        given, rest = (self._counts(X, "held_out_log_probability") for X in (observed, held_out))
        check_consistent_length(given, rest)
        inferred = self._inferred(lambda pool: self._predictors(given, rest, pool))
        return predictive.token_log_probability(*inferred)

    def _completion(
        self, X: sparse.csr_matrix, pool: Workers, vectors: OptionalArray = None
    ) -> tuple[np.ndarray, float]:
        """Log probability of each document's held-out tokens, and their number."""
        observed, held_out = predictive.completion_split(X)
        inferred = self._predictors(observed, held_out, pool, vectors)
        found = predictive.token_log_probability(*inferred)
        return found, float(held_out.sum(dtype=np.float64))

    def _predictors(
        self,
        observed: sparse.csr_matrix,
        held_out: sparse.csr_matrix,
        pool: Workers,
        vectors: OptionalArray = None,
    ) -> tuple[np.ndarray, np.ndarray, sparse.csr_matrix]:
        """Proportions, p(held-out word | topic), and counts of these words."""
        words = np.unique(held_out.indices)
        topic_word = self._topics_of(words.astype(np.int32))
        return self._infer(observed, pool, vectors), topic_word, held_out[:, words]


def with_hidden(prior: np.ndarray, n_hidden: int) -> np.ndarray:
    """Add hidden topics, first and with the mean prior of the topics.

    Topics are the last axis; length 1 stands for equal topics.
    """
    if not n_hidden or (prior.ndim > 1 and prior.shape[-1] == 1):
        return prior
    hidden = np.repeat(prior.mean(axis=-1, keepdims=True), n_hidden, axis=-1)
    return np.concatenate([hidden, prior], axis=-1)


def check_doc_topic_prior(
    prior: object, n_components: int, default_mass: float = 10.0
) -> np.ndarray:
    if prior is None or isinstance(prior, Symmetric):
        prior = (default_mass if prior is None else prior.mass) / n_components
    if isinstance(prior, Real):
        return np.full(n_components, float(prior))
    return check_prior(prior, "doc_topic_prior", {"(n_components,)": (n_components,)})
