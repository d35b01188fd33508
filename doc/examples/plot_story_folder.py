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

from sklearn.pipeline import make_pipeline

from streamtopics import StreamingLDA
from streamtopics.datasets import load_docstrings, read_texts
from streamtopics.inspection import documents_of, plot_topics
from streamtopics.text import StreamingCountVectorizer

folder = Path(mkdtemp())
for i, text in enumerate(load_docstrings(packages=["numpy"]).data):
    Path(folder, f"{i:05}.txt").write_text(text, encoding="utf-8")

# %%
# At most eight lines. Topics come with their telling words, and with the documents they are most
# of.
texts = list(read_texts(folder))
words = StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[^\W\d_]{3,}")
model = make_pipeline(words, StreamingLDA(8, random_state=0)).fit(texts)
axes = plot_topics(model[-1], words.get_feature_names_out(), relevance=0.6)
for row in documents_of(model, texts, topic=0, n=3):
    print(f"{row.share:.2f}", " ".join(texts[row.document].split())[:80])
