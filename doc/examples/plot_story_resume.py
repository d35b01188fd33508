# SPDX-License-Identifier: BSD-3-Clause
"""
A stream that is cut goes on
============================

:class:`~streamtopics.streams.Checkpointer` saves the model along its stream, and
:func:`~streamtopics.streams.resume` finds the newest. The end is that of a stream that was never
cut.
"""

# %%
from tempfile import mkdtemp

from streamtopics import StreamingLDA, load, save
from streamtopics.datasets import iter_minibatches, load_docstrings
from streamtopics.inspection import plot_scores
from streamtopics.streams import Checkpointer, ScoreHistory, resume, stream
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

texts, folder = load_docstrings(packages=["numpy"]).data, mkdtemp()
words = StreamingCountVectorizer(max_features=5000, stop_words="english")
model = StreamingPipeline([("words", words), ("topics", StreamingLDA(10, random_state=0))])

# %%
# The first half, as if it had stopped there.
history = ScoreHistory()
keep = Checkpointer(folder, every=5, also=[history])
stream(model, iter_minibatches(texts[:1000], 100), callbacks=[history, keep])

# %%
# Another process goes on, and keeps the model in the end. At most eight lines with those above.
found = resume(folder)
[history] = found.callbacks
keep, batches = Checkpointer(folder, every=5, also=[history]), iter_minibatches(texts, 100)
model = stream(found.model, batches, callbacks=[history, keep], skip=found.n_batches)
save(model, folder + "/topics.model")

# %%
# What is kept is a model as any other.
n_topics = len(load(folder + "/topics.model").top_words())
print(found.n_batches, "minibatches were done;", n_topics, "topics")

# %%
# Scores of each minibatch before it was learnt, across the cut.
ax = plot_scores(history.rows)
