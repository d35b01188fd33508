# SPDX-License-Identifier: BSD-3-Clause
"""How much faster W workers learn than one process: simulated from what `cluster_costs` measured.

    python -m benchmarks.cluster_simulation --check       # beside two real workers
    python -m benchmarks.cluster_simulation [--table doc/cluster_table.rst]

All seconds are of the processor. The client and the scheduler are one process in the simulation,
which does one thing at a time; a worker takes a round when it is free, and reads and learns it, for
a time that varies by a fifth; the client's link carries one message at a time in each direction.
Rounds, how many are under way, and what the client learns by itself, are those of
`streamtopics.distributed.schedule`.
"""

import argparse
import heapq
import time
from collections import Counter, deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cluster_costs import (
    COSTS,
    LOSSES,
    N_BEFORE,
    SIZE,
    TASKS,
    learn_here,
    newsgroups,
    two_workers,
)  # fmt: skip
from benchmarks.results import read
from streamtopics.distributed import fit_partitions
from streamtopics.distributed.schedule import Schedule
from tests.plain import GibbsOnlineEM

# Longer than was measured: on a line through the two longest.
LONGER = 1024
N_WORKERS = (4, 8, 16, 32, 64, 128, 256)
LINKS = {"1 Gbit/s": 125.0, "10 Gbit/s": 1250.0}
VARIATION = 0.2
# Tasks of a round: one that learns, and those that read its documents and say what they are.
TASKS_OF_A_ROUND = 3


class Costs(NamedTuple):
    """What a round takes: seconds, and megabytes out and back."""

    reading: float
    worker: float
    before: float
    after: float
    mb_out: float
    mb_back: float


class Measured:
    """Costs of rounds of any length, on lines through those that were measured."""

    def __init__(self, method: str, n_words: int, K: int, *, reads: bool = True) -> None:
        rows = [
            r
            for r in read(COSTS)
            if (r["method"], r["words"], r["K"]) == (method, str(n_words), str(K))
        ]
        self.lengths = [float(row["length"]) for row in rows]
        self.columns = {
            name: [float(row[name]) for row in rows] for name in ("alone", *Costs._fields)
        }
        task = read(TASKS)[0]
        self.a_task, self.a_megabyte = float(task["a_task"]), float(task["a_megabyte"])
        self.at = cache(self._at)
        if not reads:
            self.columns["reading"] = [0.0] * len(rows)

    def _at(self, length: int) -> Costs:
        """Costs, Dask's included."""
        one = Costs(*(self._on_lines(length, self.columns[n]) for n in Costs._fields))
        return one._replace(
            before=one.before + TASKS_OF_A_ROUND * self.a_task + self.a_megabyte * one.mb_out,
            after=one.after + self.a_megabyte * one.mb_back,
            worker=one.reading + one.worker + self.a_megabyte * (one.mb_out + one.mb_back),
        )

    def _on_lines(self, length: int, column: list[float]) -> float:
        x = self.lengths
        i = min(max(int(np.searchsorted(x, length)), 1), len(x) - 1)
        slope = (column[i] - column[i - 1]) / (x[i] - x[i - 1])
        return max(0.0, column[i] + slope * (length - x[i]))

    @property
    def learning(self) -> float:
        """Seconds of learning a minibatch in one process, by the longest run of them."""
        return self.columns["alone"][-1] / self.lengths[-1]

    @property
    def alone(self) -> float:
        """Seconds of reading and learning a minibatch in one process."""
        return self.learning + self.columns["reading"][-1] / self.lengths[-1]


class Outcome(NamedTuple):
    """A simulated stream: seconds, and the shares of them in which client and link were busy."""

    seconds: float
    client: float
    link: float


def simulate(
    measured: Measured, schedule: Schedule, n_workers: int, link: float, n: int, n_before: int = 0
) -> Outcome:
    """Return how long `n` minibatches take on a link of so many megabytes a second."""
    return Simulation(measured, schedule, n_workers, link, n, n_before).run()


class Simulation:
    """The state of a simulated stream."""

    def __init__(
        self,
        measured: Measured,
        schedule: Schedule,
        n_workers: int,
        link: float,
        n: int,
        before: int,
    ) -> None:
        self.measured, self.schedule, self.link, self.before = measured, schedule, link, before
        self.free = [0.0] * n_workers
        self.events: list[tuple[float, int, str, int]] = []
        self.under_way: deque[int] = deque()
        self.arrived: set[int] = set()
        self.costs: dict[int, Costs] = {}
        self.place, self.n, self.n_rounds = 0, n, 0
        self.out = self.back = self.client = 0.0
        self.busy = Counter[str]()
        self.rng = np.random.default_rng(0)

    def run(self) -> Outcome:
        """Carry out what happens, in the order of time."""
        now = 0.0
        heapq.heappush(self.events, (0.0, -1, "idle", -1))
        while self.events:
            now, _, what, number = heapq.heappop(self.events)
            if what == "sent":
                self.out = self._carry(self.out, now, self.costs[number].mb_out, "out")
                self._later(self.out, "delivered", number)
            elif what == "delivered":
                begun = max(now, heapq.heappop(self.free))
                varied = max(0.2, self.rng.normal(1.0, VARIATION))
                end = begun + self.costs[number].worker * varied
                heapq.heappush(self.free, end)
                self._later(end, "learnt", number)
            elif what == "learnt":
                self.back = self._carry(self.back, now, self.costs[number].mb_back, "back")
                self._later(self.back, "arrived", number)
            elif what == "arrived":
                self.arrived.add(number)
            if self.client <= now:
                self._go_on(now)
        link = max(self.busy["out"], self.busy["back"]) / now
        return Outcome(now, self.busy["client"] / now, link)

    def _go_on(self, now: float) -> None:
        """Have the client do the next thing, if there is one that it can do."""
        learnt = self.place + self.before
        most = self.schedule.under_way(self.place, learnt) if self.place < self.n else 0
        if len(self.under_way) > most:
            if self.under_way[0] in self.arrived:
                number = self.under_way.popleft()
                self.arrived.remove(number)
                self._work(now, self.costs.pop(number).after, "idle", number)
        elif self.place < self.n and self.schedule.learns_here(learnt):
            self.place += 1
            self._work(now, self.measured.learning, "idle", -1)
        elif self.place < self.n:
            length = self.schedule.length(self.place, learnt, self.n - self.place)
            number = self.n_rounds
            self.costs[number] = self.measured.at(length)
            self.place, self.n_rounds = self.place + length, number + 1
            self.under_way.append(number)
            self._work(now, self.costs[number].before, "sent", number)

    def _work(self, now: float, seconds: float, then: str, number: int) -> None:
        self.client = now + seconds
        self.busy["client"] += seconds
        self._later(self.client, then, number)

    def _carry(self, free: float, now: float, megabytes: float, way: str) -> float:
        seconds = megabytes / self.link
        self.busy[way] += seconds
        return max(free, now) + seconds

    def _later(self, at: float, what: str, number: int) -> None:
        heapq.heappush(self.events, (at, number, what, number))


# Tables


def cells() -> Iterator[tuple[str, int, int]]:
    """What was measured for rounds of some lengths."""
    seen = Counter((row["method"], int(row["words"]), int(row["K"])) for row in read(COSTS))
    yield from (cell for cell, n in seen.items() if n > 2)


def speed_up(measured: Measured, length: int, n_workers: int, link: float) -> Outcome:
    """Outcome of a long stream, its start left out; seconds are those of one process over it."""
    schedule = Schedule(length, 2 * n_workers)
    n = length * max(200, 8 * n_workers)
    found = simulate(measured, schedule, n_workers, link, n, n_before=10**9)
    return found._replace(seconds=n * measured.alone / found.seconds)


def tables() -> str:
    """Return all tables in reStructuredText."""
    head = ["method, V, K", "round", *(f"{n}" for n in N_WORKERS)]
    rows = []
    for method, n_words, K in cells():
        measured = Measured(method, n_words, K)
        for length in (*map(int, measured.lengths[1:]), LONGER):
            row = [f"{method}, {n_words:,}, {K:,}", str(length)]
            for n_workers in N_WORKERS:
                found = [speed_up(measured, length, n_workers, link) for link in LINKS.values()]
                row.append(" / ".join(map(shown, found)))
            rows.append(row)
    parts = (
        ("A long stream, its start left out", list_table([head, *rows])),
        ("Whole streams at 10 Gbit/s, as many rounds under way as workers", whole_streams()),
        ("Held-out score after 8,000 minibatches of newsgroups, nats per token", losses()),
    )
    return "\n".join(f"{title}:\n\n{table}" for title, table in parts)


def whole_streams() -> str:
    """Return speed-ups of streams from their start, with as many rounds under way as workers."""
    rows = [["newsgroups, K = 100, tokens", "round", *(f"{n} workers" for n in N_WORKERS[:5])]]
    measured = Measured(*next(cells()))
    for n in (10_000, 100_000, 1_000_000):
        for length in (64, 256, LONGER):
            row = [f"{100 * SIZE * n:.0e}", str(length)]
            for n_workers in N_WORKERS[:5]:
                schedule = Schedule(length, n_workers)
                found = simulate(measured, schedule, n_workers, LINKS["10 Gbit/s"], n, 1)
                row.append(f"{n * measured.alone / found.seconds:.1f}")
            rows.append(row)
    return list_table(rows)


def shown(found: Outcome) -> str:
    """A speed-up, and what limits it."""
    mark = "c" if found.client > 0.95 else "l" if found.link > 0.95 else ""
    return f"{found.seconds:.{1 if found.seconds < 10 else 0}f}{mark}"


def losses() -> str:
    """Return the scores by rounds and staleness."""
    found = {(r["K"], r["rounds"], r["staleness"]): r["score"] for r in read(LOSSES)}
    stale = sorted({key[2] for key in found}, key=int)
    rows = [["K", "rounds", *(f"staleness {s}" for s in stale)]]
    for K, rounds in dict.fromkeys(key[:2] for key in found):
        rows.append([K, rounds, *(found.get((K, rounds, s), "") for s in stale)])
    return list_table(rows)


def list_table(rows: list[list[str]]) -> str:
    """Return rows, of which the first is the head, as a table."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'  ' if i else '* '}- {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def check() -> None:
    """Print seconds of a real stream beside those simulated for it."""
    X = newsgroups(11_300 * 10, np.random.default_rng(1))
    parts = [X[i : i + 6400] for i in range(0, X.shape[0], 6400)]
    measured = Measured("gibbs", X.shape[1], 100, reads=False)
    for n_workers in (1, 2):
        with two_workers(n_workers) as client:
            for rounds, staleness in ((8, 2), (32, 2), (64, 2), (64, 0)):
                model = GibbsOnlineEM(100, batch_size=SIZE, random_state=0)
                learn_here(model, X[: SIZE * N_BEFORE])
                given = {"rounds": rounds, "staleness": staleness, "patience": 600.0}
                begun, cpu = time.monotonic(), time.process_time()
                fit_partitions(model, parts, client, **given)
                real, used = time.monotonic() - begun, time.process_time() - cpu
                schedule = Schedule(rounds, staleness)
                n = -(-X.shape[0] // SIZE)
                found = simulate(measured, schedule, n_workers, 1e9, n, n_before=N_BEFORE)
                print(
                    f"{n_workers} workers, rounds {rounds}, staleness {staleness}: "
                    f"real {real:.2f} s, simulated {found.seconds:.2f}; "
                    f"client real {used:.2f}, simulated "
                    f"{found.client * found.seconds:.2f}; one process {n * measured.alone:.2f}",
                    flush=True,
                )


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", type=Path, default=Path("/dev/stdout"))
    given = parser.parse_args()
    if given.check:
        check()
    else:
        given.table.write_text(tables(), encoding="utf-8")


if __name__ == "__main__":
    main()
