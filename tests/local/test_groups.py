# SPDX-License-Identifier: BSD-3-Clause
"""Groups of documents that explain each other: against the formulas in plain loops, and limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.local.groups import ROUNDS, Base, find_groups, known_by
from streamtopics.utils.parallel import workers

V = 40


def blocks(n=60, n_blocks=4, length=6, seed=0):
    """Documents, each of the eight words of its block and of eight that all have."""
    rng = np.random.default_rng(seed)
    block = rng.integers(n_blocks, size=n)
    own = np.zeros((n_blocks, V))
    for k in range(n_blocks):
        own[k, 8 * k : 8 * k + 8] = 0.8 / 8
    own[:, 32:] = 0.2 / 8
    return np.array([rng.multinomial(length, own[k]) for k in block], float), block


def base_of(D, concentration=1.0, share=0.8):
    seen = D.sum(axis=0) / D.sum()
    return Base(0.5 / D.shape[1] + 0.5 * seen, seen, share, concentration)


def log_p(base, words, counts, s):
    """Log probability of words by a group with such counts, or by p_0 where it is infinite."""
    topic = base.words if s == np.inf else (counts + s * base.words) / (counts.sum() + s)
    return words @ np.log(base.share * topic + (1 - base.share) * base.background)


def fit(D, base, members, s):
    """Log probability of documents, each by the others."""
    total = D[members].sum(axis=0)
    return sum(log_p(base, D[d], total - D[d], s) for d in members)


def united(tables, D, base, alone, s):
    """The tables when each, small ones first, was made one with another where that is better."""

    def worth(members):
        return fit(D, base, members, s) + len(members) * np.log(max(len(members) - 1, 1e-3))

    sizes = {k: len(m) for k, m in tables.items()}
    for k in sorted(tables, key=lambda k: (sizes[k], k)):
        counts = {j: D[tables[j]].sum(axis=0) for j in tables}
        others = sorted(j for j in tables if j != k and counts[j] @ counts[k] > 0)
        if not others:
            continue
        score = [log_p(base, counts[k], counts[j], s) + np.log(len(tables[j])) for j in others]
        j = others[int(np.argmax(score))]
        both = tables[k] + tables[j]
        better = worth(both) > worth(tables[k]) + worth(tables[j])
        if better and fit(D, base, both, s) > alone[both].sum():
            tables[j] = both
            del tables[k]
    return tables


def by_loops(D, known, base, least):
    """The tables of the module's docstring, a document and a table at a time."""
    n, s_all = len(D), D.sum() / (D.sum(axis=1) > 0).sum()
    e = base.concentration / (base.concentration + n)
    alone = log_p(base, D, 0.0, np.inf)
    open_ = [d for d in range(n) if alone[d] > known[d] and D[d].sum() > 0]
    tables = {}
    for weight in ROUNDS:
        s = weight * s_all
        for d in open_:
            tables = {k: [i for i in m if i != d] for k, m in tables.items()}
            tables = {k: m for k, m in tables.items() if m}
            options = {}
            for k, members in tables.items():
                explained = log_p(base, D[d], D[members].sum(axis=0), s)
                if explained > alone[d]:
                    options[k] = np.log(len(members) / n) + explained
            best = max(options, key=lambda k: (options[k], -k)) if options else None
            if best is not None and options[best] > max(known[d], np.log(e) + alone[d]):
                tables[best].append(d)
            elif known[d] < np.log(e) + alone[d]:
                tables[next(k for k in range(n + 1) if k not in tables)] = [d]
        tables = united(tables, D, base, alone, s)
    return sorted((sorted(m) for m in tables.values() if len(m) >= least), key=len, reverse=True)


def assert_groups_of_plain_loops(D, known, base, least=3):
    expected = by_loops(D, known, base, least)
    found = find_groups(sparse.csr_matrix(D), known, base, least)
    assert len(expected) > 1
    assert_array_equal(found.documents, [len(members) for members in expected])
    tokens = np.array(sorted(tuple(D[members].sum(axis=0)) for members in expected))
    order = np.lexsort(found.counts[::-1].round(6))
    assert_allclose(found.counts.T[order], tokens, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.8, 1.0])
@pytest.mark.parametrize("scale", [1.0, 0.75])
def test_the_tables_of_plain_loops(seed, share, scale):
    D = scale * blocks(40, seed=seed)[0]
    base = base_of(D, share=share)
    assert_groups_of_plain_loops(D, np.where(np.arange(40) % 7 == 0, 0.0, -np.inf), base)


@pytest.mark.parametrize("concentration", [1.0, 50.0])
def test_where_topics_explain_some_documents_the_tables_are_those_of_plain_loops(concentration):
    D, _ = blocks(60, 4, length=4, seed=1)
    base = base_of(D, concentration)
    alone = D @ np.log(0.8 * base.words + 0.2 * base.background)
    known = alone - np.random.default_rng(0).choice([-1.0, 2.0, 9.0], 60)
    assert_groups_of_plain_loops(D, known, base)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_found(seed):
    D, block = blocks(200, seed=seed)
    found = find_groups(sparse.csr_matrix(D), np.full(200, -np.inf), base_of(D), 5)
    assert found.counts.shape == (V, 4)
    of_block = found.counts[:32].reshape(4, 8, 4).sum(axis=1)
    assert (of_block.max(axis=0) > 0.95 * of_block.sum(axis=0)).all()
    assert set(of_block.argmax(axis=0)) == set(range(4))
    assert_allclose(found.documents, np.sort(np.bincount(block))[::-1], atol=8)


def test_documents_that_topics_explain_open_none():
    D, _ = blocks()
    base = base_of(D)
    alone = D @ np.log(0.8 * base.words + 0.2 * base.background)
    assert find_groups(sparse.csr_matrix(D), alone + 1e-9, base, 1).documents.size == 0
    known = np.where(np.arange(60) < 30, 0.0, -np.inf)
    found = find_groups(sparse.csr_matrix(D), known, base, 1)
    assert 0 < found.documents.sum() <= 30


def test_empty_documents_and_none():
    D = np.vstack([np.zeros((3, V)), blocks(40)[0], np.zeros((2, V))])
    with_empty = find_groups(sparse.csr_matrix(D), np.full(45, -np.inf), base_of(D), 4)
    assert with_empty.documents.sum() <= 40
    none = find_groups(sparse.csr_matrix((3, V)), np.full(3, -np.inf), base_of(blocks()[0]), 1)
    assert none.counts.shape == (V, 0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_topics_say_of_documents(n_jobs):
    D, _ = blocks(400)
    rng = np.random.default_rng(0)
    topics, shares = rng.dirichlet(np.ones(V), 3).T, rng.dirichlet(np.ones(3))
    with workers(n_jobs) as pool:
        known = known_by(sparse.csr_matrix(D), np.log(topics), np.log(shares), pool)
        nothing = known_by(sparse.csr_matrix(D), np.zeros((V, 0)), np.zeros(0), pool)
    joint = shares * np.exp(D @ np.log(topics))
    assert_allclose(known, np.log(joint.sum(axis=1)))
    assert (nothing == -np.inf).all()
