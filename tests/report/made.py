# SPDX-License-Identifier: BSD-3-Clause
"""Small corpora with models for the tests of reports."""

from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from streamtopics import StreamingLDA
from streamtopics.report import report

THEMES = [
    ["sea", "ship", "sail", "wave", "harbour", "captain", "storm", "anchor"],
    ["bread", "flour", "oven", "yeast", "butter", "recipe", "dough", "baker"],
    ["court", "judge", "law", "trial", "jury", "lawyer", "verdict", "appeal"],
]
COMMON = ["the", "day", "people", "year", "time", "place"]
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)><!-- ship"


class Alarm(NamedTuple):
    """What a monitor might say."""

    time: date
    topic: int
    words: list[str]
    p_value: float


class Made(NamedTuple):
    """A fitted pipeline and its documents."""

    pipeline: Pipeline
    texts: list[str]
    times: list[date]


def made(n_documents: int = 240, seed: int = 0, first: str = "") -> Made:
    """Texts of three themes, the last of which only begins half way, and a pipeline."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n_documents):
        theme = THEMES[rng.integers(3 if 2 * i >= n_documents else 2)]
        words = [*rng.choice(theme, 12), *rng.choice(COMMON, 5)]
        texts.append(" ".join(rng.permutation(words)).capitalize() + ".")
    texts[0] = f"{texts[0]} {first}".strip()
    times = [date(2020, 1, 1) + timedelta(days=i) for i in range(n_documents)]
    steps = [("words", CountVectorizer()), ("topics", StreamingLDA(3, random_state=0))]
    return Made(Pipeline(steps).fit(texts), texts, times)


def written(model: object, path: Path, **given: object) -> Path:
    """The path of a report, when it was written."""
    report(model, path, **given)
    return path
