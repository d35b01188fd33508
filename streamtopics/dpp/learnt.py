# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes as estimators have learnt them, and methods that read them."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import Commit, StreamingEstimator
from streamtopics.base.glossary import documented
from streamtopics.base.validation import check_feature_names
from streamtopics.dpp import conditioning, marginal, sampling
from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.forms import Form
from streamtopics.dpp.kernel import Process
from streamtopics.dpp.learning import Online
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.penalty import active
from streamtopics.dpp.sets import PointSets
from streamtopics.dpp.totals import LEARNT, Known, Totals
from streamtopics.utils.checks import check_integer, check_seed, floats
from streamtopics.utils.structure import has_entries


@dataclass(frozen=True, eq=False, kw_only=True)
class Learnt(Commit):
    """All that a step changes; `objective` is empty after `partial_fit`."""

    totals: Totals
    measure: BaseMeasure
    objective: tuple[float, ...] = ()
    n_batches: int = 0
    n_sets: int = 0
    n_points: int = 0

    @property
    def parameters(self) -> Parameters:
        parameters: Parameters = self.posterior.parameters
        return parameters

    def after(self, sets: PointSets, totals: Totals, measure: BaseMeasure, online: Online) -> Self:
        """Return what is learnt with further sets, whose totals are in these."""
        return replace(
            self,
            posterior=online,
            n_iter=0,
            totals=totals,
            measure=measure,
            objective=(),
            n_batches=self.n_batches + 1,
            n_sets=self.n_sets + len(sets),
            n_points=self.n_points + int(sets.n_tokens),
        )


@documented
class LearntProcess(ClassNamePrefixFeaturesOutMixin, StreamingEstimator):
    """An estimator whose state is a `Learnt`: its process, and what can be read of it."""

    _holds = (
        "_commit.totals.sums: V; _commit.totals.counts: V; _commit.totals.mean: V; "
        "n_features_in_: =V"
    )
    ground_set: str | BaseMeasure
    _commit: Learnt

    # The process

    def process(self, theta: Any = None, given: Any = None) -> Process:
        """Return the process itself, for the functions of `streamtopics.dpp`.

        Parameters
        ----------
        {theta_of_process}
        {given_points}

        {returns_process}
        """
        learnt = self._learnt
        theta = learnt.parameters.theta if theta is None else floats(theta, "theta")
        if given is not None:
            return self.condition(given, theta)
        return learnt.parameters.process(learnt.measure, theta)

    def condition(self, points: Any, theta: Any = None) -> Process:
        """Return the process of the further points of a set, as ``given=points`` elsewhere.

        Parameters
        ----------
        {points}
        {theta_of_process}

        {returns_process}

        Raises
        ------
        ValueError
            If the given points cannot all be in a set.
        """
        process = self.process(theta)
        return conditioning.condition(process, self._points(points, "condition"))

    def sample(
        self, n_sets: int = 1, theta: Any = None, *, given: Any = None, random_state: Any = None
    ) -> Any:
        """Draw sets, exactly.

        Parameters
        ----------
        n_sets : int, default=1
        {theta_of_process}
        {given_points}
        {draws}
        """
        sets = sampling.sample(self.process(theta, given), n_sets, _generator(random_state))
        return self._form.write(sets, self.n_features_in_)

    def sample_k(
        self,
        k: int,
        n_sets: int = 1,
        theta: Any = None,
        *,
        given: Any = None,
        random_state: Any = None,
    ) -> Any:
        """Draw sets of exactly k points.

        Parameters
        ----------
        k : int
            Points of each set; beside those given.
        n_sets : int, default=1
        {theta_of_process}
        {given_points}
        {draws}
        """
        process = self.process(theta, given)
        sets = sampling.sample_k(process, k, n_sets, _generator(random_state))
        return self._form.write(sets, self.n_features_in_)

    def marginals(self, points: Any, theta: Any = None, *, given: Any = None) -> Floats:
        """Return the probability that each point is in a set; of vectors its density.

        Parameters
        ----------
        {points}
        {theta_of_process}
        {given_points}

        Returns
        -------
        marginals : ndarray of shape (n_points,)
            With "background" noise the expected number of times, since a point can come
            again.
        """
        process = self.process(theta, given)
        return marginal.marginals(process, self._points(points, "marginals"))

    # What was learnt

    @property
    def components_(self) -> Floats:
        """U', of shape (n_components, V)."""
        return self._learnt.parameters.U.T.copy()

    @property
    def theta_(self) -> Floats:
        """The one theta, or the mean of those of the sets, of shape (n_components,)."""
        return self._learnt.parameters.theta.copy()

    @property
    def gamma_(self) -> float:
        """Weight of the features themselves."""
        return self._learnt.parameters.gamma

    @property
    def noise_level_(self) -> float:
        """Level of the noise."""
        return self._learnt.parameters.noise.level

    @property
    def measure_(self) -> BaseMeasure:
        """The ground set with its probabilities."""
        return self._learnt.measure

    @property
    def expected_size_(self) -> float:
        """Expected number of points of a set under `theta_`."""
        return marginal.expected_size(self.process())

    @property
    def n_active_components_(self) -> int:
        """Number of columns of U in use."""
        parameters = self._learnt.parameters
        return int(active(parameters.U, parameters.theta).sum())

    @property
    def objective_(self) -> list[float]:
        """Objective of `fit` at the start and after each round, in nats per set."""
        return list(self._learnt.objective)

    @property
    def n_documents_seen_(self) -> int:
        """Sets learnt from."""
        return self._learnt.n_sets

    @property
    def n_sentences_seen_(self) -> int:
        """Points learnt from."""
        return self._learnt.n_points

    def word_marginals(self, theta: Any = None) -> Floats:
        """Return the expected number of sentences of the low-rank part that have each word.

        Parameters
        ----------
        {theta_of_process}

        Returns
        -------
        expected : ndarray of shape (V,)
            Of items, how often each is expected. What the noise adds is not in it.
        """
        return marginal.expected_with_word(self.process(theta))

    def top_words(self, feature_names: Any = None, n_words: int = 10) -> list[list[Any]]:
        """Return the most typical words of each column of U.

        A column alone makes a law of sentences, p(x) (u_k'phi(x))^2. Its words come in the
        order of what they add to the divergence from the same law of no column.

        Parameters
        ----------
        {feature_names_or_numbers}
        n_words : int, default=10
            How many.

        Returns
        -------
        words : list of n_components lists
            Each of min(n_words, n_features) words; empty for a column taken out.
        """
        check_is_fitted(self)
        check_integer(n_words=n_words)
        names = self._column_names(feature_names)
        told = marginal.telling_words(self.measure_, self.components_, n_words)
        return [list(names[places]) for places in told]

    def embedding_similarity(self, words: Any, feature_names: Any = None) -> Floats:
        """Return the cosines of the embeddings of some words with those of all.

        Embeddings are the rows of U Diag(theta)^{1/2}.

        Parameters
        ----------
        words : sequence of n_words names, or of column numbers where columns have no names
        {feature_names_or_numbers}

        Returns
        -------
        similarity : ndarray of shape (n_words, n_features)
            Near 1 for words that repel each other as if they were one; 0 for a word
            without embedding.

        Raises
        ------
        ValueError
            If a word is not among the names.
        """
        check_is_fitted(self)
        self.measure_.absence()  # Raises for a ground set without words.
        is_list = isinstance(words, Collection) and has_entries(words)
        if not is_list or not all(isinstance(word, Hashable) for word in words):
            raise TypeError(f"words must be a list of words; got {words!r:.60}")
        columns = {name: column for column, name in enumerate(self._column_names(feature_names))}
        unknown = [word for word in words if word not in columns]
        if unknown:
            raise ValueError(
                f"words has {unknown[:5]!r}, not among the names of the columns; pass names that "
                "are, or the names as feature_names"
            )
        places = np.array([columns[word] for word in words], dtype=np.intp)
        embedding = self.process().kernel.scaled
        return marginal.embedding_cosines(embedding[places], embedding)

    # Parts

    @property
    def _learnt(self) -> Learnt:
        check_is_fitted(self)
        return self._commit

    @property
    def _form(self) -> Form:
        fitted = self.__sklearn_is_fitted__()
        return (self._commit.totals if fitted else self._no_totals(0)).form

    @property
    def _n_features_out(self) -> int:
        result: int = self._commit.parameters.U.shape[1]
        return result

    def _no_totals(self, n_columns: int) -> Totals:
        """Return the totals before the first set."""
        if isinstance(self.ground_set, str):
            return LEARNT[self.ground_set].none(n_columns)
        return Known(self.ground_set)

    def _points(self, points: Any, method: str) -> Any:
        return self._form.points(points, self.n_features_in_, f"{type(self).__name__}.{method}")

    def _column_names(self, feature_names: Any) -> NDArray[Any]:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return check_feature_names(feature_names, self.n_features_in_)


def _generator(random_state: Any) -> Generator:
    check_seed(random_state)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
    return np.random.default_rng(seed)
