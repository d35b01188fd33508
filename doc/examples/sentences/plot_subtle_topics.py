# SPDX-License-Identifier: BSD-3-Clause
"""
Rare topics in source code
==========================

A program has topics of only a few statements, for example warnings in a numerical program or the
cache in a plotting program. The topics are rare in the corpus but fill a few statements.
"""

# %%
# Files are documents, statements are sentences
# ---------------------------------------------
# The source files of scikit-learn, cut into statements; a word is a part of a name.
import ast
import re
from pathlib import Path

import sklearn

SIMPLE = ast.Assign | ast.Raise | ast.Return | ast.Import | ast.ImportFrom | ast.Expr


def statements(path):
    """The words of each statement of a file without another one in it."""
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, SIMPLE)]
    for node in sorted(nodes, key=lambda node: node.lineno):
        if not isinstance(getattr(node, "value", None), ast.Constant):  # such as documentation
            yield " ".join(re.findall("[A-Z]?[a-z]{2,}", ast.unparse(node))).lower()


root = Path(sklearn.__file__).parent
paths = [path for path in sorted(root.rglob("*.py")) if not {"tests", "externals"} & {*path.parts}]
found = {str(path.relative_to(root)): [*filter(None, statements(path))] for path in paths}
names = [name for name, file in found.items() if len(file) > 40][:70]
files = [found[name] for name in names]

# %%
# ``SentenceVectorizer`` keeps the statements apart: one matrix for each file, with a row for each
# statement.
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import WASTopicModel
from streamtopics.text import SentenceVectorizer
from streamtopics.was import WAS, HDPFranchise

vectorizer = SentenceVectorizer(CountVectorizer(min_df=4, max_df=0.25))
X = vectorizer.fit_transform(files)
words = vectorizer.get_feature_names_out()
print(f"{len(X)} files, {sum(x.shape[0] for x in X):,} statements, {len(words)} words")

# %%
# Each statement is a mixture of atoms, shared by the statements of a file. Each atom is a mixture
# of topics, shared by the files. The weights of one atom in two statements are nearly independent.
model = WASTopicModel(n_components=25, n_sweeps=60, n_burn_in=30, random_state=0).fit(X)
for topic in np.argsort(-model.topic_weights_)[:5]:
    print(f"{model.topic_weights_[topic]:6.1%}  {' '.join(model.top_words(words, 8)[topic])}")

# %%
# Subtle topics
# -------------
# Topics with less than an even share of the words but most of some statement, and statements of the
# topics.
texts = vectorizer.sentences(files)
subtle = model.subtle_topics(X, max_share=0.04, n_sentences=3, texts=texts, feature_names=words)
for topic in subtle[:4]:
    print(f"{topic.share:.1%} of the words, most of {topic.n_sentences} statements in", end=" ")
    print(f"{topic.n_documents} files: {' '.join(topic.words)}")
    for sentence in topic.sentences:
        print(f"    {names[sentence.document]}: {sentence.text[:70]}")

# %%
# A subtle topic is of few words and fills many statements in few files.
import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
few = subtle[:8]
bars = ax.barh([" ".join(topic.words[:4]) for topic in few], [t.n_sentences for t in few])
ax.bar_label(bars, [f"in {topic.n_documents} files" for topic in few], padding=3)
ax.margins(x=0.2)
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
label = ax.set_xlabel("statements that are mostly of the topic")

# %%
# The effect of the prior of sentences
# ------------------------------------
# Under the hierarchical Dirichlet process an atom heavy in one sentence is heavy in all sentences:
# all sentences prefer the frequent atoms of the document. Under the weight-agnostic prior the
# weights in two sentences are less correlated, so a sentence can differ from the document. The
# picture has draws from both priors, without data: the words of each atom in two sentences of
# twelve words, and the correlation over atoms common to both sentences.
rng = np.random.default_rng(0)
for prior in (WAS(b=0.5), HDPFranchise(table_concentration=0.5)):
    shared = []
    for _ in range(3000):
        dishes = prior.draw_seats([12, 12], rng).dish.reshape(2, 12)
        in_both = np.intersect1d(dishes[0], dishes[1])
        shared.extend((dishes[:, None] == in_both[:, None]).sum(axis=2).T)
    print(f"{type(prior).__name__:>12}  {np.corrcoef(np.array(shared).T)[0, 1]:.2f}")

# %%
# In text with known subtle topics the best prior of sentences depends on the remaining priors: see
# :doc:`/measured`. Compare ``WASTopicModel(prior="hdp")`` and ``prior="sbp"``.
