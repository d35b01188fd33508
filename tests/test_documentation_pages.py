# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the built documentation in a browser, on a desk and on a phone, without a network.

They are looked for in doc/_build, or in the folder that STREAMTOPICS_HTML names:

    sphinx-build -W -n doc doc/_build
"""

import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parent.parent
HTML = Path(os.environ.get("STREAMTOPICS_HTML", ROOT / "doc" / "_build"))
PAGES = [
    "index", "getting_started", "user_guide/index", "user_guide/which", "user_guide/n_components",
    "user_guide/coming_from", "user_guide/online_em", "auto_examples/index", "api/index",
    "api/generated/streamtopics.StreamingLDA", "api/generated/streamtopics.HiddenFactorsTopics",
    "measured", "measured/online_em", "references",
]  # fmt: skip
# What stands out of the window, unless it is in a box of its own that can be scrolled. The theme's
# box of the whole article is none: text that has to be moved to be read is what is looked for.
WIDER = """() => {
    const scrolls = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
    const boxed = e => e && !e.matches(".bd-article-container")
        && (scrolls(e) || boxed(e.parentElement));
    return [...document.querySelectorAll("main article *")]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !boxed(e.parentElement))
        .slice(0, 5).map(e => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 60)}`);
}"""


@pytest.fixture(scope="module", params=[1280, 375], ids=["desk", "phone"])
def page(request, browser):
    """An empty page of one of two widths."""
    if not (HTML / "index.html").exists():
        pytest.skip(f"the documentation is not built in {HTML}")
    context = browser.new_context(
        viewport={"width": request.param, "height": 900}, offline=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_window(page, name):
    page.goto((HTML / f"{name}.html").as_uri())
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert page.evaluate(WIDER) == []


def test_a_page_asks_no_network_for_what_it_shows(page):
    """Equations are drawn, pictures are there, and no script of another server is asked for."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index", "user_guide/online_em"):
        page.goto((HTML / f"{name}.html").as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert page.locator("math").count() > 20
    box = page.locator("div.math math").first.bounding_box()
    assert box["width"] > 50
    page.goto((HTML / "index.html").as_uri())
    assert page.locator("figure.landing img").evaluate("image => image.naturalWidth") > 300
