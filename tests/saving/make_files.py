# SPDX-License-Identifier: BSD-3-Clause
"""Writes the small models that every later version has to load.

    python -m tests.saving.make_files

Once for each format: the files of a format that there is are never made again.
"""

from pathlib import Path

import numpy as np

from streamtopics import (
    SVBLDA,
    MultiViewLDA,
    StreamingBayes,
    StreamingLDA,
    WASTopicModel,
    save,
)
from streamtopics.models import GaussianMixture
from streamtopics.saving.upgrades import FORMAT
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import BPS, Window

FILES = Path(__file__).parent / "files"
RNG = np.random.RandomState(0)
COUNTS = RNG.poisson(0.6, (40, 12)).astype(float)
POINTS = RNG.randn(40, 2)
LABELS = np.arange(40) % 2
TEXTS = [" ".join(f"w{word}" for word in np.flatnonzero(row)) for row in COUNTS]
NEW = COUNTS[::-1][:5]


def made():
    """Models by name, each with what it says of documents now."""
    vectorizer = StreamingCountVectorizer(max_features=8, n_candidates=4)
    pipeline = StreamingPipeline([("words", vectorizer), ("topics", SVBLDA(2, random_state=0))])
    sentences = WASTopicModel(2, n_sweeps=4, n_burn_in=2, random_state=0)
    window = StreamingLDA(2, update=Window(2), start="noise", random_state=0)
    boosted = StreamingLDA(2, update=BPS(0.1), inference="variational", random_state=0)
    mixture = StreamingBayes(GaussianMixture(2), random_state=0)
    return {
        "SVBLDA": SVBLDA(2, random_state=0).partial_fit(COUNTS).partial_fit(COUNTS),
        "StreamingLDA": window.partial_fit(COUNTS),
        "boosted": boosted.partial_fit(COUNTS),
        "MultiViewLDA": MultiViewLDA(1, 1, random_state=0).fit(COUNTS, LABELS),
        "StreamingBayes": mixture.partial_fit(POINTS),
        "WASTopicModel": sentences.fit(COUNTS, groups=np.arange(40) // 4),
        "StreamingPipeline": pipeline.partial_fit(TEXTS),
    }


def said_by(name, model):
    """What is compared of a model."""
    if name == "StreamingBayes":
        return model.predict(POINTS), model.posterior_.mass
    if name == "WASTopicModel":
        return model.components_, model.topic_word_
    if name == "StreamingPipeline":
        return model.transform(TEXTS[:5]), model[-1].components_
    return model.transform(NEW), model.components_


def main():
    """Write the files of the present format."""
    folder = FILES / f"format_{FORMAT}"
    folder.mkdir(parents=True)
    said = {}
    for name, model in made().items():
        save(model, folder / f"{name}.model")
        first, second = said_by(name, model)
        said |= {f"{name} 0": first, f"{name} 1": second}
    np.savez_compressed(folder / "said.npz", **said)


if __name__ == "__main__":
    main()
