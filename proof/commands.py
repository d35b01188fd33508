# SPDX-License-Identifier: BSD-3-Clause
"""What the commands have in common: numbers that they are passed."""

import argparse
from collections.abc import Callable


def at_least(least: int) -> Callable[[str], int]:
    """A type of `argparse`: whole numbers from `least` on."""

    def whole(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}; got {text!r}")
        return value

    return whole
