# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: it opens offline, everything on it works, and everyone can use it."""

import re
from copy import deepcopy
from datetime import date
from html import escape
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics import StreamingLDA, editing
from streamtopics.metrics import relevant_words
from streamtopics.report import report
from tests.conventions.every import EVERY, NAMES, TEXTS
from tests.report.made import HOSTILE, Alarm, made, written

pytestmark = pytest.mark.browser
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def corpus():
    return made(first=HOSTILE)


@pytest.fixture(scope="module")
def settings(corpus):
    """A report with all parts, of hostile text where there can be any."""
    main = corpus.pipeline.transform(corpus.texts).argmax(axis=1)
    return {
        "texts": corpus.texts, "times": corpus.times, "titles": [f"Title {i}" for i in range(240)],
        "groups": [HOSTILE if topic == 0 else "south" for topic in main],
        "alarms": [Alarm(corpus.times[130], 2, ["law", HOSTILE], 0.001)],
        "tracker": [{"topic": 0, "born": 1, "words": ["sea"]}],
        "scores": {"held-out score": -6.5, "by minibatch": [-7.0, -6.75, -6.5]},
    }  # fmt: skip


@pytest.fixture(scope="module")
def data(corpus, settings):
    return report(corpus.pipeline, **settings)


@pytest.fixture(scope="module")
def path(corpus, settings, tmp_path_factory):
    return written(corpus.pipeline, tmp_path_factory.mktemp("report") / "report.html", **settings)


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


@pytest.fixture
def page(opened):
    return opened()


def choose(page, place):
    """Open a topic by its card."""
    page.locator(".topic h3 button").nth(place).click()


def words(page):
    return page.locator("#words button").all_inner_texts()


def rows(documents):
    return documents.evaluate_all("all => all.map((one) => Number(one.dataset.row))")


def focused(page, what):
    return page.evaluate(f"document.activeElement.{what}")


def test_it_opens_with_what_stands_out(page, data):
    assert page.locator(".finding").count() == len(data.findings) > 2
    first = page.locator(".finding").first
    assert first.locator(".said").inner_text().endswith(data.findings[0].text.replace("*", ""))
    assert first.locator("article").count() == 0
    first.locator("summary").click()
    assert rows(first.locator("article")) == [one.row for one in data.findings[0].documents]
    assert page.locator("#panel").count() == 0
    assert page.title() == "Topics of StreamingLDA"
    assert page.locator("img").count() == 0
    assert page.locator("#nav a").all_inner_texts() == [
        "Findings", "Timeline", "Topics", "Map", "Groups", "Details",
    ]  # fmt: skip


def test_cards_say_what_the_model_does(page, data):
    cards = page.locator(".topic")
    assert cards.count() == 3
    for topic, said in zip(data.topics, cards.all_inner_texts(), strict=True):
        assert f"Topic {topic.id}" in said
        assert f"{topic.weight:.1%}" in said
        assert topic.change[1:] in said
        assert ", ".join(topic.came) in said


def test_the_slider_ranks_words_as_the_package_does(page, corpus):
    choose(page, 0)
    model, names = corpus.pipeline[-1], corpus.pipeline[0].get_feature_names_out()
    shown = int(page.inner_text("#kicker").split()[1])
    seen = set()
    for relevance in (0.6, 0.0, 0.3, 1.0):
        page.locator("#relevance").fill(str(relevance))
        wanted = relevant_words(model.topic_word_, model.topic_weights_, 10, relevance=relevance)
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


def test_topics_are_chosen_by_clicks_and_keys(page, opened, data):
    ids = [topic.id for topic in data.topics]
    choose(page, 1)
    assert page.inner_text("#kicker") == f"Topic {ids[1]}"
    assert page.locator(".topic h3 button[aria-expanded=true]").count() == 1
    page.focus("#close")
    page.keyboard.press("Escape")
    assert page.locator("#panel").count() == 0
    assert focused(page, "ariaExpanded") == "false"
    page.keyboard.press("Enter")
    assert page.inner_text("#kicker") == f"Topic {ids[1]}"
    page.locator("#map g").nth(2).click()
    assert page.inner_text("#kicker") == f"Topic {ids[2]}"
    assert page.locator("#map .here").get_attribute("data-place") == "2"
    page.locator("#tree [data-topic='0']").click()
    assert page.inner_text("#kicker") == f"Topic {ids[0]}"
    page.locator("#chart [data-topic='1']").click()
    assert page.input_value("#subject") == "t1"
    page.click("#near button >> nth=0")
    assert page.inner_text("#kicker") != f"Topic {ids[0]}"
    choose(page, 2)
    assert page.url.endswith(f"#topic-{ids[2]}")
    assert opened(at=f"#topic-{ids[2]}").inner_text("#kicker") == f"Topic {ids[2]}"


def test_words_of_a_document_are_coloured_on_a_click(page):
    choose(page, 0)
    article = page.locator("#panel .document").first
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


def test_the_search_finds_words_and_documents(page, corpus):
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
    assert focused(page, "closest('#results') !== null")
    page.keyboard.press("Escape")
    assert page.locator("#results").is_hidden()
    assert focused(page, "id") == "search"
    page.fill("#search", "title ")
    page.locator("#results button").last.click()
    assert focused(page, "className").startswith("document")
    page.fill("#search", "law")
    assert "ship" not in page.inner_text("#results")
    page.fill("#search", "<img nothing")
    assert page.inner_text("#found").startswith("Found: 0 words of the topics; 0 among the ")
    page.click("#words button >> nth=0")
    assert page.input_value("#search") == words(page)[0]


def test_the_timeline_shows_findings_alarms_and_topics(page, data):
    marks = page.locator("#chart [data-item]")
    along = [one for one in data.findings if one.group is None]
    assert marks.count() == len(along) + 1
    assert page.locator("#chart .row").count() == 3
    marks.last.click()
    assert page.input_value("#subject") == "a0"
    assert "alarm" in page.inner_text("#subject-text")
    page.select_option("#subject", "f0")
    assert data.findings[0].text.replace("*", "") in page.inner_text("#subject-text")
    last = data.findings[0].last
    assert page.inner_text("#readout b") == data.periods[last]
    shown = page.locator("#time-documents article")
    assert rows(shown) == [one.row for one in data.findings[0].documents]
    page.select_option("#subject", "t1")
    page.focus("#period")
    page.keyboard.press("Home")
    topic = data.topics[1]
    interval = f"{topic.low[0]:.1%} to {topic.high[0]:.1%}"
    said = f"2020-01 · {topic.shares[0]:.1%} ({interval}) · 31 documents"
    assert page.inner_text("#readout").startswith(said)
    assert f"{topic.shares[0]:.1%}" in page.get_attribute("#period", "aria-valuetext")
    page.click("#time summary")
    assert page.locator("#share-table tbody tr").count() == 8
    page.locator("#tables summary").first.click()
    page.locator("#tables td button").first.click()
    assert page.inner_text("#kicker") == "Topic 0"


def test_labels_of_the_timeline_and_of_the_map_cover_nothing(opened, tmp_path):
    """Of fourteen topics and of twelve alarms."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (600, 90))
    model = StreamingLDA(14, random_state=0).partial_fit(counts)
    names = [f"word{i}" * (1 + i % 2) for i in range(90)]
    alarms = [{"time": i // 2, "words": names[i : i + 3]} for i in range(12)]
    path = written(
        model, tmp_path / "many.html", X=counts, times=np.arange(600) // 60,
        alarms=alarms, feature_names=names,
    )  # fmt: skip
    for width in (1280, 390):
        page = opened(width, path=path)
        for labels, least in (("#map .tag", 6), ("#chart [data-item]", 10)):
            boxes = [one.bounding_box() for one in page.locator(labels).all()]
            assert len(boxes) >= least
            start = np.array([(box["x"], box["y"]) for box in boxes])
            end = start + [(box["width"], box["height"]) for box in boxes]
            # How far each begins behind the end of each other, to the right or below.
            apart = (start[:, None] - end).max(axis=2)
            apart = np.maximum(apart, apart.T)[np.tril_indices(len(boxes), -1)]
            # A box holds the outline of a label, too.
            assert (apart > -4.1).all()


def test_the_cut_of_the_tree_is_moved(page, data):
    groups = page.locator("#branches li")
    for n in (1, 2, 3):
        page.locator("#cut").fill(str(n))
        assert groups.count() == n == int(page.inner_text("#n-groups"))
    assert page.locator("#map circle").count() == 3
    page.locator("#cut").fill("2")
    pair = data.branches[0]
    both = groups.filter(has_text=", ".join(pair.words))
    assert "2 topics" in both.inner_text()
    both.locator("button").click()
    assert page.locator("#map circle").count() == 2
    page.get_by_role("button", name="Show all topics").click()
    assert page.locator("#map circle").count() == 3


def edited_by_hand(page):
    """Seven edits, of which one is taken back: the first topics are 0, 1 and 2 on the page."""
    page.click("#edit")
    # By keyboard alone.
    page.locator("[data-key='rename-0']").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("first")
    page.keyboard.press("Enter")
    assert focused(page, "dataset.key") == "rename-0"
    page.locator("[data-key='hide-1']").focus()
    page.keyboard.press("Space")
    choose(page, 0)
    word = words(page)[0]
    page.click(f"[data-key='exclude-0-{word}']")
    page.select_option("#subject", "t1")
    page.fill("#pulled", "people")
    page.keyboard.press("Enter")
    page.click("[data-key='lock-0']")
    for place in (2, 1):
        page.locator(f"[data-key='merge-{place}']").check()
    page.click("#merge")
    assert page.inner_text("#edit-count") == "6 edits"
    page.click("#edit-count")
    page.locator("#edits li").filter(has_text="Hide").get_by_role("button").click()
    assert page.locator("#edits li").count() == 5
    return word


def test_edits_of_the_page_are_those_of_the_model(page, opened, corpus, data, tmp_path):
    word = edited_by_hand(page)
    assert page.locator(".topic").count() == 2
    first, other = page.locator(".topic").all_inner_texts()
    assert "first" in first
    assert "Pulled: people" in first
    assert f"Not: {word}" in first
    assert f"{data.topics[1].weight + data.topics[2].weight:.1%}" in other
    with page.expect_download() as download:
        page.click("#save")
    assert download.value.suggested_filename == "edits.json"
    text = Path(download.value.path()).read_text(encoding="utf-8")
    model, same = deepcopy(corpus.pipeline), deepcopy(corpus.pipeline)
    results = editing.apply_edits(model, editing.edits_from_json(text))
    assert [one.refused for one in results] == [""] * 5
    a, b, c = (topic.id for topic in data.topics)
    editing.rename(same, a, "first")
    editing.exclude(same, a, [word])
    editing.pull(same, a, ["people"])
    editing.lock(same, a)
    editing.merge(same, [b, c])
    assert_array_equal(model[-1].components_, same[-1].components_)
    assert model[-1].topic_names_.tolist() == same[-1].topic_names_.tolist()
    # The report of the edited model begins where the edits have led.
    again = opened(path=written(model, tmp_path / "edited.html", texts=corpus.texts))
    again.click("#edit")
    again.locator("[data-key^='lock-']").filter(has_text="Unlock").click()
    again.click("#edit-count")
    assert again.inner_text("#edits span").startswith("Unlock")
    again.locator("[data-key^='lock-']").first.click()


def test_what_was_edited_is_found_and_taken_back(page, data):
    edited_by_hand(page)
    page.click("#map [data-place='2']")
    assert page.inner_text("#kicker") == f"Topic {data.topics[1].id}"
    for _ in range(5):
        page.locator("#edits button").last.click()
    assert page.inner_text("#edit-count") == "No edits yet"
    assert page.locator("#save").is_disabled()
    assert page.locator(".topic").count() == 3
    page.click("[data-key='rename-1']")
    page.keyboard.press("Escape")
    assert page.locator("#new-name").count() == 0
    page.click("[data-key='hide-1']")
    assert page.locator(".topic.hidden").count() == 1
    page.click("[data-key='hide-1']")
    assert page.inner_text("#edit-count") == "No edits yet"
    page.click("#edit")
    assert page.locator(".tools").count() == 0


def test_groups_are_small_multiples(page, data):
    tiles = page.locator(".tile")
    assert tiles.count() == 3
    rows = tiles.first.locator(".of-group").all_inner_texts()
    wanted = zip(data.groups, data.topics[0].by_group, strict=True)
    assert [row.split("\n") for row in rows] == [[name, f"{share:.1%}"] for name, share in wanted]


def test_intervals_are_drawn_and_few_documents_say_so(opened, corpus, tmp_path):
    """Six documents of the last month."""
    texts = [*corpus.texts, *["court judge law trial jury lawyer"] * 6]
    times = [*corpus.times, *[date(2020, 9, 20)] * 6]
    page = opened(path=written(corpus.pipeline, tmp_path / "few.html", texts=texts, times=times))
    page.select_option("#subject", "t0")
    assert page.locator("#chart .band").count() == 1
    assert page.locator("#chart .whisker.few").count() == 2
    assert page.locator("#chart .size.few").count() == 1
    page.focus("#period")
    page.keyboard.press("End")
    assert "2020-09" in page.inner_text("#readout")
    assert "6 documents, fewer than 10: too few to compare" in page.inner_text("#readout")
    assert "1 period has fewer than 10 documents" in page.inner_text("#chart-note")


def test_topics_of_one_period_and_many_topics(opened, tmp_path):
    counts = np.random.default_rng(0).poisson(1.0, (60, 30))
    model = StreamingLDA(30, random_state=0).partial_fit(counts)
    page = opened(path=written(model, tmp_path / "report.html", X=counts, times=[2001] * 60))
    assert page.locator("#chart .row").count() == 24
    assert page.locator(".topic").count() == 24
    page.locator("#tree [data-topic='29']").click()
    assert page.locator(".topic").count() == 30
    assert page.inner_text("#readout b") == "2001"


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
    edited_by_hand(page)
    page.click("[data-key='hide-1']")
    for toggle in page.get_by_role("button", name="Colour words by topic").all():
        toggle.click()
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
    edited_by_hand(page)
    page.click("[data-key='rename-1']")
    page.get_by_role("button", name="Colour words by topic").first.click()
    for summary in page.locator("summary").all():
        summary.click()
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
    choose(page, 0)
    found = page.locator(".words button")
    heights = found.evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert (len(heights), len(set(heights))) == (4, 1)


def test_everything_that_can_be_used_has_a_name(page):
    edited_by_hand(page)
    page.get_by_role("button", name="Colour words by topic").first.click()
    page.fill("#search", "s")
    snapshot = page.locator("body").aria_snapshot()
    for role in ("button", "link", "slider", "searchbox", "combobox", "region"):
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
    page.keyboard.press("Enter")  # Skips the head.
    assert focused(page, "id") == "main"
    page, places = opened(), []
    for _ in range(90):
        page.keyboard.press("Tab")
        focus = page.evaluate("""(() => {
            const one = document.activeElement, style = getComputedStyle(one);
            const seen = one.closest(".topic") ? getComputedStyle(one.closest(".topic")) : style;
            return [one.id || one.className || one.tagName, one.tagName, seen.outlineStyle,
                    parseFloat(seen.outlineWidth)]; })()""")
        if focus[1] == "BODY":
            break
        places.append(focus)
    assert {"search", "period", "theme", "subject", "cut"} <= {place[0] for place in places}
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
    choose(inner, 1)
    inner.click("#near button >> nth=0")
    assert focused(inner, "id") == "panel"
    for link in ("Map", "Timeline"):
        inner.get_by_role("link", name=link).click()
    assert inner.locator("#map-part").count() == 1
    assert len(page.frames) == 2
    assert inner.url == "about:srcdoc"
    page.close()
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["AspectSentimentModel", "HiddenFactorsTopics"])
def test_reports_of_other_models_open(opened, tmp_path, name):
    model, given = EVERY[name].fitted, {"texts": TEXTS, "times": np.arange(24) // 6}
    path = tmp_path / "other.html"
    page = opened(path=written(model, path, X=EVERY[name].X, feature_names=NAMES, **given))
    for i in reversed(range(len(model.topic_weights_))):
        choose(page, i)
        assert page.locator("#words li").count() == 10
    page.get_by_role("button", name="Colour words by topic").first.click(timeout=2000)


def test_a_sample_says_that_it_is_one(opened, corpus, tmp_path):
    places = [f"news.jsonl:{7 * i + 1}" for i in range(240)]
    path = written(
        corpus.pipeline, tmp_path / "sample.html", texts=corpus.texts, times=corpus.times,
        titles=places, sampled_from=12_000,
    )  # fmt: skip
    page = opened(path=path)
    assert "12,000 documents, of which 240 are kept" in page.inner_text("#facts")
    assert "Shares are of the sample" in page.inner_text("#findings-note")
    choose(page, 0)
    assert page.inner_text("#summary").endswith("documents of the sample")
    assert "of the sample" in page.inner_text("#chart-note")
    shown = page.locator("#documents article").first
    assert shown.locator(".meta b").inner_text() == places[int(shown.get_attribute("data-row"))]
    assert "document" not in shown.locator(".meta").inner_text()
    page.fill("#search", "ship")
    assert re.match(r"news\.jsonl:\d+: .*ship", page.locator("#results button").last.inner_text())


def test_a_report_of_words_alone_works(opened, corpus, tmp_path):
    page = opened(path=written(corpus.pipeline, tmp_path / "words.html"))
    choose(page, 0)
    assert page.locator("#documents-part").is_hidden()
    assert page.locator("#nav a").all_inner_texts() == ["Topics", "Map", "Details"]
    page.fill("#search", "ship")
    page.locator("#results button").first.click()
