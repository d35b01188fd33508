# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share: pictures are closed, and no test leaves a trace for the next."""

import os
import sys

if "PYTEST_XDIST_WORKER" in os.environ:
    # Else all that a run shares out compiles the package, and rewrites these tests, each time anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
# Before NumPy is imported: threads of OpenBLAS in each process of the tests wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "agg")

import faulthandler
import gc
import random
import signal
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from joblib.parallel import get_active_backend

from tests.browser import launched
from tests.processes import serving

STDERR = pytest.StashKey[int]()
# When the limit of a test was set, and to how many seconds.
LIMIT = pytest.StashKey[tuple[float, float]]()
SET_BY_OTHERS = {"PYTEST_CURRENT_TEST", "_RJEM_MALLOC_CONF"}
"""Variables of the environment that pytest sets, and polars when it is first imported."""
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGALRM") if hasattr(signal, name)]

# What takes long for what it adds, by a part of its id: searches over grids, processes that are
# started anew, and all variants of what some variants show.
SLOW = (
    "test_grid_search", "test_a_search_says_the_same_once", "test_the_boosting_scale_is_searched",
    "test_models_sent_to_other_processes_learn_there", "test_same_bits_in_processes",
    "test_an_older_scikit_learn_has_none_and_fits", "test_several_at_once_in_threads_or_processes",
    "test_streaming_lda.py::test_the_matrix", "test_every_code_point_alone_and_between_letters",
    "check_estimator_sparse_",
)  # fmt: skip


def pytest_addoption(parser):
    """Add options, once where folders that share them are run together."""
    with suppress(ValueError):
        parser.addoption(
            "--one-in", type=int, default=1, metavar="N", help="run one test in N, by its id"
        )
        parser.addoption(
            "--more", type=int, default=1, metavar="N", help="try N times as many sequences"
        )
        parser.addoption(
            "--patience", type=float, default=300.0, metavar="SECONDS",
            help="end the process, with the stacks of its threads, when a test takes longer",
        )  # fmt: skip


# Of the documentation and the checkout, neither of which an sdist has.
if not (Path(__file__).parent.parent / "doc").is_dir():
    collect_ignore_glob = [
        "test_documentation*.py", "*test_extending.py", "test_floors.py",
        "*cli/test_page.py", "*estimators/test_streaming_lda.py", "test_rooms.py", "test_types.py",
        "test_words.py",
    ]  # fmt: skip


def pytest_configure(config):
    """Keep the standard error of the process, which pytest takes while a test runs."""
    config.stash[STDERR] = os.dup(sys.__stderr__.fileno())


def pytest_runtest_protocol(item):
    """End a process whose test hangs, which then fails; some tests use the process's timer.

    Python starts a thread for each limit, which takes as long as most tests: those that follow
    each other within a second share one.
    """
    marker = item.get_closest_marker("patience")
    seconds = marker.args[0] if marker else item.config.getoption("patience")
    since, patience = item.config.stash.get(LIMIT, (0.0, 0.0))
    if patience != seconds or time.monotonic() - since > 1.0:
        faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[STDERR])
        item.config.stash[LIMIT] = time.monotonic(), seconds


def pytest_sessionfinish():
    """Let what comes after the tests take its time."""
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what is slow; leave to `--one-in` its share, the same in each run."""
    for item in items:
        if any(name in item.nodeid for name in SLOW):
            item.add_marker(pytest.mark.slow)
    if (share := config.getoption("one_in", 1)) > 1:
        left = [item for item in items if zlib.crc32(item.nodeid.encode()) % share]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not zlib.crc32(item.nodeid.encode()) % share]


def pytest_collection_finish():
    """What was imported stays to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_traces():
    """Refuse a test that leaves the process other than it was; random numbers are put back."""
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    before = _settings()
    yield
    random.setstate(drawn)
    np.random.set_state(drawn_by_numpy)  # noqa: NPY002
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
    after = _settings()
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, f"the test leaves behind other settings: {changed}"


@pytest.fixture
def switching_often():
    """Threads that change places every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium; tests that ask for it are skipped where there is none."""
    with launched() as found:
        yield found


@pytest.fixture(scope="session")
def python():
    """Start a process of Python that has imported the package; see `tests.processes`."""
    with serving() as start:
        yield start


def _settings() -> dict[str, Any]:
    """What a test could change for those after it."""
    backend, n_jobs = get_active_backend()
    settings = {
        "environment": {k: v for k, v in os.environ.items() if k not in SET_BY_OTHERS},
        "folder": Path.cwd(),
        "sys.path": list(sys.path),
        "signals": [signal.getsignal(number) for number in SIGNALS],
        "printing by NumPy": np.get_printoptions(),
        "errors of NumPy": np.geterr(),
        "scikit-learn": sklearn.get_config(),
        "joblib": (type(backend), n_jobs),
    }
    if (matplotlib := sys.modules.get("matplotlib")) is not None:
        settings["matplotlib"] = list(dict.values(matplotlib.rcParams))
    return settings
