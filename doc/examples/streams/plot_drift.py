# SPDX-License-Identifier: BSD-3-Clause
"""
Changing topics
===============

Two streams under forgetting rules: in one a topic takes new words from one day to the next, and one
is real text moving from one subject to the next.
"""

# %%
# A topic with new words
# ----------------------
# Five topics on separate words. In the eighth minibatch topic 2 replaces three in ten words by new
# words. The model has a rate for each topic.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import SVBHPP, StreamingLDA
from streamtopics.datasets import load_docstrings, make_lda_corpus
from streamtopics.inspection import plot_curves, plot_drift

rng = np.random.default_rng(0)
topics = np.full((5, 300), 1e-4)
for k in range(5):
    topics[k, 40 * k : 40 * (k + 1)] = rng.dirichlet(np.ones(40))
new_words = np.full(300, 1e-4)
new_words[200:] = rng.dirichlet(np.ones(100))
changed = topics.copy()
changed[2] = 0.7 * topics[2] + 0.3 * new_words


def minibatch(day):
    topic_word = topics if day < 8 else changed
    topic_word = topic_word / topic_word.sum(axis=1, keepdims=True)
    alpha = np.full(5, 0.5)
    return make_lda_corpus(
        400, mean_length=200, topic_word=topic_word, doc_topic_prior=alpha, random_state=day
    ).X


model = SVBHPP.preset("SVBHPP", 5, rate="topic", doc_topic_prior=0.5, random_state=2)
for day in range(1, 13):
    model.partial_fit(minibatch(day), time=f"day {day}")
    if model.retention_.min() < 0.5:
        print(f"day {day}: kept {model.retention_.round(2)}")
axes = plot_drift(model)

# %%
# The day is right. Two topics are forgotten: topic 2, and a topic with some of the new words in the
# first pass. The forgotten topics depend on the start of the ascent. From ``rate_starts=(0.95,)``
# fewer topics are forgotten, and smaller changes are missed.
#
# The same in numbers. `TopicTracker` lists the new and lost words of a topic.
[record] = [record for record in model.drift_ if record.time == "day 8"]
print("kept", record.retention.round(2), "tokens", record.effective_sample_size.round())
assert record.retention[2] < 0.5

# %%
# Documentation, package by package
# ---------------------------------
# Minibatches of 200 pages of SciPy's documentation, then of scikit-learn's. Each minibatch is
# scored before learning.
vectorizer = CountVectorizer(stop_words="english", min_df=5, max_features=3000)
parts = {name: load_docstrings(packages=[name]).data for name in ("scipy", "sklearn")}
vectorizer.fit([text for part in parts.values() for text in part])
batches, times = [], []
for name, part in parts.items():
    order = np.random.default_rng(0).permutation(len(part))[:1600]
    X = vectorizer.transform([part[i] for i in order])
    for start in range(0, X.shape[0] - 199, 200):
        batches.append(X[start : start + 200])
        times.append(f"{name} {start // 200 + 1}")


def keeping(rho):
    return StreamingLDA.preset(
        "PowerPriorLDA", 15, update__rho=rho, schedule__n_rounds=5, random_state=0
    )


models = {
    "keeps all": keeping(1.0),
    "keeps 0.7": keeping(0.7),
    "one learnt rate": SVBHPP.preset("SVBHPP", 15, random_state=0),
    "a learnt rate for each topic": SVBHPP.preset("SVBHPP", 15, rate="topic", random_state=0),
}
scores = {name: [] for name in models}
for t, (X, time) in enumerate(zip(batches, times, strict=True)):
    for name, model in models.items():
        if t > 0:
            scores[name].append(model.score(X))
        model.partial_fit(X, time=time)
ax = plot_curves(
    scores, x=range(2, len(batches) + 1), xlabel="minibatch", ylabel="nats per token to come"
)
for name, values in scores.items():
    least = models[name].retention_history_.min()
    print(f"{name:30} {np.mean(values):.3f} nats per token to come, kept at least {least:.3f}")
assert max(scores, key=lambda name: np.mean(scores[name])) == "keeps 0.7"

# %%
# Here the learnt rates keep nearly all. A learnt rate asks if yesterday's topics are better than
# none; for pages about a new package yesterday's topics still are. The fixed rate always forgets,
# and is ahead. For drift of this kind try some fixed rates first.
