# SPDX-License-Identifier: BSD-3-Clause
"""Finds the verb, runs it, and turns what goes wrong into a line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import TextIOWrapper

from streamtopics.cli.console import (
    ENDING,
    Output,
    complain,
    forget_output,
    handled,
    status_of,
    stop,
)
from streamtopics.cli.parsers import VERBS, parser
from streamtopics.datasets import ReadingError

WRONG = 2
LEAVE_OUT = " (--skip-bad leaves out, and counts, what cannot be read)"
# Reasons of errors that are not of one record.
OF_THE_FILE = {
    "no columns", "not named JSON", "nothing to read", "broken file", "another file",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows the name of the command; None for that of the process.

    Returns
    -------
    status : int
        0; 2 for wrong use and for what cannot be read or written; 130 after Ctrl-C, 143 after
        SIGTERM, 129 after SIGHUP. A reader of the output that has gone, as of ``| head``, is no
        failure.

    Raises
    ------
    SystemExit
        By argparse, where options are wrong (2) or help was asked for (0).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in {*VERBS, "-h", "--help", "--version"}:
        given.insert(0, "fit")
    _print_anything()
    with redirect_stdout(Output(sys.stdout)), redirect_stderr(Output(sys.stderr)):
        return _run(_parsed(given))


def _run(options: Namespace) -> int:
    """Run a verb; return the exit status."""
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = lambda message, *_: complain(f"note: {message}")
        try:
            with handled(ENDING, stop):
                module = import_module(f"streamtopics.cli.{VERBS[options.verb].module}")
                getattr(module, options.verb)(options)
                sys.stdout.flush()
        except BrokenPipeError:
            forget_output()
        except KeyboardInterrupt as interrupt:
            complain("interrupted")
            return status_of(interrupt)
        except Exception as error:
            complain(_message(error, options))
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                return WRONG
            forget_output()
            return WRONG
    return 0


def _parsed(given: list[str]) -> Namespace:
    """Return the options; files may stand behind an option also where there need not be any."""
    reader = parser()
    options, left = reader.parse_known_args(given)
    if left and (vars(options).get("files") != [] or any(one[:1] == "-" for one in left)):
        reader.error(f"unrecognized arguments: {' '.join(left)}")
    if left:
        options.files = left
    return options


def _message(error: Exception, options: Namespace) -> str:
    """Return the message of an error, after the name of its class where it was not foreseen."""
    if isinstance(error, ReadingError):
        message = f"{error.place}: {error.problem}"
        if error.setting:
            message += f"; pass --{error.setting.replace('_', '-')} {error.value}, for example"
        return message + ("" if error.reason in OF_THE_FILE or options.skip_bad else LEAVE_OUT)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no file or directory {str(error.filename)!r}"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    foreseen = isinstance(error, OSError | ValueError | ImportError)
    return str(error) if foreseen and str(error) else f"{type(error).__name__}: {error}"


def _print_anything() -> None:
    """Let characters that the terminal cannot show be printed by their numbers.

    What was closed before the process began prints to nowhere.
    """
    nowhere = os.devnull
    sys.stdout = open(nowhere, "w") if sys.stdout is None else sys.stdout  # noqa: PTH123,SIM115
    sys.stderr = open(nowhere, "w") if sys.stderr is None else sys.stderr  # noqa: PTH123,SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
