# SPDX-License-Identifier: BSD-3-Clause
"""
Lasting names for topics
========================

Your own function, for example a call of a language model, names a topic from the words. Later only
topics with changed words get a new name.
"""

# %%
# Paragraphs of addresses on the State of the Union since 1945, in the public domain
# (:download:`speeches.jsonl.gz <../../_static/speeches.jsonl.gz>`).
import matplotlib.pyplot as plt

from streamtopics.datasets import read_texts

path = "../../_static/speeches.jsonl.gz"  # or where you have saved it
texts = list(read_texts(path))

# %%
# At most eight lines. The function here takes the three most distinctive words. A topic has changed
# when less than 35 of the fifty most probable words are the same.
import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
X, names = words.fit_transform(texts), words.get_feature_names_out()
model = st.StreamingLDA(8, random_state=0).fit(X[:600])
before = model.top_words(names, 50)
labels = [" ".join(top[:3]) for top in model.top_words(names, 3, relevance=0.6)]
now = model.partial_fit(X[600:]).top_words(names, 50)
same = [len({*then} & {*later}) >= 35 for then, later in zip(before, now, strict=True)]

# %%
# Sizes of the topics after the last 120 paragraphs, with old and new names.
shares = model.transform(X).mean(axis=0)
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh([f"{k}: {labels[k] if same[k] else 'changed: ' + now[k][0]}" for k in range(8)], shares)
ax.invert_yaxis()
ax.set_xlabel("share of the documents")
ax.spines[["top", "right"]].set_visible(False)
