# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of Sphinx."""

import warnings

import streamtopics

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
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "examples", "*_table.rst"]
nitpicky = False

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "streamtopics"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
