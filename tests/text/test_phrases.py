# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of neighbours that count as one word, beside a plain twin."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics import load, save
from streamtopics.text import Phrases, SentenceVectorizer, StreamingCountVectorizer
from streamtopics.text import phrases as module
from streamtopics.text.phrases import looked_at
from streamtopics.text.vocabulary import joined

STOP = ["the", "of", "a"]
RULE = Phrases(min_count=3, min_npmi=0.4)


def runs_of(text):
    """Words of a text in runs of neighbours, as lists."""
    runs, last = [[]], None
    for found in re.finditer(r"\w+", text.lower()):
        word, between = found[0], text[last : found.start()] if last is not None else ""
        last = found.end()
        if len(word) < 2 or word in STOP:
            runs.append([])
            continue
        if between not in (" ", "\n", "-"):
            runs.append([])
        runs[-1].append(word)
    return runs


def phrases_of(texts, rule=RULE):
    """Phrases by the definition, of all texts."""
    words, pairs = Counter(), Counter()
    for text in texts:
        for run in runs_of(text):
            words.update(run)
            pairs.update(pairwise(run))
    n, found = sum(words.values()), set()
    for (a, b), k in pairs.items():
        npmi = np.log(k * n / (words[a] * words[b])) / np.log(n / k)
        if k >= rule.min_count and npmi >= rule.min_npmi:
            found.add((a, b))
    return found


def counted(text, phrases):
    """Counts of a text, joined from the left."""
    found = Counter()
    for run in runs_of(text):
        i = 0
        while i < len(run):
            joins = tuple(run[i : i + 2]) in phrases
            found[" ".join(run[i : i + 2]) if joins else run[i]] += 1
            i += 2 if joins else 1
    return found


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    words = np.array(
        ["credit card", "new york times", "los-angeles", "the", "of", "sea", "sky", "a",
         "müde katze", "new", "card", "x", "red, blue", "ship.\n\nat", "times\nnew", "credit",
         "Straße  frei"]
    )  # fmt: skip
    return [" ".join(rng.choice(words, rng.integers(0, 20))) for _ in range(400)]


def vectorizer(**settings):
    return StreamingCountVectorizer(stop_words=STOP, phrases=RULE, **settings)


def as_counters(X, names):
    return [
        Counter({names[j]: int(n) for j, n in zip(row.indices, row.data, strict=True)}) for row in X
    ]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_corpus_is_counted_as_by_the_definition(texts, n_jobs, monkeypatch):
    monkeypatch.setattr("streamtopics.text.counting.CHARACTERS_A_PART", 1000)
    own = vectorizer(n_jobs=n_jobs)
    X, expected = own.fit_transform(texts), phrases_of(texts)
    names = own.get_feature_names_out()
    assert {"credit card", "los angeles", "müde katze"} <= set(names)
    assert {tuple(n.split()) for n in names if " " in n} <= expected
    assert as_counters(X, names) == [counted(text, expected) for text in texts]
    assert abs(X - own.transform(texts)).nnz == 0


def test_a_tokenizer_in_python_gives_the_same_neighbours():
    texts = ["credit card debt"] * 5 + ["credit rating", "card game"]
    X = [
        StreamingCountVectorizer(phrases=RULE, **how).fit_transform(texts).toarray()
        for how in ({}, {"tokenizer": str.split, "token_pattern": None})
    ]
    np.testing.assert_array_equal(*X)


def test_a_phrase_without_a_column_is_taken_apart(texts):
    own = vectorizer(max_features=3)
    X = own.fit_transform(texts)
    names = own.get_feature_names_out()
    phrases = {tuple(n.split()) for n in names if " " in n}
    assert as_counters(X, names) == [
        Counter({w: n for w, n in counted(text, phrases).items() if w in names}) for text in texts
    ]


def test_a_stream_joins_what_has_a_column_since_the_last_minibatch(texts):
    streams = [vectorizer(max_features=30, n_jobs=n_jobs) for n_jobs in (1, 2)]
    for start in range(0, 400, 100):
        known = {tuple(n.split()) for n in (joined(streams[0]._vocabulary) if start else [])}
        batch = texts[start : start + 100]
        X, Y = (own.partial_fit_transform(batch) for own in streams)
        names = streams[0].get_feature_names_out()
        assert abs(X - Y).nnz == 0
        assert as_counters(X, names) == [counted(text, known) for text in batch]
    assert {"credit card", "los angeles"} <= set(names)
    assert all(a._vocabulary.phrases.names == b._vocabulary.phrases.names for a, b in [streams])


def test_a_saved_stream_goes_on_to_the_same_counts(texts, tmp_path):
    own = vectorizer(max_features=30).partial_fit(texts[:200])
    save(own, tmp_path / "words")
    other = load(tmp_path / "words")
    X, Y = (one.partial_fit(texts[200:]).transform(texts) for one in (own, other))
    assert abs(X - Y).nnz == 0
    assert joined(own._vocabulary) == joined(other._vocabulary)


def test_the_table_is_bounded_and_forgets(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 50)
    own = StreamingCountVectorizer(phrases=Phrases(min_count=4), max_features=100, half_life=50)
    rng = np.random.default_rng(1)
    for _ in range(10):
        rare = [" ".join(f"w{i}" for i in rng.integers(0, 300, 10)) for _ in range(40)]
        own.partial_fit(rare + ["old name"] * 5)
    table = own._vocabulary.phrases
    assert len(table.keys) <= 100
    assert "old name" in table.names.values()
    for _ in range(20):
        own.partial_fit(["quite new words"] * 40)
    assert {"old name"}.isdisjoint(own._vocabulary.phrases.names.values())


def test_a_look_costs_a_part_of_the_documents():
    assert looked_at(None, 1500).all()
    assert looked_at(None, 100_000).sum() == 12_500
    assert looked_at(1500, 31_500).sum() == 500 + 2000
    assert not looked_at(5000, 10_000).any()


def test_sentences_and_empty_texts(texts):
    own = SentenceVectorizer(vectorizer())
    X = own.fit_transform(["Credit card. " * 5, "", "Card of credit."])
    assert list(own.get_feature_names_out()) == ["card", "credit", "credit card"]
    assert [x.toarray().tolist() for x in X] == [[[0, 0, 1]] * 5, [], [[1, 1, 0]]]


def test_what_phrases_cannot_be_found_among():
    for message, settings in {
        "ngram_range": {"ngram_range": (1, 2)},
        "vocabulary": {"vocabulary": ["credit card"]},
        "analyzer at 'word'": {"analyzer": "char"},
    }.items():
        with pytest.raises(ValueError, match=message):
            vectorizer(**settings).fit(["credit card"])


@pytest.mark.parametrize("wrong", [{"min_count": 0}, {"min_npmi": 2}])
def test_a_rule_is_checked(wrong):
    with pytest.raises(ValueError, match="|".join(wrong)):
        Phrases(**wrong)


def test_a_phrase_spelled_like_a_word_has_its_column():
    texts = ["credit|card|yak|zebra"] * 30 + ["credit card|zebra|apple|yak"] * 5 + ["apple|bee"] * 5
    words = StreamingCountVectorizer(
        tokenizer=lambda text: text.split("|"), token_pattern=None, phrases=Phrases(min_count=5)
    )
    X = words.fit_transform(texts)
    names = words.get_feature_names_out().tolist()
    assert len(names) == len(set(names))
    assert X[:, names.index("credit card")].sum() == 35
    assert_array_equal(X.toarray(), words.transform(texts).toarray())


def test_words_of_a_rare_phrase_keep_their_columns():
    words = StreamingCountVectorizer(min_df=7, phrases=Phrases(min_count=3, min_npmi=-1))
    texts = ["credit card"] * 6 + ["credit"] * 4
    assert words.fit(texts).get_feature_names_out().tolist() == ["credit"]


@pytest.mark.parametrize("max_df", [0.5, 1.0])
def test_a_phrase_of_every_document_has_a_column_in_a_stream_unless_max_df_forbids(max_df):
    texts = [f"w{i % 97} w{i % 89}" + ", credit card" * 3 for i in range(3000)]
    for size in (7, 100, *range(300, 330)):
        words = StreamingCountVectorizer(max_features=300, max_df=max_df, phrases=True)
        for start in range(0, 3000, size):
            words.partial_fit(texts[start : start + size])
            assert ("credit card" in words.vocabulary_) == (max_df == 1.0) or start < 20
        assert max_df < 1 or 2900 <= words.document_frequency_.max() <= 3000


def test_documents_of_a_new_phrase_have_not_faded_yet():
    rng, fill = np.random.default_rng(0), [f"w{i}" for i in range(99)]
    texts = [" ".join(rng.choice(fill, 4)) + ", credit card" * (i % 4 == 0) for i in range(4000)]
    for how in ({"half_life": 500}, {"half_life": 10, "min_df": 0.01, "max_df": 2000}):
        words = StreamingCountVectorizer(max_features=300, phrases=True, **how).partial_fit(texts)
        found = words.document_frequency_[words.vocabulary_["credit card"]]
        assert found == pytest.approx(1000)
