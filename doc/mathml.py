# SPDX-License-Identifier: BSD-3-Clause
"""Equations as MathML, which browsers draw without a script, a font or a network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml, pick_math_environment
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, for `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_inline(translator: Any, node: nodes.math) -> None:
    """Write an equation into the line."""
    translator.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def show_block(translator: Any, node: nodes.math_block) -> None:
    """Write equations in lines of their own."""
    translator.body.append('<div class="math">')
    for part in filter(str.strip, node.astext().split("\n\n")):
        if pick_math_environment(part) == "align*" and not part.lstrip().startswith(r"\begin"):
            part = rf"\begin{{aligned}}{part}\end{{aligned}}"
        translator.body.append(latex2mathml.tex2mathml(part, as_block=True))
    translator.body.append("</div>")
    raise nodes.SkipNode
