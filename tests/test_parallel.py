# SPDX-License-Identifier: BSD-3-Clause
"""Jobs over threads: order, failures and odd numbers of them."""

import threading
from itertools import pairwise

import pytest

from streamtopics.utils.parallel import spans, workers


def square(x):
    return x * x


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_results_come_in_order(n_jobs, n):
    with workers(n_jobs) as pool:
        assert pool.share(square, ((i,) for i in range(n))) == [i * i for i in range(n)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_is_raised_and_stops_the_rest(error):
    done = []

    def job(i):
        if i == 3:
            raise error
        done.append(i)

    with workers(3) as pool:
        with pytest.raises(error):
            pool.share(job, ((i,) for i in range(10_000)))
        assert len(done) < 10_000
        assert pool.share(square, [(2,), (3,)]) == [4, 9]


def test_this_thread_works_too():
    seen = set()
    barrier = threading.Barrier(2, timeout=30)

    def job(i):
        seen.add(threading.get_ident())
        barrier.wait()

    with workers(2) as pool:
        pool.share(job, [(0,), (1,)])
    assert threading.get_ident() in seen
    assert len(seen) == 2


def test_jobs_may_share_again_and_no_thread_is_left():
    before = threading.active_count()
    with workers(2) as pool:
        nested = pool.share(lambda i: pool.share(square, [(i,), (i + 1,)]), [(0,), (5,)] * 9)
    assert nested == [[0, 1], [25, 36]] * 9
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("n", "least", "parts"), [(0, 64, 1), (63, 64, 1), (1000, 64, 16), (10**6, 64, 32)]
)
def test_spans_cut_evenly(n, least, parts):
    cut = spans(n, least)
    assert len(cut) == parts
    assert cut[0][0] == 0
    assert cut[-1][1] == n
    assert all(before[1] == after[0] for before, after in pairwise(cut))
    sizes = [stop - start for start, stop in cut]
    assert max(sizes) - min(sizes) <= 1
