# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of the WAS paper compute: rankings of comments, and simple rules."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from benchmarks.papers import was_comments, was_tables
from benchmarks.papers.was_comments import Article


@pytest.mark.parametrize("scores", [[3, 2, 1, 0], [1, 1, 1, 0], [0, 1, 1, 2], [2, 2, 2, 2]])
def test_precision_is_the_mean_over_the_orders_of_ties(scores):
    kinds, scores = np.array([0, 1, 0, 2]), np.array(scores, float)
    labels = kinds == was_comments.SPECIFIC_TO_PART
    orders = [p for p in permutations(range(4)) if (np.diff(scores[list(p)]) <= 0).all()]
    expected = np.mean([labels[list(p[:2])].mean() for p in orders])
    assert_allclose(was_comments.of_ranking(kinds, scores)[0], expected)


def articles():
    rng = np.random.default_rng(0)
    found = []
    for n in (5, 3):
        X = sparse.csr_matrix(rng.poisson(0.6, (n, 7)) + np.eye(n, 7, dtype=int))
        comments = [sparse.csr_matrix(rng.poisson(0.6, (2, 7)) + 1) for _ in range(4)]
        found.append(Article(X, comments, np.array([0, 1, 0, 2])))
    return found


def test_rules_are_those_of_dense_vectors():
    given = articles()
    rows = np.vstack([one.X.toarray() for one in given])
    idf = np.log((1 + len(rows)) / (1 + (rows > 0).sum(axis=0))) + 1

    def unit(counts):
        weighted = counts * idf
        return weighted / np.linalg.norm(weighted)

    for i, one in enumerate(given):
        comments = [X.toarray().sum(axis=0) for X in one.comments]
        cosines = np.array([[unit(c) @ unit(s) for s in one.X.toarray()] for c in comments])
        whole = [unit(c) @ unit(one.X.toarray().sum(axis=0)) for c in comments]
        lengths = one.X.toarray().sum(axis=1)
        expected = {
            "short first": [-c.sum() for c in comments],
            "rare words": [(c * idf).sum() / c.sum() for c in comments],
            "tf-idf, whole file": whole,
            "tf-idf, best statement": cosines.max(axis=1),
            "tf-idf, best less mean": cosines.max(axis=1) - cosines @ lengths / lengths.sum(),
        }
        assert expected.keys() == was_comments.RULES.keys()
        for name, rule in was_comments.RULES.items():
            assert_allclose(rule(given)[i], expected[name], err_msg=name)


def test_all_truncations_stand_beside_the_others():
    cells = [one for one in was_tables.cells(True) if one["part"] == was_tables.FIGURE]
    by_method = {one["method"]: one for one in cells if one["split"] == 0}
    for method in ("WAS", "SBP"):
        rows = list(was_tables.run(by_method[method], True))
        assert [row["truncation"] for row in rows] == list(range(1, 11))
        assert len({row["perplexity"] for row in rows}) == (1 if method == "WAS" else 10)
    with_tables = [one for one in was_tables.cells(True) if one["part"] == was_tables.TABLES]
    assert {one["method"] for one in with_tables} == {*was_tables.MODELS, *was_tables.VARIANTS}
