# SPDX-License-Identifier: BSD-3-Clause
"""Where sentences end: a table of texts, in which ``|`` stands where one should."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamtopics.text import split_sentences
from streamtopics.text.splitting import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    NEVER_LAST,
    goes_back,
    has_content,
    is_fragment,
)
from tests.reference.sentences import split_sentences as split_in_python
from tests.text.corpora import each_corpus, texts_of

CASES = {
    "plain": "It rained. | We stayed in.",
    "one": "No end",
    "question and exclamation": "Why? | Because! | It did?! | Yes.",
    "title": "Mr. Smith met Dr. No, Mrs. Brown and Prof. White. | They left.",
    "ranks": "Gen. Lee and Lt.-Col. Gray met Gov. Wise.",
    "in brackets": "(Mr. Gray sat.) | He had come late.",
    "for example": "Pets, e.g. Cats, i.e. the felines, eat. | Dogs cf. Fox do not.",
    "initials": "J. S. Bach and George W. Bush met. | It was late.",
    "initials of hyphenated names": "By J.-P. Sartre. | Later by others.",
    "acronym within": "The U.S. Army and the U.N. Council met.",
    "acronym last": "He left the U.S. | The war was over.",
    "acronym before a small letter": "The U.S. economy grew.",
    "times": "At 5 p.m. Monday we met. | At 6 a.m. they left.",
    "degrees": "Jane Roe, Ph.D. Harvard, spoke.",
    "companies": "Acme Inc. Chairman Roe met Brown & Co. Ltd. | The shares fell.",
    "junior": "Sammy Davis Jr. Center opened.",
    "saint": "We saw St. Paul on Main St. | Then we left.",
    "et cetera": "Apples, pears, etc. are cheap. | Apples, etc. | Pears are not.",
    "et al.": "As Roe et al. (2003) and Doe et al. [4] show, it works. | In Roe et al. | It fails.",
    "numbers": "See No. 5, Fig. 3, pp. 7-9 and vol. 2. | He said no. | Then he left.",
    "months": "On Jan. 5 it snowed, and in Dec. The end was near.".replace("Dec.", "Dec. |"),
    "decimals": "It costs 3.50 or 1.000,25 euros. | Version 2.0. | Good.",
    "number last": "It was 1999. | Nobody knew. | 20 men came.",
    "items": "1. Open the box. | 2. Take it out. | (A) Close it. | IV. The end.",
    "escaped items": "1\\. Open the box. | 2\\. Take it out.",
    "I": "She is older than I. | We met.",
    "quotes after": 'He said "Stop." | Then he left. | \u201cWhy?\u201d | Nobody knew.',
    "quotes within": '"Why?" he asked. | "Go!" she cried. | \u201cNo.\u201d said he.',
    "quotes before": 'It rained. | "Come in," she said. | \u2018Now.\u2019',
    "brackets": "It rained. (We stayed.) | Then [so they say.] | Sun.".replace(". (", ". | ("),
    "notes": "It rained.[1] | Then it did not.[2][3] | Good.",
    "ellipsis": "Well... maybe. | And then... | Nothing. | So\u2026 | He went\u2026 on.",
    "spaced ellipsis": "He . . . went home . . . | Then he slept.",
    "loose marks": "the screen is bright . | The keys are good ! | Why ?",
    "lower case": "i like it. it is good! is it? e.g. this one... ok. see u.s. army.",
    "initials in lower case": "we saw room b. 3 men left. | 4 stayed.",
    "small letter in a text with capitals": "I sold it. then I left. | Good.",
    "money and signs": "It fell. | $5 was enough. | #one. | @you. | 5% is little.",
    "dashes": "It rained. | - We stayed. | \u2014Then we left. | -- Roe",
    "comma after": "Vol., No., Inc., and Yes!, he said. | So.",
    "addresses": "See www.example.com or mail a.b@example.org. | It works.",
    "court": "In Roe v. Wade it was decided. | Later it was not.",
    "code": "Call x.fit(y).transform(z) if a != b. | Done.",
    "Chinese": "\u4f60\u597d\u3002 | \u4f60\u597d\u5417\uff1f | \u597d\uff01",
    "Chinese quotes": "\u201c\u597d\u3002\u201d | \u4ed6\u8d70\u4e86\u3002",
    "Hindi": "\u0928\u092e\u0938\u094d\u0924\u0947\u0964 | \u0939\u093e\u0901\u0964",
    "Russian": "\u0410. \u0421. \u041f\u0443\u0448\u043a\u0438\u043d. | \u041e\u043d.",
    "Arabic": "\u0643\u064a\u0641\u061f | \u0646\u0639\u0645.",
    "Spanish": "\u00bfQu\u00e9 pasa? | \u00a1Nada! | \u00c9l ri\u00f3.",
}


def expected(case):
    return [sentence.strip() for sentence in case.split("|")]


@pytest.mark.parametrize("name", [name for name in CASES if name != "lower case"])
def test_cases(name):
    text = CASES[name].replace(" | ", " ")
    if "Chinese" in name:
        text = text.replace(" ", "")
    assert split_sentences(text) == expected(CASES[name])


def test_a_text_without_capitals():
    parts = ["i like it.", "it is good!", "is it?", "e.g. this one... ok.", "see u.s. army."]
    assert split_sentences(CASES["lower case"]) == parts


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines(end):
    lines = ["A Heading", "", "A sentence over", "two  lines. Another", " \t", "", "The last", ""]
    parts = ["A Heading", "A sentence over two lines.", "Another", "The last"]
    assert split_sentences(end.join(lines)) == parts


def test_items_of_lists():
    text = "We need\n- bread\n  and butter\n* milk\n  \u2022 tea\nand so on"
    parts = ["We need", "- bread and butter", "* milk", "\u2022 tea and so on"]
    assert split_sentences(text) == parts


def test_nothing():
    assert [split_sentences(text) for text in ("", " ", "\n\n", " \t\r\n\r\n")] == [[]] * 4


@pytest.mark.parametrize("unit", [".", "\n", " \n", "a", ")", "[1]", "\u3002", "A. ", '"', "- "])
def test_long_runs_come_to_an_end(unit):
    text = "X" + unit * 200_000 + "Y"  # In quadratic time this would take hours.
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_pieces_of_sentences():
    whole = ["It rained.", '"(It rained.)"', "- 3 of 4 came", "雨が降った。"]
    pieces = ["and it rained.", "- and it rained.", "'and it rained.'"]
    pieces += [", It rained.", ") It rained.", "...", ""]
    assert [text for text in whole + pieces if is_fragment(text)] == pieces


@pytest.mark.parametrize(
    ("sentence", "has", "goes_on"),
    [
        ("... ?! .", False, False),
        ("But it was not to be.", False, True),
        ("“They left.”", True, True),
        ("- and 9 to 5", True, True),
        ("It broke.", True, True),
        ("Although the room was small, we slept well.", True, False),
        ("Because it rained, we stayed.", True, False),
        ("This hotel is quiet.", True, False),
        ("If its not just right I'll get sound in only one ear.", True, True),
        ("If it's too small, they take it back.", True, True),
        ("When they answer, they are kind.", True, True),
        ("If it rains, take the bus.", True, False),
        ("If the lens breaks, they mend it.", True, False),
        ("I am what I am.", False, False),
        ("Anders war es nicht.", True, False),
        ("雨が降った。", True, False),
        ("", False, False),
    ],
)
def test_words_of_content_and_sentences_that_go_on(sentence, has, goes_on):
    assert has_content(sentence) == has
    assert goes_back(sentence) == goes_on


@pytest.mark.parametrize("text", [b"One. Two.", None, 7, ["One. Two."]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(TypeError, match=r"text must be a str; got"):
        split_sentences(text)


# The compiled splitter beside its twin in Python

PIECES = [
    *"aB1Z9.!?\"')]([}{\n\r\t -/*_,;:%\u00a0\u2028\u2022\u2014\u2019\u201d\u2026",
    *"\u3000\u3002\u300d\uff01\u0130\u03a3\u00df\u0661\u00b2\ud83d\U0001f600\U0001d400",
    *(".[1]", " . . .", "...", "\n\n", "\r\n", " The ", " the ", " (", "\n- ", "\n \u2022 "),
    *("U.S.", "iv.", "\u0964 ", "e.g. ", "Mr. "),
]


@given(
    st.text(max_size=40)
    | st.text(st.sampled_from("aB1 .!?\"')(]\n\r-\u3002\u300d\u2026Mr"), max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
)
@settings(max_examples=400)
def test_the_twin_on_any_text_of_which_nothing_is_lost(text):
    sentences = split_sentences(text)
    assert sentences == split_in_python(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in sentences)


@pytest.mark.parametrize(("capital", "stop"), [("A", 0x20000), ("a", 0x3100)])
def test_the_twin_on_every_character(capital, stop):
    """Lone surrogates too, at each place that a rule looks at, in texts of each width."""
    step = 128
    for start in [*range(0, stop, step), *range(0xE0000, 0xE0200, step), 0x10FF80]:
        text = " ".join(
            f"{capital}b{c}. {c}cd x.{c} {c} b{c}e. {capital}\n{c} 1{c}"
            for c in map(chr, range(start, start + step))
        )
        assert split_sentences(text) == split_in_python(text), hex(start)


@pytest.mark.parametrize("widest", ["", "\u00e9", "\u4e2d", "\U0001f600"])
@pytest.mark.parametrize("following", ["The", "Roe", "5", "the", "(5", "..."])
def test_the_twin_on_words(following, widest):
    words = [*NEVER_LAST, *BEFORE_NUMBERS, *ABBREVIATIONS, "u.s", "a.bcd", "i", "end", "x-co", ""]
    for word in words:
        for case in (str.lower, str.capitalize, str.upper):
            text = f"So ({case(word)}. {following} is it{widest}. {case(word)}. {following}"
            assert split_sentences(text) == split_in_python(text)
            assert split_sentences(text.lower()) == split_in_python(text.lower())


@each_corpus
def test_the_twin_on_corpora(path):
    for text in texts_of(path):
        assert split_sentences(text) == split_in_python(text)


def test_texts_of_a_subclass():
    class Text(str):
        __slots__ = ()

    sentences = split_sentences(Text("It rained. We stayed."))
    assert sentences == ["It rained.", "We stayed."]
    assert {type(sentence) for sentence in sentences} == {str}
