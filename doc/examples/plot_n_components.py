# SPDX-License-Identifier: BSD-3-Clause
"""
How many topics
===============

Several numbers of topics are fitted to the same parts of a corpus and compared: by how well they
predict the words of the documents that were left out, and by their top words.
"""

# %%
# Documents of five topics, a number that a real corpus does not have.
from streamtopics import StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.inspection import compare_n_components, plot_n_components

X = make_lda_corpus(n_documents=600, n_components=5, n_features=100, random_state=0).X
numbers = [2, 3, 5, 8, 20]
found = compare_n_components(StreamingLDA(), X, numbers, random_state=0)
print(found)

# %%
# The number that is chosen is the smallest whose score is within one standard error of the
# highest. Topics that the parts agree on peak there too, as they need not on real corpora; of too
# many topics most are copies, which coherence alone does not see.
axes = plot_n_components(found)
