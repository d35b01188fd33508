# SPDX-License-Identifier: BSD-3-Clause
"""Finds the verb, runs it, and turns what goes wrong into a line and an exit status."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper

from streamtopics.cli.console import (
    MORE_WORDS,
    STOPPING,
    forget_output,
    handle,
    status_of,
    stop,
    warn,
)
from streamtopics.cli.parsers import VERBS, parser
from streamtopics.datasets import ReadingError

WRONG = 2
LEAVE_OUT = " (--skip-bad leaves out, and counts, what cannot be read)"
# Reasons of errors that are not of one record.
OF_THE_FILE = {"no columns", "not named JSON", "nothing to read", "broken file", "another file"}
# Errors of Python, in the words of the command.
SAID_AS = {
    "unknown encoding:": "--encoding is unknown:", 'TypeError: "delimiter"': "--sep",
    "a lower min_df": MORE_WORDS,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    It is 0, also if the reader of the output has gone; 2 for wrong use and for what cannot be read
    or written; 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_verb = bool(given) and (given[0] in VERBS or given[0] in {"-h", "--help", "--version"})
    is_word = bool(given) and given[0].isalpha() and not os.path.exists(given[0])  # noqa: PTH110
    if not is_verb and not is_word:
        given.insert(0, "fit")
    # What was closed before the process began prints to nowhere; else no character is too much.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123,SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123,SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return _run(_parsed(given))


def _run(options: Namespace) -> int:
    """Run a verb; return the exit status."""
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = lambda message, *_: warn(f"note: {message}")
        try:
            with handle(STOPPING, stop):
                module = import_module(f"streamtopics.cli.{VERBS[options.verb].module}")
                getattr(module, options.verb)(options)
                sys.stdout.flush()
        except BrokenPipeError:
            forget_output()
        except KeyboardInterrupt as interrupt:
            warn("interrupted")
            return status_of(interrupt)
        except Exception as error:
            warn(_message(error))
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
    if left and (options.files != [] or any(one[:1] == "-" for one in left)):
        known = [option[0] for option in VERBS[options.verb].options]
        near = [name for one in left for name in get_close_matches(one, known, n=1)]
        meant = f"; did you mean {near[0]}?" if near else ""
        reader.error(f"unrecognized arguments: {' '.join(left)}{meant}")
    options.files = left or options.files
    return options


def _message(error: Exception) -> str:
    """Return the message of an error, after the name of its class where it was not expected."""
    if isinstance(error, ReadingError):
        value = shlex.quote(error.value) if error.value.isprintable() else f"${error.value!r}"
        remedy = f"; pass --{error.setting.replace('_', '-')} {value}, for example"
        message = f"{error.place}: {error.problem}{remedy if error.setting else ''}"
        return message + ("" if error.reason in OF_THE_FILE else LEAVE_OUT)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    expected = isinstance(error, OSError | ValueError | ImportError | LookupError)
    expected = expected and not isinstance(error, KeyError | IndexError)
    message = str(error) if expected and str(error) else f"{type(error).__name__}: {error}"
    for python, option in SAID_AS.items():
        message = message.replace(python, option)
    return message
