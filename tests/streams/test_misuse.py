# SPDX-License-Identifier: BSD-3-Clause
"""What goes along a stream, when it is set up or interrupted otherwise than meant."""

import numpy as np
import pytest

from streamtopics import GibbsOnlineEM
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import (
    Checkpointer,
    ScoreHistory,
    resume,
    stream,
)

X = make_lda_corpus(n_documents=200, n_features=40, random_state=0).X
BATCHES = [X[i : i + 20] for i in range(0, 200, 20)]


def model():
    return GibbsOnlineEM(3, random_state=0)


def test_a_checkpointer_of_two_streams_keeps_the_end_of_both(tmp_path):
    checkpointer = Checkpointer(tmp_path)
    learner = stream(model(), BATCHES[:5], callbacks=[checkpointer])
    stream(learner, BATCHES[5:], callbacks=[checkpointer])
    assert resume(tmp_path).model.n_documents_seen_ == 200


def test_a_checkpointer_before_what_it_keeps_is_refused(tmp_path):
    history = ScoreHistory()
    checkpointer = Checkpointer(tmp_path, every=1, also=[history])
    with pytest.raises(ValueError, match="put Checkpointer last"):
        stream(model(), BATCHES, callbacks=[checkpointer, history])
    stream(model(), BATCHES[:3], callbacks=[history, checkpointer])
    again = resume(tmp_path)
    assert len(again.callbacks[0].rows) == again.n_batches == 3


@pytest.mark.parametrize("stop", [1, 4, 9])
def test_a_stream_cut_and_resumed_is_the_uncut_one(tmp_path, stop):
    def cut():
        yield from BATCHES[:stop]
        raise KeyboardInterrupt

    history = ScoreHistory()
    with pytest.raises(KeyboardInterrupt):
        stream(model(), cut(), callbacks=[history, Checkpointer(tmp_path, every=3, also=[history])])
    again = resume(tmp_path)
    assert again.n_batches == stop
    found = stream(again.model, BATCHES, callbacks=again.callbacks, skip=again.n_batches)
    whole = ScoreHistory()
    expected = stream(model(), BATCHES, callbacks=[whole])
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert [repr(row) for row in again.callbacks[0].rows] == [repr(row) for row in whole.rows]


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_checkpoint_that_cannot_be_read_gives_way_to_the_one_before(tmp_path, kind):
    stream(model(), BATCHES[:2], callbacks=[Checkpointer(tmp_path)])
    newest = tmp_path / "checkpoint-000000009.model"
    newest.mkdir() if kind == "folder" else newest.symlink_to("nowhere")
    with pytest.warns(UserWarning, match="is used, the one before"):
        assert resume(tmp_path).n_batches == 2
