# SPDX-License-Identifier: BSD-3-Clause
"""The state of a model, to compare bit for bit."""

from types import ModuleType

import numpy as np
from scipy import sparse
from streamtopics.kernels._tokens import Columns, Words


def is_same(model, other):
    """Whether all of the state is the same, as pickle sees it, up to which objects are shared."""
    return parts_of(model) == parts_of(other)


def parts_of(value, known=()):
    """Everything in a value as nested tuples that can be compared."""
    if id(value) in known:
        return "again"
    known = (*known, id(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.flags.f_contiguous, value.tobytes()
    if isinstance(value, Columns):
        return parts_of(value.arrays())
    if isinstance(value, Words):
        return len(value)
    if isinstance(value, np.generic):
        return type(value).__name__, value.tobytes()
    if isinstance(value, np.random.RandomState):
        return parts_of(value.get_state(legacy=False), known)
    if sparse.issparse(value):
        arrays = [parts_of(getattr(value, name)) for name in ("data", "indices", "indptr")]
        return type(value).__name__, value.shape, arrays
    if isinstance(value, dict):
        return [(parts_of(k, known), parts_of(v, known)) for k, v in value.items()]
    if isinstance(value, list | tuple | np.ndarray):
        return type(value).__name__, [parts_of(one, known) for one in value]
    if isinstance(value, ModuleType):
        return value.__name__
    if hasattr(value, "__dict__") and not callable(value):
        # Of frozen records what is computed when asked for does not count.
        fields = getattr(value, "__dataclass_fields__", None)
        state = value.__getstate__() if fields is None else {f: getattr(value, f) for f in fields}
        # Where scikit-learn's stop words are in memory.
        state = {name: part for name, part in (state or {}).items() if name != "_stop_words_id"}
        if isinstance(state.get("places"), Words):
            state |= {"places": state["places"].of(state["words"])}
        return type(value).__name__, parts_of(state, known)
    return type(value).__name__, repr(value)
