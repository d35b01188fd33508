# SPDX-License-Identifier: BSD-3-Clause
"""The one object on raw text: it counts words, learns topics, and reports what happens to them."""

from streamtopics.topic_stream.estimator import TopicStream

__all__ = ["TopicStream"]
