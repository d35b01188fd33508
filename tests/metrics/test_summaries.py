# SPDX-License-Identifier: BSD-3-Clause
"""ROUGE against counts by hand and a plain table of subsequences; redundancy; the scorer."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_validate

from streamtopics import DPPSummarizer
from streamtopics.metrics import Rouge, RougeScorer, rouge, summary_redundancy
from streamtopics.metrics.summaries import longest_common, words_of

SUMMARY = "the cat sat on the mat"
REFERENCE = "the cat lay on the red mat today"


@pytest.mark.parametrize(
    ("order", "hits", "n_own", "n_theirs"),
    [(1, 5, 6, 8), (2, 2, 5, 7), (3, 0, 4, 6), ("l", 5, 6, 8)],
)
def test_counted_by_hand(order, hits, n_own, n_theirs):
    found = rouge([SUMMARY], [REFERENCE], order=order)
    assert_allclose(found.precision, hits / n_own)
    assert_allclose(found.recall, hits / n_theirs)
    assert_allclose(found.f1, 2 * hits / (n_own + n_theirs))


def slow_subsequence(one, other):
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            longer = max(table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = table[i, j] + 1 if x == y else longer
    return table[-1, -1]


@pytest.mark.parametrize("seed", range(20))
def test_longest_common_subsequence(seed):
    rng = np.random.default_rng(seed)
    one, other = (list(rng.choice(list("abcd"), rng.integers(0, 90))) for _ in range(2))
    assert longest_common(one, other) == slow_subsequence(one, other)
    assert longest_common(one, one) == len(one)


@pytest.mark.parametrize("order", [1, 2, "l"])
def test_the_ends_of_the_scale(order):
    same, other = rouge([SUMMARY] * 2, [SUMMARY, "no word of it"], order=order).f1
    assert (same, other) == (1.0, 0.0)
    for empty in ("", [], ["", "?!"]):
        assert rouge([empty], [REFERENCE], order=order) == (0.0, 0.0, 0.0)
        assert rouge([SUMMARY], [""], order=order) == (0.0, 0.0, 0.0)


def test_sentences_are_joined_and_words_are_small():
    parts = rouge([["The CAT sat.", "On the mat!"]], [REFERENCE], order="l")
    assert parts == rouge([SUMMARY], [REFERENCE], order="l")
    assert words_of("Don't STOP, Zoë: 3 times") == ["don", "t", "stop", "zoë", "3", "times"]
    assert rouge(["a-b"], ["a-b c"], tokenize=str.split).precision == 1
    assert rouge([["我爱你。", "你好。"]], ["我爱你。你好。"], tokenize=list).precision == 1
    assert rouge(["a-b"], ["a-c b"], tokenize=str.split).precision == 0


def test_scripts_without_spaces_or_with_marks():
    assert rouge(["河水上涨"], ["河水夜里上涨"]).f1 == 0
    assert_allclose(rouge(["河水上涨"], ["河水夜里上涨"], order="l", tokenize=list).recall, 4 / 6)
    assert_allclose(rouge(["नदी बढ़ी"], ["नदी"], tokenize=str.split).precision, 1 / 2)
    assert_allclose(rouge(["ارتفع النهر"], ["النهر"]).precision, 1 / 2)


def test_several_references():
    references = ["a b c", "a b x y z", "c"]
    each = np.array([rouge(["a b c d"], [text]) for text in references])[:, :, 0]
    for several, expected in ("mean", each.mean(axis=0)), ("max", each[0]):
        assert_allclose(np.ravel(rouge(["a b c d"], [references], several=several)), expected)
        assert_allclose(np.ravel(rouge(["a b c d"], [references[:1]], several=several)), each[0])


def test_one_row_for_each_document():
    found = rouge([SUMMARY, REFERENCE, ""], [REFERENCE] * 3)
    assert isinstance(found, Rouge)
    assert found.f1.shape == (3,)
    assert found.f1.argsort().tolist() == [2, 0, 1]
    assert [values.shape for values in rouge([], [])] == [(0,)] * 3


def test_redundancy():
    alike, half = ["Red green.", "Red green!"], ["Red green.", "Red blue.", "Grey."]
    summaries = [alike, ["Red green.", "Blue."], half, ["Red"], [], ["?", "!"]]
    assert_allclose(summary_redundancy(summaries), [1, 0, 1 / 3, 0, 0, 0])


def test_scorer():
    documents = ["The cat sat. A dog ran.", "It rained. The sun shone!"] * 3
    references = [["The cat sat.", "The cat."], ["It rained."]] * 3
    model = DPPSummarizer(1)
    for order in (1, "l"):
        scorer = RougeScorer(order, "max")
        expected = rouge(model.transform(documents), references, order=order, several="max")
        assert scorer(model, documents, references) == expected.f1.mean()
        assert pickle.loads(pickle.dumps(scorer)) == scorer
    scoring = {"one": RougeScorer(), "two": RougeScorer(2)}
    result = cross_validate(model, documents, references, scoring=scoring, cv=3)
    assert (result["test_one"] >= result["test_two"]).all()
    assert result["test_two"].min() > 0


def test_wrong_texts():
    with pytest.raises(ValueError, match="shorter"):
        rouge(["a"], [])
    for pair in ("a text", ["a"]), (["a"], "a text"):
        with pytest.raises(TypeError, match="with an entry for each document"):
            rouge(*pair)


def test_wrong_options():
    for order in (0, 101, 2**64, "L"):
        with pytest.raises(ValueError, match="order must be"):
            rouge(["a"], ["a"], order=order)
    with pytest.raises(ValueError, match=r"several must be one of 'mean', 'max'; got 'sum'"):
        rouge(["a"], ["a"], several="sum")
    with pytest.raises(TypeError, match="put a single one into a list"):
        summary_redundancy(["a text"])
    assert rouge(["a b"], ["a b"], order=100).f1 == 0


def test_repeated_words_count_as_often_as_both_have_them():
    assert_allclose(rouge(["the the the"], ["the the cat"]).precision, 2 / 3)
    assert_allclose(rouge(["the the"], ["the cat"]).recall, 1 / 2)
