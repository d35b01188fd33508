# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: it opens offline, everything on it works, and everyone can use it."""

import re
from datetime import date
from html import escape
from pathlib import Path

import numpy as np
import pytest

from streamtopics import StreamingLDA
from streamtopics.metrics import relevant_words
from streamtopics.report import report
from tests.report.made import HOSTILE, Alarm, made, written

pytestmark = pytest.mark.browser
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def corpus():
    return made(first=HOSTILE)


@pytest.fixture(scope="module")
def path(corpus, tmp_path_factory):
    """A report with all parts, of hostile text where there can be any."""
    alarms = [Alarm(corpus.times[130], 2, ["law", HOSTILE], 0.001)]
    return written(
        corpus.pipeline, tmp_path_factory.mktemp("report") / "report.html", texts=corpus.texts,
        times=corpus.times, titles=[f"Title {i}" for i in range(240)], alarms=alarms,
        tracker=[{"topic": 0, "born": 1, "words": ["sea"]}],
        scores={"held-out score": -6.5, "by minibatch": [-7.0, -6.75, -6.5]},
    )  # fmt: skip


@pytest.fixture
def opened(browser, path):
    """Open the report; whatever the page complains of or asks for is an error at the end."""
    contexts, wrong = [], []

    def open_page(width=1280, height=900, at="", path=path, **settings):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            # A click while the page still scrolls can land beside what it was meant for.
            **{"reduced_motion": "reduce", **settings},
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(f"{path.as_uri()}{at}")
        page.path = path
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            asked = [url for url in page.requests if not url.startswith("data:,")]
            assert len(asked) == 1
            assert asked[0].startswith(page.path.as_uri())
        context.close()
    assert wrong == []


def words(page):
    return page.locator("#words button").all_inner_texts()


def test_it_opens_with_the_heaviest_topic(opened, corpus):
    page = opened()
    model = corpus.pipeline[-1]
    heaviest = int(np.argmax(model.topic_weights_))
    assert page.inner_text("#kicker") == f"Topic {heaviest}"
    assert page.locator("[role=tab]").count() == 3
    assert page.title() == "Topics of StreamingLDA"
    assert page.locator("img").count() == 0
    assert page.locator("#nav a").all_inner_texts() == [
        "Topics", "Over time", "Map", "Changes", "About",
    ]  # fmt: skip


def test_the_slider_ranks_words_as_the_package_does(opened, corpus):
    page = opened()
    model, names = corpus.pipeline[-1], corpus.pipeline[0].get_feature_names_out()
    shown = int(page.inner_text("#kicker").split()[1])
    seen = set()
    for relevance in (0.6, 0.0, 0.3, 1.0):
        page.locator("#relevance").fill(str(relevance))
        wanted = relevant_words(model.topic_word_, model.topic_weights_, 15, relevance=relevance)
        assert words(page) == names[wanted[shown]].tolist()
        seen.add(tuple(words(page)))
        assert f"{relevance:.1f}" in page.get_attribute("#relevance", "aria-valuetext")
    assert len(seen) > 1
    page.locator("#relevance").fill("0.6")
    page.focus("#relevance")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#lambda") == "λ = 0.7."
    page.keyboard.press("Home")
    assert page.inner_text("#lambda") == "λ = 0.0."


def test_topics_are_chosen_by_clicks_and_keys(opened):
    page = opened()
    ids = page.locator("[role=tab] .id").all_inner_texts()
    page.click("#tab-1")
    assert page.inner_text("#kicker") == f"Topic {ids[1]}"
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#kicker") == f"Topic {ids[2]}"
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#kicker") == f"Topic {ids[2]}"
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.id") == "tab-0"
    assert page.locator('[role=tab][aria-selected="true"]').count() == 1
    assert page.locator('[role=tab][tabindex="0"]').count() == 1
    page.click(".tile >> nth=2")
    assert page.inner_text("#chart-name").startswith(ids[2])
    page.locator("#map g").nth(1).click()
    assert page.inner_text("#kicker") == f"Topic {ids[1]}"
    page.click("#near button >> nth=0")
    assert page.inner_text("#kicker") != f"Topic {ids[1]}"
    page.click("#tab-2")
    shown = page.inner_text("#kicker").split()[1]
    assert page.url.endswith(f"#topic-{shown}")
    assert opened(at=f"#topic-{shown}").inner_text("#kicker") == f"Topic {shown}"


def test_words_of_a_document_are_coloured_on_a_click(opened):
    page = opened()
    article = page.locator(".document").first
    toggle = article.get_by_role("button", name="Colour words by topic")
    text = article.locator(".text").inner_text()
    assert article.locator(".legend").is_hidden()
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "true"
    assert article.locator(".text .c0").count() > 3
    assert article.locator(".text").inner_text() == text
    assert "%" in article.locator(".legend").inner_text()
    toggle.click()
    assert article.locator(".text .c0").count() == 0


def test_the_search_finds_words_and_documents(opened, corpus):
    page = opened()
    page.fill("#search", "shi")
    n = sum("ship" in text.lower() for text in corpus.texts)
    said = page.inner_text("#found")
    assert said.startswith(f"Found: 1 word of the topics, ship in {n} of 240 documents; ")
    assert re.search(r"; \d+ among the \d+ documents shown$", said)
    page.locator("#results button").first.click()
    assert "ship" in words(page)
    assert page.locator("#results").is_hidden()
    page.fill("#search", "ship")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('#results') !== null")
    page.keyboard.press("Escape")
    assert page.locator("#results").is_hidden()
    assert page.evaluate("document.activeElement.id") == "search"
    page.fill("#search", "title ")
    page.locator("#results button").last.click()
    assert page.evaluate("document.activeElement.className").startswith("document")
    page.fill("#search", "<img nothing")
    assert page.inner_text("#found").startswith("Found: 0 words of the topics; 0 among the ")
    page.click("#words button >> nth=0")
    assert page.input_value("#search") == words(page)[0]


def test_periods_are_read_by_keys(opened):
    page = opened()
    page.focus("#period")
    last = page.inner_text("#readout b")
    page.keyboard.press("Home")
    assert page.inner_text("#readout b") == "2020-01" != last
    assert "%" in page.get_attribute("#period", "aria-valuetext")
    assert page.locator("#chart .alarm").count() == 1
    page.click("summary")
    assert page.locator("#share-table tbody tr").count() == 8
    page.check("#one-scale")
    page.locator("#tables td button").first.click()
    assert page.inner_text("#kicker") == "Topic 0"


HEIGHTS = """[...document.querySelectorAll(".layer")].map((one) => {
    const points = one.getAttribute("d").match(/-?[\\d.]+ -?[\\d.]+/g);
    const pairs = points.map((point) => point.split(" ").map(Number));
    const first = pairs.filter(([x]) => x === 0).map(([, y]) => y);
    return [one.querySelector("title").textContent.split(" ")[0],
            first.length ? Math.max(...first) - Math.min(...first) : 0]; })"""


def test_intervals_are_drawn_and_few_documents_rank_nowhere(opened, corpus, tmp_path):
    """Twelve documents of the last month, all of one topic: it is not said to stand out."""
    texts = [*corpus.texts, *corpus.texts, *["court judge law trial jury lawyer"] * 12]
    times = [*corpus.times, *corpus.times, *[date(2020, 9, 20)] * 12]
    page = opened(path=written(corpus.pipeline, tmp_path / "few.html", texts=texts, times=times))
    assert page.locator("#chart .band").count() == 1
    assert page.locator("#chart .whisker.few").count() == 2
    said = page.inner_text("#readout")
    assert "2020-09 · 12 documents, fewer than 30: too few to compare" in said
    assert re.search(r"this topic [\d.]+ % \([\d.]+ to [\d.]+\)", said)
    assert "above" not in said
    assert not any("2020-09" in one for one in page.locator(".tile small").all_inner_texts())
    assert "1 period of fewer than 30 documents" in page.inner_text("#chart-note")


def test_the_bands_of_the_stream_are_as_thick_as_shares(opened, corpus):
    page = opened()
    page.check("input[value=stream]")
    data = report(corpus.pipeline, texts=corpus.texts, times=corpus.times)
    most = max(
        sum(share or 0 for share in period)
        for period in zip(*(t.shares for t in data.topics), strict=True)
    )
    height = page.locator("#stream svg").bounding_box()["height"]
    found = dict(page.evaluate(HEIGHTS))
    for topic in data.topics:
        share = topic.shares[0] * height / most
        # Bands that nobody sees are left out.
        if share > 1.2:
            assert found[str(topic.id)] == pytest.approx(share, abs=0.11)
    assert max(found.values()) > 20


def test_the_stream_is_used_by_keys(opened):
    page = opened()
    assert page.locator("#stream-part").is_hidden()
    page.focus("input[value=tiles]")
    page.keyboard.press("ArrowRight")
    assert page.locator("#stream-part").is_visible()
    assert page.locator("#tiles-part").is_hidden()
    buttons = page.locator("#layers button")
    assert buttons.count() == 3
    for place in (2, 0):
        buttons.nth(place).focus()
        page.keyboard.press("Enter")
        chosen = buttons.nth(place).inner_text().split()[0]
        assert page.inner_text("#kicker") == f"Topic {chosen}"
        assert page.evaluate("document.activeElement.textContent").startswith(chosen)
        assert buttons.nth(place).get_attribute("aria-current") == "true"
        assert page.locator(".layer.here title").text_content().startswith(chosen)
    page.focus("#period")
    page.keyboard.press("Home")
    assert page.inner_text("#stream-period") == page.inner_text("#readout b")
    assert page.locator("#stream .cursor").get_attribute("x1") == "0"
    now = page.locator("#layers [data-now]").all_inner_texts()
    assert len(now) == 3
    assert all("%" in share for share in now)
    page.click("#stream-part summary")
    assert page.locator("#stream-table tbody tr").count() == 8
    assert page.locator("#stream-table tbody tr").first.inner_text().split("\t")[1:] == now
    page.locator(".layer").first.click(force=True)
    page.check("input[value=tiles]")
    assert page.locator(".tile").count() == 3
    assert page.locator("#stream-part").is_hidden()


@pytest.mark.parametrize("times", [[2001] * 60, np.arange(60) // 20], ids=["one", "three"])
def test_a_stream_of_few_periods_and_of_many_topics(opened, tmp_path, times):
    counts = np.random.default_rng(0).poisson(1.0, (60, 30))
    model = StreamingLDA(14, random_state=0).partial_fit(counts)
    page = opened(path=written(model, tmp_path / "report.html", X=counts, times=times))
    page.check("input[value=stream]")
    widths = page.evaluate("""[...document.querySelectorAll(".layer")].filter((one) =>
        one.getAttribute("d")).map((one) => one.getBBox().width)""")
    assert max(widths) > 0.9 * page.locator("#stream svg").bounding_box()["width"]
    assert page.locator("#layers button").count() in (10, 11)
    page.click("#tab-13")
    assert page.locator("#layers button").count() in (10, 11)
    assert "the 10 with the largest shares" in page.inner_text("#stream-note")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_switch(opened, scheme):
    page = opened(color_scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(20, 23, 28)", "rgb(246, 245, 241)"
    assert page.evaluate(ground) == (dark if scheme == "dark" else light)
    page.click("#theme")
    assert page.evaluate(ground) == (light if scheme == "dark" else dark)
    assert page.get_attribute("#theme", "aria-pressed") == str(scheme != "dark").lower()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(opened, scheme):
    page = opened(color_scheme=scheme, reduced_motion="reduce")
    for toggle in page.get_by_role("button", name="Colour words by topic").all():
        toggle.click()
    page.check("input[value=stream]")
    for summary in page.locator("summary").all():
        summary.click()
    page.fill("#search", "s")
    # Documents of one topic do not show all of the colours.
    page.evaluate("""document.querySelectorAll(".document .text").forEach((text) =>
        [0, 1, 2, 3, 4, 5].forEach((i) => {
            const word = document.createElement("span");
            word.className = `c${i}`;
            word.textContent = `colour ${i}`;
            text.append(word);
        }))""")
    found = page.evaluate(f"({CONTRAST})(4.5)")
    assert found["n"] > 100
    assert found["found"] == []
    assert page.evaluate(f"({CONTRAST})(22)")["found"]


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_nothing_is_wider_than_the_screen(opened, width):
    page = opened(width=width)
    page.get_by_role("button", name="Colour words by topic").first.click()
    page.check("input[value=stream]")
    page.click("#stream-part summary")
    page.fill("#search", "s")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll("main *, header *, .bar *")].filter((one) =>
        one.checkVisibility() && !one.closest(".scroll, svg, .unseen") &&
        one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.className)"""
    assert page.evaluate(wide) == []


@pytest.mark.parametrize("width", [1300, 1100, 400])
def test_words_are_not_broken(opened, tmp_path, width):
    """Of sixteen letters."""
    words = ["documentation", "responsibilities", "implementation", "sea"]
    model = StreamingLDA(2, random_state=0).fit(np.random.default_rng(0).poisson(2, (40, 4)))
    page = opened(width, path=written(model, tmp_path / "long.html", feature_names=words))
    found = page.locator(".words button")
    heights = found.evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert (len(heights), len(set(heights))) == (4, 1)


def test_everything_that_can_be_used_has_a_name(opened):
    page = opened()
    page.get_by_role("button", name="Colour words by topic").first.click()
    page.check("input[value=stream]")
    page.fill("#search", "s")
    snapshot = page.locator("body").aria_snapshot()
    for role in ("button", "tab", "link", "slider", "searchbox", "radio", "region"):
        named = re.findall(rf"^ *- {role}\b(.*)$", snapshot, re.MULTILINE)
        assert named, role
        assert all(name.startswith(' "') for name in named), (role, named)
    for landmark in ("navigation", "search", "main", "banner", "contentinfo", "status"):
        assert f"- {landmark}" in snapshot
    assert page.locator("h1").count() == 1
    assert page.get_attribute("html", "lang") == "en"
    assert page.get_attribute("#found", "aria-live") == "polite"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    for name in ("aria-labelledby", "aria-controls", "aria-describedby"):
        assert page.evaluate(f"""[...document.querySelectorAll("[{name}]")].every((one) =>
            document.getElementById(one.getAttribute("{name}")))""")


def test_the_focus_is_seen_wherever_it_goes(opened):
    page = opened()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Skips the list of topics.
    assert page.evaluate("document.activeElement.id") == "panel"
    page, places = opened(), []
    for _ in range(60):
        page.keyboard.press("Tab")
        focus = page.evaluate("""(() => {
            const one = document.activeElement, style = getComputedStyle(one);
            return [one.id || one.className || one.tagName, one.tagName, style.outlineStyle,
                    parseFloat(style.outlineWidth)]; })()""")
        if focus[1] == "BODY":
            break
        places.append(focus)
    assert {"search", "relevance", "period", "theme"} <= {place[0] for place in places}
    assert places[0][0] == "skip"
    hidden = [place for place in places if place[2] == "none" or place[3] < 2]
    assert hidden == []


def test_motion_is_left_out_where_it_is_not_wanted(opened):
    moving = """[...document.querySelectorAll("*")].some((one) =>
        parseFloat(getComputedStyle(one).transitionDuration) > 0)"""
    assert opened(reduced_motion="no-preference").evaluate(moving)
    assert not opened(reduced_motion="reduce").evaluate(moving)


@pytest.mark.parametrize("attributes", ["", 'sandbox="allow-scripts"'])
def test_it_works_within_another_page_as_in_a_notebook(browser, path, tmp_path, attributes):
    source = escape(path.read_text(encoding="utf-8"))
    around = tmp_path / "around.html"
    frame = f'<iframe {attributes} width="900" height="700" srcdoc="{source}"></iframe>'
    around.write_text(f"<!doctype html>{frame}", encoding="utf-8")
    page, wrong = browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.goto(around.as_uri())
    inner = page.frames[1]
    heading = inner.inner_text("#kicker")
    inner.click("#tab-1")
    assert inner.inner_text("#kicker") != heading
    inner.click("#near button >> nth=0")
    assert inner.evaluate("document.activeElement.id") == "panel"
    for link in ("Map", "Over time"):
        inner.get_by_role("link", name=link).click()
    assert inner.locator("#map-part").count() == 1
    assert len(page.frames) == 2
    assert inner.url == "about:srcdoc"
    page.close()
    assert wrong == []


def test_a_sample_says_that_it_is_one(opened, corpus, tmp_path):
    places = [f"news.jsonl:{7 * i + 1}" for i in range(240)]
    path = written(
        corpus.pipeline, tmp_path / "sample.html", texts=corpus.texts, times=corpus.times,
        titles=places, sampled_from=12_000,
    )  # fmt: skip
    page = opened(path=path)
    assert "240 of 12,000 documents, a sample" in page.inner_text("#facts")
    assert "documents of the sample" in page.inner_text("#summary")
    assert "of the sample" in page.inner_text("#readout")
    shown = page.locator("#documents article").first
    assert shown.locator("h5").inner_text() == places[int(shown.get_attribute("data-row"))]
    assert "document" not in shown.locator(".meta").inner_text()
    page.fill("#search", "ship")
    assert re.match(r"news\.jsonl:\d+: .*ship", page.locator("#results button").last.inner_text())


def test_a_report_of_words_alone_works(opened, corpus, tmp_path):
    page = opened(path=written(corpus.pipeline, tmp_path / "words.html"))
    assert page.locator("#documents-part").is_hidden()
    assert page.locator("#nav a").all_inner_texts() == ["Topics", "Map", "About"]
    page.fill("#search", "ship")
    page.locator("#results button").first.click()
