# SPDX-License-Identifier: BSD-3-Clause
"""
Clusters of short texts
=======================

Titles, tweets and subjects of commits have five to ten words, and are mostly about one thing.
:class:`~streamtopics.StreamingMixture` gives each text one topic.
"""

# %%
# The titles: the first sentence of each page of the documentation of NumPy, SciPy and scikit-learn.
from streamtopics.datasets import load_docstrings

corpus = load_docstrings(packages=["numpy", "scipy", "sklearn"])
titles = [" ".join(text.split("\n\n")[0].split()) for text in corpus.data]

# %%
# At most eight lines. ``predict`` tells the cluster of each title.
import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
X = words.fit_transform(titles)
model = st.StreamingMixture(12, random_state=0)
clusters = model.fit_predict(X)
axes = st.inspection.plot_topics(model, words.get_feature_names_out(), n_words=6)
for title in [titles[i] for i in range(len(titles)) if clusters[i] == clusters[100]][:4]:
    print(title[:90])
