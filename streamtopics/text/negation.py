# SPDX-License-Identifier: BSD-3-Clause
"""Denied words as separate words."""

import re

NEGATED = re.compile(
    r"\b(?:not|never|cannot|\w+n['\u2019]t)\s+"
    r"(?:(?:a|an|the|very|so|really|that|too|be|been|to|even|all)\s+)*(?=[^\W\d_])"
)


def mark_negations(text: str) -> str:
    """Return an English text in lower case, with "not" joined to the denied word.

    "Not good" and "isn't a very good" contain "notgood". Use as `preprocessor` of a vectorizer.

    Parameters
    ----------
    text : str
        A text or a sentence.

    Returns
    -------
    marked : str

    See Also
    --------
    streamtopics.priors.SentimentWords : Has denied praise among the words of blame.

    Examples
    --------
    >>> from streamtopics.text import mark_negations
    >>> mark_negations("It isn't a very good phone.")
    'it notgood phone.'
    >>> mark_negations("Do not buy, and never to be recommended")
    'do notbuy, and notrecommended'
    """
    return NEGATED.sub("not", text.lower())
