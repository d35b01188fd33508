# SPDX-License-Identifier: BSD-3-Clause
"""Processes of Python that start in milliseconds: forks of one that has imported the package.

What a test asks of a process (its exit status, what signals, pipes and full disks do to it, what
its end leaves) is that of any process; only the second of imports before is spared. A server, one
for each process of pytest and with warnings as errors, forks for each request a keeper, which
forks what was asked for, waits for it and tells its status. Where forks are not to be had, or
not safe beside system libraries, each process is a new one.
"""

import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Self

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
PATIENCE = 100
"""Seconds to wait for the end of what should end by itself."""
N_STREAMS = 3


class Process:
    """A running fork, with the part of `subprocess.Popen` that tests need; pipes are of text.

    Parameters
    ----------
    server : socket
        Of the server.
    arguments : sequence of str
        Of Python: ``-m`` with a module, or ``-c`` with code, and what follows.
    stdin, stdout, stderr : int or file
        `subprocess.PIPE`, `subprocess.DEVNULL`, or what is open.
    """

    def __init__(
        self, server: socket.socket, arguments: Sequence[str], stdin: Any = subprocess.DEVNULL,
        stdout: Any = subprocess.PIPE, stderr: Any = subprocess.PIPE,
    ) -> None:  # fmt: skip
        self.returncode: int | None = None
        self._told, theirs = socket.socketpair()
        self.stdin, read = _ends(stdin, "r")
        self.stdout, write = _ends(stdout, "w")
        self.stderr, errors = _ends(stderr, "w")
        asked = {"arguments": arguments, "folder": str(Path.cwd()), "environment": dict(os.environ)}
        self._told.sendall(json.dumps(asked).encode() + b"\n")
        socket.send_fds(server, [b"."], [theirs.fileno(), read, write, errors])
        for end in (read, write, errors):
            os.close(end)
        theirs.close()
        self._lines = self._told.makefile("r")
        self.pid = int(self._lines.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Kill what still runs."""
        self.kill()
        self.wait()
        for file in (self.stdin, self.stdout, self.stderr, self._lines, self._told):
            if file is not None:
                with suppress(BrokenPipeError):
                    file.close()

    def wait(self, timeout: float | None = PATIENCE) -> int:
        """Return the exit status, or raise `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            self.returncode = int(self._lines.readline())
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to what still runs."""
        if self.poll() is None:
            # It may end in between.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill what still runs."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, text: str = "") -> tuple[str, str]:
        """Write a text where there is a pipe for it, and return all that is said."""
        with ThreadPoolExecutor(2) as pool:
            if self.stdin is not None:
                pool.submit(self._write, text)
            errors = pool.submit(self.stderr.read) if self.stderr is not None else None
            out = self.stdout.read() if self.stdout is not None else ""
            self.wait()
            return out, errors.result() if errors is not None else ""

    def _write(self, text: str) -> None:
        with suppress(BrokenPipeError), self.stdin:
            self.stdin.write(text)


def _ends(given: Any, mode: str) -> tuple[Any, int]:
    """Return our end of a pipe, or None, and the descriptor that the process gets."""
    if given == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if given != subprocess.PIPE:
        return None, os.dup(given.fileno())
    read, write = os.pipe()
    ours, theirs = (write, read) if mode == "r" else (read, write)
    return os.fdopen(ours, "w" if mode == "r" else "r", encoding="utf-8"), theirs


@contextmanager
def serving() -> Iterator[Callable[..., Process]]:
    """What starts a process: `Process` with a server that runs meanwhile, or `subprocess.Popen`."""
    if sys.platform != "linux":
        yield _anew
        return
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-W", "error", "-m", __name__, str(theirs.fileno())]
    with subprocess.Popen(
        command, env=ENVIRONMENT, pass_fds=[theirs.fileno()], start_new_session=True
    ), ours:  # fmt: skip
        theirs.close()
        yield lambda arguments, **pipes: Process(ours, arguments, **pipes)
        # The end of the socket is that of the server.
        ours.close()


def _anew(arguments: Sequence[str], **pipes: Any) -> subprocess.Popen[str]:
    """Start an interpreter, with the pipes that a `Process` has."""
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONPATH": ENVIRONMENT["PYTHONPATH"]}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.Popen(command, text=True, env=environment, **(given | pipes))


def serve(asking: socket.socket) -> None:
    """Fork for each request, until there is nobody who asks."""
    cli = import_module("streamtopics.cli")
    for module in pkgutil.iter_modules(cli.__path__):
        import_module(f"streamtopics.cli.{module.name}")
    # What is there already is not looked at by forks, so that its memory is not copied.
    gc.collect()
    gc.freeze()
    while (received := socket.recv_fds(asking, 1, 1 + N_STREAMS))[0]:
        told, *streams = received[1]
        if _forked() == 0:
            asking.close()
            _keep(told, streams)
        for end in received[1]:
            os.close(end)
        # Keepers that have ended.
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(told: int, streams: list[int]) -> None:
    """Fork what is asked for, tell its number and how it ends, and end."""
    with socket.socket(fileno=told) as client, client.makefile("r") as lines:
        asked = json.loads(lines.readline())
        if pid := _forked():
            for end in streams:
                os.close(end)
            client.sendall(b"%d\n" % pid)
            client.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os._exit(0)
    for number, end in enumerate(streams):
        os.dup2(end, number)
        os.close(end)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    _end(*asked["arguments"])


def _end(kind: str, what: str, *arguments: str) -> None:
    """Do what Python does, called with these arguments, and end as it does.

    But for modules, which are left as they are: to take them apart would copy them before.
    """
    sys.argv = [kind, *arguments]
    status: Any = 0
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as stop:
        status = stop.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    try:
        sys.stdout.flush()
    except OSError:
        traceback.print_exc()
        status = 120
    os._exit(status)


def _forked() -> int:
    """Fork; a library that was imported has a thread of its own, of which later Pythons warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as asking:
        serve(asking)
