# SPDX-License-Identifier: BSD-3-Clause
"""
Words moved by a prior of classes
=================================

`MultiViewLDA` explains a document by topics of the class and by topics shared by all classes. A
flat prior hardly separates the two. A prior with the typical words of each class does. This example
looks at the words moved by the prior from the shared topics to the topics of the classes.
"""

# %%
# The stream is the documentation of NumPy, SciPy and scikit-learn; the class of a text is the
# package. The prior is made of the first 400 texts: 200 seed words of each class, 20 tokens each,
# over a flat 0.05. The rest is streamed.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import MultiViewLDA
from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_curves
from streamtopics.priors import class_words_prior
from streamtopics.updates import BPS

corpus = load_docstrings(packages=["numpy", "scipy", "sklearn"])
vectorizer = CountVectorizer(stop_words="english", min_df=5, token_pattern=r"[a-z]{3,}")
X = vectorizer.fit_transform(corpus.data)
words = vectorizer.get_feature_names_out()
y = np.array(corpus.target_names)[corpus.target]

known, stream, test = slice(0, 400), slice(400, -1000), slice(-1000, None)
prior = class_words_prior(X[known], y[known], n_seeds=200, strength=20, base=0.05)

# %%
# Some seed words of each class, in the order of tokens in the class.
for name, row in zip(np.unique(y), prior, strict=True):
    tokens = np.asarray(X[known][y[known] == name].sum(axis=0)).ravel()
    seeds = np.flatnonzero(row == row.max())
    print(f"{name:8}", *words[seeds[np.argsort(-tokens[seeds])][:9]])

# %%
# Three models on the same stream: a flat prior, the class prior, and the boosted class prior, so
# the stream does not wash the prior out. By the prior of the shares about half of the words may be
# shared. The score is the accuracy on the last 1000 texts.
settings = {
    "flat prior": {"class_word_prior": 0.05},
    "class prior": {"class_word_prior": prior},
    "class prior, s = 0.4": {"class_word_prior": prior, "update": BPS(0.4)},
}
models = {
    name: MultiViewLDA(3, 5, local_share_prior=(5, 5), random_state=0, **own)
    for name, own in settings.items()
}
curves, seen = {name: [] for name in models}, []
for start in range(0, X[stream].shape[0], 500):
    batch = slice(start, start + 500)
    for name, model in models.items():
        model.partial_fit(X[stream][batch], y[stream][batch], classes=np.unique(y))
        curves[name].append(model.score(X[test], y[test]))
    seen.append(model.n_documents_seen_)

ax = plot_curves(curves, x=seen, xlabel="documents seen", ylabel="accuracy")
for name, curve in curves.items():
    print(f"{name:22} {curve[-1]:.3f}")


# %%
# The share of a word's tokens in the texts of a class assigned to the topics of the class. The rest
# of the tokens is in shared topics.
tokens = np.array([X[stream][y[stream] == name].sum(axis=0).A1 for name in np.unique(y)])
tokens = np.where(tokens >= 50, tokens, np.nan)


def share_of_class(model):
    parts = model.posterior_.parts[:-1]
    return np.array([(part.a * part.S).sum(axis=1) for part in parts]) / tokens


shares = {name: share_of_class(model) for name, model in models.items()}
seed = prior == prior.max()
for name, share in shares.items():
    print(f"{name:22} seed words {np.nanmean(share[seed]):4.0%}, "
          f"others {np.nanmean(share[~seed]):4.0%}")  # fmt: skip

# %%
# The words moved most by the boosted prior from the shared topics to the topics of a class. A star
# marks seeds.
for name, row, pulled in zip(
    np.unique(y), seed, shares["class prior, s = 0.4"] - shares["flat prior"], strict=True
):
    order = np.argsort(-np.nan_to_num(pulled, nan=-9))[:10]
    print(f"{name:8}", *(f"{words[i]}{'*' if row[i] else ''}" for i in order))

# %%
# And the most probable words of the topics of the class.
model = models["class prior, s = 0.4"]
for place, top in zip(model.topic_class_, model.top_words(words, n_words=7), strict=True):
    print(f"{model.classes_[place] if place >= 0 else 'shared':8}", *top)
seeds = {name: set(words[row]) for name, row in zip(np.unique(y), seed, strict=True)}
assert seeds[model.classes_[0]] & set(model.top_words(words, n_words=50)[0])
