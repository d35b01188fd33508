# SPDX-License-Identifier: BSD-3-Clause
"""
Topics of a few sentences
=========================

:class:`~streamtopics.WASTopicModel` finds topics that are rare in a corpus and fill whole
sentences.
"""

# %%
# Sixty pages of scikit-learn's documentation.
import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import WASTopicModel
from streamtopics.datasets import load_docstrings
from streamtopics.text import SentenceVectorizer

texts = load_docstrings(packages=["sklearn"]).data[:60]

# %%
# At most eight lines. ``texts=`` are the sentences as the vectorizer has split them.
counter = CountVectorizer(stop_words="english", min_df=2, token_pattern=r"[a-z]{3,}")
words = SentenceVectorizer(counter)
X = words.fit_transform(texts)
model = WASTopicModel(10, n_sweeps=60, n_burn_in=30, random_state=0).fit(X)
names, sentences = words.get_feature_names_out(), words.sentences(texts)
rare = model.subtle_topics(X, texts=sentences, feature_names=names, max_share=0.1)
for topic in rare:
    print(f"{topic.share:.3f}", topic.n_sentences, "sentences:", *topic.words[:6])

# %%
# How many sentences each of them fills, and two sentences of the rarest.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bars = ax.barh([" ".join(topic.words[:4]) for topic in rare], [t.n_sentences for t in rare])
ax.invert_yaxis()
label = ax.set_xlabel("sentences")
for sentence in rare[0].sentences[:2]:
    print(sentence.text)
