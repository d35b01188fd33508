# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF001
"""The counter of words against Python's regular expressions and dictionaries."""

import re
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics.kernels import tokens

ALPHABETS = {
    "ASCII": "abcXYZ01_ .,-\n\x00",
    "Latin-1": "abÄßÿµ×÷²ª .é",
    "two bytes": "aбΩЖאا中ｱ\u0301\u200dſK ",
    "four bytes": "a𝔄𐐀😀𠀀é٣ ",
    "awkward": "aΑΣσςİıI\u0307ŉǅﬀ .",
    "surrogates": "ab\ud800\udc00\udfffé ",
}


def grams(words, min_n, max_n):
    if max_n == 1:
        return words
    return [
        " ".join(words[i : i + n])
        for n in range(min_n, max_n + 1)
        for i in range(len(words) - n + 1)
    ]


# By the number that the kernel has for what words are runs of.
PATTERNS = [r"\w{{{},}}", r"[^\W\d_]{{{},}}", r"\b[^\W\d_]{{{},}}\b"]


def expected(texts, lower, min_length=2, min_n=1, max_n=1, stop_words=(), alphabet=0):
    """What the kernel does, in Python: a Counter for each text."""
    pattern = re.compile(PATTERNS[alphabet].format(min_length))
    found = []
    for text, small in zip(texts, lower, strict=True):
        words = pattern.findall(text.lower() if small else text)
        found.append(Counter(grams([w for w in words if w not in stop_words], min_n, max_n)))
    return found


def counted(parts):
    """All rows of sorted parts, as Counters, with the words in order."""
    n, maps, owners, places, frequencies = tokens.merge(parts)
    words = [None] * n
    for p, part in enumerate(parts):
        own = np.flatnonzero(owners == p)
        for i, word in zip(own.tolist(), part.words(places[own]), strict=True):
            words[i] = word
    assert words == sorted(set(words))
    assert len(words) == n
    rows = []
    for part, columns in zip(parts, maps, strict=True):
        sizes = part.sizes(columns)
        indices, counts = np.empty((2, sizes.sum()), dtype=np.int32)
        part.write(columns, indices, counts)
        stop = 0
        for size in sizes.tolist():
            start, stop = stop, stop + size
            columns_of_row = indices[start:stop].tolist()
            assert columns_of_row == sorted(set(columns_of_row))
            pairs = zip(columns_of_row, counts[start:stop].tolist(), strict=True)
            rows.append(Counter({words[c]: k for c, k in pairs}))
    having = Counter(word for row in rows for word in row)
    assert_array_equal(frequencies, [having[word] for word in words])
    return rows


def count(texts, lower, *settings, **stop):
    part = tokens.Counted(*(settings or (2, 1, 1)), **stop)
    part.count(texts, np.asarray(lower, dtype=np.uint8), np.ones(len(texts), np.uint8))
    part.sort()
    return part


def random_texts(alphabet, n, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 80, n)
    return ["".join(rng.choice(list(alphabet), length)) for length in lengths]


@pytest.mark.parametrize("name", ALPHABETS)
@pytest.mark.parametrize("settings", [(2, 1, 1), (1, 1, 2), (3, 1, 1), (1, 2, 4)])
@pytest.mark.parametrize("alphabet", range(3))
def test_random_texts(name, settings, alphabet):
    texts = random_texts(ALPHABETS[name], 300, len(name))
    lower = np.arange(300) % 3 > 0
    part = count(texts, lower, *settings, alphabet=alphabet)
    assert counted([part]) == expected(texts, lower, *settings, alphabet=alphabet)


@pytest.fixture(scope="module")
def code_points():
    """All of them, alone and between letters, 64 in a text."""
    blocks = [map(chr, range(start, start + 64)) for start in range(0, sys.maxunicode + 1, 64)]
    return [" ".join(f"{c} x{c}y" for c in block) for block in blocks]


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("alphabet", range(3))
def test_every_code_point_alone_and_between_letters(code_points, lower, alphabet):
    lengths, lowers = (1, 1, 1), [lower] * len(code_points)
    rows = counted([count(code_points, lowers, *lengths, alphabet=alphabet)])
    assert rows == expected(code_points, lowers, *lengths, alphabet=alphabet)


def test_every_code_point_that_python_has_to_lower_is_one_that_the_kernel_gives_to_it():
    """The table has one character for one, whatever is beside it: true of all but these."""
    awkward = {
        c
        for c in map(chr, range(sys.maxunicode + 1))
        if len({f"x{c}y".lower()[1:-1], f"x{c} ".lower()[1:-1]}) > 1 or len(c.lower()) > 1
    }
    assert awkward == {"İ", "Σ"}


@pytest.mark.parametrize("length", [*range(1, 40), 1000])
def test_words_of_all_lengths_that_differ_in_one_place(length):
    """Around the 8 and 16 bytes that entries hold, and with an end that is the text's."""
    words = ["a" * length]
    words += ["a" * i + "b" + "a" * (length - i - 1) for i in range(length)]
    rows = counted([count([" ".join(words), words[0]], [1, 1], 1, 1, 1)])
    assert rows == [Counter(words), Counter(words[:1])]


def test_many_words_and_long_rows():
    """The table grows, and rows are longer than what is sorted at once."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30_000)]
    texts = [" ".join(words), " ".join(rng.permutation(words)), "", "w1 w1 w29999"]
    assert counted([count(texts, [1] * 4)]) == expected(texts, [1] * 4)


@pytest.mark.parametrize("cuts", [[], [100], [0, 50, 50, 200, 300]])
def test_parts_are_merged_in_order(cuts):
    texts = random_texts(ALPHABETS["awkward"], 300, 0)
    bounds = [0, *cuts, 300]
    parts = [count(texts[a:b], [1] * (b - a), 1, 1, 2) for a, b in pairwise(bounds)]
    assert counted(parts) == expected(texts, [1] * 300, 1, 1, 2)


def test_stop_words_are_passed_over_by_n_grams():
    texts = ["the sea of red sky", "of of", "sea"]
    part = count(texts, [1] * 3, 2, 1, 2, stop_words=tokens.Words(["of", "the"]))
    assert counted([part]) == expected(texts, [1] * 3, 2, 1, 2, stop_words={"of", "the"})


@pytest.mark.parametrize("sizes", [[1, 1, 1, 1], [4], [2, 2], [1, 3]])
def test_frequencies_are_of_documents_of_several_texts(sizes):
    texts = ["red sky red", "sky", "", "red sea sky"]
    begins = np.concatenate([[1] + [0] * (size - 1) for size in sizes]).astype(np.uint8)
    part = tokens.Counted(2, 1, 2)
    for i, text in enumerate(texts):
        part.count([text], np.ones(1, np.uint8), begins[i : i + 1])
    part.sort()
    n, _, _, places, frequencies = tokens.merge([part])
    rows = expected(texts, [1] * 4, 2, 1, 2)
    documents = np.split(np.arange(4), np.cumsum(sizes)[:-1])
    for word, frequency in zip(part.words(places), frequencies, strict=True):
        assert frequency == sum(any(word in rows[i] for i in those) for those in documents)
    assert n == len(set().union(*rows))


def test_tokens_of_others():
    """Whatever str there are: none, with spaces, zeros, and surrogates."""
    rows = [["", "a", "a\0", "a\0"], [], ["a b" * 9, "\ud800", "\ud83d\ude00", "\U0001f600", ""]]
    part = tokens.Counted(1, 1, 1)
    for row in rows:
        part.count_tokens(row)
    part.sort()
    assert counted([part]) == [Counter(row) for row in rows]


def test_columns_may_be_left_out():
    part = count(["a b c", "b"], [1, 1], 1, 1, 1)
    columns = np.array([-1, 7, 0], dtype=np.int32)
    assert_array_equal(part.sizes(columns), [2, 1])
    indices, counts = np.empty((2, 3), dtype=np.int32)
    part.write(columns, indices, counts)
    assert_array_equal(indices, [0, 7, 7])
    assert_array_equal(counts, [1, 1, 1])


def test_letters_become_none_one_or_several():
    """As if they had been written so; of ASCII they stay."""
    become = {"\u00e4": "a", "\u00f6": "", "\u00df": "ss", "\u4e2d": "x" * 40, "e": "no"}
    own = ["\u00e4e \u00f6 \u4e2d\u4e2d\u00df", "\u00e4" * 9, "\u00df" * 50, "\u00f6"]
    written = ["".join(become.get(letter, letter) for letter in text) for text in own]
    texts, written = (["tree", *some] * 30 for some in (own, written))
    letters = tokens.Letters(lambda letter: become.get(letter, letter))
    part = tokens.Counted(1, 1, 2)
    part.count(texts, np.zeros(150, np.uint8), np.ones(150, np.uint8), letters)
    part.sort()
    assert counted([part]) == expected(written, np.zeros(150), 1, 1, 2)


def test_wrong_shapes():
    part = count(["a b"], [1], 1, 1, 1)
    with pytest.raises(ValueError, match="flags"):
        part.count(["a"], np.ones(2, np.uint8), np.ones(1, np.uint8))
    with pytest.raises(ValueError, match="flags"):
        part.count(["a"], np.ones(1, np.uint8), np.ones(2, np.uint8))
    with pytest.raises(ValueError, match="columns"):
        part.sizes(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="length that sizes says"):
        part.write(np.zeros(2, np.int32), *np.empty((2, 5), np.int32))
    with pytest.raises(ValueError, match="length that sizes says"):
        part.write(np.zeros(2, np.int32), *np.empty((2, 1), np.int32))
    with pytest.raises(IndexError, match="place 2"):
        part.words(np.array([2], np.int32))
    with pytest.raises(TypeError):
        part.count([b"a"], np.ones(1, np.uint8), np.ones(1, np.uint8))


def test_numbers_of_words_equal_those_of_a_dict():
    """Of any str, whatever their length, also when some come again and the table grows."""
    rng = np.random.default_rng(0)
    words = ["", "a", "a\0", "ä", "\ud800", "\U0001f600", "x" * 15, "x" * 16, "x" * 17, "x" * 5000]
    words += [f"word{i}" + "y" * (i % 30) for i in rng.integers(0, 4000, 6000).tolist()]
    expected, known = {}, tokens.Words(words[:100])
    for word in words:
        expected.setdefault(word, len(expected))
    known.extend(words[100:])
    assert len(known) == len(expected)
    asked = [*words, *(word + "z" for word in words), "x" * 18, "x" * 4999, "b"]
    assert known.of(asked).tolist() == [expected.get(word, -1) for word in asked]
    assert known.of([]).tolist() == []
    assert len(known) == len(expected)
    with pytest.raises(TypeError):
        known.of([b"a"])
