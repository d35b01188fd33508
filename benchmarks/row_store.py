# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a posterior of topics over a large vocabulary, and the mass it keeps over a stream.

The first part learns from one minibatch of `--seen` words of a vocabulary of `--words`, each once
or a few times, and prints the bytes of the posterior's arrays, of its pickle, what the process
grew by, and the CPU seconds of the first minibatch and of later ones of the same words.

With `--tokens` two methods learn from so many tokens of generated documents, 100,000 tokens a
minibatch, and what they hold in the end is compared with what they were given,

    m_t = retain_t m_{t-1} + gain_t (tokens of the t-th minibatch),

once with the tokens and once with the sum of the local step's statistics, which sampling in
single precision gives to about 1e-8. For SVB m_t are all tokens, for online EM it is the running
mean of a document.

Twenty minibatches are generated, and come again and again; a word that occurs in a document does
so about fifty times, so that local steps cost little.

    python benchmarks/row_store.py [--words 10000000] [--components 100] [--seen 20000]
        [--tokens 100000000]
"""

import argparse
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from plain import SVBLDA, GibbsOnlineEM
from scipy import sparse

from streamtopics import StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.posteriors import Blend, TopicPosterior

IN_DOCUMENT, TOKENS, DOCUMENTS = 100, 100_000, 20


def resident() -> float:
    """Memory of this process, MB; NaN where /proc does not say it."""
    path = Path("/proc/self/status")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((int(x.split()[1]) / 1e3 for x in lines if x.startswith("VmRSS")), float("nan"))


def documents(words: np.ndarray, n_words: int, rng: Any, times: float = 1.0) -> sparse.csr_matrix:
    """Documents of 100 words each, which hold every one of `words` once: about so many times."""
    n = len(words) // IN_DOCUMENT
    columns = np.sort(rng.permutation(words)[: n * IN_DOCUMENT].reshape(n, -1), axis=1)
    counts = 1.0 + rng.poisson(times, columns.size)
    ends = np.arange(0, columns.size + 1, IN_DOCUMENT)
    return sparse.csr_matrix((counts, columns.ravel(), ends), shape=(n, n_words))


def measure_memory(model: Any, name: str, n_words: int, n_seen: int) -> None:
    """Print memory and seconds of a model that learns from some words of many."""
    rng = np.random.default_rng(0)
    words = rng.choice(n_words, n_seen, replace=False)
    batches = [documents(words, n_words, rng) for _ in range(4)]
    before, seconds = resident(), []
    for batch in batches:
        start = time.process_time()
        model.partial_fit(batch)
        seconds.append(time.process_time() - start)
        if len(seconds) == 1:
            grown = resident() - before
    store = model.posterior_._state.S
    arrays = (store.places.nbytes + store.counts[: store.n_used].nbytes) / 1e6
    room = (store.places.nbytes + store.counts.nbytes) / 1e6
    print(
        f"{name:16s} {n_words:>10,d} words, {n_seen:,d} seen: arrays {arrays:6.1f} MB "
        f"({room:.1f} with room), pickle {len(pickle.dumps(model.posterior_)) / 1e6:6.1f} MB, "
        f"process +{grown:6.1f} MB; first minibatch {seconds[0]:.3f} s, "
        f"later {min(seconds[1:]):.3f} s",
        flush=True,
    )


def minibatches(n_words: int, n_tokens: float) -> Iterator[sparse.csr_matrix]:
    """So many tokens: 100,000 a minibatch, of documents of which half the words are common."""
    rng, some = np.random.default_rng(1), []
    common = rng.choice(n_words, DOCUMENTS * IN_DOCUMENT, replace=False)
    for _ in range(20):
        half = len(common) // 2
        words = np.union1d(common[:half], rng.choice(n_words, half, replace=False))
        some.append(documents(words, n_words, rng, times=TOKENS / len(words)))
    given, t = 0.0, 0
    while given < n_tokens:
        X = some[t % len(some)]
        yield X
        given, t = given + X.sum(), t + 1


@dataclass
class Sums:
    """What the updates of a stream gave, of the statistics and of the tokens."""

    statistics: float = 0.0
    tokens: float = 0.0


@contextmanager
def watched_updates() -> Iterator[Sums]:
    """Sum what every `TopicPosterior.blend` gives in this context."""
    given, blend_in = Sums(), TopicPosterior.blend

    def watched(posterior: TopicPosterior, blend: Blend, swaps: Any = ()) -> None:
        retain, gain, s = float(blend.retain), float(blend.gain), blend.statistics
        given.statistics = retain * given.statistics + gain * float(s.mass.sum())
        given.tokens = retain * given.tokens + gain * s.n_tokens
        blend_in(posterior, blend, swaps)

    with mock.patch.object(TopicPosterior, "blend", watched):
        yield given


def measure_conservation(model: Any, name: str, n_words: int, n_tokens: float) -> None:
    """Print the relative error of the mass that a model holds after so many tokens."""
    start = time.process_time()
    with watched_updates() as watch:
        for X in minibatches(n_words, n_tokens):
            model.partial_fit(X)
    posterior = model.posterior_
    store = posterior._state.S
    held = float((posterior.a * store.counts[: store.n_used]).sum())
    given, kept = watch.statistics, float(posterior.learnt_part.sum())
    print(
        f"{name:14s} {posterior.n_tokens:,.0f} tokens in {posterior.n_batches:,d} minibatches, "
        f"{store.n_used - 1:,d} words seen, {time.process_time() - start:.0f} s of CPU: rows hold "
        f"{held:.12g}; relative error {abs(held / given - 1):.1e} of the statistics (kept sum "
        f"{abs(kept / given - 1):.1e}), {abs(held / watch.tokens - 1):.1e} of the tokens",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=10**7)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--seen", type=int, default=20_000)
    parser.add_argument("--tokens", type=float, default=0.0)
    options = parser.parse_args()
    k = options.components
    makers = {
        "SVBLDA": lambda: SVBLDA(k, random_state=0),
        "GibbsOnlineEM": lambda: GibbsOnlineEM(k, random_state=0),
        "PowerPriorLDA": lambda: StreamingLDA.preset("PowerPriorLDA", k, random_state=0),
    }
    for name, maker in makers.items():
        measure_memory(maker(), name, options.words, options.seen)
    if options.tokens:
        svb = SVBLDA(k, max_local_iter=10, random_state=0)
        online_em = GibbsOnlineEM(
            k,
            n_sweeps=2,
            schedule=Schedule(n_start_rounds=1),
            doc_topic_prior_update="fixed",
            random_state=0,
        )
        measure_conservation(svb, "SVBLDA", options.words, options.tokens)
        measure_conservation(online_em, "GibbsOnlineEM", options.words, options.tokens)


if __name__ == "__main__":
    main()
