"use strict";
// Draws the report from the data in the page. Texts are hostile: they only ever become text nodes.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const state = { topic: 0, subject: "", relevance: data.relevance, period: 0, cards: 24, tiles: 12, groups: 1, open: false, within: null, editing: false, renaming: null };
  // As in the output of a notebook: then addresses are those of the page around this one.
  const withinPage = location.protocol === "about:";
  const narrow = () => matchMedia("(max-width: 46rem)").matches;
  if (narrow()) Object.assign(state, { cards: 8, tiles: 4 });
  const LEGEND = 6, MOST_FOUND = 12, COLOURS = 12, ROWS = 24;

  // Small helpers

  const count = (value) => value.toLocaleString("en");
  const percent = (value) => `${(100 * value).toFixed(value >= 0.00095 || value === 0 ? 1 : 2)}%`;
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;
  const ofSample = data.sampled_from ? " of the sample" : "";
  const numberOf = (n) => plural(n, "document", "documents") + (data.over_all ? "" : ofSample);

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

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
  const widthOf = (text) => pen.measureText(text).width * 1.06;

  /** The beginning of a text that is no wider than so many pixels. */
  function fitting(text, width) {
    if (widthOf(text) <= width) return text;
    let n = text.length;
    while (n > 1 && widthOf(`${text.slice(0, n)}…`) > width) n -= 1;
    return `${text.slice(0, n).trimEnd()}…`;
  }

  const label = (text, x, y, attributes = {}) => svg("text", { x, y, ...attributes }, text);
  const line = (className, x1, y1, x2, y2) => svg("line", { class: className, x1, x2, y1, y2 });

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

  function labelOf(topic, name) {
    const words = ranked(topic, data.relevance).slice(0, 4).map((i) => data.words[topic.words[i]]);
    return name || words.join(", ") || "no words";
  }

  /** What topics are called, by place; edits change it. */
  let labels = data.topics.map((topic) => labelOf(topic, topic.name));

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
      return el("li", { class: isExcluded(state.topic, word) ? "struck" : null },
        button(word, () => search(word), { "aria-label": `${word}: search` }),
        bar(topic.p[i] / most, "track"),
        el("span", { class: "figures" }, el("b", {}, percent(topic.p[i])), ` ${times(lift)}`),
        excludeButton(state.topic, word));
    }));
    byId("pull").hidden = !state.editing || !data.edits.includes("pull");
  }

  // Documents

  /** The text of a document; coloured, each word has the colour that the legend gives its topic. */
  function drawText(doc, place, colours) {
    const nodes = [];
    doc.parts.forEach((own, i) => {
      const part = i ? own : own.trimStart();
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

  function drawDocument(doc, place = null, canColour = false) {
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
    const own = doc.mix.find(([topic]) => topic === place);
    const meta = [own ? `${percent(own[1])} this topic` : "", doc.time, doc.group, data.sampled_from || doc.title ? "" : `document ${count(doc.row + 1)}`];
    return add(article,
      el("p", { class: "meta" }, doc.title ? [el("b", {}, doc.title), " "] : null, meta.filter(Boolean).join(" · ")),
      text, el("div", { class: "actions" }, canColour ? toggle : null, unfold), key, more);
  }


  // Findings

  const KINDS = {
    grown: ["▲", "rose", ""], new: ["✚", "new", ""], fallen: ["▼", "fell", "down"], gone: ["✕", "gone", "down"],
    changed: ["⇄", "changed", ""], more: ["◆", "more in a group", ""], less: ["◇", "less in a group", "down"], alarm: ["⚑", "alarm", "alarm"] };
  const kindOf = (one) => KINDS[one.kind] || ["•", one.kind, ""];
  const badge = (one) => el("span", { class: `kind ${kindOf(one)[2]}` }, el("span", { "aria-hidden": "true" }, `${kindOf(one)[0]} `), kindOf(one)[1]);

  /** Where the words of a sentence may begin: after the name of its group. */
  const startOf = (one) => (one.group === null ? 0 : one.text.indexOf(` has ${one.kind} of *`));

  /** A sentence: its words are bold, and its figures small. */
  function said(one) {
    const start = startOf(one);
    return [one.text.slice(0, start), one.text.slice(start).split(/(\*[^*]+\*|\([^()]*\))/).map((part, i) => {
      if (i % 2 === 0) return part;
      return part[0] === "*" ? el("b", {}, part.slice(1, -1)) : el("small", {}, part);
    })];
  }

  /** What finding i is of: its share by period, and where it stands out. */
  function seriesOf(key) {
    const [, kind, number] = key.match(/^([a-z])(\d+)$/), place = Number(number);
    if (kind === "t") return { key, values: data.topics[place], topic: place, name: called(place) };
    const one = kind === "f" ? data.findings[place] : data.alarms[place];
    const ofWord = one.shares.length > 0, topic = one.topic;
    const values = ofWord ? one : topic !== null ? data.topics[topic] : null;
    const name = `${kindOf(one)[0]} ${titleOf(one)}`;
    return { key, values, topic, one, name, word: ofWord ? one.word : null };
  }

  const titleOf = (one) => (one.text.slice(startOf(one)).match(/\*([^*]+)\*/) || [0, one.text])[1] + (one.group === null ? "" : ` · ${one.group}`);

  function drawFindings() {
    const looked = data.periods.length > 1 || data.groups.length > 1;
    byId("findings-part").hidden = !data.findings.length && !looked;
    const over = data.over_all ? "" : " Shares are of the sample.";
    byId("findings-note").textContent = !data.findings.length ? "Nothing stands out: no change along the time and no difference between groups is larger than chance."
      : `${data.n_findings > data.findings.length ? `The first ${data.findings.length} of ${count(data.n_findings)} findings, the` : "The"} most surprising and largest first. Choose one to see its curve and its documents.${over}`;
    fill("findings", data.findings.map((one, i) => {
      const body = el("div", { class: "body" });
      const item = el("details", { class: "card finding", id: `finding-${i}` },
        el("summary", {}, el("span", { class: "rank", "aria-hidden": "true" }, String(i + 1)),
          el("span", { class: "said" }, badge(one), said(one)),
          one.group !== null ? groupSpark(one) : spark(seriesOf(`f${i}`).values, one)),
        body);
      item.addEventListener("toggle", () => {
        if (!item.open) return;
        if (!body.firstChild) drawFinding(one, i, body);
        if (one.group === null && data.periods.length) show(`f${i}`);
      });
      return el("li", {}, item);
    }));
  }

  function drawFinding(one, i, body) {
    const series = seriesOf(`f${i}`), wide = el("div", { class: "documents wide" });
    const { values } = series;
    if (one.group === null && values && data.periods.length) add(body, smallChart(values, one, body.clientWidth - 36));
    if (one.group !== null && inGroups(one)) add(body, groupBars(inGroups(one), data.groups.length, one.group), el("p", { class: "note" }, `${one.word === null ? "Mean shares" : `Shares of the documents with “${one.word}”`} with 95 % intervals. Dashed: the mean of all these.`));
    add(body,
      el("h4", {}, one.documents.length ? `Typical documents${data.sampled_from ? " of those kept" : ""}` : "None of its documents is kept."),
      add(wide, one.documents.map((doc) => drawDocument(doc, one.topic))),
      series.topic === null ? null : button(`Topic ${called(series.topic)}`, () => choose(series.topic, true), { class: "quiet" }), " ",
      one.group === null && data.periods.length ? button("Show in the timeline", () => { show(`f${i}`); go(byId("subject")); }, { class: "quiet" }) : null);
  }

  // Over time

  const isEnough = (period) => data.sizes[period] >= data.least;
  // Where no period has enough documents, all are drawn.
  const someEnough = data.periods.some((_, i) => isEnough(i));
  const isDrawn = (period) => isEnough(period) || !someEnough;
  const drawn = (values) => values.map((value, i) => (isDrawn(i) ? value : null));
  const most = (values) => Math.max(1e-9, ...values.map((value) => value ?? 0));

  const interval = (values, period) => (typeof values.low[period] === "number"
    ? ` (${percent(values.low[period])} to ${percent(values.high[period])})` : "");

  /** Paths of a curve over [0, 1] x [0, most], with gaps where nothing is known. */
  function curve(values, most, width, height) {
    const x = (i) => (values.length > 1 ? (i / (values.length - 1)) * width : width / 2);
    const y = (value) => height - (value / most) * height;
    const runs = [];
    values.forEach((value, i) => {
      if (value === null) return;
      if (i === 0 || values[i - 1] === null) runs.push([]);
      runs[runs.length - 1].push([x(i), y(value)]);
    });
    const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(2)} ${b.toFixed(2)}`).join("");
    return runs.map((run) => svg("path", { class: "line", d: path(run.length > 1 ? run : [run[0], run[0]]) }));
  }


  /** A small curve, with the stretch of a finding. */
  function spark(values, one = null) {
    if (!values || !data.periods.length) return null;
    const n = data.periods.length, step = 200 / Math.max(n - 1, 1);
    const picture = svg("svg", { viewBox: "0 0 200 46", preserveAspectRatio: "none", "aria-hidden": "true" });
    if (one && one.first >= 0) {
      const from = Math.max(0, (one.first - 0.5) * step), to = Math.min(200, (one.last + 0.5) * step);
      add(picture, svg("rect", { class: "stretch", x: from, y: 0, width: to - from, height: 46 }));
    }
    return add(picture, line("grid", 0, 46, 200, 46), curve(drawn(values.shares), most(drawn(values.shares)), 200, 46));
  }

  /** The intervals: a band over periods in a row, and whiskers for those that stand alone or have too few documents. */
  function band(values, x, y) {
    const runs = [], alone = [];
    values.shares.forEach((share, i) => {
      if (share === null) return;
      if (!isDrawn(i)) alone.push(i);
      else if (runs.length && runs.at(-1).at(-1) === i - 1) runs.at(-1).push(i);
      else runs.push([i]);
    });
    runs.filter((run) => run.length === 1).forEach(([i]) => alone.push(i));
    const point = (i, ends) => `${x(i).toFixed(1)} ${y(ends[i]).toFixed(1)}`;
    return [
      ...runs.filter((run) => run.length > 1).map((run) => svg("path", { class: "band",
        d: `M${[...run.map((i) => point(i, values.high)), ...[...run].reverse().map((i) => point(i, values.low))].join("L")}Z` })),
      ...alone.flatMap((i) => {
        const name = isDrawn(i) ? "whisker" : "whisker few";
        return [line(name, x(i), y(values.low[i]), x(i), y(values.high[i])), line(name, x(i) - 4, y(values.shares[i]), x(i) + 4, y(values.shares[i]))];
      })];
  }

  /** Findings and alarms as marks in lanes, of which none covers another. */
  function lanes(items, x, step, left, right) {
    const rows = [];
    return items.flatMap(({ key, one }) => {
      const from = Math.max(left, x(one.first) - step / 2), to = Math.max(Math.min(right, x(one.last) + step / 2), from + 6);
      const name = `${kindOf(one)[0]} ${titleOf(one)}`, wide = widthOf(name);
      let place = { text: fitting(name, to - from - 10), x: from + 5, inside: true, from, to };
      if (wide > to - from - 10 && to - from < 150) {
        const after = right - to - 8, before = from - left - 8;
        const room = Math.max(after, before), text = fitting(name, Math.min(room, 240));
        if (room > to - from) place = after >= Math.min(wide, before)
          ? { text, x: to + 5, from, to: to + 8 + widthOf(text) } : { text, x: from - 5 - widthOf(text), from: from - 8 - widthOf(text), to };
      }
      let row = rows.findIndex((taken) => taken.every((other) => place.from > other.to + 8 || place.to < other.from - 8));
      if (row < 0) row = rows.push([]) - 1;
      if (row >= 14) return [];
      rows[row].push(place);
      return [{ key, one, row, from, width: to - from, ...place }];
    });
  }

  /** Shares over time with their intervals, between the lines `top` and `floor`. */
  function plot(values, { x, left, right, top, floor, aside }) {
    const all = drawn(values.shares), high = most([...all, ...drawn(values.high)]), last = data.periods.length - 1;
    const y = (value) => floor - (floor - top) * Math.min(1, Math.max(0, value / high)) * 0.96;
    const levels = (aside ? [1, 0.5, 0] : [1, 0.5]).map((part) => [line("grid", left, y(part * high), right, y(part * high)),
      aside ? label(percent(part * high), left - 10, y(part * high), { class: "faded", "text-anchor": "end" })
        : label(percent(part * high), left, y(part * high) - 7, { class: "faded" })]);
    const lines = curve(all, high, x(last) - x(0), floor - y(high));
    return [...levels.flat(), ...band(values, x, y), svg("g", { transform: `translate(${x(0)} ${y(high)})` }, lines)];
  }

  /** The chart of a finding within its card. */
  function smallChart(values, one, width) {
    const left = 54, right = width - 6, step = (right - left) / data.periods.length, x = (i) => left + (i + 0.5) * step;
    return svg("svg", { class: "chart", width, height: 152, role: "img", "aria-label": "Its share by period, with 95 % intervals" },
      svg("rect", { class: "stretch", x: x(one.first) - step / 2, y: 0, height: 126, width: (one.last - one.first + 1) * step }),
      plot(values, { x, left, right, top: 6, floor: 124, aside: true }), axis(x, 142, left, right));
  }

  function drawChart() {
    const n = data.periods.length, width = Math.max(byId("chart").clientWidth, 220), narrow = width < 640;
    const left = narrow ? 2 : width < 900 ? 190 : 250, right = width - 8, inner = right - left, step = inner / n;
    const x = (i) => left + (i + 0.5) * step;
    const series = seriesOf(state.subject), values = series.values;
    const items = [...data.findings.map((one, i) => ({ key: `f${i}`, one })), ...data.alarms.map((one, i) => ({ key: `a${i}`, one }))]
      .filter(({ one }) => one.first >= 0);
    const marks = lanes(items, x, step, left, right), top = 22 * (1 + Math.max(-1, ...marks.map((mark) => mark.row))) + 14;
    const height = narrow ? 150 : 190, floor = top + height, sizesAt = floor + 8, sizesHigh = 26;
    const rowHigh = narrow ? 31 : 19, rowsAt = sizesAt + sizesHigh + 30, shown = data.topics.slice(0, ROWS);
    const picture = svg("svg", { width, height: rowsAt + shown.length * rowHigh + 4, role: "img",
      "aria-label": `Shares by ${data.unit}: ${series.name}. The table below says the same.` });
    const aside = (text, y, faded = true) => (narrow ? null : label(fitting(text, left - 16), left - 10, y, { class: faded ? "faded" : "", "text-anchor": "end" }));
    if (series.one) add(picture, svg("rect", { class: "stretch", x: x(series.one.first) - step / 2, y: 0, height: rowsAt - 22, width: (series.one.last - series.one.first + 1) * step }));
    add(picture, marks.map((mark) => {
      const y = mark.row * 22 + 10;
      const group = svg("g", { class: `${kindOf(mark.one)[2]}${mark.key === state.subject ? " here" : ""}`, "data-item": mark.key },
        svg("title", {}, mark.one.text), svg("rect", { class: "span", x: mark.from, y: y - 8, width: mark.width, height: 17, rx: 4 }),
        label(mark.text, mark.x, y + 1, { class: mark.inside ? "inside" : "" }));
      // Where the label is on the left the bar is not at the beginning.
      if (!mark.inside && mark.x < mark.from + 5) group.querySelector("rect").setAttribute("x", mark.x + widthOf(mark.text) + 5);
      group.addEventListener("click", () => show(mark.key));
      return group;
    }));
    if (marks.length) add(picture, aside(data.alarms.length ? "Findings and alarms" : "Findings", 10));
    if (values) add(picture, plot(values, { x, left, right, top, floor, aside: !narrow }));
    const largest = Math.max(1, ...data.sizes);
    add(picture, aside(`Documents, at most ${count(largest)}`, sizesAt + sizesHigh / 2), data.sizes.map((size, i) => svg("rect", {
      class: isEnough(i) ? "size" : "size few", x: x(i) - 0.4 * step, width: 0.8 * step, y: sizesAt + (1 - size / largest) * sizesHigh, height: (size / largest) * sizesHigh })));
    add(picture, axis(x, rowsAt - 14, left, right), shown.map((topic, place) => heatRow(topic, place, { x, step, left, narrow, y: rowsAt + place * rowHigh, rowHigh, aside })));
    const cursor = line("cursor", x(state.period), 0, x(state.period), rowsAt - 22);
    add(picture, cursor);
    picture.addEventListener("pointermove", (event) => {
      const at = Math.floor((event.clientX - picture.getBoundingClientRect().left - left) / step);
      showPeriod(Math.min(Math.max(at, 0), n - 1));
    });
    picture.moveCursor = () => { cursor.setAttribute("x1", x(state.period)); cursor.setAttribute("x2", x(state.period)); };
    byId("period").style.marginLeft = `${left}px`;
    byId("period").style.width = `${inner}px`;
    fill("chart", picture);
    byId("chart-note").textContent = chartNote(series);
    fill("subject-text", series.one ? [badge(series.one), said(series.one)] : null);
    const documents = series.one ? series.one.documents : data.topics[series.topic].documents;
    fill("time-documents", documents.map((doc) => drawDocument(doc, series.topic)));
    fill("share-table", values ? shareTable(series) : null);
    showPeriod(state.period);
  }

  /** A topic as a row: the darker a period, the closer to its largest share. */
  function heatRow(topic, place, { x, step, left, narrow, y, rowHigh, aside }) {
    const shares = drawn(topic.shares), high = most(shares), at = narrow ? y + 14 : y + 2, tall = narrow ? 13 : rowHigh - 5;
    const group = svg("g", { class: `row${state.subject === `t${place}` ? " here" : ""}`, "data-topic": place },
      svg("title", {}, `${called(place)}: at most ${percent(high)}`),
      narrow ? label(fitting(called(place), 320), left, y + 6, { class: "label" }) : aside(called(place), y + rowHigh / 2 - 1, false),
      shares.map((share, i) => (share ? svg("rect", { class: "cell", x: x(i) - step / 2, y: at, width: Math.max(step - 0.6, 0.6), height: tall, "fill-opacity": (share / high).toFixed(2) }) : null)),
      svg("rect", { class: "frame", x: x(0) - step / 2, y: at, width: step * shares.length, height: tall }));
    if (!narrow) group.querySelector("text").classList.add("label");
    group.addEventListener("click", () => show(`t${place}`));
    return group;
  }

  /** Names of periods, as many as there is room for. */
  function axis(x, y, left, right) {
    const n = data.periods.length, wide = Math.max(...data.periods.map(widthOf)) + 18;
    const every = Math.max(1, Math.ceil((n * wide) / (right - left)));
    let end = -Infinity;
    return data.periods.map((name, i) => {
      const at = Math.min(Math.max(x(i), (left > 100 ? 0 : left) + widthOf(name) / 2), right - widthOf(name) / 2);
      if (i % every || at - widthOf(name) / 2 < end) return null;
      end = at + widthOf(name) / 2 + 12;
      return [line("grid", x(i), y - 12, x(i), y - 8), label(name, at, y, { class: "faded", "text-anchor": "middle" })];
    });
  }

  function chartNote(series) {
    const n = data.sizes.filter((size, i) => !isEnough(i) && size > 0).length;
    const of = series.word ? `Share of the documents ${ofAll}that have “${series.word}”, by ${named(data.unit)}, with 95 % intervals`
      : `Mean share in the documents ${ofAll}of each ${named(data.unit)}, with 95 % intervals`;
    const few = !n ? "" : someEnough ? ` ${plural(n, "period has", "periods have")} fewer than ${data.least} documents, too few to compare: whiskers alone.`
      : ` Each period has fewer than ${data.least} documents, too few to compare them.`;
    return `${of}.${few} Rows: the darker, the closer to the largest share of the topic.`;
  }

  const ofAll = data.over_all ? "" : "of the sample ";
  const named = (unit) => (unit === "number" || unit === "order" ? "period" : unit);

  function shareTable({ values, name }) {
    const rows = data.periods.map((period, i) => el("tr", {}, el("td", {}, period),
      el("td", {}, values.shares[i] === null ? "" : percent(values.shares[i])),
      el("td", {}, values.low[i] === null ? "" : `${percent(values.low[i])} to ${percent(values.high[i])}`),
      el("td", {}, count(data.sizes[i]) + (isEnough(i) ? "" : ", too few"))));
    return scrolled(`Shares of ${name}`, ["period", "share", "95 % interval", "documents"], rows);
  }

  function scrolled(label, columns, rows, kind = "") {
    return el("div", { class: `scroll ${kind}`, tabindex: "0", role: "region", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, rows)));
  }


  /** Say what was in a period. */
  function showPeriod(period) {
    state.period = period;
    const slider = byId("period"), { values } = seriesOf(state.subject), share = values ? values.shares[period] : null;
    slider.value = period;
    const what = share === null || share === undefined ? "no share" : percent(share) + interval(values, period);
    slider.setAttribute("aria-valuetext", `${data.periods[period]}: ${what}`);
    document.querySelector("#chart svg").moveCursor();
    const few = isEnough(period) ? "" : `, fewer than ${data.least}: too few to compare`;
    fill("readout", el("b", {}, data.periods[period]), ` · ${what} · ${plural(data.sizes[period], "document", "documents")}${few}`);
  }

  /** Show a finding, an alarm or a topic in the timeline. */
  function show(key) {
    state.subject = key;
    byId("subject").value = key;
    const { one } = seriesOf(key);
    if (one) state.period = one.last;
    drawChart();
  }

  function startTime() {
    if (!data.periods.length) return;
    byId("time").hidden = false;
    const along = data.findings.map((one, i) => [`f${i}`, one]).filter(([, one]) => one.group === null);
    const option = (key) => el("option", { value: key }, seriesOf(key).name);
    const part = (name, keys) => (keys.length ? el("optgroup", { label: name }, keys.map(option)) : null);
    fill("subject", part("Findings", along.map(([key]) => key)), part("Alarms", data.alarms.map((_, i) => `a${i}`)),
      part("Topics", data.topics.map((_, i) => `t${i}`)));
    byId("subject").setAttribute("aria-label", "Shown in the timeline");
    byId("subject").addEventListener("change", (event) => show(event.target.value));
    byId("period").max = data.periods.length - 1;
    state.period = data.periods.length - 1;
    byId("period").addEventListener("input", (event) => showPeriod(Number(event.target.value)));
    addEventListener("resize", drawChart);
    show(along.length ? along[0][0] : "t0");
  }

  // Topics

  /** The beginning of a document, from its first word on. */
  function quoteOf(topic) {
    const text = topic.documents.length && data.has_texts ? topic.documents[0].parts.join("").replace(/\s+/g, " ").trim() : "";
    return text.length > 150 ? `${text.slice(0, 150).replace(/\s\S*$/, "")}…` : text;
  }

  function drawCards() {
    fill("cards", data.topics.slice(0, state.cards).map((topic, place) => {
      const parts = edited.parts[place], quote = quoteOf(topic);
      if (!parts.length) return null;  // It was merged into another one.
      const weight = parts.reduce((sum, part) => sum + data.topics[part].weight, 0);
      const kind = `${topic.prior > 0.5 ? " faint" : ""}${edited.hidden.has(place) ? " hidden" : ""}`;
      return el("li", { class: `card topic${kind}`, "data-place": place },
        el("div", { class: "top" }, el("span", {}, `Topic ${topic.id}`, marksOf(place)), el("span", {}, percent(weight))),
        state.renaming === place ? renameForm(place)
          : el("h3", {}, button(labels[place], () => (state.open && state.topic === place ? closePanel(true) : choose(place, narrow())), { "aria-expanded": "false" })),
        spark(sumOf(parts)),
        movedWords(place),
        topic.change ? el("p", { class: "change" }, capital(topic.change)) : null,
        topic.came.length ? el("p", { class: "came" }, "More of: ", el("b", {}, topic.came.join(", "))) : null,
        quote ? el("p", { class: "quote" }, `“${quote}”`) : null,
        editTools(place));
    }));
    const more = byId("more-cards");
    more.hidden = data.topics.length <= state.cards;
    more.textContent = `Show all ${count(data.topics.length)} topics`;
    placePanel();
  }

  /** Put the open topic below its card, if there still is one. */
  function placePanel() {
    const card = state.open ? cardOf(state.topic) : null;
    if (!card) {
      state.open = false;
      panel.remove();
      return;
    }
    card.classList.add("here");
    card.querySelector("h3 button")?.setAttribute("aria-expanded", "true");
    card.after(panel);
  }

  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  const cardOf = (place) => document.querySelector(`.topic[data-place="${place}"]`);

  const panel = byId("panel-template").content.firstElementChild;

  function closePanel(focus = false) {
    const card = cardOf(state.topic);
    state.open = false;
    panel.remove();
    document.querySelectorAll(".topic.here").forEach((item) => item.classList.remove("here"));
    const title = card?.querySelector("h3 button");
    title?.setAttribute("aria-expanded", "false");
    if (focus) title?.focus();
  }

  function drawDocuments() {
    const topic = data.topics[state.topic];
    const none = "No document that is long enough has this as its main topic.";
    fill("documents", topic.documents.length
      ? topic.documents.map((doc) => drawDocument(doc, state.topic, true))
      : el("p", { class: "note" }, none));
  }

  function drawTopic() {
    const topic = data.topics[state.topic];
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

  /** Open a topic below its card; `move` also takes the reader to it. */
  function choose(asked, move = false) {
    // A topic that was merged is on the card of another one.
    const place = edited.parts.findIndex((parts) => parts.includes(asked));
    if (place >= state.cards) {
      state.cards = data.topics.length;
      drawCards();
    }
    closePanel();
    state.topic = place;
    state.open = true;
    placePanel();
    drawTopic();
    document.querySelectorAll("#map [data-place], #tree [data-topic]").forEach((group) =>
      group.classList.toggle("here", (group.dataset.place ?? group.dataset.topic) === String(place)));
    if (data.periods.length && state.subject !== `t${place}`) show(`t${place}`);
    if (!withinPage) history.replaceState(null, "", `#topic-${data.topics[place].id}`);
    if (move) go(panel);
  }

  function startTopics() {
    byId("topics").append(panel);
    byId("close").addEventListener("click", () => closePanel(true));
    const slider = byId("relevance");
    slider.value = state.relevance;
    slider.addEventListener("input", () => { state.relevance = Number(slider.value); drawWords(); });
    byId("documents-part").hidden = !data.has_documents;
    panel.querySelector(".columns").classList.toggle("single", !data.has_documents);
    panel.addEventListener("keydown", (event) => { if (event.key === "Escape") closePanel(true); });
    panel.remove();
    byId("more-cards").addEventListener("click", () => { state.cards = data.topics.length; drawCards(); });
    drawCards();
  }

  // Editing: what people change on the cards, as a file that the model takes

  const edits = [], chosen = new Set();
  let edited = afterEdits(), isSaved = true;

  /** What there is after the edits: names, hidden and locked topics, topics that make up each one, and words that have come and gone. */
  function afterEdits() {
    const found = {
      names: data.topics.map((topic) => topic.name), parts: data.topics.map((_, place) => [place]), hidden: new Set(),
      locked: new Set(data.topics.flatMap((topic, place) => (topic.is_locked ? [place] : []))),
      excluded: data.topics.map(() => new Set()), pulled: data.topics.map(() => new Set()) };
    for (const { kind, topics: [first, ...others], word, name } of edits) {
      if (kind === "rename") found.names[first] = name;
      if (kind === "hide") found.hidden.add(first);
      if (kind === "lock") found.locked.add(first);
      if (kind === "unlock") found.locked.delete(first);
      if (kind === "exclude") { found.excluded[first].add(word); found.pulled[first].delete(word); }
      if (kind === "pull") { found.pulled[first].add(word); found.excluded[first].delete(word); }
      if (kind === "merge") {
        found.parts[first] = [first, ...others].flatMap((place) => found.parts[place]);
        others.forEach((place) => {
          found.parts[place] = [];
          // What one of them excludes, all of them do.
          found.excluded[place].forEach((one) => found.excluded[first].add(one));
        });
      }
    }
    return found;
  }

  const isExcluded = (place, word) => edited.excluded[place].has(word);
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  /** Add an edit, or take it back if there is one like it; one of two opposites is enough. */
  function toggle(edit, opposite) {
    const isLike = (other) => same(other, edit) || same(other, { ...edit, kind: opposite });
    const at = edits.findIndex(isLike);
    if (at >= 0) takeBack(at);
    else change(edit);
  }

  function change(edit) {
    edits.push(edit);
    redraw(inWords(edit));
  }

  function takeBack(at) {
    const [edit] = edits.splice(at, 1);
    redraw(`Taken back: ${inWords(edit)}`);
  }

  /** An edit in words. */
  function inWords({ kind, topics: [first, ...others], word, name }) {
    const topic = `${data.topics[first].id} · ${labelOf(data.topics[first], data.topics[first].name)}`;
    return {
      merge: () => `Merge ${topic} with ${others.map(called).join(" and with ")}`,
      rename: () => (name ? `Name ${topic}: “${name}”` : `Take the name of ${topic} away`),
      hide: () => `Hide ${topic}`, lock: () => `Lock the words of ${topic}`, unlock: () => `Unlock ${topic}`,
      exclude: () => `Keep “${word}” out of ${topic}`, pull: () => `Pull “${word}” to ${topic}`,
    }[kind]();
  }

  /** Draw again what edits change, with the focus where it was. */
  function redraw(message) {
    const focus = document.activeElement.dataset.key;
    isSaved = !edits.length;
    edited = afterEdits();
    labels = data.topics.map((topic, place) => labelOf(topic, edited.names[place]));
    chosen.forEach((place) => { if (!edited.parts[place].length) chosen.delete(place); });
    drawCards();
    drawEdits();
    if (state.open) drawTopic();
    if (data.branches.length) drawTree();
    else drawMap();
    if (data.groups.length > 1) drawTiles();
    byId("edit-said").textContent = message;
    document.querySelector(`[data-key="${CSS.escape(focus ?? "")}"]`)?.focus();
  }

  function drawEdits() {
    byId("merge").textContent = chosen.size > 1 ? `Merge ${chosen.size} topics` : "Merge: choose two topics or more";
    byId("merge").hidden = !data.edits.includes("merge");
    byId("merge").disabled = chosen.size < 2;
    byId("save").disabled = !edits.length;
    byId("edit-count").textContent = edits.length ? plural(edits.length, "edit", "edits") : "No edits yet";
    fill("edits", edits.map((edit, i) => el("li", {}, el("span", {}, inWords(edit)), " ",
      button("Take back", () => { takeBack(i); byId("edit-count").focus(); }, { class: "quiet", "aria-label": `Take back: ${inWords(edit)}` }))));
  }

  /** What a card says of its state. */
  function marksOf(place) {
    const marks = [edited.locked.has(place) ? "locked" : null, edited.hidden.has(place) ? "hidden" : null].filter(Boolean);
    return marks.map((mark) => el("span", { class: "kind" }, mark));
  }

  /** The shares of topics that are put together. */
  function sumOf(parts) {
    const shares = data.periods.map((_, i) => (data.topics[parts[0]].shares[i] === null ? null : parts.reduce((sum, part) => sum + data.topics[part].shares[i], 0)));
    return { shares };
  }

  /** Topics and words that edits have moved to a topic or out of it. */
  function movedWords(place) {
    const list = (name, ones) => (ones.length ? el("p", { class: "came" }, `${name}: `, el("b", {}, ones.join(", "))) : null);
    return [list("With", edited.parts[place].slice(1).map(called)), list("Pulled", [...edited.pulled[place]]), list("Not", [...edited.excluded[place]])];
  }

  function editTools(place) {
    if (!state.editing) return null;
    const tool = (kind, name, on, attributes = {}) => (data.edits.includes(kind)
      ? button(name, on, { class: "quiet", "data-key": `${kind}-${place}`, "aria-label": `${name} topic ${called(place)}`, ...attributes }) : null);
    const flip = (kind, opposite) => () => toggle({ kind, topics: [place] }, opposite);
    const box = el("input", { type: "checkbox", "data-key": `merge-${place}`, "aria-label": `Choose topic ${called(place)} for a merge` });
    box.checked = chosen.has(place);
    box.addEventListener("change", () => { if (box.checked) chosen.add(place); else chosen.delete(place); drawEdits(); });
    return el("div", { class: "tools" },
      data.edits.includes("merge") ? el("label", { class: "quiet" }, box, "Merge") : null,
      tool("rename", "Rename", () => { state.renaming = place; drawCards(); byId("new-name").select(); }),
      tool("hide", edited.hidden.has(place) ? "Show" : "Hide", flip("hide", "hide")),
      tool("lock", edited.locked.has(place) ? "Unlock" : "Lock", edited.locked.has(place) ? flip("unlock", "lock") : flip("lock", "unlock")));
  }

  function renameForm(place) {
    const input = el("input", { id: "new-name", "aria-label": `Name of topic ${data.topics[place].id}`, placeholder: labels[place] });
    input.value = edited.names[place] || labels[place];
    const form = el("form", { class: "rename" }, input, el("button", { class: "quiet" }, "Name"));
    const close = () => { state.renaming = null; };
    const again = () => document.querySelector(`[data-key="rename-${place}"]`)?.focus();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = input.value.trim(), isNew = name !== edited.names[place] && name !== labelOf(data.topics[place], "");
      close();
      // The last name of a topic is the one that it keeps.
      const before = edits.findIndex((edit) => edit.kind === "rename" && edit.topics[0] === place);
      if (isNew && before >= 0) edits.splice(before, 1);
      if (isNew) change({ kind: "rename", topics: [place], name });
      else drawCards();
      again();
    });
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); drawCards(); again(); } });
    return form;
  }

  function excludeButton(place, word) {
    if (!state.editing || !data.edits.includes("exclude") || word.endsWith("…")) return null;
    const out = isExcluded(place, word);
    const isOwn = (edit) => edit.kind === "exclude" && edit.word === word && edited.parts[place].includes(edit.topics[0]);
    return button(out ? "↶" : "×", () => (out ? takeBack(edits.findLastIndex(isOwn)) : change({ kind: "exclude", topics: [place], word })), {
      class: "out", "data-key": `exclude-${place}-${word}`, "aria-pressed": String(out), "aria-label": `Not “${word}”`, title: out ? "Take back" : `Keep “${word}” out of this topic` });
  }

  /** The file of the edits, as `streamtopics.editing.edits_to_json` writes one. */
  function fileOf() {
    const rows = edits.map(({ kind, topics, word, name }) => JSON.stringify({ kind,
      topics: topics.map((place) => data.topics[place].id), leading: topics.map((place) => data.topics[place].leading),
      ...(word === undefined ? {} : { words: [wordOf(word)] }), ...(name ? { name } : {}) }));
    return `{"format": "streamtopics edits", "edits": [\n${rows.join(",\n")}\n]}\n`;
  }

  /** A word as the model knows it: columns without names are numbers. */
  function wordOf(word) {
    const first = data.topics.find((topic) => topic.leading.length);
    return first && typeof first.leading[0][0] === "number" ? Number(word) : word;
  }

  function save() {
    const address = URL.createObjectURL(new Blob([fileOf()], { type: "application/json" }));
    el("a", { href: address, download: "edits.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    isSaved = true;
    byId("edit-said").textContent = "Saved as edits.json.";
  }

  function startEditing() {
    if (!data.edits.length) return;
    const toggleMode = byId("edit");
    toggleMode.hidden = false;
    toggleMode.addEventListener("click", () => {
      state.editing = !state.editing;
      Object.assign(state, { renaming: null });
      toggleMode.setAttribute("aria-pressed", String(state.editing));
      toggleMode.textContent = state.editing ? "Stop editing" : "Edit topics";
      byId("edit-bar").hidden = !state.editing;
      redraw("");
    });
    fill("edit-note", "Save the edits as a file, and give it to the model: ", el("code", {}, "streamtopics edit MODEL edits.json"),
      ", or ", el("code", {}, "editing.apply_edits"), " in Python. Names and cards show the edits; shares and findings are those of the model as it is.");
    add(panel.querySelector("datalist"), [...data.words, ...data.more_words.map(([word]) => word)].filter((word) => !word.endsWith("…")).map((value) => el("option", { value })));
    byId("merge").addEventListener("click", () => {
      const topics = [...chosen].sort((a, b) => a - b);
      chosen.clear();
      change({ kind: "merge", topics });
      document.querySelector(`[data-key="merge-${topics[0]}"]`)?.focus();
    });
    byId("save").addEventListener("click", save);
    panel.querySelector("#pull").addEventListener("submit", (event) => {
      event.preventDefault();
      const word = byId("pulled").value.trim();
      byId("pulled").value = "";
      if (word && !edited.pulled[state.topic].has(word)) change({ kind: "pull", topics: [state.topic], word });
    });
    addEventListener("beforeunload", (event) => { if (!isSaved) event.preventDefault(); });
    drawEdits();
  }

  // The tree and the map

  const nTopics = data.topics.length;

  /** Whether a topic has learnt next to nothing: such topics lie on each other. */
  const isBare = (topic) => topic.prior > 0.5 && topic.weight < 0.001;

  const members = (node) => (node < nTopics ? [node] : [...members(data.branches[node - nTopics].left), ...members(data.branches[node - nTopics].right)]);

  /** The branches that are left when the last ones are taken apart, and the topics of each. */
  function groupsOf(n) {
    let roots = data.branches.length ? [nTopics + data.branches.length - 1] : data.topics.map((_, i) => i);
    for (let last = data.branches.length - 1; roots.length < n && last >= 0; last--) {
      roots = roots.flatMap((node) => (node === nTopics + last ? [data.branches[last].left, data.branches[last].right] : [node]));
    }
    return roots.map((node) => ({ node, topics: members(node), weight: members(node).reduce((sum, k) => sum + data.topics[k].weight, 0) }))
      .sort((a, b) => b.weight - a.weight).map((group, i) => ({ ...group, colour: i < COLOURS ? `l${i}` : "lx" }));
  }

  const nameOf = ({ node }) => (node < nTopics ? labels[node] : data.branches[node - nTopics].words.join(", ") || "no common words");

  function drawTree() {
    const groups = groupsOf(state.groups), width = Math.max(byId("tree").clientWidth, 220), row = 21;
    const treeWide = Math.max(0.34 * width, Math.min(0.62 * width, width - 330)), highest = Math.max(1e-9, ...data.branches.map((one) => one.height));
    const lowest = Math.min(...data.branches.map((one) => one.height)), from = Math.max(0, lowest - 0.25 * (highest - lowest || highest));
    const x = (height) => 8 + (treeWide - 16) * (1 - (height - from) / (highest - from));
    const at = new Map(), colour = new Map(), order = [], paths = [];
    const below = (node, name) => {
      const group = groups.find((one) => one.node === node);
      const own = group ? group.colour : name;
      colour.set(node, own);
      if (node < nTopics || members(node).every((place) => isBare(data.topics[place]))) {
        at.set(node, { x: treeWide - 8, y: (order.push(node) - 0.5) * row });
        return;
      }
      const { left, right, height } = data.branches[node - nTopics];
      below(left, own);
      below(right, own);
      const a = at.get(left), b = at.get(right), here = x(height);
      at.set(node, { x: here, y: (a.y + b.y) / 2 });
      paths.push(svg("path", { ...(own ? { class: own } : {}), d: `M${a.x} ${a.y}H${here}V${b.y}H${b.x}` }));
    };
    below(nTopics + data.branches.length - 1, "");
    const leaves = order.map((node) => {
      const isTopic = node < nTopics, name = isTopic ? called(node) : `${count(members(node).length)} topics of almost no tokens`;
      const y = at.get(node).y, leaf = svg("g", { ...(isTopic ? { "data-topic": node } : {}), class: node === state.topic && state.open ? "here" : "" }, svg("title", {}, name),
        svg("path", { class: colour.get(node), d: `M${treeWide - 8} ${y}H${treeWide}` }), label(fitting(name, width - treeWide - 8), treeWide + 6, y, { class: isTopic ? "" : "faded" }));
      if (isTopic) leaf.addEventListener("click", () => choose(node, true));
      return leaf;
    });
    const heights = data.branches.map((one) => one.height), n = state.groups;
    const line_ = n > 1 && n < nTopics ? x((heights[nTopics - n - 1] + heights[nTopics - n]) / 2) : null;
    fill("tree", svg("svg", { width, height: order.length * row + 4, role: "img", "aria-label": "Tree of the topics by the words they share; the list below says the same" },
      paths, leaves, line_ === null ? null : line("cut-line", line_, 0, line_, order.length * row)));
    byId("n-groups").textContent = String(state.groups);
    fill("branches", groups.map((group) => el("li", {}, el("span", { class: `swatch ${group.colour}`, "aria-hidden": "true" }),
      el("span", {}, button(nameOf(group), () => zoom(group), { "aria-label": `${nameOf(group)}: show on the map` }),
        el("span", { class: "note" }, ` ${plural(group.topics.length, "topic", "topics")}, ${percent(group.weight)}: ${group.topics.map((k) => data.topics[k].id).join(", ")}`)))));
    drawMap();
  }

  /** Show one group of topics on the map, or all again. */
  function zoom(group) {
    state.within = state.within === group.node ? null : group.node;
    drawMap();
    go(byId("map"), false);
  }

  function drawMap() {
    const groups = groupsOf(state.groups), zoomed = groups.find((group) => group.node === state.within);
    const all = zoomed ? zoomed.topics : data.topics.map((_, i) => i);
    const some = all.filter((k) => !isBare(data.topics[k])), shown = some.length ? some : all;
    const width = Math.max(byId("map").clientWidth, 240), height = Math.min(Math.max(0.55 * width, 340), 560);
    const edge = Math.min(90, width / 7);
    const xs = shown.map((k) => data.topics[k].x), ys = shown.map((k) => data.topics[k].y);
    const span = (values) => Math.max(...values) - Math.min(...values) || 1;
    // One scale for both, so that distances are true.
    const scale = Math.min((width - 2 * edge) / span(xs), (height - 2 * 46) / span(ys));
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    const heaviest = Math.max(...shown.map((k) => data.topics[k].weight));
    const largest = Math.max(10, Math.min(36, (0.16 * width) / Math.sqrt(shown.length)));
    const spots = shown.map((k) => ({ place: k,
      x: width / 2 + (data.topics[k].x - middle(xs)) * scale, y: height / 2 - (data.topics[k].y - middle(ys)) * scale,
      r: Math.max(8, largest * Math.sqrt(data.topics[k].weight / heaviest)) }));
    moveApart(spots, width, height);
    const circles = spots.map(({ place, x, y, r }) => {
      const group = svg("g", { "data-place": place, class: `${groups.find((one) => one.topics.includes(place)).colour}${place === state.topic && state.open ? " here" : ""}` },
        svg("title", {}, called(place)), svg("circle", { cx: x, cy: y, r }), label(String(data.topics[place].id), x, y));
      group.addEventListener("click", () => choose(place, true));
      return group;
    });
    const taken = spots.map(({ x, y, r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }));
    const tags = spots.map((spot, i) => tag(spot, i, width, height, taken));
    fill("map", svg("svg", { width, height, role: "img", "aria-label": "Map of the topics by similarity; the cards say the same" }, circles, tags),
      shown.length < all.length ? el("p", { class: "note" }, `${plural(all.length - shown.length, "topic", "topics")} of almost no tokens ${all.length - shown.length === 1 ? "is" : "are"} left out.`) : null,
      zoomed ? button("Show all topics", () => zoom(zoomed), { class: "quiet" }) : null);
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


  /** Words beside a circle, where they hide nothing; heavy topics come first, and find more room. */
  function tag({ x, y, r, place }, own, width, height, taken) {
    const words = labels[place].split(", ");
    for (const text of [words.slice(0, 3).join(", "), words.slice(0, 2).join(", "), words[0]].map((one) => fitting(one, 150))) {
      const w = widthOf(text) / 2 + 2, h = 9, beside = r + w + 3, far = 0.72 * r + 6;
      for (const [dx, dy] of [[0, r + 9], [0, -r - 9], [beside, 0], [-beside, 0], [w + 0.6 * r, far], [-w - 0.6 * r, far], [w + 0.6 * r, -far], [-w - 0.6 * r, -far]]) {
        const box = { left: x + dx - w, right: x + dx + w, top: y + dy - h, bottom: y + dy + h };
        if (box.left < 0 || box.right > width || box.top < 0 || box.bottom > height) continue;
        if (taken.some((other, i) => i !== own && box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top)) continue;
        taken.push(box);
        return label(text, x + dx, y + dy, { class: "tag" });
      }
    }
    return null;
  }

  function startMap() {
    const slider = byId("cut");
    byId("tree-part").hidden = !data.branches.length;
    slider.max = nTopics;
    state.groups = Math.min(nTopics, Math.max(2, Math.round(Math.sqrt(nTopics))));
    slider.value = state.groups;
    slider.addEventListener("input", () => { state.groups = Number(slider.value); state.within = null; drawTree(); });
    const draw = data.branches.length ? drawTree : drawMap;
    addEventListener("resize", draw);
    draw();
  }

  // Groups of documents

  /** The shares of a topic in groups as small columns, of which one is the group of a finding. */
  const topicInGroups = ({ by_group, group_low, group_high }) => ({ shares: by_group, low: group_low, high: group_high });
  /** Shares in groups of the word, or else of the topic, that a finding is of. */
  const inGroups = (one) => (one.word !== null && one.shares.length ? one : one.topic === null ? null : topicInGroups(data.topics[one.topic]));

  function groupSpark(one) {
    if (!inGroups(one) || data.groups.length < 2) return null;
    const { group } = one, { shares } = inGroups(one), high = most(shares), step = 200 / shares.length;
    return svg("svg", { viewBox: "0 0 200 46", preserveAspectRatio: "none", "aria-hidden": "true" }, line("grid", 0, 46, 200, 46),
      shares.map((share, g) => svg("rect", { class: `group${data.groups[g] === group ? " here" : ""}`, x: g * step + 0.1 * step, width: 0.8 * step, y: 46 * (1 - (share ?? 0) / high), height: (46 * (share ?? 0)) / high })));
  }

  /** Shares in groups with their intervals, beside the mean of all (dashed). */
  function groupBars({ shares, low, high: upper }, n, here = null) {
    const total = data.group_sizes.reduce((sum, size) => sum + size, 0);
    const mean = data.group_sizes.reduce((sum, size, g) => sum + size * (shares[g] ?? 0), 0) / total;
    const shown = data.groups.map((_, g) => g).slice(0, n), high = Math.max(mean, most(shown.map((g) => upper[g])));
    const x = (value) => (2 + (196 * value) / high).toFixed(1);
    return el("div", { class: "bars" }, shown.filter((g) => shares[g] !== null).map((g) => el("div", { class: `of-group${data.groups[g] === here ? " here" : ""}`,
      title: `${data.groups[g]}: ${percent(shares[g])} (${percent(low[g])} to ${percent(upper[g])}), ${plural(data.group_sizes[g], "document", "documents")}` },
      el("span", {}, data.groups[g]),
      svg("svg", { viewBox: "0 0 200 20", preserveAspectRatio: "none", "aria-hidden": "true" }, line("grid", 0, 10, 200, 10), line("mean", x(mean), 0, x(mean), 20),
        line("whisker", x(low[g]), 10, x(upper[g]), 10), line("dot", x(shares[g]), 10, x(shares[g]), 10)),
      el("span", {}, percent(shares[g])))));
  }

  function drawTiles() {
    const n = 8;
    fill("tiles", data.topics.slice(0, state.tiles).map((_, place) => el("div", { class: "card tile" },
      el("h3", {}, button(called(place), () => choose(place, true))), groupBars(topicInGroups(data.topics[place]), n))));
    byId("more-tiles").hidden = data.topics.length <= state.tiles;
    byId("more-tiles").textContent = `Show all ${count(data.topics.length)} topics`;
    byId("groups-note").textContent = `Mean share of each topic in ${data.groups.length > n ? `the ${n} largest groups of documents` : "each group of documents"}${data.over_all ? "" : " of the sample"}, with 95 % intervals. Dashed: the mean of ${data.groups.length > n ? `the ${data.groups.length} largest` : "all these"}.`;
  }

  function startGroups() {
    if (data.groups.length < 2) return;
    byId("groups-part").hidden = false;
    byId("more-tiles").addEventListener("click", () => { state.tiles = data.topics.length; drawTiles(); });
    drawTiles();
  }

  // Details

  const COLUMNS = {
    "p exact": "p by relabelling", "p chart": "p against the past", "n new": "new documents", "n before": "earlier documents",
    batch: "minibatch", born: "first minibatch", "born time": "first seen", "last seen": "last minibatch", "last seen time": "last seen",
    new: "new in documents", died: "gone in minibatch", "died time": "gone since" };

  function drawTables() {
    fill("tables", data.tables.map(([heading, table]) => {
      const place = new Map(data.topics.map((topic, i) => [String(topic.id), i]));
      // A tracker's topics have numbers of their own; then the row says which one of the model it is.
      const link = table.columns.includes("row") ? "row" : "topic";
      const names = table.columns.map((name) => (name === link ? "topic" : name === "topic" ? "id" : COLUMNS[name] ?? name));
      // Words first, as they say what a row is about, and then the topic.
      const first = (i) => (table.columns[i] === "words" ? 0 : table.columns[i] === link ? 1 : 2);
      const order = names.map((_, i) => i).sort((a, b) => first(a) - first(b));
      const kind = (value) => (value.length > 24 ? "long" : /^\d{4}-\d{2}-\d{2}/.test(value) ? "time" : null);
      const cell = (value, column) => {
        if (table.columns[column] !== link) return value;
        return place.has(value) ? button(value, () => choose(place.get(value), true), { "aria-label": `Topic ${value}` }) : value === "-1" ? "" : value;
      };
      const rows = table.rows.map((row) => el("tr", {}, order.map((i) => el("td", { class: kind(row[i]), "data-name": names[i] }, cell(row[i], i)))));
      const left = table.n_left_out ? ` ${plural(table.n_left_out, "more is", "more are")} left out.` : "";
      return el("details", { class: "card" }, el("summary", {}, `${heading} (${count(rows.length)})`),
        el("p", { class: "note" }, rows.length ? `${plural(rows.length, "row", "rows")}, the newest first.${left}` : "None."),
        rows.length ? scrolled(heading, order.map((i) => names[i]), rows, "stacked") : null);
    }));
  }

  function drawScores() {
    fill("scores", data.scores.map(([name, values]) => {
      const known = values.filter((value) => value !== null);
      const last = known.length ? known[known.length - 1] : null;
      const low = Math.min(...known), high = Math.max(...known);
      const picture = known.length > 1 ? svg("svg", { viewBox: "0 0 200 46", preserveAspectRatio: "none", role: "img",
        "aria-label": `${name}, from ${low} to ${high}` },
        curve(values.map((value) => (value === null ? null : value - low)), high - low || 1, 200, 46)) : null;
      return el("div", { class: "card score" }, el("h3", {}, name), el("b", {}, last === null ? "none" : String(last)), picture,
        picture ? el("p", { class: "note" }, `the last of ${count(known.length)} values, from ${low} to ${high}`) : null);
    }));
  }

  function drawCard() {
    fill("card", data.card.map(([heading, rows]) => el("div", { class: "card" }, el("h3", {}, heading),
      el("dl", {}, rows.map(([name, value]) => el("div", { class: value.length > 40 ? "wide" : null }, el("dt", {}, name), el("dd", {}, value)))))));
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

  /** All documents that are shown, each once, and where. */
  const shownDocuments = [...new Map([
    ...data.findings.flatMap((one, finding) => one.documents.map((doc) => [doc.row, { doc, finding, name: titleOf(one) }])),
    ...data.topics.flatMap((topic, place) => topic.documents.map((doc) => [doc.row, { doc, place, name: called(place) }]))]).values()];

  function findDocuments(query) {
    return shownDocuments.flatMap((one) => {
      const text = one.doc.parts.join(""), at = text.toLowerCase().indexOf(query);
      return at >= 0 || one.doc.title.toLowerCase().includes(query) ? [{ ...one, text, at: Math.max(at, 0) }] : [];
    });
  }

  const nCounted = data.over_all ? data.sampled_from ?? data.n_documents : data.n_documents;

  /** How many documents of all have a word, where that is known. */
  const ofCounted = (n) => `in ${count(n)} of ${plural(nCounted, "document", "documents")}`;
  const holdersOf = (i) => (data.holders.length ? ofCounted(data.holders[i]) : "");

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
      return button([shown, el("small", {}, hit.name)], () => {
        closeResults();
        if (hit.place === undefined) {
          const item = byId(`finding-${hit.finding}`), body = item.querySelector(".body");
          item.open = true;
          if (!body.firstChild) drawFinding(data.findings[hit.finding], hit.finding, body);
          go(body.querySelector(`[data-row="${hit.doc.row}"]`));
        } else {
          choose(hit.place);
          go(document.querySelector(`#documents [data-row="${hit.doc.row}"]`) ?? panel);
        }
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
    const others = data.more_words.filter(([word]) => word.toLowerCase().startsWith(query));
    const inWords = `${plural(words.length, "word", "words")} of the topics`;
    const inDocuments = `${count(documents.length)} among the ${plural(shownDocuments.length, "document", "documents")} shown`;
    const first = words.length ? holdersOf(words[0][1]) : "";
    const inOthers = `${plural(others.length, "other word", "other words")} of the ${count(data.more_words.length)} most frequent`;
    byId("found").textContent = `Found: ${inWords}${first ? `, ${words[0][0]} ${first}` : ""}; ${inDocuments}`;
    fill("results",
      words.length ? [el("h3", {}, inWords), wordResults(words)] : null,
      others.length ? [el("h3", {}, inOthers), others.slice(0, MOST_FOUND).map(([word, n]) => el("p", {}, el("b", {}, word), ` is ${ofCounted(n)}`))] : null,
      data.has_documents ? [el("h3", {}, inDocuments), documentResults(documents)] : null,
      words.length || others.length ? null : el("p", {}, "No word that a topic leads with has this in it."));
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
    const items = [];
    if (data.sampled_from) items.push(fact(count(data.sampled_from), data.has_documents ? `documents, of which ${count(data.n_documents)} are kept` : "documents"));
    else if (data.has_documents) items.push(fact(count(data.n_documents), data.n_documents === 1 ? "document" : "documents"));
    const of = data.topics.length < data.n_topics ? `of ${count(data.n_topics)} topics, the heaviest` : "topics";
    items.push(fact(count(data.topics.length), of));
    if (data.periods.length) {
      // A span is written "1790 to 1794".
      const first = data.periods[0].split(" to ")[0], last = data.periods[data.periods.length - 1].split(" to ").pop();
      const known = ["number", "order"].includes(data.unit) ? "" : `by ${data.unit}`;
      items.push(fact(first === last ? first : `${first} – ${last}`, known));
    }
    // Of more groups only the largest are known.
    if (data.groups.length && data.groups.length < 24) items.push(fact(count(data.groups.length), "groups"));
    data.scores.slice(0, 2).forEach(([name, [value, ...others]]) => {
      if (value != null && !others.length) items.push(fact(String(value), name));
    });
    fill("facts", items);
  }

  function drawNav() {
    const parts = [["findings-part", "Findings"], ["time", "Timeline"], ["topics", "Topics"], ["map-part", "Map"], ["groups-part", "Groups"], ["about", "Details"]];
    fill("nav", parts.filter(([id]) => !byId(id).hidden).map(([id, name]) => el("li", {}, el("a", { href: `#${id}` }, name))));
  }

  function start() {
    startTheme();
    drawFacts();
    startTopics();
    startEditing();
    drawFindings();
    startTime();
    startMap();
    startGroups();
    drawTables();
    drawScores();
    drawCard();
    startSearch();
    drawNav();
    startLinks();
    addEventListener("beforeprint", () => document.querySelectorAll(".finding").forEach((item) => { item.open = true; }));
    const asked = data.topics.findIndex((topic) => location.hash === `#topic-${topic.id}`);
    if (asked >= 0) choose(asked, true);
  }

  start();
})();
