# SPDX-License-Identifier: BSD-3-Clause
"""
Praise and blame in reviews
===========================

:class:`~streamtopics.AspectSentimentModel` works without labels. Some known words praise and some
blame, and the model learns the sentiment of further words. So the model can also judge sentences
without a known word.
"""

# %%
# Reviews of an inn, made up for this page of forty sentences. Of 2,000 reviews of electronics, with
# ten aspects and a vocabulary without rare words, 81 in 100 are right: see :doc:`/measured`.
import random
import re

import matplotlib.pyplot as plt

good = """The room was nice and very clean. We loved the quiet garden. Great breakfast, with warm
bread. The owner was friendly and helpful. A comfortable bed, and we were happy with it. Our
children enjoyed the hens in the garden. The view of the valley is wonderful. Friendly staff, who
carried our bags. Excellent coffee and fresh bread. A quiet room with a view of the garden. The
best soup, hot and fresh. The owner met us at the station, which was helpful. Warm bread and good
cheese for breakfast. The bed was soft and the room clean. We recommend the walks in the valley.
Fresh eggs from the hens. Easy to find, and close to the station. The staff was helpful and
perfect in all. Beautiful walks begin at the door. A soft bed in a clean, quiet room."""
bad = """The room was bad, dirty and small. The noise of the road was terrible. Poor breakfast,
with stale bread. The waiter was rude and slow. A hard bed, and we were disappointed by it. The
shower was cold, the worst of all. We could not sleep for the noise of the lorries. Rude staff, who
did not like children. Awful coffee and stale cake. A dark room with the noise of the road. The
soup was cold and not good. The owner was rude when we paid, which was wrong. Stale bread and no
cheese, a waste of money. The bed was hard and the room dirty. The problem is the road at night.
Cold eggs and weak coffee. Far from the station, and useless maps. The shower was broken and the
staff slow. Lorries wake you at six, horrible. A hard bed in a dirty, dark room."""
praise, blame = (re.split(r"\.\s*", text)[:20] for text in (good, bad))
rng = random.Random(0)
moods = [rng.choice([0.1, 0.9]) for _ in range(600)]
reviews = [
    ". ".join(rng.choice(praise if rng.random() < mood else blame) for _ in range(5))
    for mood in moods
]

# %%
# At most eight lines. The praised and the blamed things.
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import streamtopics as st

counter = CountVectorizer(preprocessor=st.text.mark_negations, stop_words="english")
words, known = st.text.SentenceVectorizer(counter), st.priors.SentimentWords()
topics = st.AspectSentimentModel(3, topic_word_prior=known, batch_size=50, random_state=0)
model = make_pipeline(words, topics).fit(reviews)
axes = st.inspection.plot_topics(topics, relevance=0.6)

# %%
# A new review, and the sentiment of each sentence. Few words of the review were given.
review = [
    "The staff carried our bags.", "Soft bed, quiet room.", "At six the lorries wake you.",
    "Fresh eggs, but the cake was stale.", "The waiter was slow.", "Hens for the children.",
]  # fmt: skip
_, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
ax.barh(review, model.predict_proba(review)[:, list(model.classes_).index("positive")])
ax.invert_yaxis()
ax.set(xlim=(0, 1), xlabel="probability that it praises")
told = model.predict(review).tolist()
assert told[:3] == ["positive", "positive", "negative"], told
