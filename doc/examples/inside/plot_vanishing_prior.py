# SPDX-License-Identifier: BSD-3-Clause
"""
A vanishing prior and a boosted prior
=====================================

Streaming variational Bayes counts the prior once, so a stream washes the prior out. Boosting adds
the prior again with each minibatch. This example follows the prior's share of the mass of each
model, and the fate of a few seed words.
"""

# %%
# The stream is the documentation of NumPy, SciPy and scikit-learn. Two topics are seeded.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import BPSLDA, SVBLDA
from streamtopics.datasets import iter_minibatches, load_docstrings
from streamtopics.inspection import plot_curves
from streamtopics.priors import seed_prior

texts = load_docstrings(packages=["numpy", "scipy", "sklearn"]).data
vectorizer = CountVectorizer(stop_words="english", min_df=5, max_features=5000)
X = vectorizer.fit_transform(texts)
names = vectorizer.get_feature_names_out()

seeds = {
    "statistics": ["distribution", "probability", "variance", "sample"],
    "linear algebra": ["matrix", "eigenvalues", "decomposition", "triangular"],
}
prior = seed_prior(seeds, names, strength=50, n_components=10, base=0.01)

# %%
# Expected: frequent words outweigh 50 pseudo-counts.
tokens = X.sum(axis=0).A1
for own in prior[:2]:
    for column in np.flatnonzero(own > 1):
        share = own[column] / (own[column] + tokens[column])
        print(f"{names[column]:14} {share:4.0%} prior at the end")

# %%
# The share of the prior in the topics through the stream, for SVB and for BPS at three scales.
models = {"SVB": SVBLDA(10, topic_word_prior=prior, random_state=0)}
for scale in (0.05, 0.1, 0.3):
    models[f"BPS, s = {scale}"] = BPSLDA(
        10, boosting_scale=scale, topic_word_prior=prior, random_state=0
    )

kept = {name: [] for name in models}
seen = []
for batch in iter_minibatches(X, batch_size=250):
    for name, model in models.items():
        model.partial_fit(batch)
        mass = model.components_.sum(axis=1)
        kept[name].append(np.average(model.prior_retention_, weights=mass))
    seen.append(model.n_documents_seen_)

ax = plot_curves(kept, x=seen, xlabel="documents seen", ylabel="share of the prior in all topics")

# %%
# The more boost, the more of the prior is left.
assert kept["SVB"][-1] < kept["BPS, s = 0.05"][-1] < kept["BPS, s = 0.3"][-1]

# %%
# The seeded topics at the end.
for name in ("SVB", "BPS, s = 0.3"):
    for seed, words in zip(seeds, models[name].top_words(names, n_words=8), strict=False):
        print(f"{name:13} {seed:15} {' '.join(words)}")
