# SPDX-License-Identifier: BSD-3-Clause
"""
Classes of documents
====================

:class:`~streamtopics.MultiViewLDA` learns topics of each class and topics common to all classes,
and predicts the class of new documents.
"""

# %%
# Pages of documentation; the class is the package.
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay

from streamtopics.datasets import load_docstrings

corpus = load_docstrings(packages=["joblib", "numpy", "sklearn"])
texts, y = corpus.data[:2500], np.array(corpus.target_names)[corpus.target][:2500]

# %%
# At most eight lines.
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import streamtopics as st

train, test, y_train, y_test = train_test_split(texts, y, stratify=y, random_state=0)
words = st.text.StreamingCountVectorizer(stop_words="english", min_df=5)
model = make_pipeline(words, st.MultiViewLDA(3, 5, random_state=0)).fit(train, y_train)
print(f"{model.score(test, y_test):.2f} of the pages are told right")

# %%
assert model.score(test, y_test) > max(np.mean(y_test == name) for name in set(y_test))
display = ConfusionMatrixDisplay.from_predictions(y_test, model.predict(test), cmap="Blues")
