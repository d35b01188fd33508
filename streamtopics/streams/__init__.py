# SPDX-License-Identifier: BSD-3-Clause
"""Learning from streams: what to do after a change."""

from streamtopics.streams.clock import set_back
from streamtopics.streams.fork import AlarmFork, Choice

__all__ = ["AlarmFork", "Choice", "set_back"]
