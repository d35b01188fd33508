# SPDX-License-Identifier: BSD-3-Clause
"""Pages and docstrings point seldom: few relative clauses, pronouns and "no" per 100 words.

A sentence is read once if the noun stands where "it" or "that" could. Code, literals, roles and
output are left out; scikit-learn's docstrings have 1.1, .8 and .1.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import streamtopics

ROOT = Path(__file__).parent.parent
DOC = ROOT / "doc"
MOST = {
    r"that|which|what|whose|where|whom": 1.5,
    r"those|these|the one|the other|others|another|such|so many|as many"
    r"|it|its|them|they|there": 1.2,
    r"no": 0.2,
}
PAGES = {
    "guide": [*DOC.glob("*.rst"), *DOC.glob("user_guide/*.rst"), *DOC.glob("user_guide/*.inc")],
    "measured": [*DOC.glob("measured/*.rst"), *DOC.glob("measured/*.inc")],
    "extending": [*DOC.glob("extend/*.rst")],
    "reference": [*DOC.glob("api/*.rst")],
    "gallery": [*DOC.glob("examples/**/*.rst"), *DOC.glob("examples/*/plot_*.py")],
    "readme": [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")],
}
NOT_READ = r"code-block|math|include|literalinclude|csv-table|image|raw|toctree|autosummary"


def of_page(text):
    """The prose of a page in reStructuredText or Markdown."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ *>>> .*?(\n\n|\Z)", "\n\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(rf"^( *)\.\. ({NOT_READ})::.*(\n|\1 +.*)*", "", text, flags=re.MULTILINE)
    return re.sub(r"::\n(\n|    .*)+", "\n", text)


def of_gallery(text):
    """The summary and the comments of a page of the gallery."""
    return "\n".join([text.split('"""')[1], *re.findall(r"^# (\w.*)", text, re.MULTILINE)])


def of_docstring(text):
    """What a docstring says before examples and references."""
    return re.split(r"\n\s*(?:Examples|References)\n\s*-+", text)[0]


def public_docstrings():
    """Docstrings of public classes, methods and functions, each once."""
    rooms = [m.name for m in pkgutil.iter_modules(streamtopics.__path__) if m.ispkg]
    names = ["streamtopics", *(f"streamtopics.{room}" for room in rooms if room != "kernels")]
    modules = [importlib.import_module(name) for name in names]
    things = {getattr(m, name) for m in modules for name in getattr(m, "__all__", ())}
    found = set()
    for thing in things:
        members = vars(thing).items() if inspect.isclass(thing) else ()
        methods = [f for name, f in members if name[0] != "_" and inspect.isfunction(f)]
        if inspect.isclass(thing) or inspect.isfunction(thing):
            found |= {*filter(None, map(inspect.getdoc, (thing, *methods)))}
    return sorted(found)


def prose(part):
    if part == "docstrings":
        return "\n".join(map(of_docstring, public_docstrings()))
    texts = [(path, path.read_text(encoding="utf-8")) for path in sorted(PAGES[part])]
    return "\n".join((of_gallery if p.suffix == ".py" else of_page)(text) for p, text in texts)


def density(text):
    """Pointing words of each kind per 100 words."""
    text = re.sub(r"``.*?``|:[\w:]+:`[^`]*`|`[^`]*`_*|\]\([^)]*\)", " X ", text, flags=re.DOTALL)
    n_words = len(re.findall(r"[A-Za-z']+", text))
    return {k: 100 * len(re.findall(rf"\b({k})\b", text, re.IGNORECASE)) / n_words for k in MOST}


@pytest.mark.parametrize("part", [*PAGES, "docstrings"])
def test_words_that_point_are_few(part):
    found = density(prose(part))
    assert {kind: share for kind, share in found.items() if share > MOST[kind]} == {}


def test_what_is_counted():
    code = ">>> it\nit\n\n``it`` :ref:`it <it>`::\n\n    it\n\n.. math:: it\n\n   it\n"
    page = f"It is that one.\n\n{code}"
    assert [*density(of_page(page)).values()] == pytest.approx([100 / 6, 100 / 6, 0])
    assert of_docstring("A sum.\n\nExamples\n--------\n>>> it\n") == "A sum."


def test_no_type_has_a_run_of_blanks():
    """As a continued line of a docstring leaves it in `help` and in Jupyter."""
    lines = [line for text in public_docstrings() for line in of_docstring(text).split("\n")]
    assert [line for line in lines if re.search(r"^\w[^:]* : .*\S {4}", line)] == []
