# SPDX-License-Identifier: BSD-3-Clause
"""
Births and deaths of clusters
=============================

On a long stream old subjects end and new subjects begin. With ``births`` a
:class:`~streamtopics.StreamingMixture` opens clusters for new subjects, and closes clusters without
new texts.
"""

# %%
# First sentences of NumPy's documentation, then of scikit-learn's.
import matplotlib.pyplot as plt

from streamtopics.datasets import load_docstrings

pages = [text for name in ("numpy", "sklearn") for text in load_docstrings(packages=[name]).data]
titles = [" ".join(text.split("\n\n")[0].split()) for text in pages]

# %%
# At most eight lines.
import streamtopics as st
from streamtopics.updates import DirichletProcess, Memory, PowerPrior

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
X, forget = words.fit_transform(titles), PowerPrior(Memory(1000))
model = st.StreamingMixture(60, update=forget, births=DirichletProcess(), random_state=0)
for start in range(0, len(titles), 500):
    model = model.partial_fit(X[start : start + 500], time=start)

# %%
# A line for each cluster, from birth to death, with the words.
rows = model.births_report(words.get_feature_names_out())
end = len(titles)
_, ax = plt.subplots(figsize=(8, 0.22 * len(rows) + 1), layout="constrained")
for i, row in enumerate(rows):
    ax.plot([row.born_time, end if row.died_time is None else row.died_time], [i, i], linewidth=4)
    ax.text(row.born_time, i, " ".join(row.words[:3]) + "  ", ha="right", va="center", fontsize=8)
ax.set_xlim(-1500, end)
ax.set_xticks(range(0, end, 1000))
ax.set_yticks([])
ax.set_xlabel("documents")
ax.spines[["top", "right", "left"]].set_visible(False)
