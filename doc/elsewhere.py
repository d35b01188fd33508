# SPDX-License-Identifier: BSD-3-Clause
"""References to the documentation of other projects, with or without a network.

Sphinx asks each project for its inventory. Where it cannot, it takes the one that is made here of
the names below; a new reference to another project needs a line here.
"""

import zlib
from pathlib import Path
from typing import NamedTuple


class Project(NamedTuple):
    """Address of a project's documentation, of a name's page in it, and the names."""

    url: str
    page: str
    names: str


PROJECTS = {
    "sklearn": Project(
        "https://scikit-learn.org/stable/",
        "modules/generated/{name}.html#$",
        """
        class sklearn.calibration.CalibratedClassifierCV
        class sklearn.decomposition.LatentDirichletAllocation
        class sklearn.feature_extraction.text.CountVectorizer
        class sklearn.model_selection.GridSearchCV
        class sklearn.model_selection.TimeSeriesSplit
        class sklearn.pipeline.Pipeline
        function sklearn.model_selection.cross_val_score
        label accuracy_score
        """,
    ),
    "scipy": Project(
        "https://docs.scipy.org/doc/scipy/",
        "reference/generated/{name}.html#$",
        "class scipy.sparse.csr_matrix class scipy.sparse.csr_array",
    ),
    "numpy": Project(
        "https://numpy.org/doc/stable/", "reference/generated/{name}.html#$", "class numpy.ndarray"
    ),
    "pandas": Project(
        "https://pandas.pydata.org/docs/", "reference/api/{name}.html#$", "class pandas.DataFrame"
    ),
    "python": Project(
        "https://docs.python.org/3/",
        "library/{module}.html#$",
        """
        class os.PathLike
        class pathlib.Path
        method datetime.datetime.fromisoformat
        """,
    ),
}


def mapping(folder: Path) -> dict[str, tuple[str, tuple[None, str]]]:
    """Write the inventories into a folder, and return what `intersphinx_mapping` is to be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, project in PROJECTS.items():
        (folder / f"{name}.inv").write_bytes(inventory(name, project))
    return {
        name: (project.url, (None, str(folder / f"{name}.inv")))
        for name, project in PROJECTS.items()
    }


def inventory(name: str, project: Project) -> bytes:
    """Return an inventory in Sphinx's format, version 2."""
    words = project.names.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    lines = []
    for kind, target in pairs:
        if kind == "label":
            # Of scikit-learn's guide, which docstrings that are inherited refer to.
            page = f"modules/model_evaluation.html#{target.replace('_', '-')}"
            lines.append(f"{target} std:label -1 {page} -")
            continue
        page = project.page.format(name=target, module=target.split(".")[0])
        lines.append(f"{target} py:{kind} 1 {page} -")
    head = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress("\n".join([*lines, ""]).encode())
