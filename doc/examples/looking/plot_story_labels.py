# SPDX-License-Identifier: BSD-3-Clause
"""
Names for topics that stay
==========================

:func:`~streamtopics.inspection.label_topics` calls a function of yours, which may ask a language
model, with the words of a topic and sentences from its leading documents. Later only topics whose
words have changed get a new name.
"""

# %%
# Paragraphs of addresses on the State of the Union since 1945, in the public domain
# (:download:`speeches.jsonl.gz <../../_static/speeches.jsonl.gz>`).
import matplotlib.pyplot as plt

from streamtopics.datasets import read_texts

path = "../../_static/speeches.jsonl.gz"  # or where you have saved it
texts = list(read_texts(path))

# %%
# At most eight lines. The function here takes the three most telling words.
import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
X, names = words.fit_transform(texts), words.get_feature_names_out()
model = st.StreamingLDA(8, random_state=0).fit(X[:600])
labels = st.inspection.label_topics(model, lambda top, sentences: " ".join(top[:3]), names)
later = st.inspection.label_topics(
    model.partial_fit(X[600:]), lambda top, sentences: "changed: " + top[0], names, before=labels
)

# %%
# Sizes of the topics after the last 120 paragraphs, with the names that they kept or got.
shares = model.transform(X).mean(axis=0)
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh([f"{row.topic}: {row.label}" for row in later], shares)
ax.invert_yaxis()
ax.set_xlabel("share of the documents")
ax.spines[["top", "right"]].set_visible(False)
