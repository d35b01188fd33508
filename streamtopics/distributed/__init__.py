# SPDX-License-Identifier: BSD-3-Clause
"""Learning on workers, by any executor of `concurrent.futures`."""

from streamtopics.distributed.applying import (
    count_vocabulary,
    score_partitions,
    transform_partitions,
)
from streamtopics.distributed.composites import apply_update, compute_update
from streamtopics.distributed.executors import PartitionError
from streamtopics.distributed.fitting import fit_partitions, fit_stream

__all__ = [
    "PartitionError",
    "apply_update",
    "compute_update",
    "count_vocabulary",
    "fit_partitions",
    "fit_stream",
    "score_partitions",
    "transform_partitions",
]
