from dataclasses import dataclass
from typing import Any

import numpy as np

class Bunch(dict[str, Any]):
    def __init__(self, **kwargs: Any) -> None: ...
    def __getattr__(self, key: str) -> Any: ...

@dataclass
class InputTags:
    one_d_array: bool
    two_d_array: bool
    three_d_array: bool
    sparse: bool
    categorical: bool
    string: bool
    dict: bool
    positive_only: bool
    allow_nan: bool
    pairwise: bool

@dataclass
class TargetTags:
    required: bool
    one_d_labels: bool = ...
    two_d_labels: bool = ...
    positive_only: bool = ...
    multi_output: bool = ...
    single_output: bool = ...

@dataclass
class TransformerTags:
    preserves_dtype: list[str] = ...

@dataclass
class ClassifierTags:
    poor_score: bool = ...
    multi_class: bool = ...
    multi_label: bool = ...

@dataclass
class RegressorTags:
    poor_score: bool = ...

@dataclass
class Tags:
    estimator_type: str | None
    target_tags: TargetTags
    transformer_tags: TransformerTags
    classifier_tags: ClassifierTags
    regressor_tags: RegressorTags
    array_api_support: bool
    no_validation: bool
    non_deterministic: bool
    requires_fit: bool
    input_tags: InputTags

def assert_all_finite(X: Any, *, input_name: str = ...) -> None: ...
def check_random_state(seed: Any) -> np.random.RandomState: ...
def check_scalar(
    x: Any,
    name: str,
    target_type: Any,
    *,
    min_val: float | None = ...,
    max_val: float | None = ...,
    include_boundaries: str = ...,
) -> Any: ...
def get_tags(estimator: Any) -> Tags: ...
