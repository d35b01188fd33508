# SPDX-License-Identifier: BSD-3-Clause
"""The alarm of a stream: a score of each minibatch, a test of change, and what is new."""
