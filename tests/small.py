# SPDX-License-Identifier: BSD-3-Clause
"""Texts, counts, sets and reviews that are small and plain."""

import numpy as np

import streamtopics as st
from streamtopics.datasets import make_rated_reviews

SEA, SKY = ["ship sea sail wind mast"] * 40, ["sun sky star moon cloud"] * 60
COUNTS = np.array([[4, 0, 1, 0], [0, 3, 0, 2]] * 20)
RATED = make_rated_reviews(300, n_features=60, n_components=3, random_state=0)
EDGES = [np.array([[3, 2, 0], [0, 1, 2]]), np.array([[0, 2, 3]])] * 5


def stream_of(times, groups=None, K=2):
    stream = st.TopicStream(K, random_state=0)
    return stream.partial_fit(SEA + SKY, times=times, groups=groups)
