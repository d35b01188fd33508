# SPDX-License-Identifier: BSD-3-Clause
"""Parses the values of options: numbers in their range, encodings, parameters by name."""

from __future__ import annotations

import ast
import math
from argparse import ArgumentTypeError
from functools import partial
from typing import Any

# More than any model counts.
MOST = 2**31 - 1


def _number(text: str, kind: type, strictly: bool) -> float:
    try:
        value: float = kind(text)
    except ValueError:
        value = math.nan
    if kind is int and value > MOST:
        raise ArgumentTypeError(f"{text!r} is more than {MOST:,}")
    if not (0 < value < math.inf or (value == 0 and not strictly)):
        above = "above" if strictly else "at or above"
        whole = "whole " if kind is int else ""
        raise ArgumentTypeError(f"{text!r} is not a {whole}number {above} 0")
    return value


positive = partial(_number, kind=int, strictly=True)
positive_float = partial(_number, kind=float, strictly=True)
non_negative = partial(_number, kind=int, strictly=False)
non_negative_float = partial(_number, kind=float, strictly=False)


def numbers(text: str) -> tuple[int, ...]:
    """Return numbers that have commas between them, by size and each once."""
    return tuple(sorted({int(positive(one)) for one in text.split(",")}))


def one_number(text: str) -> tuple[int, ...]:
    """Return one number, as `numbers` does."""
    return (int(positive(text)),)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    value = _number(text, float, False)
    if value > 1:
        raise ArgumentTypeError(f"{text!r} is more than 1")
    return value


def threads(text: str) -> int:
    """Return a number of threads, -1 for all."""
    if not text.lstrip("-").isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no number of threads, or -1 for all")
    return int(text)


def encoding(text: str) -> str:
    """Return the name of an encoding that there is."""
    try:
        b"text".decode(text)
    except LookupError:
        raise ArgumentTypeError(
            f"{text!r} is no encoding that Python knows, such as utf-8, latin-1 or cp1252"
        ) from None
    return text


def setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of a parameter, as in ``kappa=0.5``; words are texts."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is no name=value, such as kappa=0.5")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value
