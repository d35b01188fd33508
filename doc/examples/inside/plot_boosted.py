# SPDX-License-Identifier: BSD-3-Clause
"""
Updating the topics after every sweep
=====================================

With ``update_each_sweep=True`` the topics are updated after each sweep over a minibatch, always
from the topics before the minibatch, rather than once at the end. (The option is unrelated to
boosting a prior, as in `BPSLDA`.)
"""

# %%
# The stream is the documentation of SciPy and scikit-learn, in minibatches of 100 documents.
import time

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import GibbsOnlineEM, VariationalOnlineEM
from streamtopics.datasets import load_docstrings
from streamtopics.inspection import plot_curves

texts = load_docstrings(packages=["scipy", "sklearn"]).data
X = CountVectorizer(stop_words="english", min_df=5, max_features=3000).fit_transform(texts)
held_out = np.arange(X.shape[0]) % 10 == 0
stream, test = X[~held_out], X[held_out]

# %%
# Both local steps with 10 sweeps, plain and boosted, at a large and a small step size.
curves, seconds = {}, {}
seen = np.arange(400, stream.shape[0], 400)
for kappa in (0.9, 0.5):
    for boosted in (False, True):
        for label, model in {
            "V-OEM": VariationalOnlineEM(20, max_local_iter=10, local_tol=0.0, random_state=0),
            "G-OEM": GibbsOnlineEM(20, n_sweeps=10, random_state=0),
        }.items():
            model.set_params(kappa=kappa, update_each_sweep=boosted)
            name = f"{label}{'++' if boosted else ''}, kappa {kappa}"
            started = time.perf_counter()
            curves[name] = []
            for stop in seen:
                for start in range(stop - 400, stop, 100):
                    model.partial_fit(stream[start : start + 100])
                curves[name].append(model.score(test))
            seconds[name] = time.perf_counter() - started

ax = plot_curves(curves, x=seen, xlabel="documents seen", ylabel="nats per held-out token")

# %%
# The last scores, and the time with the scoring.
for name, values in curves.items():
    print(f"{name:20} {values[-1]:7.3f} {seconds[name]:6.1f} s")
