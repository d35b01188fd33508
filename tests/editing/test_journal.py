# SPDX-License-Identifier: BSD-3-Clause
"""Edits in files, on models that were fitted anew, in pipelines, and beside a tracker."""

import json
from copy import deepcopy
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from streamtopics import StreamingLDA, StreamingMixture, editing, load, save
from streamtopics.datasets import make_lda_corpus
from streamtopics.editing import EditResult, journal
from streamtopics.streams import TimedBatch, TopicTracker, stream
from streamtopics.text import NamedCounts, StreamingCountVectorizer, StreamingPipeline

V, K = 90, 6
NAMES = np.array([f"w{v}" for v in range(V)])
CORPUS = make_lda_corpus(1500, n_components=K, n_features=V, random_state=1)
X = NamedCounts.of(CORPUS.X, NAMES)


ONE = StreamingLDA(K, random_state=0).fit(X)
OTHER = StreamingLDA(K, start="noise", max_iter=6, batch_size=300, random_state=3).fit(X[::-1])


def planted(model):
    """The topic of the corpus that each row of the model is most like."""
    affinity = np.sqrt(model.topic_word_) @ np.sqrt(CORPUS.topic_word).T
    return affinity.argmax(axis=1).tolist()


def named_planted(model):
    """Names by the topic of the corpus that has them."""
    return {k: name for k, name in zip(planted(model), model.topic_names_, strict=True) if name}


def file_of(rows):
    return json.dumps({"format": "streamtopics edits", "edits": rows})


def many_edits():
    model = deepcopy(ONE)
    editing.rename(model, 4, "billing")
    editing.rename(model, 1, "refunds")
    editing.hide(model, 0)
    editing.lock(model, 4)
    editing.exclude(model, 5, model.top_words()[5][:2])
    editing.merge(model, [1, 3])
    editing.pull(model, 2, model.top_words()[0][:1])
    editing.rename(model, 1, "money back")
    return model


def test_the_corpus_tells_its_topics_apart():
    assert sorted(planted(ONE)) == sorted(planted(OTHER)) == [*range(K)]
    assert planted(ONE) != planted(OTHER)


def test_a_file_has_all_of_the_edits():
    edits = many_edits().edits_
    text = editing.edits_to_json(edits)
    assert {*editing.edits_from_json(text)} == {*edits}
    found = json.loads(text)["edits"]
    assert [row["kind"] for row in found] == [edit.kind for edit in edits]
    assert found[0].keys() == {"kind", "topics", "leading", "name"}


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "{}",
        *(file_of([row]) for row in (
            {"kind": "melt"}, {"kind": "melt", "topics": [1]}, {"kind": "hide", "topics": []},
            {"kind": "hide", "topics": [1], "leading": [[["a", 0]]]},
            {"kind": "hide", "topics": [1], "x": 2},
        )),
    ],
)  # fmt: skip
def test_other_files_are_refused(text):
    with pytest.raises(ValueError, match="not a file of edits"):
        editing.edits_from_json(text)


def test_a_model_that_was_fitted_anew_gets_the_same_names():
    model, again = many_edits(), deepcopy(OTHER)
    with mock.patch.object(journal, "affinity_matrix", wraps=journal.affinity_matrix) as compared:
        results = editing.apply_edits(again, model.edits_)
    assert compared.call_count <= 8
    assert [result.refused for result in results] == [""] * 8
    assert named_planted(again) == named_planted(model)
    assert sorted(again.topic_names_) == ["", "", "", "billing", "money back"]
    for rows in ("hidden_topics_", "locked_topics_"):
        own = [{planted(one)[row] for row in getattr(one, rows)} for one in (model, again)]
        assert own[0] == own[1]
    assert [edit.kind for edit in again.edits_] == [edit.kind for edit in model.edits_]
    excluded, row = model.edits_[4], np.argmax(np.array(planted(again)) == planted(ONE)[5])
    assert not {*excluded.words} & {*again.top_words(n_words=20)[row]}


def test_topics_that_are_not_found_are_refused_and_the_others_applied():
    edits = many_edits().edits_
    strange = tuple((f"x{i}", 0.03) for i in range(30))
    edits[1] = replace(edits[1], topics=(11,), leading=(strange,))
    del edits[5:]
    again = deepcopy(OTHER)
    results = editing.apply_edits(again, edits)
    said = "no topic has the words of topic 11 (x0 x1 x2 x3 x4)"
    assert results[1] == EditResult(edits[1], (), said)
    assert [bool(result.refused) for result in results] == [False, True, False, False, False]
    assert sorted(again.topic_names_)[-1] == "billing"


def test_two_topics_never_get_one_row():
    """Where a model has one topic less, one of the names is refused."""
    few = StreamingLDA(K - 1, random_state=0).fit(X)
    model = deepcopy(ONE)
    for row in range(K):
        editing.rename(model, row, f"topic {planted(model)[row]}")
    results = editing.apply_edits(few, model.edits_)
    names = [name for name in few.topic_names_ if name]
    assert len(names) == len({*names}) == sum(not result.refused for result in results) < K
    # None has the row of another that is more like it.
    assert all(name == f"topic {k}" for k, name in named_planted(few).items())


def test_parts_of_a_split_are_found_by_their_words():
    model, again = deepcopy(ONE), deepcopy(OTHER)
    editing.merge(model, [0, 1])
    editing.split(model, 0, X)
    assert sorted(planted(model)) == [*range(K)]
    editing.rename(model, 0, "zero")
    editing.rename(model, K - 1, "last")
    results = editing.apply_edits(again, model.edits_, X=X)
    assert not any(result.refused for result in results)
    assert named_planted(again) == named_planted(model)
    without = editing.apply_edits(deepcopy(OTHER), model.edits_)
    assert without[1].refused == "a split needs documents; pass them as X"


def test_edits_of_a_page_need_few_words():
    """A page knows rows as they were, and ten words of each."""
    words = [[[w, 0.05 - 0.004 * i] for i, w in enumerate(own)] for own in ONE.top_words()]
    rows = [
        {"kind": "merge", "topics": [3, 5], "leading": [words[3], words[5]]},
        {"kind": "rename", "topics": [3], "leading": [words[3]], "name": "both"},
        {"kind": "hide", "topics": [4], "leading": [words[4]]},
        {"kind": "hide", "topics": [1]},
    ]
    model = deepcopy(ONE)
    results = editing.apply_edits(model, editing.edits_from_json(file_of(rows)))
    assert [result.rows for result in results] == [(3, 5), (3,), (4,), ()]
    assert "no leading words" in results[3].refused
    assert model.topic_names_.tolist() == ["", "", "", "both", ""]
    assert model.hidden_topics_.tolist() == [4]


def test_a_pipeline_is_edited_by_words_and_texts(tmp_path):
    sea, sky, tax = (["ship", "wave", "deep", "sail"], ["plane", "cloud", "blue", "wing"],
                     ["money", "tax", "bank", "pay"])  # fmt: skip
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice((sea, sky, tax)[i % 3], 12)) for i in range(600)]
    words, topics = StreamingCountVectorizer(max_features=40), StreamingMixture(3, random_state=0)
    pipe = StreamingPipeline([("words", words), ("topics", topics)]).partial_fit(texts)
    row = next(k for k, words in enumerate(pipe.top_words(n_words=4)) if "ship" in words)
    edit = editing.exclude(pipe, row, ["ship"])
    assert edit.words == ("ship",)
    assert {word for word, _ in edit.leading[0]} == {*sea, *sky, *tax}  # None is of a free column.
    others = [k for k in range(3) if k != row]
    editing.merge(pipe, others)
    editing.split(pipe, 1 - min(row, 1) if row else 1, texts)
    save(pipe, tmp_path / "model")
    again = load(tmp_path / "model").partial_fit(texts)
    assert again[-1].edits_ == pipe[-1].edits_
    ranked = again.top_words(n_words=4)
    kept = next(words for words in ranked if "wave" in words)
    assert "ship" not in kept
    assert {frozenset(words) for words in ranked} >= {frozenset(sky), frozenset(tax)}


def test_a_tracker_keeps_its_ids():
    def batches(first):
        return [TimedBatch(X[300 * t : 300 * (t + 1)], t) for t in range(first, first + 2)]

    tracker = TopicTracker(budget=np.inf)
    model = stream(StreamingLDA(K, random_state=0), batches(0), callbacks=[tracker])
    before = tracker.ids_.tolist()
    editing.merge(model, [4, 1])
    editing.rename(model, 0, "billing")
    editing.pull(model, 2, model.top_words()[0][:1])
    stream(model, batches(2), callbacks=[tracker])
    after = tracker.ids_.tolist()
    merged = {before[1], before[4]}
    assert after[3] in merged
    assert after[:3] + after[4:] == [before[row] for row in (0, 2, 3, 5)]
    gone = [row for row in tracker.topics() if not row.alive]
    assert [(row.topic, row.merged_into) for row in gone] == [(*merged - {after[3]}, after[3])]
