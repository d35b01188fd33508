# SPDX-License-Identifier: BSD-3-Clause
"""
Nine methods on one stream
==========================

Methods of the literature for latent Dirichlet allocation, on the documentation of NumPy, SciPy and
scikit-learn: the prediction of held-out documents, by the number of documents seen.
"""

# %%
# One document in ten is held out. All methods see the same minibatches of 100 documents.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA, VariationalOnlineEM
from streamtopics.datasets import iter_minibatches, load_docstrings
from streamtopics.inspection import plot_curves

texts = load_docstrings(packages=["numpy", "scipy", "sklearn"]).data
X = CountVectorizer(stop_words="english", min_df=5, max_features=3000).fit_transform(texts)
held_out = np.arange(X.shape[0]) % 10 == 0
stream, test = X[~held_out], X[held_out]

K, size = 20, {"update__n_documents": stream.shape[0]}


def method(name, **parameters):
    return StreamingLDA.preset(name, K, random_state=0, **parameters)


models = {
    "G-OEM": GibbsOnlineEM(K, random_state=0),
    "V-OEM": VariationalOnlineEM(K, random_state=0),
    "V-OEM++": VariationalOnlineEM(K, update_each_sweep=True, max_local_iter=10, random_state=0),
    "SPLDA": method("SinglePassLDA", schedule__n_rounds=10),
    "SGS": method("StreamingGibbsLDA"),
    "OLDA": method("OnlineVBLDA", **size),
    "VarGibbs": method("VarGibbsLDA", **size),
    "SVB": SVBLDA(K, random_state=0),
    "LDS": method("LangevinLDA", inference__n_sweeps=20, **size),
}

# %%
# Perplexity is exp(-nats per token): the number of equally likely words with the same difficulty of
# a guess. Lower is better.
curves = {name: [] for name in models}
seen = []
for i, batch in enumerate(iter_minibatches(stream, batch_size=100)):
    for model in models.values():
        model.partial_fit(batch)
    if i % 4 == 3:
        seen.append(model.n_documents_seen_)
        for name, model in models.items():
            curves[name].append(np.exp(-model.score(test)))

ax = plot_curves(curves, x=seen, xlabel="documents seen", ylabel="held-out perplexity")

# %%
# The parts of each method are in :doc:`/user_guide/online_em`. Minibatches of 100 documents hold
# back the methods with a posterior over topics (OLDA, VarGibbs, SVB): the topics hardly leave the
# start. By default the minibatches of OLDA, VarGibbs and SVB are ten times as large.
for name in sorted(curves, key=lambda name: curves[name][-1]):
    print(f"{name:10} {curves[name][-1]:8.0f}")
