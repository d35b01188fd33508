# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of Sphinx."""

import sys
import warnings
from pathlib import Path
from typing import Any

import streamtopics

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import elsewhere

from benchmarks.papers.ledger import items
from benchmarks.papers.page import write

# The pages of the papers, with their pictures, from what was measured.
write(items(), HERE / "papers")

# An example that warns fails, as in the tests.
LIBRARIES = r"(__main__|streamtopics|sklearn|numpy|scipy|pandas|matplotlib)\b"
warnings.filterwarnings("error", module=LIBRARIES)

project = "streamtopics"
copyright = "2026, the streamtopics developers"
author = "the streamtopics developers"
release = streamtopics.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "mathml",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples", "*_table.rst"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"

# Every reference must have a target, with a network and without one.
nitpicky = True
intersphinx_mapping = elsewhere.mapping(HERE / "_build" / "inventories")
intersphinx_timeout = 5

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [
        f"examples/{part}"
        for part in ("first_steps", "streams", "guide", "sentences", "looking", "inside")
    ],
    "filename_pattern": r"/plot_",
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "streamtopics"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}


def shorten(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Leave out what Python says of the fields of a named tuple; the attributes are described."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def leave_out(app: Any, kind: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that a class has from SciPy."""
    thing = getattr(thing, "fget", thing)
    return True if str(getattr(thing, "__module__", "")).startswith("scipy.") else None


def setup(app: Any) -> None:
    """Connect what is above."""
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", shorten)
