# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that are begun again where they fail, and elsewhere too where they are late.

Either attempt has the same input and so the same bits: the first that ends counts.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from streamtopics.distributed.engines import Engine, Handle
from streamtopics.utils.checks import check_positive, check_whole

# A task is late that takes so many times the median of the last ones of its kind.
LATE = 3.0
REMEMBERED = 50
# Seconds of waiting after which a cluster without workers is told of, again and again.
NOTICE = 60.0


class PartitionError(RuntimeError):
    """A partition that could not be read, learnt, transformed or scored.

    What came before it was learnt, if rounds are taken in, in order: mend the partition, and go on
    with the model as it is, the same partitions and ``skip=error.n_batches``.

    Attributes
    ----------
    number : int
        Its place among the partitions, from 0; the first one's of several that were learnt
        together. Of a stream, the place of a minibatch.
    n_batches : int
        Minibatches of the partitions that have been learnt, those that were skipped included.
    """

    def __init__(self, message: str, number: int = -1, n_batches: int = 0) -> None:
        super().__init__(message)
        self.number, self.n_batches = number, n_batches

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.number, self.n_batches)


@dataclass(frozen=True)
class Policy:
    """Limits of how often a task is begun and how long it is waited for.

    Parameters
    ----------
    max_attempts : int
        Times that a task is begun at most.
    patience : float
        Seconds that a task may take before it is late, at least.
    timeout : float or None
        Seconds that all attempts may take together; None waits for ever.
    """

    max_attempts: int = 3
    patience: float = 10.0
    timeout: float | None = None

    def __post_init__(self) -> None:
        check_whole(self, max_attempts=self.max_attempts)
        check_positive(self, patience=self.patience)
        if self.timeout is not None:
            check_positive(self, timeout=self.timeout)


@dataclass
class Kind:
    """Tasks of one kind.

    Attributes
    ----------
    name : str
        What is done to a partition: "read" or "learnt".
    seconds : deque of float
        How long the last ones took, by the workers' clocks.
    longest : float
        Seconds of waiting for one that was late, and ended before any other attempt did: where
        tasks wait for workers, more of them would make all wait longer.
    """

    name: str
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    longest: float = 0.0

    def patience(self, policy: Policy, size: int = 1) -> float:
        """Seconds after which a task is late that is as long as `size` usual ones."""
        usual = statistics.median(self.seconds) if self.seconds else 0.0
        return max(policy.patience, LATE * usual * size, 2.0 * self.longest)


class Task:
    """A task that is begun until an attempt ends well.

    Parameters
    ----------
    engine : Engine
    policy : Policy
    kind : Kind
    number : int
        Place of the partition that it is of; -1 if it is of all.
    name : str
        What it is of, in words.
    begin : callable
        ``begin(attempt)`` starts an attempt, the first being 0, and returns its handle.
    size : int, default=1
        How many tasks of its kind it stands for: it may take so many times their seconds.
    """

    def __init__(
        self,
        engine: Engine,
        policy: Policy,
        kind: Kind,
        number: int,
        name: str,
        begin: Callable[[int], Handle],
        size: int = 1,
    ) -> None:
        self.engine, self.policy, self.kind, self.size = engine, policy, kind, size
        self.number, self.name, self.begin = number, name, begin
        self.handles: list[Handle] = []
        self.n_begun = 0
        self._begin_again()
        self.first = self.handles[0] if self.handles else None

    def result(self) -> Any:
        """Wait for the first attempt that ends well.

        Raises
        ------
        PartitionError
            If none does.
        """
        start = late = told = time.monotonic()
        end = inf if self.policy.timeout is None else start + self.size * self.policy.timeout
        while True:
            may_begin = self.n_begun < self.policy.max_attempts
            patience = self.kind.patience(self.policy, self.size)
            until = min(end, late + patience if may_begin else inf, told + NOTICE)
            done = self.engine.wait(self.handles, max(until - time.monotonic(), 0.0))
            for handle in done:
                try:
                    found = self.engine.result(handle, self._seconds_to_fetch(end))
                except Exception as error:
                    self._failed(handle, error)
                else:
                    if handle is self.first and self.n_begun > 1:
                        waited = time.monotonic() - start
                        self.kind.longest = max(self.kind.longest, waited)
                    self.drop(but=handle)
                    return found
            now = time.monotonic()
            if not done and now >= end:
                self.drop()
                alone = "" if self.engine.has_workers() else ", and the cluster has no workers"
                raise self._error(f"did not end in time{alone}") from None
            if now >= told + NOTICE:
                told = now
                self._tell_of_no_workers(now - start)
            if not self.handles or (not done and may_begin and now >= late + patience):
                self._begin_again()
                late = time.monotonic()

    def _tell_of_no_workers(self, seconds: float) -> None:
        """Warn where nobody is there to do it."""
        if not self.engine.has_workers():
            warnings.warn(
                f"the cluster has no workers, and {self.name} waits to be {self.kind.name} since "
                f"{seconds:.0f} seconds; start workers, or set timeout to give up",
                UserWarning,
                stacklevel=2,
            )

    def drop(self, but: Handle = None) -> None:
        """Let the engine forget all attempts but one."""
        for handle in self.handles:
            if handle is not but:
                self.engine.drop(handle)

    def _seconds_to_fetch(self, end: float) -> float | None:
        """Seconds for fetching a result: who has it may hang, so that another attempt is better."""
        left = None if end == inf else max(end - time.monotonic(), 0.0)
        if self.n_begun >= self.policy.max_attempts:
            return left
        patience = self.kind.patience(self.policy, self.size)
        return patience if left is None else min(left, patience)

    def _begin_again(self) -> None:
        """Begin another attempt; it may fail at once, where what it needs is lost."""
        self.n_begun += 1
        try:
            self.handles.append(self.begin(self.n_begun - 1))
        except Exception as error:
            self._check_left(error)
            if not self.handles:
                self._begin_again()

    def _failed(self, handle: Handle, error: Exception) -> None:
        """Give an attempt up, and the task with its last one."""
        # Dask has begun a task again each time that its worker died.
        self.n_begun += getattr(error, "allowed_failures", 0)
        self.handles.remove(handle)
        self.engine.drop(handle)
        self._check_left(error)

    def _check_left(self, error: Exception) -> None:
        """Give the task up where no attempt is left."""
        if not self.handles and self.n_begun >= self.policy.max_attempts:
            # Dask blames all tasks that a worker held when it died.
            killed = hasattr(error, "allowed_failures")
            blame = "; the worker may have died of another partition that it held" if killed else ""
            raise self._error(f"failed: {type(error).__name__}: {error}{blame}") from error

    def _error(self, trouble: str) -> PartitionError:
        times = "once" if self.n_begun == 1 else f"{self.n_begun} times"
        return PartitionError(
            f"{self.name} could not be {self.kind.name}: a task that was begun {times} "
            f"{trouble.rstrip('.')}",
            self.number,
        )
