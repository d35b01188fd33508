from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from sklearn.utils import Bunch

UNUSED: str

class MethodMapping:
    def add(self, *, caller: str, callee: str) -> Self: ...

class RouterMappingPair(NamedTuple):
    mapping: MethodMapping
    router: Any

class MetadataRequest:
    owner: Any
    def __init__(self, owner: Any) -> None: ...

class MetadataRouter:
    def __iter__(self) -> Iterator[tuple[str, RouterMappingPair]]: ...

def process_routing(_obj: Any, _method: str, /, **kwargs: Any) -> Bunch: ...
