# SPDX-License-Identifier: BSD-3-Clause
"""Sentence topic models: the weight-agnostic hierarchical stick-breaking process, and relatives."""
