# SPDX-License-Identifier: BSD-3-Clause
"""
The topics of one text
======================

:func:`~streamtopics.inspection.plot_document` colours the words of a text by their topic, and
:func:`~streamtopics.inspection.similar_documents` finds texts with the same topics.
"""

# %%
# Paragraphs of addresses on the State of the Union since 1945, in the public domain
# (:download:`speeches.jsonl.gz <../../_static/speeches.jsonl.gz>`).
from streamtopics.datasets import read_texts

path = "../../_static/speeches.jsonl.gz"  # or where you have saved it
texts = list(read_texts(path))

# %%
# At most eight lines.
from sklearn.pipeline import make_pipeline

import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
ax = st.inspection.plot_document(model, texts[0])
for row in st.inspection.similar_documents(model, texts, texts[:1], n_documents=4):
    print(f"{row.similarity:.2f}", texts[row.document][:80])
