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
# The chosen number is the first outstanding one by gain times stability. The gain is the better
# prediction of words by topics. The stability is the share of documents in the same topic of two
# models, beyond chance. The comparison includes numbers up to three times as large. From 40 on the
# product rises again: many of the texts are near copies of each other, and many topics tell the
# copies apart.
