# SPDX-License-Identifier: BSD-3-Clause
"""
An alarm when a stream changes
==============================

:class:`~streamtopics.streams.DriftMonitor` tests each minibatch before learning, and lists new
subjects and changed topics and words.
"""

# %%
# The stream: nine minibatches of NumPy's documentation in random order, then scikit-learn's.
from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_curves

texts = load_docstrings(packages=["numpy"]).data[:1350]
texts += load_docstrings(packages=["sklearn"]).data[:450]

# %%
# At most eight lines. An alarm is a few lines to read.
import streamtopics as st

words = st.text.StreamingCountVectorizer(max_features=5000, stop_words="english")
topics = st.GibbsOnlineEM(10, random_state=0)
model = st.text.StreamingPipeline([("words", words), ("topics", topics)])
batches = st.datasets.iter_minibatches(texts, batch_size=150)
monitor = st.streams.DriftMonitor()
st.streams.stream(model, batches, callbacks=[monitor])
print(*monitor.alarms, sep="\n")

# %%
# The alarm rings when the second documentation begins, with the tenth minibatch.
assert monitor.alarms[0].batch == 10

# %%
# The alarm rings if two p-values are below 0.01: of the exact test, and of the chart along the
# stream.
tests = monitor.tests
curves = {"exact test": [t.p_exact for t in tests], "chart": [t.p_chart for t in tests]}
ax = plot_curves(curves, x=[t.batch for t in tests], xlabel="minibatch", ylabel="p-value")
ax.set_yscale("log")
line = ax.axhline(0.01, linestyle=":", color="gray")
