# SPDX-License-Identifier: BSD-3-Clause
"""The command `streamtopics`: topics of files, from a shell."""

from streamtopics.cli.command import main

__all__ = ["main"]
