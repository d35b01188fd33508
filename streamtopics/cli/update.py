# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics update`: a model learns from new files."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from streamtopics import save
from streamtopics.cli.models import FREE, learner_of, load_model, topics_of, words_of
from streamtopics.cli.reading import cut, records, texts_of
from streamtopics.cli.seeds import check_seeds
from streamtopics.cli.tally import Tally
from streamtopics.cli.telling import counted, nats, safe
from streamtopics.cli.writing import check_target
from streamtopics.streams import ProgressReport, ScoreHistory, stream
from streamtopics.streams.callbacks import mean_score

N_CHANGED = 5


def run(options: Namespace) -> None:
    """Score and learn each minibatch, write the model, and say what has changed."""
    target = options.model or options.model_file
    check_target(target, kept=[*options.files, options.seeds])
    model, tally = load_model(options.model_file), Tally()
    check_seeds(options.seeds, topics_of(model), options.model_file)
    learner, before = learner_of(model), topics_by_word(model)
    history, found = ScoreHistory(), cut(records(options, tally.skipped), options.batch_size)
    n_before, n_tokens_before = topics_of(model).n_documents_seen_, topics_of(model).n_tokens_seen_

    found = tally.over(found, model.steps[0][1], learnt=learner.front is None)
    callbacks = [history] if options.quiet else [history, ProgressReport(title="learning")]
    batches = (learner.taken(texts_of(batch)) for batch in found)
    stream(learner.model, batches, callbacks=callbacks)
    tally.tell()
    if learner.front is not None and topics_of(model).n_tokens_seen_ == n_tokens_before:
        raise ValueError(
            f"no word of these documents is in the vocabulary of {options.model_file}, which is "
            "closed; nothing was written. Are they of the same language and kind? `streamtopics "
            "fit` begins a model with other words"
        )
    save(model, target)
    print(counted(topics_of(model).n_documents_seen_ - n_before, "new document"))
    print(f"before they were learnt: {nats(mean_score(history.rows)[0])}")
    print_changes(before, topics_by_word(model), options.words)
    print(f"\nmodel written to {target}")


def topics_by_word(model: Any) -> tuple[list[str], np.ndarray]:
    """Return the words of the columns, and the probabilities of each topic."""
    return [str(word) for word in words_of(model)], np.array(topics_of(model).topic_word_)


def print_changes(
    before: tuple[list[str], np.ndarray], after: tuple[list[str], np.ndarray], n_words: int
) -> None:
    """Print the topics that have changed most, and the words that came up in them."""
    (old_names, old), (names, new) = before, after
    column = {word: i for i, word in enumerate(old_names) if not word.startswith(FREE)}
    places = np.array([column.get(word, -1) for word in names])
    n = min(len(old), len(new))
    then = np.where(places >= 0, old[:n, places], 0.0)
    moved = np.sqrt(np.maximum(0.0, 1 - np.sqrt(then * new[:n]).sum(axis=1)))
    print("\nchanged most (0 is not at all, 1 is no word in common):")
    for k in np.argsort(-moved, kind="stable")[:N_CHANGED]:
        rise = np.argsort(then[k] - new[k], kind="stable")[:n_words]
        words = [names[i] for i in rise if new[k, i] > then[k, i] and not names[i].startswith(FREE)]
        print(safe(f"{k:>5}  {moved[k]:.2f}  more: {' '.join(words)}"))
