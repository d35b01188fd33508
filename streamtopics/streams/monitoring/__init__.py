# SPDX-License-Identifier: BSD-3-Clause
"""The alarm of a stream."""
