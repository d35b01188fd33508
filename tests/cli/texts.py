# SPDX-License-Identifier: BSD-3-Clause
"""Documents of which each is of one kind of words."""

import numpy as np

WORDS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["plane", "pilot", "cloud", "wing", "airport", "flight"],
    "law": ["court", "judge", "lawyer", "trial", "jury", "appeal"],
}


def lines(n, kinds=("sky", "sea"), seed=0):
    """Documents of twelve words of the kinds in turn."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS[kinds[i % len(kinds)]], 12)) for i in range(n)]
