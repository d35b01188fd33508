# SPDX-License-Identifier: BSD-3-Clause
"""
Word embeddings from a determinantal point process
==================================================

A determinantal point process models a document as a set of different sentences, and learns a vector
for each word.
"""

# %%
# Documents as sets of sentences
# ------------------------------
# Docstrings of several packages, the most common words, and sentences as sets of common words: one
# of 2^400 sets.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import LowRankDPP
from streamtopics.datasets import load_docstrings
from streamtopics.text import SentenceVectorizer

texts = load_docstrings().data
counter = CountVectorizer(max_features=400, stop_words="english", token_pattern=r"[a-z]{3,}")
vectorizer = SentenceVectorizer(counter)
documents = [x[np.diff(x.indptr) > 0] for x in vectorizer.fit_transform(texts)]
documents = [x for x in documents if 2 < x.shape[0] < 40][:1000]
words = vectorizer.get_feature_names_out()
sizes = [x.shape[0] for x in documents]
print(f"{len(documents)} docstrings of {np.mean(sizes):.1f} sentences")

# %%
# The kernel and the likelihood
# -----------------------------
# Most sentences become background: independent draws of words. On held-out text the rest gains
# little over independent sentences. With the noise of the source, fixed and small, the model is far
# worse than independent sentences. Sentences of a text are not unlike each other, because sentences
# share the words of the text.
train, test = documents[::2], documents[1::2]
model = LowRankDPP(n_components=10, random_state=0).fit(train)
fixed = LowRankDPP(gamma=1 / 400, noise_level=1e-3, max_iter=3, random_state=0).fit(train)
for name, fitted in (("learnt noise", model), ("noise of the source", fixed)):
    gain = fitted.gain_over_independent(test)
    print(f"{name:>20}: {gain.mean():+7.2f} +- {gain.std() / len(gain) ** 0.5:.2f} nats a document")
assert gain.mean() < 0 < model.gain_over_independent(test).mean()
print(f"{model.noise_level_:.1f} of {model.expected_size_:.1f} sentences are background")

# %%
# Columns: distinctive words of sentences
# ---------------------------------------
for row in model.top_words(words, 9)[: model.n_active_components_]:
    print("  ".join(row))

# %%
# Rows: words in the same role
# ----------------------------
# Two words are near if a sentence with the first makes a sentence with the second improbable. The
# measure is the cosine of two rows of U, with the columns weighted by theta.
from sklearn.metrics.pairwise import cosine_similarity

asked = ["array", "file", "string", "true", "returns", "error"]
embedding, places = model.components_.T * np.sqrt(model.theta_), list(words)
similarity = cosine_similarity(embedding[[places.index(word) for word in asked]], embedding)
for word, row in zip(asked, similarity, strict=True):
    nearest = [f"{words[i]} {row[i]:.2f}" for i in np.argsort(-row)[1:7]]
    print(f"{word:>8}: {',  '.join(nearest)}")

# %%
# The same as a picture, for the chosen words and the nearest words of each.
import matplotlib.pyplot as plt

near = list(dict.fromkeys(str(words[i]) for row in similarity for i in np.argsort(-row)[:3]))
figure, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
shown = cosine_similarity(embedding[[places.index(word) for word in near]])
image = ax.imshow(shown, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(len(near)), near, rotation=90, fontsize=8)
ax.set_yticks(range(len(near)), near, fontsize=8)
bar = figure.colorbar(image, label="cosine of the rows of two words")
