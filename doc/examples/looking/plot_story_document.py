# SPDX-License-Identifier: BSD-3-Clause
"""
The topics of one text
======================

:func:`~streamtopics.inspection.similar_documents` finds texts with the same topics as a given text.
A few lines of matplotlib colour the words by topic, like the report for many texts.
"""

# %%
# Paragraphs of addresses on the State of the Union since 1945, in the public domain
# (:download:`speeches.jsonl.gz <../../_static/speeches.jsonl.gz>`).
from streamtopics.datasets import read_texts

path = "../../_static/speeches.jsonl.gz"  # or where you have saved it
texts = list(read_texts(path))

# %%
# At most eight lines.
import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline

import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
for row in st.inspection.similar_documents(model, texts, texts[:1], n_documents=4):
    print(f"{row.similarity:.2f}", texts[row.document][:80])

# %%
# A word gets the colour of the topic k with the largest p(k | document) p(word | k).
column = {word: j for j, word in enumerate(words.get_feature_names_out())}
weights = model.transform(texts[:1]).T * model[-1].topic_word_
_, ax = plt.subplots(figsize=(9, 3))
place = line = 0
for word in texts[0].split():
    j = column.get(word.strip(".,;:").lower())
    colour = "gray" if j is None else f"C{weights[:, j].argmax()}"
    ax.text(place, -line, word, color=colour, family="monospace", fontsize=9)
    place += len(word) + 1
    if place > 85:
        place, line = 0, line + 1
ax.set(xlim=(0, 100), ylim=(-line, 1))
ax.set_axis_off()
