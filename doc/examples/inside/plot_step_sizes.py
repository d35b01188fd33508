# SPDX-License-Identifier: BSD-3-Clause
"""
Step size and averaging
=======================

Online EM forgets: the step size of the t-th minibatch is t to the power of minus kappa. A small
kappa forgets fast and leaves noise; averaging over the iterates removes the noise. With a kappa of
1 the first minibatch, seen with random topics, counts like the last.
"""

# %%
# Documents drawn from ten known topics, so the best possible score is known too.
import numpy as np

from streamtopics import GibbsOnlineEM
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.inspection import plot_curves
from streamtopics.metrics import left_to_right

corpus = make_lda_corpus(
    n_documents=10_200, n_features=1000, doc_topic_prior=0.16, topic_word_prior=0.05, random_state=0
)
stream, test = corpus.X[:10_000], corpus.X[10_000:]


def nats_per_document(topic_word, doc_topic_prior):
    result = left_to_right(test, topic_word, doc_topic_prior, n_particles=10, n_resampled=1)
    return -float(result.log_likelihood.mean())


truth = nats_per_document(corpus.topic_word, corpus.doc_topic_prior)

# %%
# The log-perplexity above the log-perplexity of the true topics, with and without averaging.
curves = {}
for kappa in (0.3, 0.5, 0.7, 1.0):
    for averaging in (None, "linear"):
        name = f"kappa {kappa}" + (", averaged" if averaging else "")
        schedule = Schedule(n_start_rounds=10, averaging=averaging)
        model = GibbsOnlineEM(10, kappa=kappa, schedule=schedule, random_state=0)
        curves[name] = []
        for start in range(0, stream.shape[0], 1000):
            for batch in range(start, start + 1000, 100):
                model.partial_fit(stream[batch : batch + 100])
            loss = nats_per_document(model.topic_word_, model.doc_topic_prior_) - truth
            curves[name].append(loss)

ax = plot_curves(
    curves,
    x=np.arange(1000, 10_001, 1000),
    xlabel="documents seen",
    ylabel="nats per document above the truth",
)

# %%
# The last values. The standard rule holds: average when kappa is 1/2 or less.
for name, values in curves.items():
    print(f"{name:22} {values[-1]:6.2f}")
assert curves["kappa 0.3, averaged"][-1] < curves["kappa 0.3"][-1]
assert curves["kappa 1.0, averaged"][-1] > curves["kappa 1.0"][-1]
