# SPDX-License-Identifier: BSD-3-Clause
"""
Topics over time
================

The shares of topics in the documents of each time, as a stream.
"""

# %%
# Documentation takes the place of years of papers: five "years", with ever more of scikit-learn.

from streamtopics.datasets import load_docstrings

old, new = (load_docstrings(packages=[name]).data for name in ("numpy", "sklearn"))
parts = [old[200 * i : 200 * (i + 1) - 40 * i] + new[100 * i : 100 * i + 40 * i] for i in range(5)]
texts = [text for part in parts for text in part]
years = [str(2020 + i) for i, part in enumerate(parts) for _ in part]

# %%
# At most eight lines.
from sklearn.pipeline import make_pipeline

import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
found = st.inspection.shares_over_time(model, texts, years)
labels = [" ".join(top) for top in model[-1].top_words(words.get_feature_names_out(), n=3)]
ax = st.inspection.plot_shares(found.times, found.shares, labels)
