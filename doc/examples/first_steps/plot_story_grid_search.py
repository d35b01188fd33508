# SPDX-License-Identifier: BSD-3-Clause
"""
A grid search on raw text
=========================

The search varies vocabulary and model together. The score charges for words outside the vocabulary,
so a vocabulary does not win by being small. Spelling a word is so expensive that the largest
vocabulary nearly always wins: use the score to see the cost of a smaller vocabulary, not to choose
the vocabulary.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from streamtopics.datasets import load_docstrings

texts = load_docstrings(packages=["numpy"]).data[:1200]

# %%
# At most eight lines.
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import streamtopics as st

words, topics = st.text.StreamingCountVectorizer(stop_words="english"), st.StreamingLDA()
pipeline = Pipeline([("words", words), ("topics", topics.set_params(random_state=0))])
grid = {"words__min_df": [2, 5, 20, 50], "topics__n_components": [5, 20]}
search = GridSearchCV(pipeline, grid, scoring=st.metrics.OpenVocabularyScorer(), cv=3).fit(texts)
print(search.best_params_)

# %%
# Nats a held-out token, unknown words included.
found = search.cv_results_
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for k in grid["topics__n_components"]:
    rows = np.flatnonzero(found["param_topics__n_components"] == k)
    scores = found["mean_test_score"][rows]
    ax.plot([str(n) for n in grid["words__min_df"]], scores, marker="o", label=f"{k} topics")
ax.set(xlabel="min_df", ylabel="nats per token")
legend = ax.legend()
