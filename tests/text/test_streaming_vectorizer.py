# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF001
"""The vectorizer on a corpus: what CountVectorizer does."""

import gc
import io
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, StreamingPipeline, counting
from streamtopics.text.counting import _parts, word_rule
from tests.text.corpora import each_corpus, texts_of

MOST_CHARACTERS_IN_PAIRS = 100_000
TEXTS = [
    "The sea, the deep sea; and 2 ships_at sea. A3b ab1 1ab 2nd x1yz zz_yy ٣no ab²",
    "",
    "Ένας Σοφός ΣΟΦΟΣ naïve Naïve NAÏVE ß ẞ İstanbul ISTANBUL",
    "™ trade ℌilbert ① ½ x² e\u0301 é 中文 中文字 𝔄bc 😀 \ud800 lone",
    "a b c dd ee ff " * 40,
    "dd sea: deep deep trade, naïve",
]
PARAMETERS = {
    "defaults": {},
    "stop words": {"stop_words": "english"},
    "own stop words": {"stop_words": ["sea", "naïve", "zz", "a b"]},
    "no lower case": {"lowercase": False},
    "pairs": {"ngram_range": (1, 2)},
    "pairs alone": {"ngram_range": (2, 2), "stop_words": "english"},
    "up to four": {"ngram_range": (2, 4), "token_pattern": r"\w+"},
    "three letters": {"token_pattern": r"(?u)\b\w\w\w+\b"},
    "four letters": {"token_pattern": r"\b\w{4,}\b"},
    "accents": {"strip_accents": "unicode"},
    "ASCII accents": {"strip_accents": "ascii", "ngram_range": (1, 2)},
    "accents, no lower case": {"strip_accents": "unicode", "lowercase": False},
    "binary": {"binary": True, "dtype": np.float32},
    "frequent": {"min_df": 2},
    "shares": {"min_df": 0.3, "max_df": 0.5},
    "few": {"max_features": 7},
    "few and binary": {"max_features": 3, "binary": True, "max_df": 4},
    "vocabulary": {"vocabulary": ["sea", "nothing", "dd", "é"]},
    "vocabulary with places": {"vocabulary": {"sea": 1, "sea and": 0}, "ngram_range": (1, 2)},
    "set": {"vocabulary": {"sea", "dd"}},
    "words of letters": {"token_pattern": r"(?u)\b[^\W\d_]{2,}\b", "ngram_range": (1, 2)},
    "runs of letters": {"token_pattern": r"[^\d\W_][^\d\W_]+", "stop_words": ["sea", "at"]},
    # In Python
    "letters after a boundary": {"token_pattern": r"\b[^\W\d_]{2,}"},
    "letters before a boundary": {"token_pattern": r"[^\W\d_]{2,}\b"},
    "letters and the underscore": {"token_pattern": r"[^\W\d]{2,}"},
    "a group": {"token_pattern": r"(\w)\w+"},
    "analyzer": {"analyzer": str.split},
    "tokenizer": {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
    "preprocessor": {"preprocessor": str.swapcase},
    "function for accents": {"strip_accents": lambda text: text.replace("s", "z")},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 3)},
}


def check_same(ours, theirs, texts, transform=True):
    """That both learn and count the same; without `transform`, theirs is as it counted in fit."""
    X, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
    check_equal(X, expected)
    assert X.has_canonical_format
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.fixed_vocabulary_ == theirs.fixed_vocabulary_
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    backwards = theirs.transform(texts[::-1]) if transform else expected[::-1]
    check_equal(ours.transform(texts[::-1]), backwards)
    check_equal(clone(ours).fit(iter(texts)).transform(iter(texts)), expected)


def check_equal(X, expected):
    assert type(X) is type(expected)
    assert X.dtype == expected.dtype
    assert X.shape == expected.shape
    assert X.indices.dtype == expected.indices.dtype
    assert X.nnz == expected.nnz
    assert abs(X - expected).sum() == 0


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_and_counts_are_those_of_count_vectorizer(name):
    model, peer = (kind(**PARAMETERS[name]) for kind in (StreamingCountVectorizer, CountVectorizer))
    mine, theirs = clone(model).get_params(), peer.get_params()
    assert {key: mine[key] for key in theirs} == theirs
    more = {"half_life", "margin", "n_candidates", "n_jobs", "phrases"}
    assert mine.keys() - theirs.keys() == more
    check_same(model, peer, TEXTS)


COMPILED = r"(?u)\b\w\w+\b", r"\w{3,}", r"(?u)\b[^\W\d_]{3,}\b", r"[^\W_\d][^\W_\d]+"
IN_PYTHON = (
    r"[^\W\d_]{3,}\b", r"[^\W\d_][^\W_\d]+", r"[^\W\d\d]+", r"[^\W\d]+", r"\w[^\W\d_]+",
)  # fmt: skip


@pytest.mark.parametrize("pattern", [*COMPILED, *IN_PYTHON])
def test_which_patterns_are_compiled(pattern):
    vectorizer = StreamingCountVectorizer(token_pattern=pattern)
    assert (word_rule(vectorizer) is not None) == (pattern in COMPILED)
    check_same(vectorizer, CountVectorizer(token_pattern=pattern), TEXTS)


def test_threads_have_about_as_many_characters_each():
    texts, begins = ["a" * 100_000] * 9, np.array([1, 1, 1, 0, 0, 1, 0, 1, 1], np.uint8)
    assert _parts(texts, begins, 2) == [slice(0, 5), slice(5, 9)]
    assert _parts(texts[:3], begins[:3], 2) == [slice(0, 3)]


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1])
@pytest.mark.parametrize("name", ["defaults", "pairs", "ASCII accents", "few"])
def test_bits_do_not_depend_on_n_jobs(name, n_jobs, monkeypatch):
    monkeypatch.setattr("streamtopics.text.counting.CHARACTERS_A_PART", 20)
    given = PARAMETERS[name]
    texts = [*TEXTS, *TEXTS[::-1], "x" * 3000, "", ""]
    check_same(StreamingCountVectorizer(n_jobs=n_jobs, **given), CountVectorizer(**given), texts)


@each_corpus
def test_on_corpora(path):
    """Pairs of words in fewer texts: which words there are has no part in how they are joined."""
    texts = list(texts_of(path))
    if not any(map(str.strip, texts)):
        pytest.skip("no texts")
    check_same(StreamingCountVectorizer(n_jobs=2), CountVectorizer(), texts, transform=False)
    sizes = np.cumsum([len(text) for text in texts])
    some = texts[: 1 + int(np.searchsorted(sizes, MOST_CHARACTERS_IN_PAIRS))]
    given = {"ngram_range": (1, 2), "min_df": 2, "max_df": 0.5}
    check_same(StreamingCountVectorizer(**given), CountVectorizer(**given), some, transform=False)


@pytest.mark.parametrize("method", ["build_tokenizer", "build_analyzer"])
@pytest.mark.parametrize("pattern", [None, "("])
def test_a_pattern_that_nothing_is_cut_by_may_be_anything(method, pattern):
    texts = ["a few words", "a\nword"]
    kind = type("Own", (StreamingCountVectorizer,), {method: lambda self: str.split})
    model = kind(token_pattern=pattern)
    assert model.fit_transform(texts).sum() == model.transform(texts).sum() > 2


class Holder:
    def __init__(self):
        self.vectorizer = StreamingCountVectorizer(tokenizer=self.cut, token_pattern=None)

    def cut(self, text):
        return text.split()


def test_a_vectorizer_is_freed_whatever_its_parameters_refer_to():
    holder = Holder()
    holder.vectorizer.fit(["a few words"]).transform(["a few words"])
    gone = weakref.ref(holder.vectorizer)
    del holder
    gc.collect()
    assert gone() is None


def test_a_stream_warns_as_it_begins_also_after_words_were_counted():
    model = StreamingCountVectorizer(vocabulary=["Aa", "word"])
    model.transform(["a word"])
    with pytest.warns(UserWarning, match="Upper case characters"):
        model.partial_fit(["a word"])
    model.partial_fit(["a word"])


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", ["ascii", "unicode"])
def test_letters_without_accents_whatever_they_become(strip_accents, lowercase):
    """None, one or several: of marks, of Latin and Greek, of Hangul, digits and ligatures."""
    spans = (0x20, 0x600), (0x1E00, 0x2200), (0xAC00, 0xAC60), (0xFB00, 0xFE00), (0x1D400, 0x1D430)
    letters = "".join(chr(c) for span in spans for c in range(*span))
    texts = [
        f"a{letters[i : i + 9]}e\u0301 \u03a3{letters[i]}\u03a3" for i in range(0, len(letters), 3)
    ]
    how = {"strip_accents": strip_accents, "lowercase": lowercase, "token_pattern": r"\w+"}
    check_same(StreamingCountVectorizer(**how), CountVectorizer(**how), texts)


@pytest.mark.parametrize("strip_accents", [None, "unicode"])
def test_pieces_are_no_longer_than_texts(strip_accents, monkeypatch):
    """A word would cost memory and time by the longest piece that is asked for."""
    asked, made = [], counting.kernel.Counted

    def recorded(*arguments):
        asked.append(arguments[2])
        return made(*arguments)

    monkeypatch.setattr(counting.kernel, "Counted", recorded)
    texts = ["İ İ İ İ", "a b c", "", "İaİbİ", "é\ufb03 \ufdfa x"]
    for sizes in ((1, 10**6), (3, 10**6), (8, 9), (10**6, 10**6)):
        given = {
            "ngram_range": sizes, "token_pattern": r"\w+", "strip_accents": strip_accents,
            "vocabulary": ["a", "a b", "i i i i", "i̇ i̇ i̇ i̇", "i\u0307 i", "a b c d", "x"],
        }  # fmt: skip
        check_same(StreamingCountVectorizer(**given), CountVectorizer(**given), texts)
        if sizes[0] < 8:
            given["vocabulary"] = None
            check_same(StreamingCountVectorizer(**given), CountVectorizer(**given), texts)
    assert max(asked) < 100


@pytest.mark.parametrize("seed", range(5))
def test_equal_counts_are_cut_alike_by_max_features(seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice([f"w{i}" for i in range(300)], 20)) for _ in range(60)]
    given = {"max_features": 40, "min_df": 2, "max_df": 0.9}
    check_same(StreamingCountVectorizer(**given), CountVectorizer(**given), texts)


def test_bytes_and_files(tmp_path):
    texts = ["red é", "sky red"]
    data = [text.encode("latin-1") for text in texts]
    paths = [str(tmp_path / "red"), str(tmp_path / "sky")]
    for path, content in zip(paths, data, strict=True):
        Path(path).write_bytes(content)
    given = {"encoding": "latin-1", "token_pattern": r"\w+"}
    expected = CountVectorizer(token_pattern=r"\w+").fit_transform(texts)
    model = StreamingCountVectorizer(**given)
    check_equal(model.fit_transform(data), expected)
    check_equal(clone(model).set_params(input="filename").fit_transform(paths), expected)
    files = [io.BytesIO(content) for content in data]
    check_equal(clone(model).set_params(input="file").fit_transform(files), expected)


def test_a_vocabulary_needs_no_fit():
    model = StreamingCountVectorizer(vocabulary=["sea", "sky"])
    assert_array_equal(model.transform(["sky sky"]).toarray(), [[0, 2]])
    assert_array_equal(model.get_feature_names_out(), ["sea", "sky"])
    assert model.vocabulary_ == {"sea": 0, "sky": 1}
    assert model.fixed_vocabulary_
    assert not StreamingCountVectorizer().fixed_vocabulary_


def test_inverse_transform():
    model, peer = StreamingCountVectorizer().fit(TEXTS), CountVectorizer().fit(TEXTS)
    X = model.transform(TEXTS)
    for kind in (X, X.toarray()):
        found, expected = model.inverse_transform(kind), peer.inverse_transform(kind)
        assert [*map(list, found)] == [*map(list, expected)]


def test_a_failed_fit_changes_nothing():
    model = StreamingCountVectorizer().fit(["red sea"])
    for texts in (["."], ["red", 3], "red"):
        with pytest.raises((ValueError, TypeError)):
            model.fit(texts)
        assert list(model.vocabulary_) == ["red", "sea"]


FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@pytest.mark.parametrize("library", FRAMES)
def test_a_data_frame_is_no_list_of_texts(library):
    """Its columns would be counted, by their names."""
    texts = ["red sea", "blue sky"]
    make = getattr(pytest.importorskip(library), FRAMES[library])
    frame = make({"text": texts, "when": [1, 2]})
    counter = StreamingCountVectorizer(max_features=4)
    pipeline = StreamingPipeline([("words", counter), ("topics", SVBLDA(1))])
    several = NamedVectorizer(make_pipeline(CountVectorizer(), TfidfTransformer()))
    for refused in (
        clone(counter).fit, clone(counter).fit_transform, clone(counter).partial_fit,
        clone(counter).fit(texts).transform,
        NamedVectorizer().fit, several.fit_transform, NamedVectorizer().fit(texts).transform,
        clone(pipeline).fit, clone(pipeline).partial_fit, clone(pipeline).fit(texts).transform,
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"names of columns would be read.*frame\[.text.\]"):
            refused(frame)
    assert clone(counter).fit_transform(frame["text"]).shape == (2, 4)


def test_tokens_must_be_texts():
    with pytest.raises(TypeError, match=r"analyzer .* str"):
        StreamingCountVectorizer(analyzer=lambda text: [1]).fit(["red"])


@pytest.mark.parametrize("kind", ["uint8", "int16", "float16"])
def test_types_without_room_for_counts_are_refused(kind):
    text = ["blue " * 70_000]
    for call in ("partial_fit", "fit", "fit_transform"):
        with pytest.raises(TypeError, match=f"dtype must be .* of 4 bytes or more.*got {kind}"):
            getattr(StreamingCountVectorizer(max_features=2, dtype=kind), call)(text)
    model = StreamingCountVectorizer(dtype=kind, binary=True)
    assert model.fit_transform(["blue " * 300]).max() == 1


@pytest.mark.parametrize("name", ["tokenizer", "analyzer", "preprocessor", "strip_accents"])
@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'")
def test_errors_of_functions_of_ones_own_pass_through(name):
    def fails(text):
        raise TypeError("not that")

    with pytest.raises(TypeError, match=r"^not that$"):
        StreamingCountVectorizer(**{name: fails}).fit(["red"])


def test_before_fit():
    model = StreamingCountVectorizer()
    for name, *given in (
        ("transform", ["red"]), ("get_feature_names_out",), ("inverse_transform", [[1]]),
    ):  # fmt: skip
        with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
            getattr(model, name)(*given)
    assert not hasattr(model, "vocabulary_")
    assert not hasattr(model, "recycled_")


@pytest.mark.parametrize(
    "given",
    [{"vocabulary": ["Red"]}, {"tokenizer": str.split}, {"stop_words": ["don't"]},
     {"analyzer": "char", "stop_words": "english"}],
)  # fmt: skip
def test_the_same_warnings(given):
    messages = []
    for kind in (CountVectorizer, StreamingCountVectorizer):
        with pytest.warns(UserWarning, match=r".") as caught:
            kind(**given).fit(["red sea"])
        messages.append([" ".join(str(one.message).split()) for one in caught])
    assert messages[0] == messages[1]


def test_a_frozen_set_of_words_is_sorted():
    words = frozenset(["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"])
    names = StreamingCountVectorizer(vocabulary=words).get_feature_names_out()
    assert names.tolist() == sorted(words)


def test_words_of_an_array_are_plain_when_they_are_loaded_too():
    vectorizer = StreamingCountVectorizer(vocabulary=np.array(["salt", "sea"])).fit(["sea"])
    assert set(map(type, vectorizer.vocabulary_)) == {str}


def test_a_vectorizer_that_was_loaded_counts_without_checks_or_warnings(recwarn):
    texts = ["Red green", "Blue"]
    vectorizer = StreamingCountVectorizer(vocabulary=["Red", "blue"])
    with pytest.warns(UserWarning, match="Upper case"):
        vectorizer.fit(texts)
    recwarn.clear()
    loaded = pickle.loads(pickle.dumps(vectorizer))
    assert (loaded.transform(texts) != vectorizer.transform(texts)).nnz == 0
    assert not recwarn.list


@pytest.mark.parametrize("kind", [set, frozenset, list])
def test_a_vocabulary_of_other_things_than_words_is_refused(kind):
    with pytest.raises(TypeError, match=r"vocabulary must be of words|not supported"):
        StreamingCountVectorizer(vocabulary=kind(["a", 1])).transform(["a"])


def test_stop_words_that_change_between_two_calls():
    """They are compiled once, and anew where they are others, also in the same list."""
    texts, words = ["the sea of red sky"], ["the"]
    vectorizer = StreamingCountVectorizer(stop_words=words, max_features=5)
    for _ in range(2):
        assert vectorizer.partial_fit_transform(texts).sum() == 4
    words.append("of")
    assert vectorizer.transform(texts).sum() == 3
    assert vectorizer.set_params(stop_words=None).transform(texts).sum() == 4
    assert vectorizer.set_params(stop_words=["sea", "red"]).transform(texts).sum() == 2
