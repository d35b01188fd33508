# SPDX-License-Identifier: BSD-3-Clause
"""
A report in one file
====================

:func:`~streamtopics.report.report` writes topics, documents, shares over time and a search as one
HTML file. The file opens without a network.
"""

# %%
from pathlib import Path
from tempfile import mkdtemp

from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_topic_map

corpus = load_docstrings(packages=["numpy"])
path = Path(mkdtemp(), "topics.html")

# %%
# At most eight lines.
from sklearn.pipeline import make_pipeline

import streamtopics as st
from streamtopics.report import report

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(12, random_state=0)).fit(corpus.data)
report(model, path, texts=corpus.data, titles=corpus.names, title="NumPy")
print(f"{path.stat().st_size / 1e6:.2f} MB")

# %%
# The map of the report: topics with the same words are close.
ax = plot_topic_map(model[-1], words.get_feature_names_out())
