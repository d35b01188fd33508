# SPDX-License-Identifier: BSD-3-Clause
"""The parts of objects whose attributes are not what has to be kept, and what makes them again.

Everything else is kept as what its `__getstate__` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import MetadataRequest

from streamtopics.families import (
    beta,
    dirichlet,
    gamma,
    gaussian,
    log_gamma,
    normal_gamma,
    normal_gamma_regression,
    truncated_exponential,
    truncated_normal,
)
from streamtopics.posteriors.all_words import Kept
from streamtopics.posteriors.dense import Block
from streamtopics.text.named import NamedCounts

FAMILIES = {
    "beta": beta,
    "dirichlet": dirichlet,
    "gamma": gamma,
    "gaussian": gaussian,
    "log_gamma": log_gamma,
    "normal_gamma": normal_gamma,
    "normal_gamma_regression": normal_gamma_regression,
    "truncated_exponential": truncated_exponential,
    "truncated_normal": truncated_normal,
}


class Parts(NamedTuple):
    """The way in which an object is taken apart and put together.

    Attributes
    ----------
    of : callable
        Returns its parts, a dict.
    whole : callable
        Returns the object; takes the parts by name.
    """

    of: Callable[[Any], dict[str, Any]]
    whole: Callable[..., Any]


def _of_random_state(value: np.random.RandomState) -> dict[str, Any]:
    state: Any = value.get_state(legacy=False)
    return {"state": state}


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
    value = np.random.RandomState()
    value.set_state(state)
    return value


def _of_block(value: Block) -> dict[str, Any]:
    family = value.family.__name__.rpartition(".")[2]
    if FAMILIES.get(family) is not value.family:
        raise TypeError(f"its family {value.family.__name__} is not one of streamtopics.families")
    return {"family": family, "prior": value.prior, "knowledge": value.knowledge}


def _block(family: str, prior: np.ndarray, knowledge: np.ndarray | None) -> Block:
    return Block(FAMILIES[family], prior, knowledge)


def _of_partial(value: partial[Any]) -> dict[str, Any]:
    return {"function": value.func, "args": value.args, "keywords": value.keywords}


def _partial(function: Callable[..., Any], args: Any, keywords: Any) -> partial[Any]:
    return partial(function, *args, **keywords)


def _of_slice(value: slice) -> dict[str, Any]:
    return {"start": value.start, "stop": value.stop, "step": value.step}


def _slice(start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


def _of_compressed(value: Any) -> dict[str, Any]:
    arrays = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
    return {"shape": value.shape, **arrays}


def _compressed(kind: Any, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    """Return a sparse matrix, of which `checks` sees that no entry lies outside."""
    matrix = kind((data, indices, indptr), shape=tuple(shape), copy=False)
    matrix.indices, matrix.indptr = indices, indptr
    return matrix


def _of_named_counts(value: NamedCounts) -> dict[str, Any]:
    return {**_of_compressed(value), "feature_names": value.feature_names}


def _named_counts(feature_names: Any, **arrays: Any) -> NamedCounts:
    named: NamedCounts = _compressed(NamedCounts, **arrays)
    named.feature_names = feature_names
    return named


def _of_requests(value: MetadataRequest) -> dict[str, Any]:
    """Return what each method wants of metadata, but not whose they are: that it is part of."""
    owner = value.owner if isinstance(value.owner, str) else type(value.owner).__name__
    wanted = {
        method: dict(requests.requests)
        for method, requests in vars(value).items()
        if getattr(requests, "requests", None)
    }
    return {"owner": owner, "wanted": wanted}


def _requests(owner: str, wanted: dict[str, dict[str, Any]]) -> MetadataRequest:
    made = MetadataRequest(owner=owner)
    for method, requests in wanted.items():
        if method not in vars(made) or method == "owner":
            raise ValueError(f"there is no method {method!r} that metadata is passed to")
        for name, alias in requests.items():
            getattr(made, method).add_request(param=name, alias=alias)
    return made


PARTS: dict[type, Parts] = {
    MetadataRequest: Parts(_of_requests, _requests),
    np.random.RandomState: Parts(_of_random_state, _random_state),
    Block: Parts(_of_block, _block),
    Kept: Parts(lambda value: {}, Kept),
    slice: Parts(_of_slice, _slice),
    partial: Parts(_of_partial, _partial),
    NamedCounts: Parts(_of_named_counts, _named_counts),
    **{
        kind: Parts(_of_compressed, partial(_compressed, kind))
        for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array)
    },
}
