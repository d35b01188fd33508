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
# Docstrings of several packages, the words that are in the most of them, and sentences as sets
# of these words: one of 2^400.
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
# The kernel, and what it is good for
# -----------------------------------
# Most sentences are taken for background: independent draws of words. What is left gains little
# over independent sentences, on text that was held out, and with the noise of the source, which
# is fixed and small, the model is far worse than those. Sentences of a text are not unlike each
# other: they share its words.
train, test = documents[::2], documents[1::2]
model = LowRankDPP(n_components=10, random_state=0).fit(train)
fixed = LowRankDPP(gamma=1 / 400, noise_level=1e-3, max_iter=3, random_state=0).fit(train)
for name, fitted in (("learnt noise", model), ("noise of the source", fixed)):
    gain = fitted.gain_over_independent(test)
    print(f"{name:>20}: {gain.mean():+7.2f} +- {gain.std() / len(gain) ** 0.5:.2f} nats a document")
assert gain.mean() < 0 < model.gain_over_independent(test).mean()
print(f"{model.noise_level_:.1f} of {model.expected_size_:.1f} sentences are background")

# %%
# Columns: words that tell sentences apart
# ----------------------------------------
for row in model.top_words(words, 9)[: model.n_active_components_]:
    print("  ".join(row))

# %%
# Rows: words that stand in for each other
# ----------------------------------------
# Words are near if a sentence with one leaves no place for another sentence with the other: by the
# cosine of their rows of U, whose columns weigh as theta says.
from sklearn.metrics.pairwise import cosine_similarity

asked = ["array", "file", "string", "true", "returns", "error"]
embedding, places = model.components_.T * np.sqrt(model.theta_), list(words)
similarity = cosine_similarity(embedding[[places.index(word) for word in asked]], embedding)
for word, row in zip(asked, similarity, strict=True):
    nearest = [f"{words[i]} {row[i]:.2f}" for i in np.argsort(-row)[1:7]]
    print(f"{word:>8}: {',  '.join(nearest)}")

# %%
# The same as a picture, of the words that are asked for and the nearest of each.
import matplotlib.pyplot as plt

near = list(dict.fromkeys(str(words[i]) for row in similarity for i in np.argsort(-row)[:3]))
figure, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
shown = cosine_similarity(embedding[[places.index(word) for word in near]])
image = ax.imshow(shown, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(len(near)), near, rotation=90, fontsize=8)
ax.set_yticks(range(len(near)), near, fontsize=8)
bar = figure.colorbar(image, label="cosine of the rows of two words")
