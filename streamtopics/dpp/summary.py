# SPDX-License-Identifier: BSD-3-Clause
"""Records of summaries, and checks of arguments."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamtopics.dpp.arrays import Floats, Places
from streamtopics.utils.structure import has_entries


@dataclass(frozen=True, eq=False)
class Summary:
    """The sentences chosen from a document, in its order.

    Attributes
    ----------
    indices : ndarray of shape (n_chosen,), int
        Their places among the sentences of the document.
    sentences : tuple of n_chosen str
    scores : ndarray of shape (n_chosen,)
        Their quality: the centrality, or what was given or computed instead; with
        ``quality="thesis"`` log p, in nats.
    log_gains : ndarray of shape (n_chosen,)
        Gain of each in log det L, in nats. The sentence that was taken first has the
        largest.
    """

    indices: Places
    sentences: tuple[str, ...]
    scores: Floats
    log_gains: Floats


class DigestSentence(NamedTuple):
    """A sentence of a digest.

    Attributes
    ----------
    document : int
        The place of its document among those passed.
    index : int
        Its place among the sentences of the document.
    sentence : str
    score, log_gain : float
        As in `Summary`.
    n_documents : int
        Documents that it stands for: those with a sentence that comes closer to it than any of
        theirs does to the other sentences of the digest, by the cosine of their weighted words.
        Each counts once; one that has no word in common with the digest counts for none.
    """

    document: int
    index: int  # type: ignore[assignment]  # As it is called, in place of tuple.index.
    sentence: str
    score: float
    log_gain: float
    n_documents: int


def check_scores(scores: Iterable[Any] | None, documents: list[list[str]]) -> list[Floats | None]:
    """Return the scores of the sentences of each document; None for each if there are none."""
    if scores is None:
        return [None] * len(documents)
    scores = _one_each(scores, len(documents), "scores", "an array for")
    return [
        check_quality(values, len(sentences), f"scores[{d}]")
        for d, (values, sentences) in enumerate(zip(scores, documents, strict=True))
    ]


def _one_each(values: Any, n_documents: int, name: str, what: str) -> list[Any]:
    """Return the values as a list of one for each document; `what` is "an array for" each."""
    if not has_entries(values):
        raise TypeError(f"{name} must be a list with {what} each document; got {values!r}")
    each = list(values)
    if len(each) != n_documents:
        raise ValueError(
            f"{name} must have one {what.split()[1]} for each of the {n_documents} documents; got "
            f"{len(each)}"
        )
    return each


def check_quality(values: Any, n_sentences: int, name: str) -> Floats:
    """Return one finite number that is not negative for each sentence, as float64."""
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"{name} must have a number for each of the {n_sentences} sentences; got {values!r:.60}"
        ) from error
    if values.shape != (n_sentences,):
        raise ValueError(
            f"{name} must have one number for each of the {n_sentences} sentences; got shape "
            f"{values.shape}"
        )
    if not ((values >= 0) & (values < np.inf)).all():
        raise ValueError(
            f"{name} must be finite and not negative; it goes from {values.min():g} to "
            f"{values.max():g}. Of log scores take the exponential"
        )
    result: Floats = values
    return result


def inside(n_documents: int, times: Sequence[Any] | None, window: Any) -> list[int]:
    """Return the places of the documents in the window; NaN and NaT are in none."""
    if (times is None) != (window is None):
        raise ValueError("times and window go together; give both, or neither")
    if times is None:
        return list(range(n_documents))
    times = _one_each(times, n_documents, "times", "the time of")
    is_array = isinstance(window, np.ndarray) and window.ndim > 0
    if not (is_array or isinstance(window, tuple | list)) or len(window) != 2:
        raise ValueError(f"window must be a pair (start, stop); got {window!r}")
    start, stop = window
    try:
        is_backwards = bool(stop < start)
        found = [d for d, time in enumerate(times) if start <= time < stop]
    except (TypeError, ValueError) as error:
        # What compares to an array is neither true nor false.
        raise TypeError(
            f"times cannot be compared with the window from {start!r} to {stop!r}: {error}. Give "
            "all of them as the same kind of number, text or date"
        ) from error
    if is_backwards:
        raise ValueError(f"window must not end before it starts; got {window!r}")
    return found
