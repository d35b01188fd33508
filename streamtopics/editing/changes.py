# SPDX-License-Identifier: BSD-3-Clause
"""Edits of a commit record, the whole state of a model: functions that return a new record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import digamma

from streamtopics.base.topic_model import TopicCommit
from streamtopics.editing.records import Edits, EditStep, TopicLabels
from streamtopics.posteriors import TopicPosterior
from streamtopics.posteriors.protocol import State
from streamtopics.posteriors.rows import from_counts, in_rows
from streamtopics.updates.doc_topic import GammaPrior, Shares

# For each new topic, rows of old topics and the share of their counts in it, by word; None is all.
Parts = list[tuple[int, np.ndarray | None]]


def carried_out(commit: TopicCommit, edits: Edits, step: EditStep) -> TopicCommit:
    """The commit record after one step more than those of `edits`."""
    labels = _labels_after(edits.labels, step)
    base, n_base = edits.base, edits.n_base
    if step.moves and base is None:
        base, n_base = replace(commit, edits=edits), len(edits.steps)
    edits = Edits(labels, edits.n_started, (*edits.steps, step), base, n_base)
    if not step.moves:
        return replace(commit, edits=edits)
    posterior, state, drift = commit.posterior, commit.state, commit.drift
    if step.edit.kind in ("merge", "split"):
        own = [commit.n_hidden + row for row in step.before.rows(step.edit.topics)]
        posterior, shares = _rearranged(posterior, _parts(posterior.n_nodes, own, step.division))
        memory = _memory(commit.update.doc_topic, state[1], shares, posterior.alpha)
        # Records of drift are of the earlier rows; only the last number stays.
        none, state = np.empty(0), (None, memory)
        drift = tuple(replace(d, retention=none, effective_sample_size=none) for d in drift[-1:])
    posterior = _with_words_moved(posterior, labels, step)
    return replace(commit, posterior=posterior, state=state, drift=drift, edits=edits)


def taken_back(commit: TopicCommit, edits: Edits) -> TopicCommit:
    """The commit record without the last step of `edits`."""
    last = edits.steps[-1]
    if not last.moves:
        now = edits.labels
        labels = replace(last.before, topics=now.topics, n_topics=now.n_topics)
        return replace(commit, edits=replace(edits, labels=labels, steps=edits.steps[:-1]))
    found: TopicCommit = edits.base.copied()  # Learning will write in the copy
    for step in edits.steps[edits.n_base : -1]:
        found = carried_out(found, found.edits, step)
    return found


def _labels_after(labels: TopicLabels, step: EditStep) -> TopicLabels:
    edit, own, first = step.edit, frozenset(step.edit.topics), step.edit.topics[0]
    pairs = frozenset((topic, column) for topic in own for column in step.columns)
    match edit.kind:
        case "merge":
            # A word excluded from one of the topics is excluded from all.
            pairs = frozenset((first if t in own else t, column) for t, column in labels.excluded)
            kept = tuple(topic for topic in labels.topics if topic == first or topic not in own)
            return replace(labels, topics=kept, excluded=pairs)
        case "split":
            new = frozenset(range(labels.n_topics, labels.n_topics + edit.n - 1))
            return replace(
                labels,
                topics=(*labels.topics, *sorted(new)),
                n_topics=labels.n_topics + len(new),
                hidden=labels.hidden | new if first in labels.hidden else labels.hidden,
                locked=labels.locked | new if first in labels.locked else labels.locked,
                excluded=labels.excluded
                | {(part, column) for t, column in labels.excluded if t == first for part in new},
            )
        case "rename":
            return replace(labels, names={**labels.names, first: edit.name})
        case "hide":
            return replace(labels, hidden=labels.hidden | own)
        case "show":
            return replace(labels, hidden=labels.hidden - own)
        case "lock":
            return replace(labels, locked=labels.locked | own)
        case "unlock":
            return replace(labels, locked=labels.locked - own)
        case "exclude":
            return replace(labels, excluded=labels.excluded | pairs)
    return replace(labels, excluded=labels.excluded - pairs)


# Rows


def _parts(n_rows: int, own: list[int], division: np.ndarray | None) -> list[Parts]:
    rows: list[Parts] = [[(k, None)] for k in range(n_rows)]
    if division is not None:
        shares: list[Parts] = [[(own[0], share)] for share in division.T]
        rows[own[0]] = shares[0]
        return rows + shares[1:]
    rows[own[0]] = [(k, None) for k in own]
    return [row for k, row in enumerate(rows) if k not in own[1:]]


def _rearranged(
    posterior: TopicPosterior, rows: Sequence[Parts]
) -> tuple[TopicPosterior, np.ndarray]:
    """The posterior of the new rows, and the share of each old row in each new row.

    Counts and alpha are sums over the parts of a row. The prior counts once, with the greatest
    weight. Unchanged rows keep their bits.
    """
    old, words = posterior._state, posterior._state.S.words
    learnt, shares = old.S.rows(words), np.zeros((posterior.n_nodes, len(rows)))
    first = [parts[0][0] for parts in rows]
    counts, mass = learnt.take(first, axis=1), old.learnt_mass[first]
    a, b, c = old.a[first], old.b[first], old.c[first]
    for j, parts in enumerate(rows):
        if len(parts) == 1 and parts[0][1] is None:
            shares[first[j], j] = 1.0
            continue
        counts[:, j] = 0.0
        for k, share in parts:
            part = old.a[k] * learnt[:, k] * (1.0 if share is None else share)
            counts[:, j] += part
            shares[k, j] = 1.0 if share is None else part.sum() / (old.a[k] * learnt[:, k].sum())
        a[j], mass[j] = 1.0, counts[:, j].sum()
        b[j], c[j] = (weight[[k for k, _ in parts]].max() for weight in (old.b, old.c))

    def of_rows(prior: np.ndarray) -> np.ndarray:
        return prior if prior.shape[1] == 1 else prior.take(first, axis=1)

    told, directions = posterior.prior_directions, old.directions
    if told is not None:
        told, directions = told[first], shares.T @ directions
    xi = None if posterior.xi is None else of_rows(posterior.xi)
    shape, alpha = (posterior.shape[0], len(rows)), old.alpha @ shares
    new = TopicPosterior(of_rows(posterior.eta), shape, alpha, xi, posterior.seed, told)
    S = from_counts(shape[0], words, counts)
    return new._with(State(S, c, a, mass, b, alpha, *old[6:9], directions)), shares


def _memory(doc_topic: Any, memory: Any, shares: np.ndarray, alpha: np.ndarray) -> Any:
    """Return the memory of the update of the documents' prior, for the edited topics."""
    if memory is None or isinstance(doc_topic, Shares):
        return None if memory is None else memory @ shares
    if isinstance(doc_topic, GammaPrior):
        return np.append(memory[:-1] @ shares, memory[-1])
    # For `FixedPoint`: E[log theta]; for changed rows E[log theta] of the Dirichlet distribution.
    same = ((shares != 0).sum(axis=0) == 1) & (shares.max(axis=0) == 1)
    return np.where(same, memory @ shares, digamma(alpha) - digamma(alpha.sum()))


# Words


def _with_words_moved(
    posterior: TopicPosterior, labels: TopicLabels, step: EditStep
) -> TopicPosterior:
    topic, state, S = step.edit.topics[0], posterior._state, in_rows(posterior._state.S)
    n_hidden = posterior.n_nodes - len(labels.topics)
    own, locked = labels.mask([topic], n_hidden), labels.mask(labels.locked, n_hidden)
    pulls = step.edit.kind == "pull"
    excluded = sorted(column for other, column in labels.excluded if other == topic)
    columns = np.array(step.columns if pulls else excluded, np.int32)
    # Other words were never learnt.
    columns = columns[S.places[columns] > 0]
    for column, lam in zip(columns, posterior.rows(columns), strict=True):
        counts = state.a * S.counts[S.places[column]]
        if pulls:
            counts[own] += counts[~own & ~locked].sum()
            counts[~own & ~locked] = 0.0
        else:
            labels.move_out(column, counts, lam)
        S.counts[S.places[column]] = counts / state.a
    mass = S.counts.sum(axis=0) if len(columns) else state.learnt_mass
    return posterior._with(state._replace(S=S, learnt_mass=mass))
