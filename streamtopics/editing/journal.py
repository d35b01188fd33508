# SPDX-License-Identifier: BSD-3-Clause
"""Edits as a small file, and their application to another model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from streamtopics.base.glossary import documented
from streamtopics.editing.records import Edit, Weighted, edits_of
from streamtopics.editing.topics import edit_rows, editable, leading_words, refuse
from streamtopics.streams.tracking.identity import THRESHOLD, Words, affinity_matrix, matching
from streamtopics.utils.parallel import lock_of
from streamtopics.utils.steps import names_of
from streamtopics.utils.structure import in_memory

FORMAT = "streamtopics edits"


class EditResult(NamedTuple):
    """The outcome of one edit in `apply_edits`.

    Attributes
    ----------
    edit : Edit
        The requested edit.
    rows : tuple of int
        Rows of the topics before the edit; empty if the edit was refused.
    refused : str
        Why the edit was refused; "" if it was applied.
    """

    edit: Edit
    rows: tuple[int, ...]
    refused: str


@documented
def edits_to_json(edits: Iterable[Edit]) -> str:
    """Return edits, for example `edits_` of a model, as JSON text.

    {fitted_example}
    >>> edit = editing.rename(model, 1, "billing")
    >>> text = editing.edits_to_json(model.edits_)
    >>> editing.edits_from_json(text) == model.edits_
    True
    """
    rows = [{k: v for k, v in asdict(edit).items() if v not in ((), "", 0)} for edit in edits]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{"format": "{FORMAT}", "edits": [\n{lines}\n]}}\n'


def edits_from_json(text: str) -> list[Edit]:
    """Return the list of edits in a JSON text of `edits_to_json`."""
    try:
        found = json.loads(text)
        rows = found["edits"] if found["format"] == FORMAT else None
        return [_read(row) for row in rows]  # type: ignore[union-attr]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the text is not a file of edits ({type(error).__name__}: {error}); write edits by "
            "edits_to_json or on the page of a report"
        ) from error


def _read(row: dict[str, Any]) -> Edit:
    edit = Edit(
        row["kind"], tuple(map(int, row["topics"])),
        tuple(tuple((word, float(p)) for word, p in words) for words in row.get("leading", ())),
        tuple(row.get("words", ())), str(row.get("name", "")), int(row.get("n", 0)),
    )  # fmt: skip
    words = [one for own in edit.leading for one in own]
    valid = all(isinstance(word, str | int) and p > 0 for word, p in words) and edit.topics
    refuse((not valid or not {*row} <= {*asdict(edit)}, f"an edit is {row!r:.80}"))
    return edit


def apply_edits(model: BaseEstimator, edits: Iterable[Edit], X: object = None) -> list[EditResult]:
    """Apply the edits of one model to another, for example to a newly fitted model.

    Topics are found by their words, as in `TopicTracker`. An edit is skipped if a topic is not
    found or the model does not allow the edit; later edits are still applied.

    Parameters
    ----------
    model : estimator or pipeline
        As in `merge`; the model is changed in place.
    edits : iterable of Edit
        For example from `edits_` or `edits_from_json`.
    X : object, default=None
        Documents for splits; see `split`.

    Returns
    -------
    results : list of EditResult, in the order of `edits`

    Examples
    --------
    >>> from streamtopics import StreamingLDA, editing
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(500, n_components=3, n_features=60, random_state=0).X
    >>> model = StreamingLDA(3, random_state=0).fit(X)
    >>> edit = editing.rename(model, 1, "billing")
    >>> again = StreamingLDA(3, random_state=1).fit(X)
    >>> [result.refused for result in editing.apply_edits(again, model.edits_)]
    ['']
    >>> sorted(again.topic_names_)
    ['', '', 'billing']
    """
    topics = editable(model)
    names = set(topics._column_names(names_of(model)).tolist())
    # Numbers of the topics in this model, by number in the edits.
    found: dict[int, int] = {}
    asked, results, X = list(edits), [], in_memory(X)
    with lock_of(topics):
        for i, edit in enumerate(asked):
            try:
                rows = _places(model, asked[i:], found)
                words = [word for word in edit.words if word in names] or edit.words
                edit_rows(model, edit.kind, rows, words=words, X=X, n=edit.n, name=edit.name)
            except ValueError as error:
                results.append(EditResult(edit, (), str(error)))
                continue
            found |= dict(zip(edit.topics, topics.edits_[-1].topics, strict=True))
            # Parts, and what was pooled with other topics, are found by words.
            for topic in {"split": edit.topics, "merge": edit.topics[1:]}.get(edit.kind, ()):
                del found[topic]
            results.append(EditResult(edit, tuple(rows), ""))
    return results


def _places(model: BaseEstimator, edits: Sequence[Edit], found: dict[int, int]) -> list[int]:
    """Rows of the topics of the first edit; topics of later edits compete for the rows."""
    edit, topics = edits[0], editable(model)
    row_of = {number: row for row, number in enumerate(edits_of(topics).labels.topics)}
    known = {topic: row_of[one] for topic, one in found.items() if one in row_of}
    lacking = "the edit has no leading words of its topics, by which they are found"
    refuse((len(edit.leading) != len(edit.topics), lacking))
    wanted: dict[int, Weighted] = {}
    for one in edits:
        for topic, words in zip(one.topics, one.leading, strict=False):
            if topic not in known:
                wanted.setdefault(topic, words)
    free = [row for row in row_of.values() if row not in known.values()]
    own = leading_words(topics, topics._column_names(names_of(model)), free)
    affinity, number = np.zeros((len(wanted), len(free))), dict[Any, int]()
    asked, lists = [*wanted], [*wanted.values()]
    for n in {*map(len, lists)}:
        some = [i for i, words in enumerate(lists) if len(words) == n]
        rows = [_numbered(words[:n], number) for words in own]
        affinity[some] = affinity_matrix([_numbered(lists[i], number) for i in some], rows)
    for row, place in zip(free, matching(affinity, THRESHOLD).tolist(), strict=True):
        if place >= 0:
            known[asked[place]] = row
    for topic, words in zip(edit.topics, edit.leading, strict=True):
        said = " ".join(str(word) for word, _ in words[:5])
        refuse((topic not in known, f"no topic has the words of topic {topic} ({said})"))
    return [known[topic] for topic in edit.topics]


def _numbered(words: Weighted, number: dict[Any, int]) -> Words:
    p = np.array([weight for _, weight in words])
    own = [number.setdefault(word, len(number)) for word, _ in words]
    return np.array(own), p / p.sum()
