# SPDX-License-Identifier: BSD-3-Clause
"""Objects on their way, which only who sends and who uses them has to take apart."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np


class Parcel(NamedTuple):
    """A pickled object.

    A scheduler that hands on what passes through it, as that of Dask does, takes objects apart and
    puts them together again, in the thread that all messages wait for; of a parcel it copies bytes.

    Attributes
    ----------
    head : bytes
        The pickle but for the arrays.
    arrays : list of ndarray of uint8
        Their memory.
    """

    head: bytes
    arrays: list[np.ndarray]

    def opened(self) -> Any:
        """Return the object; its arrays may be read-only."""
        return pickle.loads(self.head, buffers=self.arrays)


def packed(value: Any) -> Parcel:
    """Return an object on its way. Its arrays are not copied here.

    Classes and functions that workers cannot import, such as those of a notebook, go with it.
    """
    import cloudpickle  # Dask has it.

    buffers: list[pickle.PickleBuffer] = []
    head = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return Parcel(head, [np.frombuffer(one.raw(), np.uint8) for one in buffers])
