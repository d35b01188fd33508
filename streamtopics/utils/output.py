# SPDX-License-Identifier: BSD-3-Clause
"""Small tables in notebooks, and links to the documentation."""

import sys
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, ClassVar

import numpy as np

from streamtopics.utils.steps import last_step

# The only place of the address; equal to `Documentation` in the project's metadata.
DOCUMENTATION = "https://streamtopics.github.io/streamtopics/"
# Rows of a table in a notebook.
N_SHOWN = 20


class LinksToReference:
    """An estimator with a link to the API reference in notebooks."""

    _doc_link_module: ClassVar[str] = "streamtopics"
    _doc_link_template: ClassVar[str] = DOCUMENTATION + "api/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        kind = type(self)
        package, folder, *_ = kind.__module__.split(".")
        is_at_the_top = kind.__name__ in sys.modules[package].__all__
        return {"page": f"{package if is_at_the_top else f'{package}.{folder}'}.{kind.__name__}"}


class ShownAsTable:
    # Caption, names of columns, and rows.
    _table: Callable[[], tuple[str, Sequence[str], Sequence[Iterable[object]]]]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._table()[0]}>"

    def _repr_html_(self) -> str:
        said, names, rows = self._table()
        return html_table(f"{type(self).__name__}: {said}", names, rows)


class ShowsTopics:
    """A fitted pipeline shown in notebooks with a table of its topics."""

    top_words: Callable[..., list[list[Any]]]

    def _repr_html_inner(self) -> str:
        weights = getattr(last_step(self), "topic_weights_", None)
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        if weights is None:
            return diagram
        words, order = self.top_words(8), np.argsort(-weights, kind="stable").tolist()
        rows = [(k, f"{weights[k]:.1%}", words[k]) for k in order]
        return diagram + html_table(f"{len(rows)} topics", ("topic", "share", "words"), rows)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return found | ({"text/html": self._repr_html_inner()} if "text/html" in found else {})


def html_table(caption: str, names: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:N_SHOWN])
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else text
    return f"<td>{escape(text)}</td>"
