# What the package uses of tqdm, which has no types of its own.
from typing import Any

def tqdm(
    *,
    desc: str,
    total: int | None,
    initial: int,
    unit: str,
    file: Any,
    disable: bool,
    dynamic_ncols: bool,
) -> Any: ...
