# SPDX-License-Identifier: BSD-3-Clause
"""
Topics of a few sentences
=========================

:class:`~streamtopics.WASTopicModel` finds topics rare in a corpus but dominant in whole sentences.
"""

# %%
# Sixty pages of scikit-learn's documentation.
import matplotlib.pyplot as plt

from streamtopics.datasets import load_docstrings

texts = load_docstrings(packages=["sklearn"]).data[:60]

# %%
# At most eight lines. ``texts=`` are the sentences from the splitter of the vectorizer.
import streamtopics as st

counter = st.text.StreamingCountVectorizer(stop_words="english", min_df=2)
words = st.text.SentenceVectorizer(counter)
X, sentences = words.fit_transform(texts), words.sentences(texts)
model = st.WASTopicModel(10, n_sweeps=60, n_burn_in=30, random_state=0).fit(X)
rare = model.subtle_topics(X, texts=sentences, max_share=0.1)
for topic in rare:
    print(f"{topic.share:.3f}", topic.n_sentences, "sentences:", *topic.words[:6])

# %%
# The number of sentences of each topic, and a sentence of each.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bars = ax.barh([" ".join(topic.words[:4]) for topic in rare], [t.n_sentences for t in rare])
ax.invert_yaxis()
label = ax.set_xlabel("sentences")
for topic in rare:
    print(topic.sentences[0].text[:90])
assert [topic.share for topic in rare] == sorted(topic.share for topic in rare)
