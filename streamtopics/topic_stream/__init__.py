# SPDX-License-Identifier: BSD-3-Clause
"""Topics and reports of raw text in one object."""

from streamtopics.topic_stream.estimator import TopicStream

__all__ = ["TopicStream"]
