# SPDX-License-Identifier: BSD-3-Clause
"""Learning on the workers of a cluster: Dask, Ray, or an executor of the standard library."""

from streamtopics.distributed.apart import learn_apart, take_in
from streamtopics.distributed.applying import score_partitions, transform_partitions
from streamtopics.distributed.attempts import PartitionError
from streamtopics.distributed.fitting import fit_partitions, fit_stream
from streamtopics.distributed.vocabulary import count_vocabulary

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
