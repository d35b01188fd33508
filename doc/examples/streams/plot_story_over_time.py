# SPDX-License-Identifier: BSD-3-Clause
"""
Topics over time
================

The subjects of presidents of the United States: the shares of topics in the paragraphs of each
decade.
"""

# %%
# Paragraphs of addresses on the State of the Union since 1945, in the public domain
# (:download:`speeches.jsonl.gz <../../_static/speeches.jsonl.gz>`).
from streamtopics.datasets import read_records

path = "../../_static/speeches.jsonl.gz"  # or where you have saved it
records = list(read_records(path, time_key="year"))
texts = [record.text for record in records]
decades = [f"{int(str(record.time)[:4]) // 10 * 10}" for record in records]

# %%
# At most eight lines.
from sklearn.pipeline import make_pipeline

import streamtopics as st

words = st.text.StreamingCountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-z]{3,}")
model = make_pipeline(words, st.StreamingLDA(8, random_state=0)).fit(texts)
found = st.inspection.shares_over_time(model, texts, decades)
top = model[-1].top_words(words.get_feature_names_out(), n_words=3, relevance=0.6)
ax = st.inspection.plot_shares(found.times, found.shares, [" ".join(words) for words in top])
