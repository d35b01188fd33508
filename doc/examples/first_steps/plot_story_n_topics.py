# SPDX-License-Identifier: BSD-3-Clause
"""
How many topics
===============

Models with several numbers of topics learn from the same parts of a corpus. The comparison uses the
prediction of held-out words, and the top words.
"""

# %%
# Documentation of NumPy.
from streamtopics.datasets import load_docstrings

texts = load_docstrings(packages=["numpy"]).data

# %%
# At most eight lines.
import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
X, numbers = words.fit_transform(texts), [5, 10, 20, 40, 80, 160]
model = st.StreamingLDA(start="spectral")
found = st.inspection.compare_n_components(model, X, numbers, random_state=0)
axes = st.inspection.plot_n_components(found)
print(found)

# %%
# The number that is chosen is the first that stands out by gain times stability: what topics add to
# the prediction of words, times the share of documents that two models put into the same topic,
# beyond chance. Numbers up to three times as large are compared with it. From 40 on the product
# rises again: many of these texts are near copies of each other, which many topics tell apart.
