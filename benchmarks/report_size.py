# SPDX-License-Identifier: BSD-3-Clause
"""Size of a report and the seconds that it takes, after a stream of many short documents.

The last documents of a corpus with times are learnt in minibatches, by a pipeline with an open
vocabulary, and then all of them go into one report.

    STREAMTOPICS_DATA=... python benchmarks/report_size.py [--documents 100000]
        [--components 50] [--output report.html] [CORPUS]
"""

import argparse
import gzip
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import corpora
import numpy as np

from streamtopics import StreamingLDA
from streamtopics.report import report
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

BATCH = 2000


def texts_and_times(name: str, n: int) -> tuple[list[str], np.ndarray]:
    """The last n documents of a corpus, and when they are from."""
    with gzip.open(corpora.folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][-n:]
    times = np.array([row["time"] for row in rows])
    return [row["text"] for row in rows], times.astype("datetime64[s]")


def learnt(texts: list[str], n_components: int) -> StreamingPipeline:
    """A pipeline that has learnt from all of the texts, a minibatch at a time."""
    words = StreamingCountVectorizer(max_features=20_000, token_pattern=corpora.PROSE_WORD)
    topics = StreamingLDA(n_components, random_state=0, n_jobs=1)
    pipeline = StreamingPipeline([("words", words), ("topics", topics)])
    for start in range(0, len(texts), BATCH):
        pipeline.partial_fit(texts[start : start + BATCH])
    return pipeline


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default="commit_subjects")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    texts, times = texts_and_times(options.corpus, options.documents)
    start = time.process_time()
    pipeline = learnt(texts, options.components)
    learning = time.process_time() - start
    with TemporaryDirectory() as folder:
        path = options.output or Path(folder, "report.html")
        start = time.process_time()
        report(pipeline, path, texts=texts, times=times, title=options.corpus)
        reporting = time.process_time() - start
        n_bytes = path.stat().st_size
    print(
        f"{len(texts):,} documents, {options.components} topics: learnt in {learning:.1f} s "
        f"of CPU; report in {reporting:.1f} s, {n_bytes / 1e6:.2f} MB"
    )


if __name__ == "__main__":
    main()
