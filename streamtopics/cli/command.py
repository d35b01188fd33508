# SPDX-License-Identifier: BSD-3-Clause
"""Finds the verb, runs it, and turns what goes wrong into a line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from streamtopics.cli.parsers import VERBS, parser
from streamtopics.cli.stopping import signals_raise, status_of
from streamtopics.cli.telling import complain, show_warning

WRONG = 2
# What errors of readers name that is an option too.
SETTINGS = {"encoding", "format", "text_key", "max_line"}
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
    options = parser().parse_args(given)
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
            _forget_output()
        except KeyboardInterrupt as stop:
            complain("interrupted")
            return status_of(stop)
        except Exception as error:
            complain(_told(error))
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                return WRONG
            _forget_output()
            return WRONG
    return 0


def _told(error: Exception) -> str:
    """Return the message of an error, after the name of its class where it was not foreseen."""
    setting = getattr(error, "setting", "")
    if hasattr(error, "for_command_line") and setting in {
        "encoding",
        "format",
        "text_key",
        "max_line",
    }:
        return str(error.for_command_line())
    foreseen = isinstance(error, OSError | ValueError | ImportError)
    return str(error) if foreseen and str(error) else f"{type(error).__name__}: {error}"


def _print_anything() -> None:
    """Let characters that the terminal cannot show be printed by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        change: Any = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors="backslashreplace")


def _forget_output() -> None:
    """Send what is still to be written, also at the end of the process, nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
