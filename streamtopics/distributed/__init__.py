# SPDX-License-Identifier: BSD-3-Clause
"""Learning on the workers of a cluster, by any executor of `concurrent.futures`."""

from streamtopics.distributed.apart import learn_apart, take_in
from streamtopics.distributed.applying import (
    count_vocabulary,
    score_partitions,
    transform_partitions,
)
from streamtopics.distributed.executors import PartitionError
from streamtopics.distributed.fitting import fit_partitions, fit_stream

__all__ = [
    "PartitionError",
    "count_vocabulary",
    "fit_partitions",
    "fit_stream",
    "learn_apart",
    "score_partitions",
    "take_in",
    "transform_partitions",
]
