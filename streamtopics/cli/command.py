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
from typing import Any

from streamtopics.cli.parsers import VERBS, parser
from streamtopics.cli.stopping import signals_raise, status_of
from streamtopics.cli.telling import Output, complain, forget_output, show_warning
from streamtopics.datasets import ReadingError

WRONG = 2
# What errors of readers name that is an option too.
SETTINGS = {"encoding", "format", "text_key", "time_key", "max_line"}
LEAVE_OUT = " (--skip-bad leaves out, and counts, what cannot be read)"
# What an option cannot leave out: the file as a whole is another one than was thought.
OF_THE_FILE = {
    "no column", "no fields", "not Parquet", "not named JSON", "not text", "nothing to read",
}  # fmt: skip
# Remedies of the library, in the words of the command.
SAID_AS = {"missing='ignore'": "--set missing=ignore"}
# What is asked of the command itself, not of `fit`.
OF_THE_COMMAND = {"-h", "--help", "--version"}


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
    if not given or given[0] not in VERBS | OF_THE_COMMAND:
        given.insert(0, "fit")
    _print_anything()
    with redirect_stdout(Output(sys.stdout)):
        with redirect_stderr(Output(sys.stderr)):
            options = _parsed(given)
        return _run(options)


def _run(options: Namespace) -> int:
    """Run a verb; return the exit status."""
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = show_warning  # type: ignore[assignment]
        try:
            with signals_raise():
                import_module(f"streamtopics.cli.{options.verb}").run(options)
                sys.stdout.flush()
        except BrokenPipeError:
            forget_output()
        except KeyboardInterrupt as stop:
            complain("interrupted")
            return status_of(stop)
        except Exception as error:
            complain(_told(error, options))
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


def _told(error: Exception, options: Namespace) -> str:
    """Return the message of an error, after the name of its class where it was not foreseen."""
    if isinstance(error, ReadingError):
        told = error.for_command_line() if error.setting in SETTINGS else str(error)
        skippable = error.reason not in OF_THE_FILE and not options.skip_bad
        return f"{told}{LEAVE_OUT}" if skippable else told
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        if isinstance(error, FileNotFoundError):
            return f"there is no file or directory {str(error.filename)!r}"
        return f"{error.filename}: {error.strerror}"
    foreseen = isinstance(error, OSError | ValueError | ImportError)
    told = str(error) if foreseen and str(error) else f"{type(error).__name__}: {error}"
    for python, option in SAID_AS.items():
        told = told.replace(python, option)
    return told


def _print_anything() -> None:
    """Let characters that the terminal cannot show be printed by their numbers.

    What was closed before the process began prints to nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        change: Any = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors="backslashreplace")
