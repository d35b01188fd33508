# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share."""

import os

os.environ.setdefault("MPLBACKEND", "agg")
