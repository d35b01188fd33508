# SPDX-License-Identifier: BSD-3-Clause
"""G-OEM and VarGibbs, of LDA and of the HDP, on their way through a stream: figures 10 and 21."""

from collections.abc import Callable, Iterator

from benchmarks.papers.experiment import Cell, Experiment, Row
from benchmarks.papers.online_em_curves import COMPONENTS
from benchmarks.papers.online_em_methods import (
    BATCH,
    CORPORA,
    METHODS,
    N_SPLITS,
    Setting,
    data,
    marks_of,
    perplexity,
    through,
)
from streamtopics import HDPGibbsOnlineEM, HDPVarGibbs
from streamtopics.base.topic_model import StreamingTopicModel

FIRST_TOPICS = 2


def hdp_g_oem(s: Setting) -> StreamingTopicModel:
    """The HDP by Gibbs online EM."""
    return HDPGibbsOnlineEM(
        FIRST_TOPICS, kappa=s.kappa, n_sweeps=s.n_sweeps, batch_size=BATCH, random_state=s.seed,
        n_jobs=1,
    )  # fmt: skip


def hdp_var_gibbs(s: Setting) -> StreamingTopicModel:
    """The HDP by Gibbs within variational inference."""
    return HDPVarGibbs(
        FIRST_TOPICS, kappa=s.kappa, n_documents=s.n_documents, n_sweeps=s.n_sweeps,
        batch_size=BATCH, random_state=s.seed, n_jobs=1,
    )  # fmt: skip


MODELS: dict[str, Callable[[Setting], StreamingTopicModel]] = {
    "G-OEM": METHODS["G-OEM"],
    "VarGibbs": METHODS["VarGibbs"],
    "HDP G-OEM": hdp_g_oem,
    "HDP VarGibbs": hdp_var_gibbs,
}


def cells(quick: bool) -> Iterator[Cell]:
    """Corpora and splits; all of a split before the next."""
    for split in range(1 if quick else N_SPLITS):
        for corpus in CORPORA[:1] if quick else CORPORA:
            yield {"corpus": corpus, "split": split}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """A row for each method and number of documents seen."""
    found = data(cell["corpus"], cell["split"], quick)
    train = found.train
    setting = Setting(COMPONENTS[cell["corpus"]][0], train.shape[0], cell["split"])
    for name, make in MODELS.items():
        model = make(setting)
        for documents, seconds in through(model, train, marks_of(train.shape[0], quick)):
            yield {
                "method": name,
                "documents": documents,
                "stage": "end" if documents == train.shape[0] else "on the way",
                "perplexity": perplexity(model, found.test),
                "topics": len(model.doc_topic_prior_),
                "seconds": seconds,
            }


EXPERIMENT = Experiment(
    "online_em_hdp",
    ("corpus", "split", "method", "documents", "stage"),
    ("perplexity", "topics", "seconds"),
    cells,
    run,
)
