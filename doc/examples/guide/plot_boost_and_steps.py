# SPDX-License-Identifier: BSD-3-Clause
"""
Boosting and forgetting in one search
=====================================

The best boost of a prior depends on the rate of forgetting: after forgetting data the prior weighs
more. So both are searched together, on raw texts.
"""

# %%
# The texts are the documentation of five packages of SciPy. Two to four words of each are known.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from streamtopics import StreamingLDA
from streamtopics.datasets import load_docstrings
from streamtopics.estimators import Schedule
from streamtopics.priors import SeedWords
from streamtopics.text import NamedVectorizer
from streamtopics.updates import Boost, Decay, StochasticVI

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
# Of the named methods, `BPSLDA` boosts without forgetting and `OnlineVBLDA` forgets without
# boosting. A `StreamingLDA` with the rule `StochasticVI` has both: the step size is :math:`(t +
# \tau)^{-\kappa}`, so a small :math:`\kappa` forgets fast.
model = Pipeline(
    [
        ("count", NamedVectorizer(CountVectorizer(stop_words="english", min_df=3))),
        (
            "lda",
            StreamingLDA(
                8,
                boosted_prior=SeedWords(seeds, strength=10.0),
                update=StochasticVI(Decay(0.7), boost=Boost(0.1)),
                topic_word_prior=0.05,
                schedule=Schedule(n_start_rounds=10),
                batch_size=100,
                max_iter=1,
                random_state=0,
            ),
        ),
    ]
)


# %%
# A model has two goals: to predict held-out words, and to put the largest share of a text into the
# topic of the right subject. The model does not know the right subject.
def judged(model, texts, subjects):
    counts, lda = model[:-1].transform(texts), model[-1]
    names = np.array(list(seeds))
    nearest = names[lda.transform(counts)[:, : len(names)].argmax(axis=1)]
    return {"found": np.mean(nearest == subjects), "words": lda.score(counts)}


# %%
# The fields of a rule are parameters, named by the path of the parts.
scales, kappas = [0.1, 0.3, 1.0], [0.5, 0.7, 0.9]
search = GridSearchCV(
    model,
    {"lda__update__boost__scale": scales, "lda__update__step_size__kappa": kappas},
    scoring=judged,
    refit="found",
    cv=2,
).fit(texts, subjects)
print(search.best_params_)

# %%
# The table of scores. A larger boost finds more subjects and predicts words worse. A scale of 1
# means one pseudo-token of the prior for each token. With a scale of 1 the fastest forgetting finds
# most subjects. With any scale the fastest forgetting predicts words worst.
results = search.cv_results_
table = {metric: results[f"mean_test_{metric}"].reshape(3, 3) for metric in ("found", "words")}
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, (metric, values) in zip(axes, table.items(), strict=True):
    ax.imshow(values, cmap="viridis", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", backgroundcolor="white")
    ax.set_xticks(range(3), kappas)
    ax.set_yticks(range(3), scales)
    ax.set_xlabel("kappa of the step size")
    ax.set_title({"found": "texts with their subject", "words": "nats per held-out token"}[metric])
axes[0].set_ylabel("scale of the boost")

assert (np.diff(table["found"], axis=0) > 0.04).all()
assert (np.diff(table["words"], axis=0) < 0).all()
assert (table["words"].argmin(axis=1) == 0).all()
assert search.best_params_["lda__update__boost__scale"] == 1.0
assert table["found"][2].argmax() == 0
