# SPDX-License-Identifier: BSD-3-Clause
"""Ways to learn alpha, for plain and boosted online EM on known topics: figure 18.

"NO" is the alpha that the documents were drawn with, "FP" the fixed point, "Gam" a gamma prior.
"""

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    N_SPLITS,
    N_TRUE,
    TRUE_ALPHA,
    Setting,
    data,
    g_oem,
    perplexity,
    v_oem,
)
from streamtopics.base.topic_model import StreamingTopicModel

METHODS: dict[str, tuple[Callable[..., StreamingTopicModel], bool]] = {
    "G-OEM": (g_oem, False),
    "G-OEM++": (g_oem, True),
    "V-OEM": (v_oem, False),
    "V-OEM++": (v_oem, True),
}
UPDATES: dict[str, dict[str, Any]] = {
    "NO": {"doc_topic_prior": TRUE_ALPHA, "doc_topic_prior_update": "fixed"},
    "FP": {"doc_topic_prior_update": "fixed_point"},
    "Gam": {"doc_topic_prior_update": "gamma"},
}
KAPPAS = (0.5, 1.0)


def cells(quick: bool) -> Iterator[Cell]:
    """Splits."""
    yield from ({"split": split} for split in range(1 if quick else N_SPLITS))


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method, step size and update."""
    found = data("synthetic", cell["split"], quick)
    for kappa in KAPPAS:
        setting = Setting(N_TRUE, found.train.shape[0], cell["split"], kappa=kappa)
        for method, (make, boosted) in METHODS.items():
            of = {"method": method, "kappa": kappa}
            for update, settings in UPDATES.items():
                model = make(setting, update_each_sweep=boosted, **settings).fit(found.train)
                yield of | {"alpha": update, "perplexity": perplexity(model, found.test)}


EXPERIMENT = Experiment(
    "online_em_alpha", ("split", "method", "kappa", "alpha"), ("perplexity",), cells, run
)
