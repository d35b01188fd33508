# SPDX-License-Identifier: BSD-3-Clause
"""
A digest of many documents
==========================

:meth:`DPPSummarizer.digest <streamtopics.DPPSummarizer.digest>` chooses central sentences of many
documents, different from each other, and counts the closest documents of each sentence.
"""

# %%
# Scikit-learn's documentation about regression: the first paragraph of each page.
from textwrap import shorten

from matplotlib import pyplot

from streamtopics.datasets import load_docstrings

corpus = load_docstrings(packages=["sklearn"])
firsts = [text.split("\n\n")[0].replace("\n", " ") for text in corpus.data]
texts = [text for text in firsts if "regress" in text.lower()]

# %%
# At most eight lines.
import streamtopics as st

digest = st.DPPSummarizer().digest(texts, n_sentences=5)
for found in digest:
    print(f"{found.n_documents:4} of {len(texts)}  {found.sentence[:90]}")

# %%
# How many documents each sentence stands for.
_, ax = pyplot.subplots(figsize=(9, 2.5), layout="constrained")
sentences = [shorten(found.sentence, 60, placeholder=" ...") for found in digest]
ax.barh(sentences, [found.n_documents for found in digest])
ax.invert_yaxis()
ax.set_xlabel("documents")
ax.spines[["top", "right"]].set_visible(False)
