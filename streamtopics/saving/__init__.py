# SPDX-License-Identifier: BSD-3-Clause
"""Models in files, read without executing anything."""

from streamtopics.saving.models import LoadError, load, save

__all__ = ["LoadError", "load", "save"]
