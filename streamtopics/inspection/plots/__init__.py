# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of topic models, by matplotlib (the extra `plot`).

Each function draws on the Axes `ax`, or on a new figure, and returns the Axes. Text and lines have
matplotlib's own colours, so styles such as "dark_background" work.
"""
