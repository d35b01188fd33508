# SPDX-License-Identifier: BSD-3-Clause
"""The error of a file that cannot be loaded."""


class LoadError(ValueError):
    """A file that cannot be loaded: damaged, cut, newer, or with something unknown in it.

    Its message names the file, what is wrong with it and what can be done.
    """
