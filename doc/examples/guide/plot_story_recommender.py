# SPDX-License-Identifier: BSD-3-Clause
"""
Recommendations from reviews
============================

:class:`~streamtopics.HiddenFactorsTopics` learns from ratings and reviews. Then the model
recommends to a user the items with the best expected rating.
"""

# %%
# Made reviews of 30 items by 60 users: words, ratings, and the true value of each item.
import matplotlib.pyplot as plt

from streamtopics.datasets import make_rated_reviews

data = make_rated_reviews(
    800, n_items=30, n_users=60, n_features=100, n_components=3, random_state=0
)
user = data.user[0]

# %%
# At most eight lines. Items already rated by the user are left out.
import streamtopics as st

model = st.HiddenFactorsTopics(3, random_state=0)
model.fit(data.X, data.ratings, items=data.item, users=data.user)
best = model.recommend(user, n_items=20, exclude=data.item[data.user == user])
print(*(f"item {row.item}: {row.rating:.1f}" for row in best[:5]), sep="\n")

# %%
# The expected ratings against the true values of the items.
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
points = ax.scatter([data.item_effects[row.item] for row in best], [row.rating for row in best])
ax.set_xlabel("true effect of the item")
label = ax.set_ylabel("expected rating")
assert [row.rating for row in best] == sorted((row.rating for row in best), reverse=True)
