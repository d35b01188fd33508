# SPDX-License-Identifier: BSD-3-Clause
"""Topics of raw text: counts, topics, shares and reports in one object."""

from streamtopics.topic_stream.estimator import TopicStream

__all__ = ["TopicStream"]
