# SPDX-License-Identifier: BSD-3-Clause
"""OLDA by its step size tau / t^kappa, on its way through a stream: figures 14 and 15."""

from collections.abc import Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_methods import (
    N_TRUE,
    Setting,
    by_split,
    data,
    marks_of,
    olda,
    perplexity,
    stochastic,
    through,
)
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.updates import DampedNewton, ScaledDecay, StochasticVI

COMPONENTS = {"synthetic": (N_TRUE,), "imdb": (128,)}
STEPS = [ScaledDecay(tau, kappa) for kappa in (0.5, 1.0) for tau in (0.1, 0.5, 1.0, 5.0)]


def stepping(setting: Setting, step: ScaledDecay) -> StreamingTopicModel:
    """OLDA of a step size, which is that of its Newton steps of alpha too."""
    rule = StochasticVI(step, stochastic(setting)["update__n_documents"])
    newton = DampedNewton(step_size=step)
    return olda(setting).set_params(update=rule, doc_topic_prior_update=newton)


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each step size and number of documents seen."""
    found = data(cell["corpus"], cell["split"], quick)
    n_documents = found.train.shape[0]
    setting = Setting(cell["K"], n_documents, cell["split"])
    for step in STEPS:
        name = f"{step.tau:g} / t^{step.kappa:g}"
        model = stepping(setting, step)
        for documents, _ in through(model, found.train, marks_of(n_documents, quick)):
            value = perplexity(model, found.test)
            yield {"step": name, "documents": documents, "perplexity": value}


EXPERIMENT = Experiment(
    "online_em_tau",
    ("corpus", "K", "split", "step", "documents"),
    ("perplexity",),
    by_split(COMPONENTS),
    run,
)
