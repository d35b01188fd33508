# SPDX-License-Identifier: BSD-3-Clause
"""Stop words, tokenizers that are kept by name, and scripts without spaces."""

import sys
from types import ModuleType

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from streamtopics import TopicStream, load, save
from streamtopics.saving import LoadError
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, Tokenizer, stop_words
from streamtopics.text.languages import unspaced_script

CHINESE = "今天天气很好我们去公园散步"


def test_english_has_the_halves_of_contractions():
    found = stop_words("english")
    assert found == sorted(found)
    assert {*found} > ENGLISH_STOP_WORDS
    assert {"don", "didn", "ve", "ll"} <= {*found}
    assert "won" not in found
    own = StreamingCountVectorizer(stop_words=found)
    assert list(own.fit(["They don't, we've won"]).get_feature_names_out()) == ["won"]


def test_a_file_of_stop_words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"\xef\xbb\xbfUnd\r\noder\r\n\r\n")
    assert stop_words(path) == stop_words(str(path)) == ["oder", "und"]


def test_other_languages(monkeypatch):
    lists = ModuleType("stop_words")
    lists.StopWordError, lists.AVAILABLE_LANGUAGES = KeyError, ["german"]
    lists.get_stop_words = {"german": ["und", "aber"]}.__getitem__
    monkeypatch.setitem(sys.modules, "stop_words", lists)
    assert stop_words("german") == ["aber", "und"]
    with pytest.raises(ValueError, match=r"'klingon' is neither a file .* use one of german"):
        stop_words("klingon")
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(ValueError, match=r"no file 'german' .*pip install stop-words"):
        stop_words("german")


def test_a_tokenizer_is_kept_by_name_and_trusted_at_load(tmp_path):
    tokenizer = Tokenizer("shlex:split", shortest=2)
    assert tokenizer("a 'red sky' -- 77 at") == ["red sky", "at"]
    own = StreamingCountVectorizer(tokenizer=tokenizer, token_pattern=None).fit(["'red sky' sea"])
    save(own, tmp_path / "words")
    again = load(tmp_path / "words", trusted=["shlex:split"])
    assert again.transform(["red sky", "'red sky'"]).toarray().tolist() == [[0, 0], [1, 0]]


def test_a_tokenizer_of_a_stream_and_of_its_parts_is_named_once(tmp_path):
    words = StreamingCountVectorizer(
        tokenizer=Tokenizer("shlex:split"), token_pattern=None, max_features=20
    )
    stream = TopicStream(2, vectorizer=words).fit(["'red sky' sea", "green 'red sky'"] * 10)
    save(stream, tmp_path / "a.model")
    with pytest.raises(LoadError, match=r"names shlex:split, .*=\['shlex:split'\].* shlex:split$"):
        load(tmp_path / "a.model")
    again = load(tmp_path / "a.model", trusted=["shlex:split"])
    assert (again.transform(["'red sky'"]) == stream.transform(["'red sky'"])).all()


def test_names_of_tokenizers_that_are_refused():
    for name in ("jieba", "jieba:", ":lcut"):
        with pytest.raises(ValueError, match="'module:function'"):
            Tokenizer(name)
    with pytest.raises(ValueError, match="'nowhere_at_all:cut' cannot be imported"):
        Tokenizer("nowhere_at_all:cut")("a text")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (CHINESE, "Chinese"),
        ("今天 天气 很 好 我们 去 公园 散步", None),
        ("東京は今日とても良い天気です", "Japanese"),
        ("วันนี้อากาศดีมากเราไปเดินเล่นกัน", "Thai"),
        ("Plain words, and a quotation of " + CHINESE[:8], None),
        ("오늘 날씨가 매우 좋습니다", None),
        ("", None),
    ],
)
def test_scripts_without_spaces(text, script):
    found = unspaced_script([text] * 3)
    assert (found and found[0]) == script


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "words",
    [None, CountVectorizer(), NamedVectorizer(StreamingCountVectorizer(max_features=100))],
    ids=["default", "given", "named"],
)
def test_texts_without_spaces_are_warned_of_at_the_first_minibatch(learn, words):
    own = TopicStream(2, vectorizer=words)
    with pytest.warns(UserWarning, match=r"in Chinese, .* such as jieba:lcut \(pip install jieba"):
        getattr(own, learn)([CHINESE] * 20)
    own.partial_fit([CHINESE] * 20)


@pytest.mark.parametrize(
    "words",
    [
        StreamingCountVectorizer(tokenizer=list, token_pattern=None, max_features=100),
        CountVectorizer(analyzer="char"),
        CountVectorizer(analyzer=list),
    ],
    ids=["tokenizer", "characters", "function"],
)
def test_texts_that_are_cut_otherwise_are_not_warned_of(words):
    TopicStream(2, vectorizer=words).fit([CHINESE] * 20)
