# SPDX-License-Identifier: BSD-3-Clause
"""Learning from streams: what goes along with one, and what to do after a change."""

from streamtopics.streams.batches import BatchWith, TimedBatch
from streamtopics.streams.callbacks import BatchInfo
from streamtopics.streams.clock import set_back
from streamtopics.streams.early_stopping import EarlyStopping
from streamtopics.streams.fork import AlarmFork, Choice
from streamtopics.streams.prequential import Prequential, prequential_score
from streamtopics.streams.progress_report import ProgressReport
from streamtopics.streams.score_history import ScoreHistory, ScoreRow
from streamtopics.streams.stream import stream
from streamtopics.streams.time_split import TimeSplit

__all__ = [
    "AlarmFork",
    "BatchInfo",
    "BatchWith",
    "Choice",
    "EarlyStopping",
    "Prequential",
    "ProgressReport",
    "ScoreHistory",
    "ScoreRow",
    "TimeSplit",
    "TimedBatch",
    "prequential_score",
    "set_back",
    "stream",
]
