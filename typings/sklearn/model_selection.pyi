from collections.abc import Iterator
from typing import Any

import numpy as np

class BaseCrossValidator: ...

class TimeSeriesSplit:
    def __init__(
        self,
        n_splits: int = ...,
        *,
        max_train_size: int | None = ...,
        test_size: int | None = ...,
        gap: int = ...,
    ) -> None: ...
    def split(self, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]: ...

def __getattr__(name: str) -> Any: ...
