# SPDX-License-Identifier: BSD-3-Clause
"""Learning from streams: callbacks, identity of topics, and changes."""

from streamtopics.streams.batches import TimedBatch
from streamtopics.streams.checkpoint import Checkpointer, Resumed, resume
from streamtopics.streams.monitoring.alarm import Alarm, ChangedTopic, DriftTest, NewTopic, NewWord
from streamtopics.streams.monitoring.monitor import DriftMonitor
from streamtopics.streams.stream import BatchInfo, ProgressReport, ScoreHistory, stream
from streamtopics.streams.tracking.tracker import NewsRow, TopicTracker, TrackedRow

__all__ = [
    "Alarm",
    "BatchInfo",
    "ChangedTopic",
    "Checkpointer",
    "DriftMonitor",
    "DriftTest",
    "NewTopic",
    "NewWord",
    "NewsRow",
    "ProgressReport",
    "Resumed",
    "ScoreHistory",
    "TimedBatch",
    "TopicTracker",
    "TrackedRow",
    "resume",
    "stream",
]
