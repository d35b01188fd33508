# SPDX-License-Identifier: BSD-3-Clause
"""
Resuming a stream
=================

:class:`~streamtopics.streams.Checkpointer` saves the model along the stream, and
:func:`~streamtopics.streams.resume` finds the newest checkpoint. The end equals the end of an
uninterrupted stream.
"""

# %%
# A model, and a stream with a stop after 1,000 documents.
from itertools import islice
from tempfile import mkdtemp

from sklearn.base import clone

from streamtopics import StreamingLDA
from streamtopics.datasets import iter_minibatches, load_docstrings
from streamtopics.inspection import plot_scores
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

batches, folder = list(iter_minibatches(load_docstrings(packages=["numpy"]).data, 100)), mkdtemp()
words = StreamingCountVectorizer(max_features=5000, stop_words="english")
model = StreamingPipeline([("words", words), ("topics", StreamingLDA(10, random_state=0))])
uncut = clone(model)
half = islice(batches, 10)

# %%
# At most eight lines, the lines of the second process included.
import streamtopics as st

scores = st.streams.ScoreHistory()
keep = st.streams.Checkpointer(folder, every=4, also=[scores])
st.streams.stream(model, half, callbacks=[scores, keep])

# %%
# Another process goes on from the newest checkpoint, and keeps the model in the end.
import streamtopics as st

found = st.streams.resume(folder)
st.streams.stream(found.model, batches, callbacks=found.callbacks, skip=found.n_batches)
st.save(found.model, folder + "/topics.model")

# %%
# The result equals the result of a stream without a cut, to the last bit.
st.streams.stream(uncut, batches)
kept = st.load(folder + "/topics.model")
same = (kept[-1].topic_word_ == uncut[-1].topic_word_).all()
print(f"resumed after {found.n_batches} minibatches; the same bits: {same}")
assert same

# %%
# Scores of each minibatch before learning, across the cut.
[scores] = found.callbacks
ax = plot_scores(scores.rows, window=4)
