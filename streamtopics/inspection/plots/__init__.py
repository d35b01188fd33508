# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of topic models, by matplotlib (the extra `plot`).

Functions draw on the Axes `ax`, or on a new figure, and return the Axes. Styles such as
"dark_background" work.
"""
