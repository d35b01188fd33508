# SPDX-License-Identifier: BSD-3-Clause
"""
Topics that change
==================

A stream of documentation: first that of NumPy and SciPy, then, from one minibatch to the next, that of
matplotlib's and scikit-learn's packages. One model keeps all it has learnt, one forgets at a fixed rate, and
two learn from the stream how much to forget: all topics alike, or each by itself.
"""

# %%
# Minibatches of 200 documents in the order of the packages, and what each is called.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import SVBHPP, PowerPriorLDA
from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_curves, plot_drift

vectorizer = CountVectorizer(stop_words="english", min_df=5, max_features=3000)
parts = {"scipy": ["scipy"], "sklearn": ["sklearn"]}
texts = {name: load_docstrings(packages=packages).data for name, packages in parts.items()}
vectorizer.fit([text for part in texts.values() for text in part])
batches, times = [], []
for name, part in texts.items():
    order = np.random.default_rng(0).permutation(len(part))[:1600]
    X = vectorizer.transform([part[i] for i in order])
    for start in range(0, X.shape[0] - 199, 200):
        batches.append(X[start : start + 200])
        times.append(f"{name} {start // 200 + 1}")

# %%
# Each minibatch is scored before it is learnt. The callback tells when a model is about to let go of
# a topic.
models = {
    "keeps all": PowerPriorLDA(15, rho=1.0, n_passes=5, random_state=0),
    "keeps 0.7": PowerPriorLDA(15, rho=0.7, n_passes=5, random_state=0),
    "one rate": SVBHPP(15, random_state=0),
    "a rate for each topic": SVBHPP(15, rate="topic", random_state=0),
}
for name in ("one rate", "a rate for each topic"):
    models[name].set_params(
        on_drift=lambda record, name=name: print(
            f"{name}: {np.sum(record.retention < 0.5)} topics forgotten at {record.time}"
        )
    )
scores = {name: [] for name in models}
for t, (X, time) in enumerate(zip(batches, times, strict=True)):
    for name, model in models.items():
        if t > 0:
            scores[name].append(model.score(X))
        model.partial_fit(X, time=time)
figure = plot_curves(
    scores, x=range(2, len(batches) + 1), xlabel="minibatch", ylabel="nats per token to come"
)
for name, values in scores.items():
    print(f"{name:22} {np.mean(values):.3f} nats per token to come")

# %%
# How much of each topic was kept with each minibatch, and how far its words moved.
figure = plot_drift(models["a rate for each topic"])

# %%
# The same as a table: the topics that moved farthest when the packages changed, and the words that
# came and went.
report = models["a rate for each topic"].drift_report(vectorizer.get_feature_names_out())
change = [row for row in report if row.time == "sklearn 1"]
for row in sorted(change, key=lambda row: -row.moved)[:5]:
    print(f"topic {row.topic:2}: kept {row.retention:.2f}, moved {row.moved:.2f}")
    print("   gained", " ".join(row.gained))
    print("   lost  ", " ".join(row.lost))
