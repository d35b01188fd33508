# SPDX-License-Identifier: BSD-3-Clause
"""
A folder of texts to topics
===========================

From the name of a folder to topics, and to the documents that stand for one of them.
"""

# %%
# The folder: a file for each page of the documentation of NumPy, as a stand-in for your own.
from pathlib import Path
from tempfile import mkdtemp

from streamtopics.datasets import load_docstrings

folder = Path(mkdtemp())
for i, text in enumerate(load_docstrings(packages=["numpy"]).data):
    Path(folder, f"{i:05}.txt").write_text(text, encoding="utf-8")

# %%
# At most eight lines. Topics come with their telling words, and with the documents they are most
# of.
from sklearn.pipeline import make_pipeline

import streamtopics as st

texts = list(st.datasets.read_texts(folder))
words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
axes = st.inspection.plot_topics(model[-1], words.get_feature_names_out(), relevance=0.6)
for row in st.inspection.documents_of(model, texts, topic=0, n_documents=3):
    print(f"{row.share:.2f}", " ".join(texts[row.document].split())[:80])
