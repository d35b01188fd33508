from collections.abc import Callable
from pickle import PickleBuffer
from typing import Any

def dumps(
    obj: Any,
    protocol: int | None = ...,
    buffer_callback: Callable[[PickleBuffer], Any] | None = ...,
) -> bytes: ...
