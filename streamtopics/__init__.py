# SPDX-License-Identifier: BSD-3-Clause
"""Streaming topic models with compiled kernels, for scikit-learn."""

from streamtopics.estimators import (
    BPSLDA,
    SVBLDA,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    HDPVarGibbs,
    LangevinLDA,
    OnlineVBLDA,
    SinglePassLDA,
    StreamingGibbsLDA,
    VarGibbsLDA,
    VariationalOnlineEM,
)

__all__ = [
    "BPSLDA",
    "SVBLDA",
    "GibbsOnlineEM",
    "HDPGibbsOnlineEM",
    "HDPVarGibbs",
    "LangevinLDA",
    "OnlineVBLDA",
    "SinglePassLDA",
    "StreamingGibbsLDA",
    "VarGibbsLDA",
    "VariationalOnlineEM",
]

__version__ = "0.1.0.dev0"
