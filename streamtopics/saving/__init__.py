# SPDX-License-Identifier: BSD-3-Clause
"""Models in files: whole or not at all, and read without executing anything."""

from streamtopics.saving.errors import LoadError
from streamtopics.saving.models import load, save

__all__ = ["LoadError", "load", "save"]
