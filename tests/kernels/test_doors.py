# SPDX-License-Identifier: BSD-3-Clause
"""Kernels refuse arrays whose shapes do not agree: they read them without bounds checks.

Arguments are those of real calls, of which one array at a time is made shorter.
"""

from contextlib import ExitStack
from functools import cache
from unittest import mock

import numpy as np
import pytest

from streamtopics import StreamingLDA, StreamingMixture, kernels
from streamtopics.metrics import left_to_right as evaluate
from streamtopics.updates import DirichletProcess
from tests.conventions.every import COUNTS, EVERY

KERNELS = {
    "asum": ["infer_documents"],
    "classes": ["classify", "scale_words", "spread"],
    "gibbs": ["prior_mass", "sample_documents", "word_statistics"],
    "groups": ["find_tables"],
    "left_to_right": ["token_probabilities"],
    "profiles": ["infer_profiles"],
    "rows": ["gather_rows", "scale_rows"],
    "supervised": ["infer_supervised"],
    "variational": [
        "exp_digamma_rows", "infer_documents", "infer_two_blocks", "prior_weights",
        "word_statistics",
    ],
}  # fmt: skip
NAMES = [(getattr(kernels, key), name) for key, names in KERNELS.items() for name in names]
# Places and axes of arguments that may be: there are fewer topics then, or no padding.
MAY_BE_SHORTER = {
    "exp_digamma_rows": {(2, 1)},
    "find_tables": {(10, 0)},
    "infer_documents": {(3, 1)},
    "infer_profiles": {(4, 1)},
    "infer_two_blocks": {(3, 1)},
    "prior_weights": {(0, 1), (1, 0)},
    "sample_documents": {(8, 0)},
    "scale_rows": {(2, 1)},
    "scale_words": {(0, 2), (1, 1)},
    "token_probabilities": {(5, 0)},
    "word_statistics": {(7, 1), (11, 1)},
}
# It has addresses of memory that is free by then.
ADDRESSED = (kernels.gibbs, "word_statistics")


def runs():
    """Call all of these kernels."""
    for name in ("AspectSentimentModel", "MultiViewLDA", "RatingLDA", "SupervisedLDA"):
        EVERY[name].fitted.transform(EVERY[name].X)
    EVERY["MultiViewLDA"].fitted.predict(COUNTS)
    for inference in ("gibbs", "variational"):
        StreamingLDA(70, inference=inference, max_iter=1, random_state=0).fit(COUNTS)
    few = StreamingMixture(20, births=DirichletProcess(min_documents=2), random_state=0)
    apart = np.kron(np.eye(5), np.ones((8, 6))) * 9
    few.partial_fit(apart[:8]).partial_fit(apart)
    evaluate(COUNTS[:2], np.full((3, COUNTS.shape[1]), 1 / COUNTS.shape[1]), 0.5)


@cache
def calls():
    """The arguments of a real call of each kernel, from which nothing is kept that it wrote."""
    found = {}

    def noted(kernel, key):
        def call(*arguments, **named):
            if key not in found and all(len(a) for a in arrays_of(arguments)[:-2]):
                copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
                found[key] = copies, named
            return kernel(*arguments, **named)

        return call

    with ExitStack() as patches:
        for module, name in NAMES:
            call = noted(getattr(module, name), (module, name))
            patches.enter_context(mock.patch.object(module, name, call))
        runs()
    return found


def arrays_of(arguments):
    return [a for a in arguments if isinstance(a, np.ndarray)]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_no_array_may_be_shorter_than_the_others(module, name):
    arguments, named = calls()[module, name]
    kernel = getattr(module, name)
    if (module, name) != ADDRESSED:
        kernel(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments], **named)
    taken = []
    for place, array in enumerate(arguments):
        for axis in range(np.ndim(array)):
            if not array.size or (place, axis) in MAY_BE_SHORTER.get(name, ()):
                continue
            short = np.ascontiguousarray(np.delete(array, -1, axis))
            try:
                kernel(*arguments[:place], short, *arguments[place + 1 :], **named)
                taken.append((place, axis))
            except (ValueError, IndexError):
                pass
    assert not taken
