"use strict";
// Draws the report from the data in the page. Texts are hostile: they only ever become text nodes.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const state = { topic: 0, relevance: data.relevance, period: 0, tiles: 24 };
  // As in the output of a notebook: then addresses are those of the page around this one.
  const withinPage = location.protocol === "about:";
  const LEGEND = 6, MOST_FOUND = 12, LAYERS = 10;

  // Small helpers

  const count = (value) => value.toLocaleString("en");
  const percent = (value) => {
    const digits = value >= 0.0995 || value === 0 ? 0 : value >= 0.00995 ? 1 : 2;
    return `${(100 * value).toFixed(digits)} %`;
  };
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
  const ofSample = data.sampled_from ? " of the sample" : "";
  const numberOf = (n) => plural(n, "document", "documents") + ofSample;

  function add(parent, ...children) {
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined) parent.append(child);
    }
    return parent;
  }

  function el(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") element.addEventListener("click", value);
      else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    return add(element, ...children);
  }

  function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return add(element, ...children);
  }

  const fill = (id, ...children) => {
    byId(id).replaceChildren();
    return add(byId(id), ...children);
  };

  const button = (label, on, attributes = {}) => el("button", { type: "button", on, ...attributes }, label);

  function bar(value, className) {
    const inner = el("i");
    inner.style.width = `${Math.max(1, 100 * value)}%`;
    return el("span", { class: className, "aria-hidden": "true" }, inner);
  }

  function go(target, focus = true) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    target.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    if (focus) target.focus({ preventScroll: true });
  }

  // Words

  /** Places in topic.words of the most relevant words, as streamtopics.metrics.relevant_words. */
  function ranked(topic, relevance) {
    const values = topic.words.map(
      (word, i) => Math.log(topic.p[i]) + (relevance - 1) * Math.log(data.overall[word]));
    return topic.words.map((_, i) => i).sort((a, b) => values[b] - values[a] || a - b).slice(0, data.n_words);
  }

  const labels = data.topics.map((topic) => {
    const words = ranked(topic, data.relevance).slice(0, 4).map((i) => data.words[topic.words[i]]);
    return topic.name || words.join(", ") || "no words";
  });

  const called = (place) => `${data.topics[place].id} · ${labels[place]}`;

  const times = (lift) => `×${lift >= 9.95 ? count(Math.round(lift)) : lift.toFixed(1)}`;

  function drawWords() {
    const topic = data.topics[state.topic];
    const order = ranked(topic, state.relevance);
    const most = Math.max(...order.map((i) => topic.p[i]));
    byId("lambda").textContent = `λ = ${state.relevance.toFixed(1)}.`;
    byId("relevance").setAttribute("aria-valuetext", `λ ${state.relevance.toFixed(1)}: ${
      state.relevance === 1 ? "the most frequent words" : state.relevance === 0 ? "the most telling words" : "a mixture"}`);
    fill("words", order.map((i) => {
      const word = data.words[topic.words[i]];
      const lift = topic.p[i] / data.overall[topic.words[i]];
      return el("li", {},
        button(word, () => search(word), { "aria-label": `${word}: search` }),
        bar(topic.p[i] / most, "track"),
        el("span", { class: "figures" }, el("b", {}, percent(topic.p[i])), ` ${times(lift)}`));
    }));
  }

  // Documents

  /** The text of a document; coloured, each word has the colour that the legend gives its topic. */
  function drawText(doc, place, colours) {
    const nodes = [];
    doc.parts.forEach((part, i) => {
      const topic = i % 2 ? doc.topics[(i - 1) / 2] : -1;
      if (colours) {
        const colour = colours.get(topic);
        const name = topic < 0 ? null : colour === undefined ? "other" : `c${colour}`;
        nodes.push(name ? el("span", { class: name, title: called(topic) }, part) : part);
      } else {
        nodes.push(topic === place ? el("span", { class: "own" }, part) : part);
      }
    });
    return nodes;
  }

  function legend(doc, colours) {
    const items = [...colours].map(([topic, colour]) => {
      const share = (doc.mix.find(([k]) => k === topic) || [0, null])[1];
      return el("li", {}, el("span", { class: `swatch c${colour}`, "aria-hidden": "true" }),
        button(called(topic) + (share === null ? "" : ` (${percent(share)})`), () => choose(topic, true)));
    });
    if (doc.topics.some((topic) => topic >= 0 && !colours.has(topic))) {
      items.push(el("li", {}, el("span", { class: "swatch other", "aria-hidden": "true" }), "other topics"));
    }
    return items;
  }

  /** Colours of a document's topics: by how many of its words they have. */
  function coloursOf(doc) {
    const words = new Map();
    doc.topics.forEach((topic) => { if (topic >= 0) words.set(topic, (words.get(topic) || 0) + 1); });
    const order = [...words].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, LEGEND);
    return new Map(order.map(([topic], i) => [topic, i]));
  }

  function drawDocument(doc, place) {
    const text = el("p", { class: "text closed" }, drawText(doc, place, null));
    const key = el("ul", { class: "legend", "aria-label": "Topics of the words", hidden: true });
    const more = doc.n_more ? el("p", { class: "note" }, `${count(doc.n_more)} more ${data.has_texts ? "characters" : "words"} are not in this report.`) : null;
    const article = el("article", { class: "document", tabindex: "-1", "data-row": doc.row });
    const toggle = button("Colour words by topic", () => {
      const on = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(on));
      article.classList.toggle("coloured", on);
      const colours = coloursOf(doc);
      text.replaceChildren(...drawText(doc, place, on ? colours : null));
      key.replaceChildren(...legend(doc, colours));
      key.hidden = !on;
      if (on) open();
    }, { class: "quiet", "aria-pressed": "false" });
    const unfold = button("Show all", () => open(), { class: "quiet", hidden: true });
    function open() { text.classList.remove("closed"); unfold.hidden = true; }
    requestAnimationFrame(() => { unfold.hidden = text.scrollHeight <= text.clientHeight + 2; });
    const own = (doc.mix.find(([topic]) => topic === place) || [0, 0])[1];
    const meta = [`${percent(own)} this topic`, doc.time, data.sampled_from ? "" : `document ${count(doc.row + 1)}`];
    return add(article,
      doc.title ? el("h5", {}, doc.title) : null,
      el("p", { class: "meta" }, meta.filter(Boolean).join(" · ")),
      text, el("div", { class: "actions" }, toggle, unfold), key, more);
  }

  function drawDocuments() {
    const topic = data.topics[state.topic];
    const none = "No document that is long enough has this as its main topic.";
    fill("documents", topic.documents.length
      ? topic.documents.map((doc) => drawDocument(doc, state.topic))
      : el("p", { class: "note" }, none));
  }

  // A topic, and the list

  function drawList() {
    const most = Math.max(...data.topics.map((topic) => topic.weight));
    fill("list", data.topics.map((topic, place) => el("button", {
      type: "button", role: "tab", id: `tab-${place}`, "aria-controls": "panel", tabindex: "-1",
      on: () => choose(place, narrow()),
    },
    el("span", { class: "id" }, String(topic.id)),
    el("span", { class: topic.prior > 0.5 ? "faint" : "" }, labels[place]),
    el("span", { class: "share" }, percent(topic.weight)),
    bar(topic.weight / most, "meter"))));
    byId("list").addEventListener("keydown", (event) => {
      const last = data.topics.length - 1;
      const to = { ArrowDown: state.topic + 1, ArrowUp: state.topic - 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(Math.min(Math.max(to, 0), last));
      byId(`tab-${state.topic}`).focus();
    });
  }

  const narrow = () => matchMedia("(max-width: 46rem)").matches;

  function drawTopic() {
    const topic = data.topics[state.topic];
    byId("panel").setAttribute("aria-labelledby", "name");
    byId("kicker").textContent = `Topic ${topic.id}`;
    byId("name").textContent = labels[state.topic];
    byId("summary").textContent = `${percent(topic.weight)} of what the model has learnt` +
      (data.has_documents ? `; the main topic of ${numberOf(topic.n_documents)}` : "");
    byId("prior-note").hidden = topic.prior <= 0.5;
    fill("near", topic.near.length ? el("span", { class: "note" }, "Similar:") : null,
      topic.near.map((other) => button(called(other), () => choose(other, true), { class: "chip" })));
    drawWords();
    drawDocuments();
  }

  /** Show a topic everywhere; `move` also takes the reader to it. */
  function choose(place, move = false) {
    for (const [selector, name] of [['[role="tab"]', "aria-selected"], [".tile", "aria-current"]]) {
      document.querySelectorAll(selector).forEach((item, i) => item.setAttribute(name, String(i === place)));
    }
    byId(`tab-${state.topic}`).tabIndex = -1;
    state.topic = place;
    const tab = byId(`tab-${place}`), list = byId("list");
    tab.tabIndex = 0;
    if (tab.offsetTop < list.scrollTop || tab.offsetTop + tab.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = tab.offsetTop - list.clientHeight / 3;
    }
    document.querySelectorAll("#map g").forEach((group) => group.classList.toggle("here", group.dataset.place === String(place)));
    drawTopic();
    if (data.periods.length) {
      drawStream();
      drawChart();
    }
    if (!withinPage) history.replaceState(null, "", `#topic-${data.topics[place].id}`);
    if (move) go(byId("panel"));
  }

  // Over time

  const isEnough = (period) => !data.sizes.length || data.sizes[period] >= data.least;
  // Where no period has enough documents, all are drawn, and none is compared.
  const someEnough = data.periods.some((_, i) => isEnough(i));
  const isDrawn = (period) => isEnough(period) || !someEnough;
  const drawn = (values) => values.map((value, i) => (isDrawn(i) ? value : null));
  const hasIntervals = data.sizes.length > 0;
  const ofPeriods = data.over_all ? "" : ofSample;

  const shareMost = (topic) => Math.max(1e-9, ...drawn(topic.shares).map((value) => value ?? 0));

  /** The mean of a topic in all periods, by their documents where these are known. */
  function meanOf(topic) {
    const weight = (i) => (topic.shares[i] === null ? 0 : data.sizes.length ? data.sizes[i] : 1);
    const total = topic.shares.reduce((sum, _, i) => sum + weight(i), 0);
    return topic.shares.reduce((sum, share, i) => sum + weight(i) * (share ?? 0), 0) / (total || 1);
  }

  const exactly = (value) => (100 * value).toFixed(value >= 0.0995 ? 0 : 1);
  const interval = (topic, period) => (hasIntervals && topic.low[period] !== null
    ? ` (${exactly(topic.low[period])} to ${exactly(topic.high[period])})` : "");

  /** Paths of a curve over [0, 1] x [0, most], with gaps where nothing is known. */
  function curve(values, most, width, height, area) {
    const x = (i) => (values.length > 1 ? (i / (values.length - 1)) * width : width / 2);
    const y = (value) => height - (value / most) * height;
    const runs = [];
    values.forEach((value, i) => {
      if (value === null) return;
      if (i === 0 || values[i - 1] === null) runs.push([]);
      runs[runs.length - 1].push([x(i), y(value)]);
    });
    const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(2)} ${b.toFixed(2)}`).join("");
    const lines = runs.map((run) => svg("path", { class: "line", d: path(run.length > 1 ? run : [run[0], run[0]]) }));
    if (!area) return lines;
    const areas = runs.filter((run) => run.length > 1).map((run) => svg("path", {
      class: "area", d: `${path(run)}L${run[run.length - 1][0].toFixed(2)} ${height}L${run[0][0].toFixed(2)} ${height}Z` }));
    return [...areas, ...lines];
  }

  const upright = (className, x, height) => svg("line", { class: className, x1: x, x2: x, y1: 0, y2: height });

  function alarmPeriods() {
    const found = new Map();
    data.tables.forEach(([, kind, table]) => {
      if (kind !== "alarms") return;
      table.periods.forEach((period) => { if (period !== null) found.set(period, (found.get(period) || 0) + 1); });
    });
    return found;
  }

  /** The intervals: a band over periods in a row, and whiskers for those that stand alone or have too few documents. */
  function band(topic, most, x, height) {
    const y = (value) => (height * (1 - Math.min(1, Math.max(0, value / most)))).toFixed(2);
    const runs = [], alone = [];
    topic.shares.forEach((share, i) => {
      if (share === null) return;
      const joins = isDrawn(i) && runs.length && runs[runs.length - 1].at(-1) === i - 1;
      if (joins) runs[runs.length - 1].push(i);
      else if (isDrawn(i)) runs.push([i]);
      else alone.push(i);
    });
    runs.filter((run) => run.length === 1).forEach(([i]) => alone.push(i));
    const point = (i, values) => `${x(i).toFixed(2)} ${y(values[i])}`;
    return [
      ...runs.filter((run) => run.length > 1).map((run) => svg("path", { class: "band",
        d: `M${[...run.map((i) => point(i, topic.high)), ...[...run].reverse().map((i) => point(i, topic.low))].join("L")}Z` })),
      ...alone.flatMap((i) => [
        svg("line", { class: isDrawn(i) ? "whisker" : "whisker few", x1: x(i), x2: x(i), y1: y(topic.low[i]), y2: y(topic.high[i]) }),
        svg("line", { class: isDrawn(i) ? "whisker" : "whisker few", x1: x(i) - 5, x2: x(i) + 5, y1: y(topic.shares[i]), y2: y(topic.shares[i]) })]),
    ];
  }

  function chartNote(alarms) {
    const n = data.sizes.filter((size, i) => !isEnough(i) && size > 0).length;
    const what = !hasIntervals ? `Share of the words of each ${data.unit}`
      : `Mean share in the documents of each ${data.unit}${ofPeriods}, with 95 % intervals`;
    const few = !n ? "" : someEnough
      ? `; whiskers alone: ${plural(n, "period", "periods")} of fewer than ${data.least} documents, too few to compare`
      : `; each has fewer than ${data.least} documents, too few to compare them`;
    return `${what}; dashed: the mean${few}${alarms.size ? "; dotted, upright: alarms" : ""}`;
  }

  function drawChart() {
    const topic = data.topics[state.topic], n = data.periods.length, width = 800, height = 200;
    const most = Math.max(shareMost(topic), ...drawn(topic.high).map((value) => value ?? 0)), x = (i) => (n > 1 ? (i / (n - 1)) * width : width / 2);
    const alarms = alarmPeriods();
    const mean = meanOf(topic);
    byId("chart-name").textContent = called(state.topic);
    byId("chart-note").textContent = chartNote(alarms);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Share of topic ${topic.id} by ${data.unit}, at most ${percent(most)}` });
    add(picture, [0, 0.5, 1].map((part) => svg("line", { class: "grid", x1: 0, x2: width, y1: part * height, y2: part * height })));
    if (hasIntervals) add(picture, band(topic, most, x, height));
    add(picture, curve(drawn(topic.shares), most, width, height, !hasIntervals));
    const level = height - (mean / most) * height;
    add(picture, svg("line", { class: "mean", x1: 0, x2: width, y1: level, y2: level }));
    add(picture, [...alarms.keys()].map((period) => upright("alarm", x(period), height)));
    const cursor = upright("cursor", x(state.period), height);
    picture.append(cursor);
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const period = Math.round(((event.clientX - box.left) / box.width) * (n - 1));
      showPeriod(Math.min(Math.max(period, 0), n - 1));
    });
    fill("chart", picture);
    fill("axis-y", [most, most / 2, 0].map((value) => el("span", {}, percent(value))));
    fill("axis-x", namedPeriods());
    fill("share-table", shareTable(topic));
    showPeriod(state.period);
  }

  const namedPeriods = () => {
    const n = data.periods.length;
    return [...new Set([0, Math.floor((n - 1) / 2), n - 1])].map((i) => el("span", {}, data.periods[i]));
  };

  function shareTable(topic) {
    const rows = data.periods.map((period, i) => el("tr", {}, el("td", {}, period),
      el("td", {}, topic.shares[i] === null ? "" : percent(topic.shares[i])),
      hasIntervals ? [el("td", {}, topic.low[i] === null ? "" : `${exactly(topic.low[i])} to ${exactly(topic.high[i])} %`),
        el("td", {}, count(data.sizes[i]) + (isEnough(i) ? "" : ", too few"))] : null));
    return scrolled(`Shares of topic ${topic.id}`, ["period", "share", ...(hasIntervals ? ["95 % interval", `documents${ofPeriods}`] : [])], rows);
  }

  function scrolled(label, columns, rows) {
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, rows)));
  }

  /** Say what was in a period: this topic, and those above their own mean by more than chance, if it has enough documents. */
  function showPeriod(period) {
    state.period = period;
    const slider = byId("period"), topic = data.topics[state.topic], share = topic.shares[period];
    slider.value = period;
    const said = share === null || share === undefined ? "no words" : percent(share) + interval(topic, period);
    slider.setAttribute("aria-valuetext", `${data.periods[period]}: ${said}`);
    const cursor = document.querySelector("#chart .cursor");
    const x = data.periods.length > 1 ? (period / (data.periods.length - 1)) * 800 : 400;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    showLayers();
    const above = !isEnough(period) ? [] : data.topics.map((other, place) => {
      const mean = meanOf(other), now = other.shares[period] ?? 0;
      return { place, gain: now - mean, ratio: now / (mean || 1), sure: !hasIntervals || other.low[period] > mean };
    }).filter((one) => one.sure && one.gain > 0.002 && one.ratio > 1.2).sort((a, b) => b.gain - a.gain).slice(0, 4);
    const few = isEnough(period) ? "" : `, fewer than ${data.least}: too few to compare`;
    const sizes = data.sizes.length ? ` · ${plural(data.sizes[period], "document", "documents")}${ofPeriods}${few}` : "";
    const alarms = alarmPeriods().get(period);
    fill("readout",
      el("p", {}, el("b", {}, data.periods[period]), sizes + ` · this topic ${said}` +
        (alarms ? ` · ${plural(alarms, "alarm", "alarms")}` : "")),
      above.length ? el("div", { class: "chips" }, el("span", { class: "note" }, "Most above their mean:"),
        above.map((one) => button(`${called(one.place)} (${times(one.ratio)})`, () => choose(one.place), { class: "chip" }))) : null);
  }

  function drawTiles() {
    const shared = byId("one-scale").checked ? Math.max(...data.topics.map(shareMost)) : null;
    fill("tiles", data.topics.slice(0, state.tiles).map((topic, place) => {
      const most = shareMost(topic), peak = topic.shares.indexOf(Math.max(...drawn(topic.shares).map((v) => v ?? -1)));
      return el("button", { type: "button", class: "tile", "aria-current": String(place === state.topic), on: () => choose(place) },
        el("span", { class: "label" }, called(place)),
        el("small", {}, `most: ${percent(most)}, ${data.periods[peak]}`),
        svg("svg", { viewBox: "0 0 200 46", preserveAspectRatio: "none", "aria-hidden": "true" },
          curve(drawn(topic.shares), shared ?? most, 200, 46, true)));
    }));
    const more = byId("more-tiles");
    more.hidden = data.topics.length <= state.tiles;
    more.textContent = `Show all ${data.topics.length} topics`;
  }

  // The stream: topics as bands upon each other, around a level line

  const shareOf = (place, period) => (isDrawn(period) ? data.topics[place].shares[period] ?? 0 : 0);

  /** The topics with the largest shares and the chosen one, the largest in the middle, with their colours. */
  function layers() {
    const totals = data.topics.map((topic) => topic.shares.reduce((sum, share) => sum + (share ?? 0), 0));
    const shown = totals.map((_, place) => place).sort((a, b) => totals[b] - totals[a] || a - b).slice(0, LAYERS);
    if (!shown.includes(state.topic)) shown.push(state.topic);
    const found = [];
    shown.forEach((place, i) => found[i % 2 ? "unshift" : "push"]({ place, colour: `l${i}` }));
    return found;
  }

  /** The upper and lower edges of bands, in pixels: for each period, of each band. */
  function edgesOf(bands, height) {
    const totals = data.periods.map((_, i) => bands.reduce((sum, { place }) => sum + shareOf(place, i), 0));
    const most = Math.max(1e-9, ...totals);
    const edges = totals.map((total, i) => {
      let y = (height * (1 - total / most)) / 2;
      return bands.map(({ place }) => [y, (y += (height * shareOf(place, i)) / most)]);
    });
    return { most, edges };
  }

  function drawStream() {
    if (byId("stream-part").hidden) return;
    const focused = document.activeElement.dataset.layer;
    const n = data.periods.length, width = Math.max(byId("stream").clientWidth, 200), height = width < 500 ? 240 : 320;
    const bands = layers(), { most, edges } = edgesOf(bands, height);
    const xs = n > 1 ? edges.map((_, i) => (i / (n - 1)) * width) : [0, width];
    // One period is as wide as the picture.
    const rows = n > 1 ? edges : [edges[0], edges[0]];
    const paths = bands.map(({ place, colour }, band) => {
      const path = svg("path", { class: `layer ${colour}${place === state.topic ? " here" : ""}`, d: outline(rows.map((row) => row[band]), xs) },
        svg("title", {}, called(place)));
      path.addEventListener("click", () => choose(place));
      return path;
    });
    const here = paths.splice(bands.findIndex(({ place }) => place === state.topic), 1);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `Stream of ${plural(bands.length, "topic", "topics")} by ${data.unit}; the table below says the same` },
      paths, here, bands.map(({ place }, band) => layerName(place, rows.map((row) => row[band]), xs, width)), upright("cursor", 0, height));
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const period = Math.round(((event.clientX - box.left) / box.width) * (n - 1));
      showPeriod(Math.min(Math.max(period, 0), n - 1));
    });
    fill("stream", picture);
    fill("stream-axis", namedPeriods());
    const left = data.periods.some((_, i) => !isDrawn(i)) ? `Periods of fewer than ${data.least} documents are left out. ` : "";
    byId("stream-note").textContent = `Thickness: ${hasIntervals ? "mean share in the documents" : "share of the words"} of each ${data.unit}, ${percent(most)} at the thickest place. ${left}` +
      (bands.length < data.topics.length ? `Of ${count(data.topics.length)} topics the ${count(LAYERS)} with the largest shares${bands.length > LAYERS ? ", and the chosen one" : ""}.` : "All topics.");
    fill("layers", bands.map(({ place, colour }) => el("li", {}, el("span", { class: `swatch ${colour}`, "aria-hidden": "true" }),
      button(called(place), () => choose(place), { "data-layer": place, "aria-current": String(place === state.topic) }),
      el("span", { class: "note", "data-now": place }))));
    fill("stream-table", streamTable(bands));
    if (focused !== undefined) byId("layers").querySelector(`[data-layer="${focused}"]`)?.focus();
  }

  /** A closed path around each part of a band that can be seen. */
  function outline(edges, xs) {
    const seen = ([top, bottom] = [0, 0]) => bottom - top > 1.2;
    const runs = [];
    edges.forEach((edge, i) => {
      if (!seen(edges[i - 1]) && !seen(edge) && !seen(edges[i + 1])) return;
      if (!i || !runs.length || runs[runs.length - 1].at(-1) !== i - 1) runs.push([]);
      runs[runs.length - 1].push(i);
    });
    const point = (i, side) => `${xs[i].toFixed(1)} ${edges[i][side].toFixed(1)}`;
    return runs.map((run) => `M${[...run.map((i) => point(i, 0)), ...run.reverse().map((i) => point(i, 1))].join("L")}Z`).join("");
  }

  /** The name of a band, where it is thick enough for it. */
  function layerName(place, edges, xs, width) {
    const words = `${data.topics[place].id} · ${labels[place].split(", ")[0]}`;
    const text = words.length > 22 ? `${words.slice(0, 21)}…` : words, half = 3.4 * text.length;
    let best = { room: 14 };
    xs.forEach((at) => {
      const x = Math.min(Math.max(at, half + 2), width - half - 2);
      // Edges are straight between periods: those before and after count as well.
      const first = xs.findLastIndex((one) => one <= x - half), last = xs.findIndex((one) => one >= x + half);
      if (first < 0 || last < 0) return;
      const within = edges.slice(first, last + 1);
      const top = Math.max(...within.map(([y]) => y)), room = Math.min(...within.map(([, y]) => y)) - top;
      if (room > best.room) best = { room, x, y: top + room / 2 };
    });
    return best.x === undefined ? null : svg("text", { class: "layer-name", x: best.x, y: best.y, "aria-hidden": "true" }, text);
  }

  function streamTable(bands) {
    const rows = data.periods.map((period, i) => el("tr", {}, el("td", {}, period),
      bands.map(({ place }) => el("td", {}, data.topics[place].shares[i] === null ? "" : percent(shareOf(place, i))))));
    return scrolled("Shares of the topics of the stream", ["period", ...bands.map(({ place }) => called(place))], rows);
  }

  /** Say in the stream what was in the period that is looked at. */
  function showLayers() {
    const cursor = document.querySelector("#stream .cursor");
    if (!cursor) return;
    const n = data.periods.length, x = n > 1 ? (state.period / (n - 1)) * cursor.ownerSVGElement.viewBox.baseVal.width : 0;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    byId("stream-period").textContent = data.periods[state.period];
    document.querySelectorAll("#layers [data-now]").forEach((item) => {
      const share = data.topics[item.dataset.now].shares[state.period];
      item.textContent = share === null ? "no words" : percent(share);
    });
  }

  function startView() {
    byId("view").addEventListener("change", (event) => {
      byId("tiles-part").hidden = event.target.value !== "tiles";
      byId("stream-part").hidden = event.target.value !== "stream";
      drawStream();
      showLayers();
    });
    addEventListener("resize", () => {
      drawStream();
      showLayers();
    });
  }

  function startTime() {
    if (!data.periods.length) return;
    byId("time").hidden = false;
    byId("period").max = data.periods.length - 1;
    state.period = data.periods.length - 1;
    byId("period").addEventListener("input", (event) => showPeriod(Number(event.target.value)));
    byId("one-scale").addEventListener("change", drawTiles);
    byId("more-tiles").addEventListener("click", () => { state.tiles = data.topics.length; drawTiles(); });
    drawTiles();
    startView();
  }

  // The map

  function drawMap() {
    const width = Math.max(byId("map").clientWidth, 240), height = Math.min(Math.max(0.6 * width, 260), 560);
    const edge = Math.min(60, width / 8);
    const xs = data.topics.map((topic) => topic.x), ys = data.topics.map((topic) => topic.y);
    const span = (values) => Math.max(...values) - Math.min(...values) || 1;
    // One scale for both, so that distances are true.
    const scale = Math.min((width - 2 * edge) / span(xs), (height - 2 * edge) / span(ys));
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    const heaviest = Math.max(...data.topics.map((topic) => topic.weight));
    const largest = Math.max(10, Math.min(44, (0.2 * width) / Math.sqrt(data.topics.length)));
    const spots = data.topics.map((topic) => ({
      x: width / 2 + (topic.x - middle(xs)) * scale, y: height / 2 - (topic.y - middle(ys)) * scale,
      r: Math.max(8, largest * Math.sqrt(topic.weight / heaviest)) }));
    moveApart(spots, width, height);
    const groups = spots.map((spot, place) => svg("g", { "data-place": place, class: place === state.topic ? "here" : "" },
      svg("title", {}, called(place)),
      svg("circle", { cx: spot.x, cy: spot.y, r: spot.r }),
      svg("text", { x: spot.x, y: spot.y }, String(data.topics[place].id))));
    // Words come after all circles, so that none hides them.
    const taken = spots.map((spot) => ({ x: spot.x, y: spot.y, w: 9, h: 7 }));
    const words = spots.map((spot, place) => tag(spot, labels[place].split(", ")[0], width, taken));
    groups.forEach((group, place) => group.addEventListener("click", () => choose(place, true)));
    fill("map", svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Map of the topics by similarity" }, groups, words));
  }

  /** Move circles apart that would hide each other, as little as it takes. */
  function moveApart(spots, width, height) {
    for (let round = 0; round < 80; round++) {
      spots.forEach((a, i) => spots.slice(0, i).forEach((b, j) => {
        const dx = a.x - b.x || 0.01 * (i - j), dy = a.y - b.y, far = Math.hypot(dx, dy), least = 0.92 * (a.r + b.r);
        if (far >= least) return;
        const push = (0.5 * (least - far)) / far;
        a.x += push * dx;
        a.y += push * dy;
        b.x -= push * dx;
        b.y -= push * dy;
      }));
      spots.forEach((a) => {
        a.x = Math.min(Math.max(a.x, a.r + 2), width - a.r - 2);
        a.y = Math.min(Math.max(a.y, a.r + 2), height - a.r - 18);
      });
    }
  }

  /** A word under a circle, where there is room for it; heavy topics come first. */
  function tag(spot, word, width, taken) {
    const text = word.length > 18 ? `${word.slice(0, 17)}…` : word;
    const w = 3.4 * text.length + 2, h = 7, y = spot.y + spot.r + 9;
    const x = Math.min(Math.max(spot.x, w), width - w);
    if (taken.some((other) => Math.abs(x - other.x) < w + other.w && Math.abs(y - other.y) < h + other.h)) return null;
    taken.push({ x, y, w, h });
    return svg("text", { class: "tag", x, y }, text);
  }

  // Changes, scores, card

  function drawTables() {
    if (!data.tables.length) return;
    byId("changes").hidden = false;
    fill("tables", data.tables.map(([heading, , table]) => {
      const place = new Map(data.topics.map((topic, i) => [String(topic.id), i]));
      // A tracker's topics have numbers of their own; then the row says which one of the model it is.
      const link = table.columns.includes("row") ? "row" : heading.startsWith("What is new") ? null : "topic";
      const cell = (value, column) => table.columns[column] === link && place.has(value)
        ? button(value, () => choose(place.get(value), true), { "aria-label": `Topic ${value}` }) : value;
      const rows = table.rows.map((row) => el("tr", {}, row.map((value, i) => el("td", { class: value.length > 24 ? "long" : null }, cell(value, i)))));
      const left = table.n_left_out ? ` ${plural(table.n_left_out, "more is", "more are")} left out.` : "";
      return el("div", { class: "card" }, el("h3", {}, heading),
        el("p", { class: "note" }, rows.length ? `${plural(rows.length, "row", "rows")}${table.newest_first ? ", the newest first" : ""}.${left}` : "None."),
        rows.length ? scrolled(heading, table.columns, rows) : null);
    }));
  }

  function drawScores() {
    fill("scores", data.scores.map((score) => {
      const known = score.values.filter((value) => value !== null);
      const last = known.length ? known[known.length - 1] : null;
      const low = Math.min(...known), high = Math.max(...known);
      const picture = known.length > 1 ? svg("svg", { viewBox: "0 0 200 46", preserveAspectRatio: "none", role: "img",
        "aria-label": `${score.name}, from ${low} to ${high}` },
        curve(score.values.map((value) => (value === null ? null : value - low)), high - low || 1, 200, 46, false)) : null;
      return el("div", { class: "card score" }, el("h3", {}, score.name), el("b", {}, last === null ? "none" : String(last)), picture,
        picture ? el("p", { class: "note" }, `the last of ${count(known.length)}; from ${low} to ${high}`) : null);
    }));
  }

  function drawCard() {
    fill("card", data.card.map(([heading, rows]) => el("div", { class: "card" }, el("h3", {}, heading),
      el("dl", {}, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))))));
  }

  // Search

  function findWords(query) {
    const hits = data.words.map((word, i) => [word, i]).filter(([word]) => word.toLowerCase().includes(query));
    const rank = (word) => (word.toLowerCase() === query ? 0 : word.toLowerCase().startsWith(query) ? 1 : 2);
    return hits.sort((a, b) => rank(a[0]) - rank(b[0]) || data.overall[b[1]] - data.overall[a[1]]);
  }

  function topicsOf(word) {
    return data.topics.map((topic, place) => ({ place, p: topic.p[topic.words.indexOf(word)] }))
      .filter((one) => one.p !== undefined).sort((a, b) => b.p - a.p);
  }

  function findDocuments(query) {
    const found = [];
    data.topics.forEach((topic, place) => topic.documents.forEach((doc) => {
      const text = doc.parts.join(""), at = text.toLowerCase().indexOf(query);
      if (at >= 0 || doc.title.toLowerCase().includes(query)) found.push({ place, doc, text, at: Math.max(at, 0) });
    }));
    return found;
  }

  /** How many documents of all have a word, where that is known. */
  const holdersOf = (i) => (data.holders.length ? `in ${count(data.holders[i])} of ${plural(data.sampled_from ?? data.n_documents, "document", "documents")}` : "");

  function wordResults(hits) {
    return hits.slice(0, MOST_FOUND).flatMap(([word, i]) => [
      data.holders.length ? el("p", {}, el("b", {}, word), ` is ${holdersOf(i)}`) : null,
      ...topicsOf(i).slice(0, 4).map((one) =>
        button([word, el("small", {}, `${called(one.place)} · ${percent(one.p)} of it`)], () => { closeResults(); choose(one.place, true); }))]);
  }

  function documentResults(hits) {
    return hits.slice(0, MOST_FOUND).map((hit) => {
      const start = Math.max(0, hit.at - 30), piece = hit.text.slice(start, hit.at + 70);
      const text = `${start ? "…" : ""}${piece}${start + 100 < hit.text.length ? "…" : ""}`;
      const shown = hit.doc.title ? `${hit.doc.title}: ${text}` : text;
      return button([shown, el("small", {}, called(hit.place))], () => {
        closeResults();
        choose(hit.place);
        go(document.querySelector(`#documents [data-row="${hit.doc.row}"]`));
      });
    });
  }

  function closeResults() {
    byId("results").hidden = true;
  }

  function drawResults() {
    const query = byId("search").value.trim().toLowerCase();
    byId("results").hidden = !query;
    if (!query) {
      byId("found").textContent = "";
      return;
    }
    const words = findWords(query), documents = findDocuments(query);
    const shown = new Set(data.topics.flatMap((topic) => topic.documents.map((doc) => doc.row))).size;
    const inWords = `${plural(words.length, "word", "words")} of the topics`;
    const inDocuments = `${count(documents.length)} among the ${plural(shown, "document", "documents")} shown`;
    const first = words.length ? holdersOf(words[0][1]) : "";
    byId("found").textContent = `Found: ${inWords}${first ? `, ${words[0][0]} ${first}` : ""}; ${inDocuments}`;
    fill("results",
      words.length ? [el("h3", {}, inWords), wordResults(words)] : null,
      data.has_documents ? [el("h3", {}, inDocuments), documentResults(documents)] : null,
      words.length ? null : el("p", {}, "No word that a topic leads with has this in it."));
  }

  function search(text) {
    const box = byId("search");
    box.value = text;
    drawResults();
    go(box);
  }

  function startSearch() {
    const form = byId("search-form"), box = byId("search"), results = byId("results");
    box.addEventListener("input", drawResults);
    box.addEventListener("focus", drawResults);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) closeResults(); });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { box.value = ""; drawResults(); box.focus(); }
      const buttons = [...results.querySelectorAll("button")], here = buttons.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || results.hidden || !buttons.length) return;
      event.preventDefault();
      const to = here + step;
      if (to < 0) box.focus();
      else buttons[Math.min(to, buttons.length - 1)].focus();
    });
    // A button that is clicked does not take the focus everywhere: keep the results open for it.
    results.addEventListener("pointerdown", (event) => { if (event.target.closest("button")) event.preventDefault(); });
  }

  // Light and dark

  function startTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)"), toggle = byId("theme");
    let chosen = false;
    const show = (on) => {
      document.documentElement.dataset.theme = on ? "dark" : "light";
      toggle.setAttribute("aria-pressed", String(on));
      toggle.textContent = on ? "Light" : "Dark";
      toggle.setAttribute("aria-label", "Dark colours");
    };
    show(dark.matches);
    dark.addEventListener("change", (event) => { if (!chosen) show(event.matches); });
    toggle.addEventListener("click", () => {
      chosen = true;
      show(document.documentElement.dataset.theme !== "dark");
    });
  }

  /** Links go to parts of this page, also where its address is that of another one. */
  function startLinks() {
    if (!withinPage) return;
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      go(byId(link.hash.slice(1)));
    });
  }

  // The head of the page

  function drawFacts() {
    const fact = (value, what) => el("li", {}, el("b", {}, value), ` ${what}`);
    const of = data.topics.length < data.n_topics ? `of ${count(data.n_topics)} topics, the heaviest` : "topics";
    const items = [fact(count(data.topics.length), of)];
    const given = data.sampled_from ? `of ${count(data.sampled_from)} documents, a sample` : data.n_documents === 1 ? "document" : "documents";
    if (data.has_documents) items.push(fact(count(data.n_documents), given));
    if (data.periods.length) {
      // A span is written "1790 to 1794".
      const first = data.periods[0].split(" to ")[0], last = data.periods[data.periods.length - 1].split(" to ").pop();
      const known = ["value", "span", "snapshot"].includes(data.unit) ? "" : `by ${data.unit}`;
      items.push(fact(first === last ? first : `${first} – ${last}`, known));
    }
    data.scores.slice(0, 2).forEach((score) => {
      const known = score.values.filter((value) => value !== null);
      if (score.values.length === 1 && known.length) items.push(fact(String(known[known.length - 1]), score.name));
    });
    fill("facts", items);
  }

  function drawNav() {
    const parts = [["topics", "Topics"], ["time", "Over time"], ["map-part", "Map"], ["changes", "Changes"], ["about", "About"]];
    fill("nav", parts.filter(([id]) => !byId(id).hidden).map(([id, name]) => el("li", {}, el("a", { href: `#${id}` }, name))));
  }

  function start() {
    startTheme();
    drawFacts();
    drawList();
    startTime();
    drawMap();
    addEventListener("resize", drawMap);
    drawTables();
    drawScores();
    drawCard();
    startSearch();
    drawNav();
    startLinks();
    byId("documents-part").hidden = !data.has_documents;
    document.querySelector(".columns").classList.toggle("single", !data.has_documents);
    const slider = byId("relevance");
    slider.value = state.relevance;
    slider.addEventListener("input", () => { state.relevance = Number(slider.value); drawWords(); });
    const asked = data.topics.findIndex((topic) => location.hash === `#topic-${topic.id}`);
    choose(Math.max(asked, 0));
  }

  start();
})();
