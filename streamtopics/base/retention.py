# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that report the share kept at each minibatch."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import StreamingEstimator


class ReportsRetention(StreamingEstimator):
    effective_sample_size_: Any

    @property
    def drift_(self) -> list[Any]:
        """Records of the last thousand minibatches: `time`, and shares of counts kept."""
        self._check_forgets()
        return [record for record in self._commit.drift if len(record.retention)]

    def _check_forgets(self) -> None:
        check_is_fitted(self)

    @property
    def retention_(self) -> np.ndarray:
        """For each topic, the share of the earlier counts kept at the last minibatch."""
        history = self.retention_history_
        return history[-1] if len(history) else np.ones_like(self.effective_sample_size_)

    @property
    def retention_history_(self) -> np.ndarray:
        """`retention_` of the last thousand minibatches, (n_minibatches, n_components)."""
        records = [record.retention for record in self.drift_]
        return np.reshape(records, (len(records), len(self.effective_sample_size_)))
