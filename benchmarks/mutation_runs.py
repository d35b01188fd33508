# SPDX-License-Identifier: BSD-3-Clause
"""Runs of tests for mutants: in a scratch copy, each in a fork of a process that has imported
what is slow to import and nothing of the code that is mutated.

Which tests run a line is measured once for each file of tests, and kept.
"""

import compileall
import hashlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import _pytest.terminal  # noqa: F401
import hypothesis  # noqa: F401
import numpy as np  # noqa: F401
import pytest
import scipy.sparse
import scipy.special
import scipy.stats  # noqa: F401
import sklearn.feature_extraction.text
import sklearn.model_selection
import sklearn.utils.estimator_checks  # noqa: F401

from benchmarks.mutants import Mutant

PYTEST = ["-n0", "-x", "-qq", "--assert=plain", "-p", "no:cacheprovider"]
KILLED, SURVIVED, NEVER_RUN = "killed", "survived", "never run"
ANYWAY = "fails without it, too"
LARGEST = 16 << 30
"""Bytes of memory that a run may address: a mutant must not take all of the machine's."""
PATIENCE = 20.0
"""Processor seconds that a run may take beside five times what its tests took before."""
WAITING = 30
"""Seconds to wait for each processor second of the limit: other processes may be busy."""
FIRST = 12
"""Tests of the first run."""
FEW = 3
"""Tests of a line, below which others are asked."""


class Tests:
    """A plugin of pytest: runs chosen tests in their order, and keeps times and what failed."""

    __test__ = False

    def __init__(self, chosen: Sequence[str] = (), tracer: Any = None) -> None:
        self.rank = {name: i for i, name in enumerate(chosen)}
        self.tracer = tracer
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.skipped: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        """Keep what was chosen; tests of a module stay together, for what they share."""
        if not self.rank:
            return
        items[:] = [item for item in items if item.nodeid in self.rank]
        modules: dict[Any, int] = {}
        for item in items:
            modules[item.path] = min(self.rank[item.nodeid], modules.get(item.path, 1 << 30))
        items.sort(key=lambda item: (modules[item.path], self.rank[item.nodeid]))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Let the tracer write down lines for this test."""
        if self.tracer is not None:
            self.tracer.switch_context(nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Name a module that cannot be imported."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up times; a test that was skipped is not one that passed."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.skipped:
            self.skipped.append(report.nodeid)
        if report.failed:
            self.failed.append(report.nodeid)


class Workshop:
    """A scratch copy of a checkout, and runs of its tests.

    Parameters
    ----------
    root : Path
        The checkout.
    scratch : Path
        An empty folder.
    packages : sequence of str
        Folders that are copied, that of the code first; the rest is linked.
    patience : float
        Processor seconds that a run may take beside those of its tests.
    """

    def __init__(
        self, root: Path, scratch: Path, packages: Sequence[str], patience: float = PATIENCE
    ) -> None:
        self.root, self.scratch, self.patience = root, scratch, patience
        self.package = packages[0]
        self.told = scratch / "told.json"
        self.passed: dict[tuple[str, ...], bool] = {}
        for entry in root.iterdir():
            if entry.name in packages:
                shutil.copytree(entry, scratch / entry.name)
                compileall.compile_dir(scratch / entry.name, quiet=2)
            elif entry.name != ".git":
                (scratch / entry.name).symlink_to(entry)

    def measured(self, file: str) -> dict[str, Any]:
        """Seconds of the tests of a file that pass, and which of them run the lines of the code."""
        self.told.unlink(missing_ok=True)
        self._in_fork(lambda: self._measure(file), 1800)
        return dict(json.loads(self.told.read_text()))

    def _measure(self, file: str) -> int:
        import coverage

        source = str(self.scratch / self.package)
        tracer = coverage.Coverage(data_file=None, source=[source], config_file=False)
        plugin = Tests(tracer=tracer)
        tracer.start()
        pytest.main([file, *(one for one in PYTEST if one != "-x")], [plugin])
        tracer.stop()
        lacking = {*plugin.failed, *plugin.skipped}
        seconds = {k: v for k, v in plugin.seconds.items() if k not in lacking}
        names = {name: i for i, name in enumerate(seconds)}
        data, lines = tracer.get_data(), {}
        for path in data.measured_files():
            of_lines = {
                line: sorted(names[one] for one in contexts if one in names)
                for line, contexts in data.contexts_by_lineno(path).items()
            }
            lines[Path(path).relative_to(self.scratch).as_posix()] = {
                line: tests for line, tests in of_lines.items() if tests
            }
        found = {"seconds": seconds, "lines": lines, "failed": plugin.failed}
        self.told.write_text(json.dumps(found))
        return 0

    def run(self, tests: Sequence[str], seconds: float) -> str | None:
        """What ended a run of tests (a test's name, or why there is none), None if all passed."""
        self.told.unlink(missing_ok=True)
        limit = int(self.patience + 5 * seconds)
        status = self._in_fork(lambda: self._test(tests, limit), WAITING * limit)
        if status == 0:
            return None
        if status in (None, -signal.SIGXCPU):
            return "the time was over"
        if status == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"none of {len(tests)} tests was found, such as {tests[0]}")
        if self.told.exists() and (failed := json.loads(self.told.read_text())):
            return str(failed[0])
        return f"exit status {status}"

    def _test(self, tests: Sequence[str], seconds: int) -> int:
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
        plugin = Tests(tests)
        status = pytest.main([*files, *PYTEST], [plugin])
        self.told.write_text(json.dumps(plugin.failed))
        return int(status)

    def judged(
        self, mutant: Mutant, source: bytes, tests: Sequence[str], seconds: dict[str, float]
    ) -> tuple[str, str]:
        """Whether a mutant is killed, and by what: few tests first, then the others."""
        path = self.scratch / mutant.path
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        for part in (tests[:FIRST], tests[FIRST:]):
            limit = sum(seconds[one] for one in part)
            path.write_bytes(mutant.applied(source))
            try:
                by = self.run(part, limit) if part else None
            finally:
                path.write_bytes(source)
            if by:
                return (KILLED if self.passes(tuple(part), limit) else ANYWAY), by
        return (SURVIVED if tests else NEVER_RUN), ""

    def passes(self, tests: tuple[str, ...], seconds: float) -> bool:
        """Whether tests pass in this order and without a mutant."""
        if tests not in self.passed:
            self.passed[tests] = self.run(tests, seconds) is None
        return self.passed[tests]

    def _in_fork(self, do: Callable[[], int], limit: float) -> int | None:
        """The exit status of a function in a process of its own, None if it took too long."""
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                self._settle_in()
                status = do()
            finally:
                os._exit(status)
        try:
            return _status(pid, limit)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def _settle_in(self) -> None:
        """Make the scratch copy the place from which all is imported, here and in processes."""
        os.setsid()
        os.chdir(self.scratch)
        quiet = os.open(self.scratch / "output.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        others = (entry for entry in sys.path if Path(entry or ".").resolve() != self.root)
        sys.path[:] = [str(self.scratch), *others]
        sys.dont_write_bytecode = True
        for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
            del sys.modules[name]
        os.environ |= {"PYTHONPATH": str(self.scratch), "PYTHONDONTWRITEBYTECODE": "1"}


def _status(pid: int, limit: float) -> int | None:
    """The exit status of a process, None when it has not ended within so many seconds."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


class Map:
    """Which tests run which lines, kept in a folder: a file for each file of tests.

    Parameters
    ----------
    workshop : Workshop
        Where the tests run.
    files : sequence of str
        Of tests.
    folder : Path
        Where the map is kept; what was measured with other code or other tests is made anew.
    """

    def __init__(self, workshop: Workshop, files: Sequence[str], folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, set[str]]] = {}
        self.digests: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        code = _digest(sorted((workshop.root / workshop.package).rglob("*.py")))
        for i, file in enumerate(files):
            digest = self.digests[file] = _digest([workshop.root / file])
            kept = folder / f"{file.replace('/', '.')}.json"
            known = json.loads(kept.read_text()) if kept.exists() else {}
            if known.get("digests") != [code, digest]:
                print(f"lines of {file} ({i + 1} of {len(files)})", flush=True)
                known = {"digests": [code, digest], **workshop.measured(file)}
                kept.write_text(json.dumps(known))
            if known.get("failed"):
                print(f"left out, as they fail without a mutant: {', '.join(known['failed'])}")
            self._add(known)

    def _add(self, known: dict[str, Any]) -> None:
        self.seconds |= known["seconds"]
        names = list(known["seconds"])
        for path, lines in known["lines"].items():
            of_lines = self.lines.setdefault(path, {})
            for line, tests in lines.items():
                of_lines.setdefault(int(line), set()).update(names[i] for i in tests)

    def chosen(self, mutant: Mutant, budget: float) -> tuple[list[str], int]:
        """The tests for a mutant within a budget of seconds, and how many there would be.

        They are those that run its lines or, where these are run on import, any line of its file;
        if they are few, other tests of their files, too, since what is made once for a module is
        run by the first of its tests. Those of the room of the same name come first, then the
        fastest.
        """
        lines = self.lines.get(mutant.path, {})
        heads = range(mutant.lines[0], mutant.lines[1] + 1)
        if mutant.on_import:
            heads = range(max(lines, default=0) + 1)
        found = set[str]().union(*(lines.get(line, ()) for line in heads))
        if len(found) < FEW:
            files = {name.partition("::")[0] for name in found}
            found = {name for name in self.seconds if name.partition("::")[0] in files}
        room = f"/{mutant.path.split('/')[1]}/" if "/" in mutant.path else ""
        order = sorted(found, key=lambda name: (room not in name, self.seconds[name], name))
        chosen, spent = [], 0.0
        for name in order:
            spent += self.seconds[name]
            if spent <= budget or not chosen:
                chosen.append(name)
        return chosen, len(order)

    def digest(self, chosen: Sequence[str], by: str) -> str:
        """A digest of a test and its file, or of all that were chosen where it is not of them."""
        names = [by] if by in chosen else sorted(chosen)
        files = sorted({self.digests[name.partition("::")[0]] for name in names})
        return hashlib.sha256("\n".join([*names, *files]).encode()).hexdigest()[:12]


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]
