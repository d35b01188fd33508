# SPDX-License-Identifier: BSD-3-Clause
"""Splitter of English-like prose into sentences: words and rules of compiled code."""

import re

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from streamtopics.kernels import sentences as kernel


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Besides ASCII: the ellipsis, the Arabic and Urdu marks and the danda; quotes; dashes.
MARKS = ".!?\u2026\u061f\u06d4\u0964\u0965"
CLOSING = "\"'\u2019\u201d\u00bb)]}"
OPENING = "\"'\u201c\u2018\u201e\u00ab([{\u00bf\u00a1*_-\u2013\u2014"
LINE_MARKS = "-\u2013\u2014\u2022"
NEVER_FIRST = frozenset(",;:.!?&%=/+\u2026)]}\u2019\u201d\u00bb")
# Chinese and Japanese marks, and closing brackets and quotes after them.
WIDE_ENDS = "\u3002\uff01\uff1f\uff61"
WIDE_CLOSING = "\u300d\u300f\uff09\u300b\u2019\u201d\"')"
# Beginnings of items of a list; joints of words.
ITEM_MARKS = "-*\u2022"
JOIN_MARKS = "-\u2013\u2014/"

ITEM_NUMBER = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5})\\?[.)\]]+")
ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
WORD = re.compile(r"[^\W\d_]+")
COMPOUND = re.compile(f"[{re.escape(JOIN_MARKS)}]")

# A sentence never ends with one of these.
NEVER_LAST = _words("mr mrs messrs dr prof cf e.g i.e viz vs")
# A sentence does not end with one of these before a number.
BEFORE_NUMBERS = _words(
    """
    no nos nr p pp pg vol vols fig figs sec secs ch chap art eq eqs eqn tab ex ref refs approx
    ca c circa est ver ext tel par para jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
# A sentence ends with one of these only before a usual first word: "Co. Ltd.", but "Co. The".
ABBREVIATIONS = _words(
    """
    adm al asst attn ave brig bros capt ch cmdr co col corp cpl cpt dept det dist ed eds eq eqs
    esp est fig figs gen gov govt hon inc insp jr lt ltd maj mlle mme ms mt mts ph pres pvt rd
    rep reps rev sen sens sgt sr st ste supt univ v vol
    jan feb mar apr jun jul aug sept oct nov dec mon tue tues thu thurs fri
    """
)
FIRST_WORDS = _words(
    """
    a about after all also although among an and another any as at because before both but by
    despite during each even every few finally first for from further furthermore given had he
    hence her here his how however i if in indeed instead is it its last later many meanwhile
    moreover most much my nevertheless next no nobody none nor not nothing now of often on once
    one only or other others our over perhaps several she since so some sometimes soon still such
    than that the their then there therefore these they this those though through thus to today
    under unless until upon was we were what whatever when where whether which while who whose
    why with within without yes yet you your
    """
)

# A sentence continues another if it begins with one of these, or in a clause ("If its lens").
CONTINUE = _words(
    "also and besides but furthermore hence her he him his however instead it its "
    "moreover nor or otherwise she so still such their them then therefore they thus yet"
)
CLAUSES = _words(
    "after although as because before even if once since though unless until when while"
)
OTHERS = _words("he her his its she their them they")


def split_sentences(text: str) -> list[str]:
    """Cut a text into sentences, for English and similarly written languages.

    A sentence ends before white space, after a full stop, question mark, exclamation mark or
    ellipsis, and after closing quotes or brackets if present. A full stop does not end a sentence

    - after titles (``Dr. No``, ``e.g. this``), and between words such as ``Fig.`` and a number;
    - after initials, acronyms and common abbreviations (``J. S. Bach``, ``U.S. Army``), unless the
      next word often begins a sentence, such as ``The``;
    - after the number of an item (``1. Open the box.``);
    - before a small letter, if the text has capitals. Before a small letter an ellipsis, or a mark
      inside a quote or bracket, does not end a sentence either.

    A sentence also ends at an empty line, before an item of a list (``-``, ``*`` or ``•``), and at
    a Chinese or Japanese full stop.

    Returns
    -------
    sentences : list of str
        Together the whole text, with single spaces in place of white space.

    Notes
    -----
    The rules know neither names nor grammar. Errors occur before small letters ("eBay") or names
    after acronyms ("the U.S. Obama said"), after a question in quotes, and in headings.

    Examples
    --------
    >>> from streamtopics.text import split_sentences
    >>> split_sentences('Dr. Who paid 3.50 in the U.S. Army. "Why?" he asked. Nobody knew.')
    ['Dr. Who paid 3.50 in the U.S. Army.', '"Why?" he asked.', 'Nobody knew.']
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str; got {text!r:.60}")
    sentences: list[str] = _SPLITTER.split(text)
    return sentences


def is_fragment(sentence: str) -> bool:
    """Whether a sentence has marks alone, or begins unlike a sentence: ", and is"."""
    head = sentence.lstrip(OPENING + " ")[:1]
    return head.islower() or head in NEVER_FIRST or not any(map(str.isalnum, sentence))


def has_content(sentence: str) -> bool:
    """Whether a sentence has a number or a word, except stop words."""
    return not ENGLISH_STOP_WORDS.issuperset(re.findall(r"\w+", sentence.lower()))


def goes_back(sentence: str) -> bool:
    """Whether the first words continue another sentence."""
    first, second, third = [*WORD.findall(sentence.lower()), "", "", ""][:3]
    is_of_other = second in OTHERS or (second, third) == ("it", "s")
    return first in CONTINUE or (first in CLAUSES and is_of_other)


def is_abbreviated(stem: str, head: str, has_upper: bool) -> bool:
    """Whether the full stop between two words ends an abbreviation."""
    given = COMPOUND.split(stem.lstrip(OPENING))[-1]
    word = given.lower()
    if word in NEVER_LAST:
        return True
    if head[:1].isdigit() and word in BEFORE_NUMBERS:
        return True
    has_case = given.isupper() or (not has_upper and given.upper() != given)
    is_initial = len(given) == 1 and has_case and word != "i"
    if is_initial or word in ABBREVIATIONS or ACRONYM.fullmatch(word):
        first = WORD.match(head)
        begins = has_upper and first is not None and first[0].lower() in FIRST_WORDS
        return not begins
    return False


_SPLITTER = kernel.Splitter(
    marks=MARKS,
    closing=CLOSING,
    opening=OPENING,
    dashes=LINE_MARKS,
    never_first="".join(NEVER_FIRST),
    wide_stops=WIDE_ENDS,
    wide_closing=WIDE_CLOSING,
    bullets=ITEM_MARKS,
    joints=JOIN_MARKS,
    suspects=NEVER_LAST | BEFORE_NUMBERS | ABBREVIATIONS,
    is_abbreviated=is_abbreviated,
    is_number=ITEM_NUMBER.fullmatch,
)
