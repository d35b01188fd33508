# SPDX-License-Identifier: BSD-3-Clause
"""
Sentiment on a stream, with and without boosting
================================================

A few words are known to praise or to blame; the stream of reviews is otherwise unlabelled.
:class:`~streamtopics.AspectSentimentModel` learns from the known words to recognise positive
reviews. This example shows how long the model remembers.
"""

# %%
# The reviews are invented. Each review is about one of four products, with separate words from a
# large vocabulary. Sentences are short, and one word in seven shows the writer's feeling.
import numpy as np

from streamtopics import AspectSentimentModel
from streamtopics.inspection import plot_curves
from streamtopics.priors import seed_prior
from streamtopics.updates import BPS

rng = np.random.default_rng(0)
praise = [
    "good", "great", "excellent", "sturdy", "bright", "quick", "friendly", "crisp", "charming",
    "smooth", "lovely", "clever", "handy", "generous", "calm", "vivid", "fresh", "warm", "neat",
    "solid",
]  # fmt: skip
blame = [
    "bad", "poor", "awful", "flimsy", "dull", "slow", "rude", "noisy", "boring", "rough", "ugly",
    "clumsy", "useless", "stingy", "loud", "pale", "stale", "cold", "messy", "weak",
]  # fmt: skip
things = [f"thing{i}" for i in range(2000)]
vocabulary = np.array(praise + blame + things)

background = rng.dirichlet(np.full(len(things), 0.5))
products = 0.3 * background + 0.7 * rng.dirichlet(np.full(len(things), 0.2), 4)
feelings = np.zeros((2, 40))
for e in range(2):
    feelings[e, 20 * e : 20 * e + 20] = np.sort(rng.dirichlet(np.ones(20)))[::-1]


def review():
    """Counts of the words in each sentence, and whether most of the feelings are bad."""
    product, bad = rng.integers(4), rng.beta(0.3, 0.3)
    sentences = [
        rng.multinomial(4, np.concatenate([0.15 * feelings[e], 0.85 * products[product]]))
        for e in (rng.random(1 + rng.poisson(8)) < bad).astype(int)
    ]
    return np.stack(sentences), ["positive", "negative"][bad > 0.5]


reviews, truth = zip(*(review() for _ in range(1500)), strict=True)
truth = np.array(truth)

# %%
# Three words of each kind are known, as weakly as in the source: a hundredth of a token each, and a
# ten-thousandth for all remaining words. ``elsewhere`` makes a word of praise improbable in blame.
seeds = {"positive": praise[:3], "negative": blame[:3]}
prior = seed_prior(seeds, list(vocabulary), 0.01, base=1e-4, elsewhere=1e-6)

sign = np.array([word in seeds["positive"] for word in vocabulary]) * 1.0
sign -= [word in seeds["negative"] for word in vocabulary]
difference = np.array([(counts @ sign).sum() for counts in reviews])
counted = np.where(difference == 0, 0.5, (difference > 0) == (truth == "positive")).mean()
print(f"Counting the known words: {counted:.2f} of the reviews are right.")

# %%
# The accuracy on all reviews along the stream, without boosting (streaming variational Bayes) and
# with two boosting scales.
models = {
    f"s = {scale}": AspectSentimentModel(
        4, topic_word_prior=prior, update=BPS(scale, "topic"), random_state=0
    )
    for scale in (0, 0.2, 1)
}
accuracy = {name: [] for name in models}
seen = []
for start in range(0, len(reviews), 100):
    for name, model in models.items():
        model.partial_fit(reviews[start : start + 100])
        accuracy[name].append((model.predict(reviews[:500]) == truth[:500]).mean())
    seen.append(model.n_documents_seen_)
accuracy["known words counted"] = [counted] * len(seen)

ax = plot_curves(accuracy, x=seen, xlabel="reviews seen", ylabel="accuracy")

# %%
# Without a boost the stream soon outweighs the prior: the model groups sentences by product as
# readily as by feeling. With a boost the prior keeps the share in each topic.
for name, model in models.items():
    print(f"{name:8} {model.prior_retention_.mean():4.0%} prior, accuracy {accuracy[name][-1]:.2f}")

# %%
# The model also learns further words of praise and blame. The topics of a sentiment follow the
# topics of the previous sentiment in ``sentiment_names_``.
model = models["s = 1"]
topics = model.topic_word_[:, :40].reshape(2, 4, 40).mean(axis=1)
word_shares = dict(zip(model.sentiment_names_, topics, strict=True))
for sentiment, words in (("positive", praise), ("negative", blame)):
    [other] = set(word_shares) - {sentiment}
    own = word_shares[sentiment]
    telling = vocabulary[np.argsort(-own * np.log(own / word_shares[other]))[:10]]
    print(f"{sentiment:9} {' '.join(telling)}")
    assert np.isin(telling, words).mean() > 0.5
