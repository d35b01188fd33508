# SPDX-License-Identifier: BSD-3-Clause
"""
An alarm when a stream changes
==============================

:class:`~streamtopics.streams.DriftMonitor` tests each minibatch before it is learnt, and says which
topics and words have changed.
"""

# %%
# The stream: nine minibatches of NumPy's documentation in random order, then scikit-learn's.
from streamtopics import GibbsOnlineEM
from streamtopics.datasets import iter_minibatches, load_docstrings
from streamtopics.inspection import plot_curves
from streamtopics.streams import DriftMonitor, stream
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

old = load_docstrings(packages=["numpy"]).data[:1350]
new = load_docstrings(packages=["sklearn"]).data[:450]

# %%
# At most eight lines. An alarm is three lines to read.
words = StreamingCountVectorizer(max_features=5000, stop_words="english")
model = StreamingPipeline([("words", words), ("topics", GibbsOnlineEM(10, random_state=0))])
monitor = DriftMonitor()
stream(model, iter_minibatches(old + new, batch_size=150), callbacks=[monitor])
print(*monitor.alarms, sep="\n")

# %%
# It rings if both p-values are below 0.01: of the exact test, and of the chart along the stream.
tests = monitor.tests
curves = {"exact test": [t.p_exact for t in tests], "chart": [t.p_chart for t in tests]}
ax = plot_curves(curves, x=[t.batch for t in tests], xlabel="minibatch", ylabel="p-value")
ax.set_yscale("log")
line = ax.axhline(0.01, linestyle=":", color="gray")
