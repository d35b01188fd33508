# SPDX-License-Identifier: BSD-3-Clause
"""Models in files: written whole or not at all, and read without executing anything."""

from streamtopics.saving.models import LoadError, load, save

__all__ = ["LoadError", "load", "save"]
