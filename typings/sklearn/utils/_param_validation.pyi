from typing import Any

class Interval:
    def __init__(self, type: Any, left: Any, right: Any, *, closed: str) -> None: ...

class StrOptions:
    def __init__(self, options: set[str]) -> None: ...

class HasMethods:
    def __init__(self, methods: str | list[str]) -> None: ...

def validate_parameter_constraints(
    parameter_constraints: dict[str, Any], params: dict[str, Any], caller_name: str
) -> None: ...
