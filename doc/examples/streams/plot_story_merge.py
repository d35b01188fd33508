# SPDX-License-Identifier: BSD-3-Clause
"""
Parts of a stream, learnt apart and merged
==========================================

Two machines read half of the documents each. Both go on from one model of the first documents, and
``merge`` adds up the two results.
"""

# %%
# Documentation of NumPy, SciPy and scikit-learn, in random order; one text in ten is held out.
import matplotlib.pyplot as plt
import numpy as np

from streamtopics.datasets import load_docstrings

texts = np.array(load_docstrings(packages=["numpy", "scipy", "sklearn"]).data, dtype=object)
texts = np.random.default_rng(0).permutation(texts)
n = len(texts) // 10

# %%
# At most eight lines.
import copy

import streamtopics as st

X = st.text.StreamingCountVectorizer(stop_words="english", min_df=5).fit_transform(texts)
first = st.StreamingLDA(20, random_state=0).partial_fit(X[n : 3 * n])
left = copy.deepcopy(first).partial_fit(X[3 * n : 6 * n])
right = copy.deepcopy(first).partial_fit(X[6 * n :])
merged = copy.deepcopy(left).merge(right, base=first)

# %%
# The merged model predicts the held-out texts better than either part.
models = {"the first fifth": first, "left": left, "right": right, "merged": merged}
models["one after the other"] = copy.deepcopy(left).partial_fit(X[6 * n :])
scores = {name: model.score(X[:n]) for name, model in models.items()}
for name, score in scores.items():
    print(f"{name:20} {score:.3f}")
assert scores["merged"] > max(scores["left"], scores["right"])
_, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
ax.plot(list(scores.values()), list(scores), "o")
ax.invert_yaxis()
ax.set_xlabel("nats per held-out token")
ax.spines[["top", "right"]].set_visible(False)
