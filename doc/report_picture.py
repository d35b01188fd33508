# SPDX-License-Identifier: BSD-3-Clause
"""Take the picture of a report: what stands out in the addresses on the state of the union.

    STREAMTOPICS_DATA=... python doc/report_picture.py

It needs Chromium, and playwright and pillow of the extras. The texts are in the public domain.
"""

import shutil
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

from landing import learnt, paragraphs
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from streamtopics.report import report

OUTPUT = Path(__file__).parent / "_static" / "report.png"
WIDTH, HEIGHT, MARGIN, LINE = 1100, 830, 24, 2
BROWSERS = "chromium", "chromium-browser", "google-chrome", "chrome"


def main() -> None:
    """Write the report, open it, and put two parts of it below each other."""
    texts, years = paragraphs()
    title = f"State of the Union, {min(years)} to {max(years)}"
    path = Path(mkdtemp(), "report.html")
    report(learnt(texts), path, texts=texts, times=years, title=title)
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(path.as_uri())
        parts = [Image.open(BytesIO(part)) for part in shots(page)]
        opened.close()
    below_each_other(parts).save(OUTPUT, optimize=True)


def shots(page: Page) -> tuple[bytes, bytes]:
    """Return pictures of the top of the page, and of the timeline."""
    top = page.screenshot()
    head, chart = (page.locator(part).bounding_box() for part in ("#time-head", "#chart"))
    assert head is not None, "the report shows no timeline"
    assert chart is not None, "the report shows no timeline"
    start = head["y"] - MARGIN
    height = chart["y"] + chart["height"] + MARGIN - start
    clip = {"x": 0, "y": start + page.evaluate("window.scrollY"), "width": WIDTH, "height": height}
    return top, page.screenshot(clip=clip, full_page=True)


def below_each_other(parts: list[Image.Image]) -> Image.Image:
    """Return one picture in 128 colours, which make the file small."""
    heights = [part.height + LINE for part in parts]
    whole = Image.new("RGB", (WIDTH, sum(heights) - LINE), "gray")
    for i, part in enumerate(parts):
        whole.paste(part, (0, sum(heights[:i])))
    return whole.quantize(128)


if __name__ == "__main__":
    main()
