# SPDX-License-Identifier: BSD-3-Clause
"""
A folder of texts to topics
===========================

From the name of a folder to topics, and to typical documents of one topic.
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
# At most eight lines. Each topic has typical documents, with the names of the files.
from sklearn.pipeline import make_pipeline

import streamtopics as st

records = list(st.datasets.read_records(folder))
texts = [record.text for record in records]
words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
for row in st.inspection.documents_of(model, texts, topic=0, n_documents=3):
    print(f"{row.share:.2f}", records[row.document].source[-9:], repr(texts[row.document][:50]))

# %%
# A picture of the topics with distinctive words, and a page for a browser. For texts in another
# language ``max_df=0.2`` leaves out words found everywhere. Cut long texts about many things into
# paragraphs, ``text.split("\\n\\n")``.
from streamtopics.inspection import plot_topics
from streamtopics.report import report

axes = plot_topics(model[-1], words.get_feature_names_out(), relevance=0.6)
axes[0].figure.savefig(folder / "topics.png")
names = [Path(record.source).name for record in records]
report(model, folder / "topics.html", texts=texts, titles=names)
