# SPDX-License-Identifier: BSD-3-Clause
"""Denied words as separate words."""

import re

NEGATED = re.compile(
    r"\b(?:not|never|cannot|\w+n['\u2019]t)(?![^\S\n]*\n[^\S\n]*\n)\s+"
    r"(?:(?:a|an|the|very|so|really|that|too|be|been|to|even|all)\s+)*(?=[^\W\d_])"
)


def mark_negations(text: str) -> str:
    """Return an English text in lower case, with "not" joined to the negated word.

    "never" or "isn't" becomes "not", and "a" or "very" after a negation is dropped. Use as
    `preprocessor` of a vectorizer, for example for `streamtopics.priors.SentimentWords`.

    Examples
    --------
    >>> from streamtopics.text import mark_negations
    >>> mark_negations("It isn't a very good phone.")
    'it notgood phone.'
    >>> mark_negations("Do not buy, and never to be recommended")
    'do notbuy, and notrecommended'
    """
    return NEGATED.sub("not", text.lower())
