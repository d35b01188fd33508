# SPDX-License-Identifier: BSD-3-Clause
"""
Learning on a cluster
=====================

Workers read the files, count the words and learn from slightly old topics. The cost is visible at
the start of a stream, while topics change fast.
"""

# %%
# Documentation of NumPy, SciPy and scikit-learn in twelve files, and held-out texts.
import json
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.base import clone

from streamtopics.datasets import load_docstrings, read_texts

texts = np.array(load_docstrings(packages=["numpy", "scipy", "sklearn"]).data, dtype=object)
texts = np.random.default_rng(0).permutation(texts)
held_out, folder = texts[:400], Path(mkdtemp())
paths = [folder / f"part-{i}.jsonl" for i in range(12)]
for i, path in enumerate(paths):
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[400 + i :: 12]))

# %%
# At most eight lines. Two threads stand for the workers: on a cluster ``client`` is
# ``dask.distributed.Client("tcp://...")``.
from concurrent.futures import ThreadPoolExecutor

from sklearn.pipeline import make_pipeline

import streamtopics as st

client, counter = ThreadPoolExecutor(2), st.text.StreamingCountVectorizer(stop_words="english")
words = st.distributed.count_vocabulary(counter.set_params(min_df=5), paths, client)
model = make_pipeline(words, st.GibbsOnlineEM(20, batch_size=10, random_state=0))
st.distributed.fit_partitions(model, paths, client)

# %%
# The score of the held-out texts along the stream: one minibatch after another, by four workers in
# rounds of eight, and by four workers busy from the first minibatch on. The delay is never more
# than a sixteenth of the learnt documents. So here the client learns the first 3,840 documents
# alone, and the workers learn the rest.
X, batches = words.transform(held_out), [words.transform(read_texts(path)) for path in paths]
along: dict[str, list[tuple[int, float]]] = {}


def look(label, model):
    """Remember the score, if a quarter more documents were learnt than at the last look."""
    seen, rows = model.n_documents_seen_, along.setdefault(label, [])
    if seen >= 1.25 * (rows[-1][0] if rows else 100):
        rows.append((seen, model.score(X)))


for label, n, late in (("one after another", 1, 0), ("4 workers", 8, 3)):
    again = make_pipeline(words, clone(model[-1]))
    watch = [lambda model, info, label=label: look(label, model[-1])]
    st.distributed.fit_partitions(again, paths, client, rounds=n, staleness=late, callbacks=watch)
client.shutdown()

last = clone(model[-1])
rows = sparse.vstack(batches, "csr")
last.partial_fit(rows[:10])
for wave in range(10, rows.shape[0], 320):
    starts = range(wave, min(wave + 320, rows.shape[0]), 80)
    updates = [
        st.distributed.compute_update(last, rows[i : i + 80], n_ahead=i - wave) for i in starts
    ]
    for update in updates:
        st.distributed.apply_update(last, update)
        look("4 workers, busy from the start", last)

_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (label, points), style in zip(along.items(), ("-", "--", ":"), strict=True):
    ax.plot(*zip(*points, strict=True), style, linewidth=2.5, label=label)
ax.set_xscale("log")
ax.set_xticks([200, 500, 1000, 2000, 5000], ["200", "500", "1,000", "2,000", "5,000"])
ax.minorticks_off()
ax.set_xlabel("documents")
ax.set_ylabel("nats per held-out token")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
