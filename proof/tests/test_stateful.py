# SPDX-License-Identifier: BSD-3-Clause
"""Any sequence of calls of every public estimator, against a model of what has to hold.

The model is the list of what was learnt: minibatches and merges. Whatever was done between them, in
which formats they came and whatever failed, an estimator that learns them anew, as they are
plainest, is the same, bit for bit. With ``--more N`` there are N times as many sequences.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from proof.copies import pickled, saved
from proof.fault_calls import doors_of
from proof.fuzz_checks import difference
from streamtopics import SVBLDA
from streamtopics.utils.steps import steps_of
from tests.conventions.every import EVERY, Case, N
from tests.conventions.test_every_estimator import bits
from tests.interrupts import Lines, is_free

EXAMPLES, STEPS = 6, 15
SIZES = (1, 3, 8, N)
DTYPES = ("float64", "float32", "int64", "int32")
ROWS = st.integers(0, 2**16).flatmap(
    lambda seed: st.sampled_from(SIZES).map(
        lambda n: sorted(np.random.default_rng(seed).permutation(N)[:n].tolist())
    )
)


# Formats: the same numbers in other containers


def as_stored(kind: str, index: Any) -> Callable[[np.ndarray], Any]:
    """A sparse matrix with indices of a type."""

    def made(X: np.ndarray) -> Any:
        found = getattr(sparse, f"{kind}_array")(X)
        if kind != "coo":
            found.indices, found.indptr = found.indices.astype(index), found.indptr.astype(index)
        return found

    return made


def shuffled(X: np.ndarray) -> Any:
    """Entries of each row in another order, and each in two parts where it is more than 1."""
    found = sparse.coo_array(X)
    halves = np.floor(found.data / 2)
    rows, columns = (np.concatenate([part, part])[::-1] for part in (found.row, found.col))
    data = np.concatenate([halves, found.data - halves])[::-1].astype(X.dtype)
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(len(X) + 1))
    return sparse.csr_array((data[order], columns[order], starts), shape=X.shape)


def read_only(X: np.ndarray) -> np.ndarray:
    found = X.copy()
    found.flags.writeable = False
    return found


FORMATS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": np.asarray, "columns": np.asfortranarray, "read-only": read_only,
    "list": lambda X: X.tolist(), "frame": pd.DataFrame, "csr": as_stored("csr", np.int32),
    "csr, long": as_stored("csr", np.int64), "csc": as_stored("csc", np.int32),
    "coo": as_stored("coo", None), "shuffled": shuffled,
}  # fmt: skip
FORM, DTYPE = st.sampled_from(sorted(FORMATS)), st.sampled_from(DTYPES)
# Without zeros that are stored, of which an estimator might be told as of words.
OF_SENTENCES = {name: made for name, made in FORMATS.items() if name not in ("list", "shuffled")}


def shown(case: Case, X: Any, form: str, dtype: str) -> Any:
    """X in a format, where the estimator takes it; else as it is."""
    if X is None or case.X is None:
        return X
    if isinstance(X, np.ndarray) and type(X) is np.ndarray:
        takes = get_tags(case.estimator).input_tags.sparse
        dense = ("array", "columns", "read-only", "list", "frame")
        return FORMATS[form if takes or form in dense else "array"](X.astype(dtype))
    if isinstance(X, list) and sparse.issparse(X[0]) and form in OF_SENTENCES:
        return [OF_SENTENCES[form](part.toarray().astype(dtype)) for part in X]
    return X


class Interleaved(RuleBasedStateMachine):
    """Calls of one estimator, which `machine_of` sets."""

    case: Case

    def __init__(self) -> None:
        super().__init__()
        # What was learnt, in order, as it is replayed.
        self.learnt: list[Callable[[Any], Any]] = []
        self.model = self.case.made

    # Learning

    def drawn(self, rows: list[int], form: str, dtype: str) -> tuple[Case, Case]:
        """A minibatch as it is passed, and as it is replayed."""
        part = self.case.part(rows)
        # Counts are of single precision where they are not double, as numbers in lists are.
        doubles = dtype.startswith("float") if form == "list" else dtype == "float64"
        plain = "float64" if doubles else "float32"
        passed = replace(part, X=shown(self.case, part.X, form, dtype))
        return passed, replace(part, X=shown(self.case, part.X, "csr", plain))

    @rule(rows=ROWS, form=FORM, dtype=DTYPE)
    def partial_fit(self, rows: list[int], form: str, dtype: str) -> None:
        passed, plain = self.drawn(rows, form, dtype)
        passed.taught(self.model)
        self.learnt.append(plain.taught)

    @rule(rows=ROWS, form=FORM, dtype=DTYPE, share=st.floats(0.0, 1.0))
    def interrupted(self, rows: list[int], form: str, dtype: str, share: float) -> None:
        """A call that is interrupted has learnt all or nothing."""
        passed, plain = self.drawn(rows, form, dtype)
        before, other = pickled(self.model), pickled(self.model)
        n_lines = Lines().during(lambda: passed.taught(other))
        try:
            Lines().during(lambda: passed.taught(self.model), 1 + int(share * (n_lines - 1)))
        except KeyboardInterrupt:
            if not difference(before, self.model):
                return
            if hasattr(self.model, "steps"):
                # A pipeline learns step by step, and says so.
                self.model = before
                return
        self.learnt.append(plain.taught)

    @rule(rows=ROWS, wrong=st.sampled_from(["infinite", "width", "object"]))
    def failing(self, rows: list[int], wrong: str) -> None:
        """A call that fails changes nothing."""
        before = pickled(self.model)
        part = self.case.part(rows)
        X = {"infinite": np.full((2, 3), np.inf), "width": np.ones((2, 99)), "object": object()}[
            wrong
        ]
        if wrong == "width" and not self.learnt:
            return
        with pytest.raises((ValueError, TypeError)):
            replace(part, X=X).taught(self.model)
        assert not difference(before, self.model)

    # Copies

    @rule(way=st.sampled_from(["pickle", "deepcopy", "save"]))
    def copy(self, way: str) -> None:
        # Files keep no classes that are not of the package.
        is_ours = type(self.model).__module__.startswith("streamtopics.")
        ways = {"pickle": pickled, "deepcopy": deepcopy, "save": saved if is_ours else pickled}
        found = ways[way](self.model)
        assert not difference(self.model, found)
        self.model = found

    @rule()
    def clone(self) -> None:
        """A clone has learnt nothing."""
        assert not difference(clone(self.model), self.case.made)

    @precondition(lambda self: self.merges and self.learnt)
    @rule(mine=ROWS, other=ROWS)
    def merge(self, mine: list[int], other: list[int]) -> None:
        """Copies that went on are merged; what is merged, and what it was before, is left alone."""

        def merged(base: Any) -> Any:
            one, two = (self.case.part(rows).taught(pickled(base)) for rows in (mine, other))
            kept = pickled(base), pickled(two)
            one.merge(two, base=base)
            assert not difference(kept[0], base)
            assert not difference(kept[1], two)
            return one

        self.model = merged(self.model)
        self.learnt.append(merged)

    # Reading

    @precondition(lambda self: self.learnt)
    @rule(rows=ROWS, form=FORM, dtype=DTYPE)
    def read(self, rows: list[int], form: str, dtype: str) -> None:
        """What reads returns the same for any format, and learns nothing."""
        before = pickled(self.model)
        passed, plain = self.drawn(rows, form, dtype)
        assert bits(self.model.transform(passed.X)) == bits(before.transform(plain.X))
        if hasattr(self.model, "score"):
            score = self.model.score(passed.X, passed.y)
            assert bits(score) == bits(before.score(plain.X, plain.y))
        assert not difference(before, self.model)

    # What holds

    @property
    def merges(self) -> bool:
        begins = getattr(self.model, "n_start_documents", 0) > 0  # Not while a beginning is kept.
        return "merge" in doors_of(type(self).__name__) and not begins

    def teardown(self) -> None:
        """A fresh one that learns the same, as it is plainest, is the same."""
        fresh = self.case.made
        for step in self.learnt:
            fresh = step(fresh)
        assert not difference(fresh, self.model)

    @invariant()
    def the_lock_is_free(self) -> None:
        assert all(is_free(step) for _, step in steps_of(self.model))


STREAMED = [name for name, case in EVERY.items() if hasattr(case.made, "partial_fit")]


def run(name: str, case: Case, n_examples: int, **more: Any) -> None:
    """Try sequences of calls of an estimator; the same ones each time."""
    run_state_machine_as_test(
        type(name, (Interleaved,), {"case": case}),
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            **more,
        ),
    )


# Calls that are to fail.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", STREAMED)
def test_any_sequence_of_calls(name, pytestconfig):
    run(name, EVERY[name], EXAMPLES * pytestconfig.getoption("more", 1))


# Checks that can fail


class LearnsByReading(SVBLDA):
    def transform(self, X):
        self.seed_ += 1
        return super().transform(X)


class LearnsInHalves(SVBLDA):
    def partial_fit(self, X, y=None, *, time=None):
        super().partial_fit(X[:1])
        return super().partial_fit(X[1:]) if X.shape[0] > 1 else self


class ChangedByErrors(SVBLDA):
    def partial_fit(self, X, y=None, *, time=None):
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        return super().partial_fit(X)


class Forgetful(SVBLDA):
    def __getstate__(self):
        state = super().__getstate__()
        state.pop("seed_", None)
        return state


@pytest.mark.parametrize("kind", [LearnsByReading, LearnsInHalves, ChangedByErrors, Forgetful])
def test_broken_promises_are_found(kind):
    case = replace(EVERY["SVBLDA"], estimator=kind(2, random_state=0))
    with pytest.raises((AssertionError, AttributeError)):
        run("SVBLDA", case, 50, phases=[Phase.generate])
