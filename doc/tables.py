# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of the documentation that are made from the package.

python doc/tables.py
"""

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import streamtopics
from streamtopics.estimators.presets import PLAIN, PRESETS
from streamtopics.utils.records import is_record

METHODS = Path(__file__).parent / "user_guide" / "methods_table.inc"
COLUMNS = ("name", "method", "source", "update", "inference", "view", "prior of documents", "other")
PARTS = ("update", "inference", "view", "doc_topic_prior_update")
ROUNDS = ("n_rounds", "warm_rounds")
# Of each preset: what it is, and its source.
TITLES = {
    "SVBLDA": ("streaming variational Bayes (SVB)", "Broderick et al. (2013)"),
    "BPSLDA": ("boosted prior knowledge (BPS)", "Nguyen et al. (2020)"),
    "SVBHPP": (
        "hierarchical power prior, learns how much to forget (SVB-HPP)",
        "Masegosa et al. (2020), algorithm 1",
    ),
    "PowerPriorLDA": (
        "power prior, forgets at a fixed rate (SVB-PP)",
        "Masegosa et al. (2020), equation 23",
    ),
    "PopulationVBLDA": (
        "population variational Bayes (PVB)",
        "McInerney, Ranganath and Blei (2015)",
    ),
    "OnlineVBLDA": (
        "stochastic variational inference (OLDA, SVI)",
        "Hoffman, Bach and Blei (2010)",
    ),
    "VarGibbsLDA": ("sparse stochastic inference (VarGibbs)", "Mimno, Hoffman and Blei (2012)"),
    "GibbsOnlineEM": ("online EM with Gibbs sampling (G-OEM)", "Dupuy and Bach (2017)"),
    "VariationalOnlineEM": (
        "online EM with variational inference (V-OEM)",
        "Dupuy and Bach (2017)",
    ),
    "SinglePassLDA": (
        "single-pass incremental EM (SPLDA)",
        "Sato, Kurihara and Nakagawa (2010), as in Dupuy (2017)",
    ),
    "StreamingGibbsLDA": (
        "streaming Gibbs sampling (SGS)",
        "Gao, Chen and Zhu (2016), as in Dupuy (2017)",
    ),
    "LangevinLDA": ("stochastic gradient Langevin dynamics (LDS)", "Patterson and Teh (2013)"),
}


def main() -> None:
    """Write all tables."""
    METHODS.write_text(methods(), encoding="utf-8")


def methods() -> str:
    """Return the table of the methods of the literature, in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :class: methods", ""]
    for row in (COLUMNS, *map(cells, PRESETS)):
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def cells(method: str) -> tuple[str, ...]:
    """Return the cells of a method's row."""
    has_class = hasattr(streamtopics, method)
    name = f":class:`~streamtopics.{method}`" if has_class else f"``{method}``"
    given = {"doc_topic_prior_update": "fixed_point"} | PRESETS[method]
    parts = [f"``{shown(given[part])}``" for part in PARTS]
    rounds = {name: getattr(given["schedule"], name) for name in ROUNDS}
    also = [f"``{key}={value}``" for key, value in rounds.items() if value != getattr(PLAIN, key)]
    return name, *TITLES[method], *parts, ", ".join(also)


def shown(value: Any) -> str:
    """Return a record as one would write it: without what is the default."""
    if not is_record(value):
        return str(value)
    given, by_place = [], True
    for field in fields(value):
        own = getattr(value, field.name)
        by_place = by_place and field.default is MISSING
        if own != field.default:
            given.append(shown(own) if by_place else f"{field.name}={shown(own)}")
    return f"{type(value).__name__}({', '.join(given)})"


if __name__ == "__main__":
    main()
