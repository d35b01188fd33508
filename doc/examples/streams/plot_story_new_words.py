# SPDX-License-Identifier: BSD-3-Clause
"""
A stream with changing words
============================

A vocabulary from the first texts misses later words. :class:`~streamtopics.text.StreamingPipeline`
learns words and topics together, and gives the columns of unused words to new words.
"""

# %%
# A stream of NumPy's documentation, then scikit-learn's.
import matplotlib.pyplot as plt

from streamtopics.datasets import load_docstrings

texts = [text for name in ("numpy", "sklearn") for text in load_docstrings(packages=[name]).data]

# %%
# At most eight lines.
import streamtopics as st

words = st.text.StreamingCountVectorizer(max_features=1500, half_life=500, stop_words="english")
topics = st.StreamingLDA(10, random_state=0)
pipeline, recycled = st.text.StreamingPipeline([("words", words), ("topics", topics)]), []
for minibatch in st.datasets.iter_minibatches(texts, batch_size=200):
    pipeline.partial_fit(minibatch)
    recycled.append(len(words.recycled_))
print(pipeline.top_words(n_words=6)[:3])

# %%
# Columns with a new word in each minibatch: many at the start, while the frequencies of words
# settle, and again when the subject changes.
_, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar([200 * (i + 1) for i in range(len(recycled))], recycled, width=150)
ax.axvline(len(load_docstrings(packages=["numpy"]).data), color="black", linewidth=1)
ax.set_xlabel("documents (the line is where scikit-learn's begin)")
ax.set_ylabel("columns given to new words")
ax.spines[["top", "right"]].set_visible(False)
