# SPDX-License-Identifier: BSD-3-Clause
"""Identity and history of topics along a stream."""
