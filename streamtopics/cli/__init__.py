# SPDX-License-Identifier: BSD-3-Clause
"""The command `streamtopics`."""

from streamtopics.cli.command import main

__all__ = ["main"]
