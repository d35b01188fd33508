# SPDX-License-Identifier: BSD-3-Clause
"""Reviews drawn from the aspect and sentiment unification model, of which the truth is known."""

from typing import NamedTuple

import numpy as np

from streamtopics.priors import seed_prior


class Reviews(NamedTuple):
    """Documents of sentences, their sentiments and topics, and what is known beforehand."""

    X: list
    sentiment: np.ndarray
    topic_word: np.ndarray
    prior: np.ndarray


def draw(
    n_documents, n_aspects=3, n_words=60, n_seeds=3, strength=1.0, base=0.01, feeling=0.4, seed=0
):
    """Two sentiments; words of an aspect, which both have, and a part of a sentiment's."""
    rng = np.random.default_rng(seed)
    of_aspects = rng.dirichlet(np.full(n_words, 0.1), n_aspects)
    of_sentiments = np.zeros((2, 20))
    of_sentiments[0, :10], of_sentiments[1, 10:] = rng.dirichlet(np.full(10, 2.0), 2)
    topic_word = np.array(
        [
            np.concatenate([(1 - feeling) * a, feeling * s])
            for s in of_sentiments
            for a in of_aspects
        ]
    )
    documents, sentiment = [], np.empty(n_documents, int)
    for d in range(n_documents):
        pi = rng.dirichlet([0.2, 0.2])
        theta = rng.dirichlet(np.full(n_aspects, 0.5), 2)
        n_sentences = 1 + rng.poisson(7)
        e = rng.choice(2, n_sentences, p=pi)
        topics = [i * n_aspects + rng.choice(n_aspects, p=theta[i]) for i in e]
        documents.append(np.stack([rng.multinomial(8, topic_word[k]) for k in topics]))
        sentiment[d] = pi.argmax()
    names = [f"w{v}" for v in range(n_words + 20)]
    order = np.argsort(-of_sentiments, axis=1)[:, :n_seeds] + n_words
    seeds = {e: [names[v] for v in order[e]] for e in range(2)}
    prior = seed_prior(seeds, names, strength, base=base, elsewhere=base / 100)
    return Reviews(documents, sentiment, topic_word, prior)
