# SPDX-License-Identifier: BSD-3-Clause
"""Text to counts: StreamingCountVectorizer beside CountVectorizer, in one run.

Megabytes (10^6 characters) a second of `fit_transform` and of `transform`, on one thread and on
two, of a stream read by `partial_fit_transform` in minibatches of a thousand and of a hundred, and
of SentenceVectorizer; with stop words also without phrases and with them. The best of some runs,
which take turns. Seconds are those of the clock; where the machine does other work, --cpu counts
those of the processor, with which threads bring nothing.

    STREAMTOPICS_DATA=... python -m benchmarks.text_to_counts [--cpu] [--repeats 5] [--texts N]
        [CORPUS ...]
"""

import argparse
import time
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.results import least_seconds
from streamtopics.text import SentenceVectorizer, StreamingCountVectorizer

CORPORA = ["newsgroups", "imdb_unlabelled", "commit_subjects"]


def stream(texts: list[str], batch_size: int, **settings: Any) -> None:
    """Follow a stream with 20,000 columns."""
    vectorizer = StreamingCountVectorizer(max_features=20_000, **settings)
    for start in range(0, len(texts), batch_size):
        vectorizer.partial_fit_transform(texts[start : start + batch_size])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--texts", type=int, help="of each corpus; all if not given")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    for name in options.corpora:
        texts = corpora.texts(name)[: options.texts]
        size = sum(map(len, texts)) / 1e6
        peer, ours = CountVectorizer().fit(texts), StreamingCountVectorizer().fit(texts)
        assert peer.vocabulary_ == ours.vocabulary_
        runs = {
            "CountVectorizer fit_transform": lambda t=texts: CountVectorizer().fit_transform(t),
            "fit_transform": lambda t=texts: StreamingCountVectorizer().fit_transform(t),
            "fit_transform, 2 threads": lambda t=texts: StreamingCountVectorizer(
                n_jobs=2
            ).fit_transform(t),
            "CountVectorizer transform": lambda t=texts, p=peer: p.transform(t),
            "transform": lambda t=texts, o=ours: o.transform(t),
            "stream by 1,000": lambda t=texts: stream(t, 1000),
            "stream by 100": lambda t=texts: stream(t, 100),
            "sentences, fit_transform": lambda t=texts: SentenceVectorizer().fit_transform(t),
        }
        for phrases in (False, True):
            how: dict[str, Any] = {"stop_words": "english", "phrases": phrases}
            fitted, ending = StreamingCountVectorizer(**how).fit(texts), f"phrases={phrases}"
            runs |= {
                f"fit_transform, {ending}": lambda t=texts, h=how: StreamingCountVectorizer(
                    **h
                ).fit_transform(t),
                f"transform, {ending}": lambda t=texts, f=fitted: f.transform(t),
                f"stream by 1,000, {ending}": lambda t=texts, h=how: stream(t, 1000, **h),
            }
        print(f"{name}: {len(texts):,} texts, {size:.1f} MB, {len(peer.vocabulary_):,} words")
        seconds = least_seconds(runs, options.repeats, clock)
        for run, taken in seconds.items():
            ratio = seconds["CountVectorizer fit_transform"] / taken
            print(f"  {run:32s} {size / taken:8.1f} MB/s  {ratio:5.1f}x", flush=True)


if __name__ == "__main__":
    main()
