# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files; their public face is `streamtopics.datasets`."""
