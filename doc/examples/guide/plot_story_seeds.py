# SPDX-License-Identifier: BSD-3-Clause
"""
Topics from seed words
======================

You know the topics, and a few words of each. :class:`~streamtopics.GuidedTopics` learns topics with
your names.
"""

# %%
# Documentation of scikit-learn, and three wanted topics.
import matplotlib.pyplot as plt

from streamtopics.datasets import load_docstrings

texts = load_docstrings(packages=["sklearn"]).data
seeds = {
    "clustering": ["cluster", "clusters", "kmeans"],
    "trees": ["tree", "trees", "leaf"],
    "scores": ["score", "precision", "recall"],
}

# %%
# At most eight lines. The use of the seed words, and the topic of new texts.
from sklearn.pipeline import make_pipeline

import streamtopics as st

counter = st.text.StreamingCountVectorizer(stop_words="english", min_df=5)
topics = st.GuidedTopics(seeds, n_unseeded=3, random_state=0)
model = make_pipeline(st.text.NamedVectorizer(counter), topics).fit(texts)
rows = topics.seed_report()
print(found := model.predict(["the depth of a random forest", "the centroids of groups"]))

# %%
# The share of each seed word in the topic of the seed.
assert list(found) == ["trees", "clustering"]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
bars = ax.barh([f"{row.topic}: {row.word}" for row in rows], [row.own_share for row in rows])
ax.invert_yaxis()
label = ax.set_xlabel("share of the word that its topic has")
