# SPDX-License-Identifier: BSD-3-Clause
from streamtopics.metrics.predictive import completion_split
