# SPDX-License-Identifier: BSD-3-Clause
"""Runs a verb, and turns errors into an exit status."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from textwrap import fill
from typing import Any

from streamtopics import __version__
from streamtopics.cli import console
from streamtopics.cli.verbs import DESCRIPTION, FILES, VERBS, setting
from streamtopics.datasets import ReadingError

WRONG, OF_A_SIGNAL = 2, 128
LEAVE_OUT = " (--skip-bad leaves out, and counts, what cannot be read)"
# Reasons of errors about more than one record.
OF_THE_FILE = {"no columns", "not named JSON", "nothing to read", "broken file", "another file"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    The status is 0, also if the reader of the output has gone; 2 for wrong use and unusable files;
    130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    first = given[0] if given else ""
    is_file = not first.isalpha() or os.path.exists(first)  # noqa: PTH110
    if is_file and first not in {*VERBS, "-h", "--help", "--version"}:
        given.insert(0, "fit")
    # Streams closed before the start print nowhere; otherwise every character is printable.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123,SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123,SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return _run(parsed(given))


def parsed(given: list[str]) -> Namespace:
    """The verb and its options; files may come before and after options."""
    listed = "".join(f"  {name:11}{verb.about.partition('.')[0]}\n" for name, verb in VERBS.items())
    first = _parser("streamtopics", "[VERB] ...", f"{DESCRIPTION}\n{listed}", FILES)
    first.add_argument("--version", action="version", version=f"streamtopics {__version__}")
    first.add_argument("verb", choices=VERBS, metavar="VERB", help="VERB --help has its options")
    options = first.parse_args(given[:1])
    reader = parser(options.verb)
    options, left = reader.parse_known_intermixed_args(given[1:], options)
    if left:
        known = [option[0] for option in VERBS[options.verb].options]
        near = [name for one in left for name in get_close_matches(one, known, n=1)]
        meant = f"; did you mean {near[0]}?" if near else ""
        reader.error(f"unrecognized arguments: {' '.join(left)}{meant}")
    return options


def parser(name: str) -> ArgumentParser:
    verb = VERBS[name]
    usage, below = f"{verb.usage} [OPTION ...]", "`streamtopics --help` says which files.\n"
    one = _parser(f"streamtopics {name}", usage, fill(verb.about, 80), below)
    for option, kind, default, metavar, about in verb.options:
        how: dict[str, Any] = {"type": kind, "metavar": metavar}
        if option[0] != "-":
            how |= {"nargs": default}
        elif kind is None:
            how = {"action": "store_true"}
        elif isinstance(kind, tuple):
            how = {"choices": kind}
        elif default is ...:
            how |= {"required": True}
        else:
            action = "append" if kind is setting else "extend" if default == [] else "store"
            how |= {"default": default, "action": action}
        one.add_argument(option, help=about, **how)
    one.set_defaults(files=None, max_iter=None, id_key=None, group_key=None, keep=[])
    return one


def _parser(prog: str, usage: str, about: str, below: str) -> ArgumentParser:
    how = RawDescriptionHelpFormatter
    made = ArgumentParser(prog, f"%(prog)s {usage}", about, below, formatter_class=how)
    made.color = False  # type: ignore[attr-defined,unused-ignore]
    return made


def _run(options: Namespace) -> int:
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = lambda message, *_: console.warn(f"note: {message}")
        try:
            with console.handle(console.STOPPING, console.stop):
                module = import_module(f"streamtopics.cli.{VERBS[options.verb].module}")
                getattr(module, options.verb)(options)
                sys.stdout.flush()
        except BrokenPipeError:
            console.forget_output()
        except KeyboardInterrupt as interrupt:
            console.warn("interrupted")
            return OF_A_SIGNAL + (interrupt.args[0] if interrupt.args else signal.SIGINT)
        except Exception as error:
            console.warn(_message(error))
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                return WRONG
            console.forget_output()
            return WRONG
    return 0


def _message(error: Exception) -> str:
    """The message of an error, after the name of its class if unexpected."""
    if isinstance(error, ReadingError):
        value = shlex.quote(error.value) if error.value.isprintable() else f"${error.value!r}"
        remedy = f"; pass --{error.setting.replace('_', '-')} {value}, for example"
        leave_out = "" if error.reason in OF_THE_FILE else LEAVE_OUT
        return f"{error.place}: {error.problem}{remedy if error.setting else ''}{leave_out}"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    is_plain = isinstance(error, OSError | ValueError | ImportError) and str(error)
    message = str(error) if is_plain else f"{type(error).__name__}: {error}"
    return message.replace("a lower min_df", console.MORE_WORDS)
