# SPDX-License-Identifier: BSD-3-Clause
"""
What is new
===========

:class:`~streamtopics.streams.TopicTracker` gives topics an id along a stream, and lists births,
growth and deaths since a given time.
"""

# %%
# A stream of NumPy's documentation; scikit-learn's joins from the eleventh minibatch on.
from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_shares
from streamtopics.streams import TimedBatch

old, new = (load_docstrings(packages=[name]).data for name in ("numpy", "sklearn"))
batches = [TimedBatch(old[100 * i : 100 * i + 100], i + 1) for i in range(10)]
batches += [TimedBatch(new[100 * i : 100 * i + 100], i + 11) for i in range(6)]

# %%
# At most eight lines.
import streamtopics as st

words = st.text.StreamingCountVectorizer(max_features=5000, stop_words="english")
topics = st.StreamingLDA(8, update=st.updates.PowerPrior(st.updates.Memory(800)), random_state=0)
model = st.text.StreamingPipeline([("words", words), ("topics", topics)])
tracker = st.streams.TopicTracker()
st.streams.stream(model, batches, callbacks=[tracker])
for row in tracker.news(since=10, n_words=5):
    print(f"{row.kind:8} {row.share_before:.2f} -> {row.share:.2f}", *row.words[:5])

# %%
# The model always has eight topics, so the news are changes of words and shares.
times, ids, shares = tracker.shares()
top = {row.topic: " ".join(row.words[:3]) for row in tracker.topics()}
ax = plot_shares(times, shares, [f"{i}: {top[i]}" for i in ids], ylabel="share of the tokens")
label = ax.set_xlabel("minibatch")
