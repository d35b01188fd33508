# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a stream, in passes over all words: what `kernels.tokens.Columns` has to find."""

from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    """Words and columns, as `Columns.arrays` returns them."""

    frequency: np.ndarray
    column: np.ndarray
    owner: np.ndarray
    since: np.ndarray


def empty(n_columns):
    owner, since = np.full(n_columns, -1, np.int32), np.zeros(n_columns, np.int64)
    return State(np.empty(0), np.empty(0, np.int32), owner, since)


def step(state, places, counts, decay, low, high, margin, now):
    """The state after a minibatch, and the columns that lost their word."""
    n_new = max([len(state.frequency), *(places + 1)]) - len(state.frequency)
    frequency = np.append(state.frequency * decay, np.zeros(n_new))
    frequency[places] += counts
    column = np.append(state.column, np.full(n_new, -1, np.int32))
    if not margin:
        return state._replace(frequency=frequency, column=column), np.empty(0, np.int64)
    owner = state.owner.copy()
    too_frequent = np.flatnonzero((frequency > high) & (column >= 0))
    owner[column[too_frequent]] = column[too_frequent] = -1
    free, held = np.flatnonzero(owner < 0), np.flatnonzero(owner >= 0)
    strength = frequency[owner[held]]
    # A word that would not be let in any more is in the way of none that would.
    bar = margin * np.where(strength < low, 0.0, strength)
    chosen = np.flatnonzero((column < 0) & (frequency >= low) & (frequency <= high))
    chosen = chosen[np.argsort(-frequency[chosen], kind="stable")]
    rest, weak = chosen[len(free) :], np.argsort(bar, kind="stable")
    n = min(len(rest), len(weak))
    n = int((frequency[rest[:n]] > bar[weak[:n]]).sum())
    taken = np.append(free[: len(chosen)], held[weak[:n]])
    column[owner[held[weak[:n]]]] = -1
    chosen = chosen[: len(taken)]
    owner[taken], column[chosen] = chosen, taken
    changed = owner != state.owner
    since = np.where(changed, now, state.since)
    return State(frequency, column, owner, since), np.flatnonzero(changed & (state.owner >= 0))
