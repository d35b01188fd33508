# SPDX-License-Identifier: BSD-3-Clause
"""The frame of all estimators: learning from a corpus or a minibatch, and reading.

A step of learning replaces one frozen record, `Commit`, together with the posterior. So a call that
fails before its step changes nothing. One thread at a time learns. A reading by another thread is
repeated if a step came in between.

An estimator defines `_check` (parameters), `_read` (input), `_start` and `_learn` (a batch), and
`_learn_all` if a corpus is not learnt in minibatches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, is_dataclass, replace
from logging import INFO
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from streamtopics.updates.rule import MEANS, Rounds, Rule
from streamtopics.utils.checks import HoldsPlainNumbers, warn_of_no_effect
from streamtopics.utils.output import LinksToReference
from streamtopics.utils.parallel import WithCache, Workers, lock_of, workers
from streamtopics.utils.progress import LOG, Progress
from streamtopics.utils.records import fields_of, nested_fields, of_record, replaced, without_owner

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Empty base without callbacks."""

    def with_callbacks(method: object) -> Any:  # type: ignore[misc]
        return method


T = TypeVar("T")
# Attempts of a reader before it stops learning.
N_ATTEMPTS = 3
# Passes for a number, but is none.
TRUTHS = bool, np.bool_, np.timedelta64
# Fewer steps from a random start find no topics.
FEW_STEPS = 5
# Requested of the score of a pipeline if metadata is routed, and ignored.
NO_WEIGHTS: dict[str, None] = {"sample_weight": None}


@dataclass(frozen=True)
class Commit:
    """The fields changed by a step of learning."""

    _holds = "n_iter: >=0"
    posterior: Any
    # State of the update rule.
    state: Any = None
    # Finished passes of `fit`.
    n_iter: int = 0
    # Composition of the last step.
    update: Any = None
    # Records of the last thousand minibatches, for rules that report what they kept.
    drift: tuple[Any, ...] = ()

    @property
    def n_batches(self) -> int:
        return int(self.posterior.n_batches)

    def copied(self) -> Self:
        """Return a copy that later steps do not change."""
        written = hasattr(self.posterior, "blend")
        return replace(self, posterior=deepcopy(self.posterior)) if written else self


class StreamingEstimator(
    WithCache, LinksToReference, HoldsPlainNumbers, CallbackSupportMixin, BaseEstimator
):
    """Base of the estimators that learn from streams; see the module for the hooks.

    `_records` names the parameters that may be records, with the words for some records.
    """

    _commit: Any = None
    _records: ClassVar[dict[str, dict[Any, Any]]] = {}
    _units = ("documents", "tokens")
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    # Names of the parameters of a stored result.
    _checked: ClassVar[list[str]] = []
    n_jobs: int | None = None
    batch_size: int
    max_iter: Any
    random_state: int | np.random.RandomState | None
    verbose: int
    seed_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        known = cls._get_param_names()
        cls._checked = [name for name in known if name in cls._parameter_constraints]

    # Parameters

    @property
    def _made(self) -> dict[str, Any]:
        """Values computed from the parameters; emptied when a parameter is set."""
        return cast(dict[str, Any], self._cache.setdefault("made", {}))

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in self._checked:
            self._cache.pop("made", None)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; if `deep`, also fields of objects, such as ``update__rho``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        for name in self._records if deep else ():
            inner = nested_fields(self._record(name, params.get(name)))
            params |= {f"{name}__{path}": value for path, value in inner}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``update__rho`` is the field `rho` of `update`."""
        own = super().get_params(deep=False)
        inner: dict[str, dict[str, Any]] = {}
        for name in [*params]:
            record, _, path = name.partition("__")
            if path and record in self._records and record in own:
                inner.setdefault(record, {})[path] = params.pop(name)
        for record, values in inner.items():
            now = self._record(record, params.get(record, own[record]))
            params[record] = replaced(now, values, record)
        changed: Self = super().set_params(**params)
        return changed

    def _record(self, name: str, value: object) -> Any:
        """The record for a word such as "hpp", or the value itself."""
        is_word = value is None or isinstance(value, str)
        return self._records[name].get(value, value) if is_word else value

    # Hooks

    # The checked input of a method, with `n_documents`, `n_tokens` and `cut(size)`.
    _read: Callable[..., Any]

    def _check(self, before: Any) -> None:
        """Raise if parameters contradict each other or the stream so far."""

    def _start(self, batch: Any) -> None:
        """Set `_commit` and the seed for the first minibatch."""

    def _learn(self, batch: Any, pool: Workers) -> None:
        """Learn from one minibatch and commit."""

    def _learn_all(self, batch: Any, pool: Workers) -> None:
        self._learn_minibatches(batch, pool, {})

    @property
    def _begun(self) -> bool:
        return self.__sklearn_is_fitted__()

    def _n_passes(self, batch: Any) -> int:
        return int(self.max_iter)

    def _show(self, batch: Any, pool: Workers, report: Progress) -> None:
        """Report on a minibatch before learning."""

    # Learning

    def _fit(self, **data: object) -> Self:
        with self._learning(reset=True) as pool:
            batch = self._read("fit", reset=True, **data)
            self._start(batch)
            if not self._by_minibatches:
                warn_of_no_effect(self, "batch_size", "kappa", "step_size")
            if "_skl_callbacks" in vars(self):
                self._learn_with_callbacks(batch, pool, data)
            else:
                self._learn_all(batch, pool)
        return self

    @property
    def _by_minibatches(self) -> bool:
        return type(self)._learn_all is StreamingEstimator._learn_all

    @with_callbacks
    def _learn_with_callbacks(self, batch: Any, pool: Workers, data: dict[str, Any]) -> None:
        n_tasks, told = 0, {"X": data.get("X"), "y": data.get("y")}
        if self._by_minibatches:
            n_tasks = self._n_passes(batch) * -(-batch.n_documents // self.batch_size)
        whole = self._init_callback_context(max_subtasks=n_tasks)
        whole.call_on_fit_task_begin(estimator=self, **told)
        if self._by_minibatches:
            self._learn_minibatches(batch, pool, told)
        else:
            self._learn_all(batch, pool)
        whole.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes={})

    def _learn_minibatches(self, batch: Any, pool: Workers, told: dict[str, Any]) -> None:
        """Learn from a corpus in minibatches and passes; `told` is for callbacks."""
        context = vars(self).get("_callback_fit_ctx")
        told_of = self.verbose > 0 or LOG.isEnabledFor(INFO)
        with self._progress(batch) if told_of else nullcontext() as report:
            for _ in range(self._n_passes(batch)):
                for part in batch.cut(self.batch_size):
                    task = context and context.subcontext("minibatch")
                    if task is not None:
                        task.call_on_fit_task_begin(estimator=self, **told)
                    if report is not None and self.verbose > 0:
                        self._show(part, pool, report)
                    self._learn(part, pool)
                    if report is not None:
                        report.update(part.n_documents, part.n_tokens)
                    # A callback may ask for a copy; the copy has the complete state.
                    if task is not None and task.call_on_fit_task_end(
                        estimator=self, **told, reconstruction_attributes={}
                    ):
                        return
                self._commit = replace(self._commit, n_iter=self._commit.n_iter + 1)

    def _progress(self, batch: Any) -> AbstractContextManager[Progress]:
        total, name = self._n_passes(batch) * batch.n_documents, type(self).__name__
        return Progress(name, total, enabled=self.verbose > 0, units=self._units)

    def _partial_fit(self, **data: object) -> Self:
        with self._learning() as pool:
            begun = self._begun
            batch = self._read("partial_fit", reset=not self.__sklearn_is_fitted__(), **data)
            if not begun:
                self._start(batch)
            if batch.n_documents:
                self._learn(batch, pool)
        return self

    @contextmanager
    def _learning(self, reset: bool = False) -> Iterator[Workers]:
        """Lock the estimator and make workers; undo everything if no step succeeds."""
        with lock_of(self):
            own = vars(self)
            before = dict(own)
            try:
                self._validate(None if reset or not self._begun else self._commit)
                with workers(self.n_jobs) as pool:
                    yield pool
            except BaseException:
                now = self._commit
                if now is None or now is before.get("_commit") or now.n_batches == 0:
                    own.update(before)
                    for name in own.keys() - before.keys():
                        del own[name]
                raise

    def _validate(self, before: Commit | None = None) -> None:
        """Raise if parameters are wrong, also for `before`."""
        # The checks take a fifth of the time of a small minibatch.
        if not self._made.get("checked"):
            self._validate_params()
            values = self.get_params(deep=False)
            for name in self._checked:
                constraints = {*map(str, self._parameter_constraints[name])}
                if isinstance(values[name], TRUTHS) and not {"boolean", "verbose"} & constraints:
                    raise TypeError(f"{name} must be a number or None; got {values[name]!r}")
            self._made["checked"] = True
        self._check(before)

    @property
    def _names_seen(self) -> np.ndarray | None:
        return vars(self).get("feature_names_in_")

    def _swap(self, commit: Commit) -> tuple[dict[str, Any], str, Commit]:
        """The commit record, set by `blend` together with the posterior."""
        return vars(self), "_commit", commit

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    # Reading

    def _whole(self, read: Callable[[], T]) -> T:
        """Return the result of `read`, computed from one state."""
        check_is_fitted(self)
        for _ in range(N_ATTEMPTS):
            before = self._commit
            try:
                found = read()
            except Exception:
                if self._commit is before:
                    raise
                continue
            if self._commit is before:
                return found
        with lock_of(self):
            return read()

    def _inferred(self, infer: Callable[[Workers], T]) -> T:
        self._validate()
        with workers(self.n_jobs) as pool:
            return self._whole(lambda: infer(pool))

    posterior_ = of_record("posterior", "The posterior learnt so far.")
    n_iter_ = of_record("n_iter", "Finished passes of `fit`; 0 after `partial_fit` alone.", int)
    n_batch_iter_ = of_record("n_batches", "Minibatches or parts learnt, in all passes.", int)

    def __getstate__(self) -> dict[str, Any]:
        """Parameters and fitted attributes that later steps do not change."""
        with lock_of(self):
            state = without_owner(self, super().__getstate__())
            if "_commit" in state:
                state["_commit"] = state["_commit"].copied()
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return self._commit is not None


def same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if not is_dataclass(one) or isinstance(one, type):
        equal = one == other
        return equal if isinstance(equal, bool) else bool(np.all(equal))
    values = fields_of(one).items()
    return type(one) is type(other) and all(same(v, getattr(other, name)) for name, v in values)


def check_same(estimator: StreamingEstimator, **started: object) -> None:
    for name, value in started.items():
        check_unchanged(name, getattr(estimator, name), value)


def check_unchanged(name: str, now: object, started: object) -> None:
    if not same(now, started):
        raise ValueError(
            f"{name} is {now!r:.99} now, but the model was started with {started!r:.99}; set "
            f"{name} back, or start anew with fit"
        )


def check_same_state(rule: Rule, before: Rule, state: object, posterior: Any) -> None:
    """Refuse a rule that cannot continue the topics and the state of `before`."""
    if kinds_of(rule) == kinds_of(before):
        return
    stateless = state is None and rule.init(posterior) is None
    if keeps_means(rule) != keeps_means(before) or not stateless:
        raise ValueError(
            f"update is {rule} now, but {rule} cannot continue the topics and the state of "
            f"{before}; set update back, or start anew with fit"
        )


def keeps_means(rule: Rule) -> bool:
    """Whether the posterior is a running mean over documents, as under online EM."""
    return rule.traits.merges in MEANS


def kinds_of(rule: Any) -> list[type]:
    """Classes of a rule and of its inner rules with a state."""
    inner = kinds_of(rule.update) if isinstance(getattr(rule, "update", None), Rule) else []
    return inner if isinstance(rule, Rounds) else [type(rule), *inner]


def check_update(update: object, offers: frozenset[str], posterior: str) -> None:
    """Refuse an `update` that is not a rule, or that needs more than `offers`."""
    if not isinstance(update, Rule):
        raise TypeError(f"update must be a Rule, such as PowerPrior(0.9); got {update!r}")
    if lacking := sorted(update.traits.needs - offers):
        name = type(update).__name__
        raise ValueError(f"{name} needs {lacking}, which {posterior} lacks; use another update")


def warn_of_few_steps(model: object, remedy: str) -> None:
    few = f"{type(model).__name__}.fit makes fewer than {FEW_STEPS} steps from a random start"
    message = f"{few}, too few to find topics; for a corpus of few minibatches {remedy}"
    warnings.warn(message, ConvergenceWarning, stacklevel=2)


def warn_of_no_boost(blend: Any, remedy: str) -> None:
    if np.any(blend.boost) or not np.any(blend.statistics.mass):
        return
    trouble = "boosted_prior is given, but nothing boosts it, so that it has no effect"
    warnings.warn(f"{trouble}; use {remedy}", UserWarning, stacklevel=2)
