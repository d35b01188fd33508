# SPDX-License-Identifier: BSD-3-Clause
"""
How much weight to give seed words
==================================

Seed words name the wanted topics. A search on raw texts finds the best weight of the seed words: in
each fold a `SeedWords` looks up the words after the vectorizer has counted the texts.
"""

# %%
# The texts are the documentation of five packages of SciPy, the wanted subjects. The subject of
# each text is known here, to judge the seeds; the model does not know the subject.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from streamtopics import BPSLDA
from streamtopics.datasets import load_docstrings
from streamtopics.priors import SeedWords
from streamtopics.text import NamedVectorizer

seeds = {
    "stats": ["distribution", "probability", "hypothesis", "statistic"],
    "optimize": ["minimize", "constraints", "optimizer", "objective"],
    "signal": ["filter", "frequency", "window", "signal"],
    "sparse": ["sparse", "csr", "nonzero", "format"],
    "interpolate": ["spline", "interpolation", "knots", "derivative"],
}
corpus = load_docstrings(packages=["scipy"])
packages = np.array([(module + ".").split(".")[1] for module in corpus.modules])
wanted = np.isin(packages, list(seeds))
texts, subjects = np.array(corpus.data, dtype=object)[wanted], packages[wanted]

# %%
# The counts of `NamedVectorizer` carry the words to the model. The five seeded topics come first,
# and three topics are left for everything else. The stream starts from the seeds, and the boost
# adds the seeds again.
model = Pipeline(
    [
        ("count", NamedVectorizer(CountVectorizer(stop_words="english", min_df=3))),
        (
            "lda",
            BPSLDA(
                8, topic_word_prior=SeedWords(seeds, strength=1.0), batch_size=100, random_state=0
            ),
        ),
    ]
)


# %%
# A model has two goals: to predict held-out words, and to put the largest share of a text into the
# topic of the right subject.
def judged(model, texts, subjects):
    counts, lda = model[:-1].transform(texts), model[-1]
    names = np.array(list(seeds))
    nearest = names[lda.transform(counts)[:, : len(names)].argmax(axis=1)]
    return {"found": np.mean(nearest == subjects), "words": lda.score(counts)}


# %%
# The strength of the seeds is a parameter of the search like any other.
scales = [0.0, 0.1, 0.3, 1.0]
strengths = [0.1, 1.0, 10.0]
search = GridSearchCV(
    model,
    {"lda__boosting_scale": scales, "lda__topic_word_prior__strength": strengths},
    scoring=judged,
    refit="found",
    cv=2,
).fit(texts, subjects)

results = search.cv_results_
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, metric, label in [
    (axes[0], "found", "texts in the topic of their subject"),
    (axes[1], "words", "nats per held-out token"),
]:
    for strength, marker in zip(strengths, "os^", strict=True):
        of = results["param_lda__topic_word_prior__strength"] == strength
        ax.plot(results[f"mean_test_{metric}"][of], marker + "-", label=f"strength {strength:g}")
    ax.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales])
    ax.set(xlabel="boosting_scale", ylabel=label)
axes[1].legend(loc="lower left")
plt.show()

# %%
# Strong seeds find more subjects and predict better. A boost finds still more, most of all with
# weak seeds. But a larger boost predicts texts worse, because with 1 half of each topic is the
# prior, for good. So choose the score of the search by the purpose of the topics.
print(search.best_params_)
assert search.best_params_["lda__topic_word_prior__strength"] > min(strengths)

# %%
# The topics of the best model, learnt from all texts, know their words.
for subject, top in zip(seeds, search.best_estimator_[-1].top_words(n_words=8), strict=False):
    print(f"{subject:12} {' '.join(top)}")
    assert set(top) & set(seeds[subject])
