# SPDX-License-Identifier: BSD-3-Clause
"""
Summaries of reviews
====================

A summary of a review from sentences of the review: sentences similar to the rest, but different
from each other. And a digest of many reviews at once.
"""

# %%
# A review, summarised without training
# -------------------------------------
# Reviews of an inn, made up for this page. The first review ends with the beginning, like many
# reviews.
import textwrap

import matplotlib.pyplot as plt
import numpy as np

from streamtopics import DPPSummarizer

reviews = [
    "The room was large and comfortable. We had driven all day, and my wife slept for ten hours, "
    "which she never does. At breakfast there was warm bread, and there were eggs from the hens "
    "behind the house. The breakfast room was warm and looked on the garden. Somebody had left a "
    "bicycle in the hall. The only thing that I did not like was the noise of the road. Bring "
    "something for your ears. All in all, the room was large and comfortable, and we slept well.",
    "We stayed for three nights in May. The owner met us at the station and carried our bags. "
    "She knows every path in the valley, and her map of the walks was better than the one we "
    "had bought. Our room was clean, but small. The owner is the best thing about this place! "
    "On the last day it rained, so we sat in the kitchen and played cards with her sons.",
    "Not for me. The noise of the road kept me awake, and at six the lorries begin. I asked for "
    "another room, but the inn was full. Breakfast was good, I admit. When I paid, nobody "
    "offered a lower price for a night without sleep. The road is the problem, and nothing that "
    "the owner does will change that.",
    "Good bread, good coffee, a quiet garden. The garden is at the back, away from the road, and "
    "in the afternoon we had it for ourselves. Ask for a room that looks on the garden. Ours "
    "did, and we heard no cars at all. The shower was cold on the first day. The owner had it "
    "repaired within an hour.",
    "A simple house in a beautiful valley. The walks begin at the door, and the owner has a map "
    "of them. Our children loved the hens. We paid less than in town. The breakfast, with warm "
    "bread and eggs, was enough until the evening.",
]
summarizer = DPPSummarizer(n_sentences=2)
for sentence in summarizer.transform(reviews[:1])[0]:
    print("-", sentence)

# %%
# The choice and the reason
# -------------------------
# ``select`` gives the places and the quality of the sentences. The quality is the cosine between
# the words of a sentence and the words of the whole review: the bars below. A large power of the
# quality (orange) takes the longest bars, two sentences with the same content. The default (blue)
# leaves the second sentence out, since most words of the sentence are in the summary already.
sentences = summarizer.fit(reviews).vectorizer_.sentences(reviews[:1])[0]
every = DPPSummarizer(n_sentences=99).fit(reviews).select(reviews[:1])[0]
quality = np.zeros(len(sentences))
quality[every.indices] = every.scores
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, power, colour in zip(axes, (1000, 2), ("tab:orange", "tab:blue"), strict=True):
    [chosen] = summarizer.set_params(quality_power=power).select(reviews[:1])
    colours = [colour if i in chosen.indices else "lightgrey" for i in range(len(sentences))]
    ax.barh(range(len(sentences)), quality, color=colours)
    ax.set_xlabel("centrality")
    ax.set_title(f"quality_power = {power}")
axes[0].set_yticks(range(len(sentences)), [textwrap.fill(text, 48) for text in sentences])
axes[0].tick_params(axis="y", labelsize=8)
axes[0].invert_yaxis()

# %%
# The reviews with their sentences marked
# ---------------------------------------
# Two sentences of each.
marked = []
for review, chosen in zip(reviews, summarizer.select(reviews), strict=True):
    for i, sentence in enumerate(summarizer.vectorizer_.sentences([review])[0]):
        lines = textwrap.wrap(sentence, 105)
        marked += [(line, i in chosen.indices) for line in lines]
    marked.append(("", False))
page = plt.figure(figsize=(9, 0.2 * len(marked)))
for row, (line, is_chosen) in enumerate(marked):
    page.text(
        0.02,
        1 - (row + 1) / (len(marked) + 1),
        line,
        size=9,
        color="black" if is_chosen else "grey",
        bbox={"facecolor": "lemonchiffon" if is_chosen else "none", "edgecolor": "none", "pad": 1},
    )

# %%
# All reviews at once
# -------------------
# Central and different sentences of all reviews, each with the number of the review.
for found in DPPSummarizer().digest(reviews, n_sentences=3):
    print(f"review {found.document}: {found.sentence}")
