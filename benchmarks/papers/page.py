# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the documentation that are made from the ledger, with their pictures."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers.experiment import RESULTS
from benchmarks.papers.ledger import MARGINS, Item, Picture, called
from benchmarks.papers.verdicts import LEVEL, WORDS, Finding

PAPERS = {
    "bps": "Boosting prior knowledge on streams",
    "thesis-2": "Topics and ratings: the thesis, chapter 2",
    "thesis-3": "Online EM: the thesis, chapter 3",
    "thesis-4": "Low-rank determinantal processes: the thesis, chapter 4",
    "was": "Subtle topics of sentences",
    "hpp": "Hierarchical power priors",
}
DECILES = 10, 50, 90
MOST_SERIES = 10
# Words with which a unit begins.
UNITS = "nats", "seconds", "share", "flips"
# Columns of a table; of more places on an axis some are shown.
MOST_PLACES = 8
PANELS_IN_A_ROW = 2
INTRODUCTION = """
Every table and figure of the papers that this package implements, and what came of it here.
``python -m benchmarks.papers NAME`` prints an item, and runs what is not on file, hours for all.

What a paper says of an item may be several statements, each with its own verdict. Behind it stand
comparisons of methods on the same splits, each of which holds, or is opposite, where the mean of
its differences is beyond chance (p < .05, permutation of signs); no count is corrected. A statement
has the first of these words that fits. *Level*: 95 % of the differences are small, for the paper or
against it, by a margin that stands with them; never if the claim has a margin of its own, or is
that methods are alike. *Confirmed*: the mean over its comparisons is as claimed beyond chance, and
95 % of them hold, or more than half if the statement says most. *Mostly*: the same, and more than
half hold. *In part*: a quarter of the comparisons hold, and no more are opposite. *Refuted*: the
mean is opposite. *Not tested at the paper's scale*: in the place of the last two if the stream is
shorter than a tenth of the paper's and the differences come nearer to the claim with its length.
*Not decidable*: all others. Beside a mean stand the least and the largest difference, each with its
rival and its case; where methods are said to be alike, they are the method less its rival. Splits
are drawn from one corpus, and orders are of the same documents: chance is of the draw, and says
nothing of other corpora. The items by the mass of the prior repeat, with the mass 1, five of the
eleven splits of Figures 12 and 13, which the tally counts as different rows.

Left out are models, notation and algorithms: of the boosting paper Figures 2 to 5, 9 and 14 and
Tables 1 and 2, of the thesis Figures 1 to 3 and 5 and Table 4, of the power priors Figure 1, of
subtle topics Figures 1 and 2. Bands and brackets go from the first to the ninth decile, where
chapter 3 of the thesis draws the third to the seventh. Items that add to a figure, such as "at this
package's defaults" or "signs aligned", are variants of our own; they are counted too.
""".strip()
WITHIN = """
Bands go from the first to the ninth decile of what is left of each value without the mean of its
{}, whose texts are longer or harder than others by more than the methods differ.
""".strip()
Rows = Sequence[Mapping[str, str]]
# Writes rows, of which the first is the head, as a table; the widths are of its columns.
Form = Callable[[Sequence[Sequence[str]], str], str]
Found = Mapping[str, Sequence[Finding]]


def write(items: Sequence[Item], folder: Path, results: Path = RESULTS) -> None:
    """Write an index, a page for each paper, and all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {one.name: one.findings(results) for one in items}
    (folder / "index.rst").write_text(index(items, found), encoding="utf-8")
    for paper, title in PAPERS.items():
        own = [one for one in items if one.paper == paper]
        parts = [
            heading(title, "="),
            *(section(one, found[one.name], folder, results) for one in own),
        ]
        (folder / f"{paper}.rst").write_text("\n".join(parts), encoding="utf-8")


def index(items: Sequence[Item], found: Found) -> str:
    """Return the page that lists all items, under the tally of all comparisons."""
    parts = []
    for paper, title in PAPERS.items():
        rows = [["item", "the paper says", "verdict", "comparisons"]]
        for one in (item for item in items if item.paper == paper):
            name = f":ref:`{one.number} <{one.name}>`"
            for says, word, counts in statements(one, found[one.name]):
                rows.append([name, says, word, counts])
                name = ""
        link = f":doc:`All tables and pictures <{paper}>`\n"
        parts += [heading(title, "-"), link, list_table(rows, "14 36 14 36")]
    toc = "\n".join(f"   {paper}" for paper in PAPERS)
    return (
        heading("The ledger of the papers", "=") + f"\n{tally(items, found)}\n{INTRODUCTION}\n\n"
        f".. toctree::\n   :maxdepth: 1\n   :hidden:\n\n{toc}\n\n"
        + "\n".join([*parts, heading("Verdicts that were refuted once", "-"), once(items, found)])
    )


def tally(items: Sequence[Item], found: Found, form: Form | None = None) -> str:
    """Return how many comparisons hold, and how many statements have each verdict."""
    every = [one for own in found.values() for one in own]
    n, n_hold, n_opposite, n_open = counts(every)
    claimed = sum(bool(item.claims) for item in items)
    head = (
        f"Of {n:,} comparisons behind {len(every)} statements of {claimed} tables and figures, "
        f"{n_hold:,} hold beyond chance ({n_hold / n:.0%}), {n_opposite} are opposite "
        f"({n_opposite / n:.0%}), and {n_open} are open. A comparison behind several "
        f"statements counts once for each; counted once in all, there are {distinct(every):,}."
    ).replace("%", " %")
    rows = [["verdict", "statements", "comparisons", "hold", "opposite", "open"]]
    for word in WORDS:
        own = [one for one in every if one.word == word]
        rows.append([word, *map(str, (len(own), *counts(own)))])
    rows += [
        [f"{word}, by calculation", str(sum(item.verdict == word for item in items)), *[""] * 4]
        for word in dict.fromkeys(item.verdict for item in items if item.verdict)
    ]
    rows.append(["not at hand", str(sum(bool(item.missing) for item in items)), *[""] * 4])
    return f"{fill(head, 100)}\n\n{(form or list_table)(rows, '')}"


def counts(found: Sequence[Finding]) -> tuple[int, int, int, int]:
    """How many comparisons there are, and how many of them hold, are opposite, and are open."""
    n, n_hold = sum(len(one.every) for one in found), sum(one.n_hold for one in found)
    n_opposite = sum(one.n_opposite for one in found)
    return n, n_hold, n_opposite, n - n_hold - n_opposite


def distinct(found: Sequence[Finding]) -> int:
    """How many comparisons are of different rows, whichever of the two methods goes first."""
    several = {
        (claim.value, made.pairs, frozenset((claim.method, made.other)),
         f"{abs(made.difference):.9g}", f"{2 * made.level + made.difference:.9g}")
        for one in found
        for claim, some in zip(one.claims, one.compared, strict=True) for made in some
    }  # fmt: skip
    return len(several)


def once(items: Sequence[Item], found: Found) -> str:
    """Return a table of the items that one opposite comparison was once enough to refute."""
    rows = [["item", "statement", "once", "now", "comparisons", "documents"]]
    for item in items:
        if item.once:
            name, scale = f":ref:`{item.number} <{item.name}>`", scale_of(item)
            for says, word, counts in statements(item, found[item.name]):
                rows.append([name, says, item.once, word, counts, scale])
                name = ""
    return list_table(rows, "14 26 10 12 26 12")


def scale_of(item: Item) -> str:
    """How many documents there are here and in the paper, where that matters."""
    return f"{item.learnt:,}, in the paper {item.papers:,}" if item.papers else ""


def statements(item: Item, found: Sequence[Finding]) -> list[tuple[str, str, str]]:
    """What an item says: each statement with its verdict, and its counts and sizes."""
    if not found:
        word = item.verdict or ("not at hand" if item.missing else "no claim")
        return [(item.says, word, "by calculation" if item.verdict else "")]
    return [(one.claims[0].of or item.says, one.word, sizes(item, one)) for one in found]


def sizes(item: Item, found: Finding) -> str:
    """In how many comparisons a statement holds, in how many it is opposite, and by how much."""
    claim, every = found.claims[0], found.every
    column, alike = claim.value, claim.alike is not None
    name, _, unit = called(item.experiment, column).rpartition(", ")
    if unit.split()[0] not in UNITS:
        name, unit = called(item.experiment, column), ""
    level = float(np.mean([one.level for one in every]))
    of = f" of {written(level)}" if abs(level) > abs(found.effect) else ""
    text = f"holds in {found.n_hold} of {len(every)}, opposite in {found.n_opposite}; mean "
    text += f"{'size of the ' if alike else ''}difference{name and f' in {name}'}"
    text += f": {found.effect:.2g}" if alike else f", above 0 as claimed: {found.effect:+.2g}"
    ends = sorted(zip(found.signed, every, strict=True), key=lambda end: end[0])
    low, high = (
        f"{by:+.2g} ({', '.join([one.other, *one.where])})" for by, one in (ends[0], ends[-1])
    )
    text += f"{unit and ' '}{unit}{of}" + (f", from {low} to {high}" if len(every) > 1 else "")
    if claim.margin or claim.alike is not None:
        text += f", where the claim is: {claim.says()}"
    return f"{text}; less than {MARGINS[column]:g} is small" if found.word == LEVEL else text


def section(item: Item, found: Sequence[Finding], folder: Path, results: Path) -> str:
    """Return the section of an item, and draw its picture."""
    parts = [f"\n.. _{item.name}:\n", heading(f"{item.number}: {item.title}", "-")]
    if item.says:
        parts.append(f"*The paper says:* {item.says}\n")
    if item.missing:
        parts.append(f"*Not at hand:* {item.missing}\n")
        return "\n".join(parts)
    parts += judged(item, found)
    for place, picture in enumerate([item.picture, *item.more] if item.picture else item.more):
        rows = item.shown(picture, results)
        if rows:
            name = f"{item.name}-{place}" if place else item.name
            parts.append(shown(item.title, picture, rows, folder / f"{name}.png"))
    if found:
        compared = list_table(comparison_rows(item.experiment, found), "")
        parts.append(folded("What the verdict rests on", compared))
    parts.append(f"``python -m benchmarks.papers {item.name}``\n")
    return "\n".join(parts)


def judged(item: Item, found: Sequence[Finding]) -> list[str]:
    """Return paragraphs: the verdicts with their counts, the data, the scale, and remarks."""
    told = [
        f"*Here:* {f'{says}: ' if says != item.says else ''}**{word}**{counts and f', {counts}'}.\n"
        for says, word, counts in statements(item, found)
        if item.verdict or found
    ]
    return [*told, *(f"{text}\n" for text in notes(item))]


def notes(item: Item) -> list[str]:
    """Return what is said of an item: its data, its scale, what is missing, and a remark."""
    scale = f"Documents: {scale_of(item)}." if item.papers else ""
    return list(filter(None, (item.data, f"{scale} {item.why}".strip(), item.missing, item.remark)))


def shown(title: str, picture: Picture, rows: Rows, path: Path) -> str:
    """Return medians and deciles as a table, below the picture of them, or texts."""
    if picture.kind == "words":
        return words(picture, rows)
    if picture.kind == "table":
        return table(picture, rows)
    draw(picture, rows).savefig(path, dpi=110)
    numbers = folded("Numbers", table(picture, rows))
    above = f"{picture.title}:\n\n" if picture.title else ""
    below = f"{WITHIN.format(picture.within)}\n\n" if picture.within else ""
    image = f".. image:: {path.name}\n   :alt: {picture.title or title}\n\n"
    return f"{above}{image}{below}{numbers}"


def folded(title: str, text: str) -> str:
    """The text, of which a page shows the title until it is clicked on."""
    return (
        f".. raw:: html\n\n   <details><summary>{title}</summary>\n\n{text}\n"
        ".. raw:: html\n\n   </details>\n"
    )


def panel_title(picture: Picture, panel: str) -> str:
    """Return what stands above a panel: its value, after the column's name if it is a number."""
    return f"{picture.called(picture.panels)} {panel}" if is_numbers([panel]) else panel


Cells = dict[tuple[str, str, str], list[float]]


def grouped(picture: Picture, rows: Rows) -> Cells:
    """Values by panel, series and place on the axis, in the order of the rows."""
    found: Cells = defaultdict(list)
    for row in rows:
        if row[picture.y] not in ("", "nan"):
            panel = row[picture.panels] if picture.panels else ""
            found[panel, row[picture.series], row[picture.x]].append(float(row[picture.y]))
    return found


def without_levels(picture: Picture, rows: Rows) -> Cells:
    """Values as `grouped`, of each split less its mean in the panel."""
    by_split: dict[tuple[str, str], list[float]] = defaultdict(list)
    known = [row for row in rows if row[picture.y] not in ("", "nan")]
    for row in known:
        by_split[row.get(picture.panels, ""), row[picture.within]].append(float(row[picture.y]))
    found: Cells = defaultdict(list)
    for row in known:
        panel = row.get(picture.panels, "")
        level = np.mean(by_split[panel, row[picture.within]])
        found[panel, row[picture.series], row[picture.x]].append(float(row[picture.y]) - level)
    return found


def draw(picture: Picture, rows: Rows) -> Figure:
    """Lines of medians, with the first and the last decile."""
    cells = grouped(picture, rows)
    around = without_levels(picture, rows) if picture.within else cells
    panels = list(dict.fromkeys(panel for panel, _, _ in cells))
    wide, high = min(len(panels), PANELS_IN_A_ROW), -(-len(panels) // PANELS_IN_A_ROW)
    names = in_order(series for _, series, _ in cells)
    figure = Figure(figsize=(2.4 + 3.7 * wide, 3.4 * high), layout="constrained")
    axes = figure.subplots(high, wide, squeeze=False).ravel()
    for ax, panel in zip(axes, panels, strict=False):
        draw_panel(ax, picture, cells, around, panel, names)
        ax.set(title=panel_title(picture, panel), xlabel=picture.called(picture.x))
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    of = fill(picture.called(picture.y), 40)
    figure.supylabel(of, fontsize="medium", multialignment="center")
    if (len(names) > 1 or names[0]) and crossed(picture):
        lines = {}
        for ax in axes:
            handles, labels = ax.get_legend_handles_labels()
            lines.update(zip(labels, handles, strict=True))
        title = picture.called(picture.series)
        figure.legend(
            lines.values(), lines.keys(), title=title, fontsize="small", loc="outside right upper"
        )
    return figure


def crossed(picture: Picture) -> bool:
    """Whether there are several series at a place, and not each at its own."""
    return picture.x != picture.series


def draw_panel(
    ax: Axes, picture: Picture, cells: Cells, around: Cells, panel: str, names: list[str]
) -> None:
    """Draw the series of one panel, each in the colour that it has in all of them.

    Medians are those of `cells`, and deciles are as far from them as in `around`.
    """
    places = in_order(x for of, _, x in cells if of == panel)
    numbers = is_numbers(places)
    for color, name in enumerate(names):
        xs = [x for x in places if (panel, name, x) in cells]
        if not xs:
            continue
        mid = np.array([np.median(cells[panel, name, x]) for x in xs])
        deciles = np.array([np.percentile(around[panel, name, x], DECILES) for x in xs])
        low, high = mid + (deciles[:, [0, 2]] - deciles[:, [1]]).T
        at = np.array([float(x) if numbers else places.index(x) for x in xs])
        style = {"color": f"C{color % MOST_SERIES}", "label": name}
        if picture.kind == "points":
            shift = 0.6 * ((color + 0.5) / len(names) - 0.5) if crossed(picture) else 0.0
            ax.errorbar(at + shift, mid, [mid - low, high - mid], fmt="o", markersize=4, **style)
        else:
            style["linestyle"] = "--" if color >= MOST_SERIES else "-"
            ax.plot(at, mid, marker="o" if len(at) < 30 else None, markersize=3, **style)
            ax.fill_between(
                at, low, high, color=style["color"], alpha=min(0.15, 0.5 / len(names)), linewidth=0
            )
    if not numbers:
        ax.set_xticks(range(len(places)), places, rotation=30, ha="right")
    if "x" in picture.log and numbers:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:,g}")
        if len(places) <= MOST_PLACES:
            ax.set_xticks([float(x) for x in places])
    if "y" in picture.log:
        ax.set_yscale("log")
    if picture.mark:
        ax.axvline(picture.mark, color="gray", linestyle=":", label="the paper")
    ax.grid(alpha=0.3)


def in_order(places: Iterable[str]) -> list[str]:
    """Places on an axis: numbers in order, others as they come."""
    found = list(dict.fromkeys(places))
    return sorted(found, key=float) if is_numbers(found) else found


def is_numbers(texts: Iterable[str]) -> bool:
    """Whether all are numbers."""
    try:
        return all(np.isfinite(float(text)) for text in texts)
    except ValueError:
        return False


def listed(item: Item, folder: Path, results: Path = RESULTS) -> str:
    """Return an item as it is printed: verdicts, tables, and the path of its picture."""
    found = item.findings(results)
    parts = [f"{item.name}: {item.title}", fill(f"The paper says: {item.says}", 100)]
    parts += [
        "\n".join(filter(None, (f"{word}: {counts}" if counts else word, says)))
        for says, word, counts in statements(item, found)
    ]
    parts += [fill(text, 100) for text in notes(item)]
    for place, picture in enumerate([item.picture, *item.more] if item.picture else item.more):
        rows = item.shown(picture, results)
        form = words if picture.kind == "words" else table
        parts.append(form(picture, rows, aligned) if rows else "no rows on file")
        if rows and picture.kind in ("lines", "points"):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{item.name}{f'-{place}' if place else ''}.png"
            draw(picture, rows).savefig(path, dpi=110)
            parts.append(f"picture: {path}")
    return "\n\n".join(parts) + "\n"


def aligned(rows: Sequence[Sequence[str]], widths: str) -> str:
    """Rows as columns of a terminal."""
    size = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, size)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def table(picture: Picture, rows: Rows, form: Form | None = None) -> str:
    """Medians, with the first and the last decile where there are several values."""
    form = form or list_table
    cells = grouped(picture, rows)
    if not crossed(picture):
        # One table of all panels, which are its columns.
        value = picture.called(picture.y)
        cells = {("", name, panel or value): found for (panel, name, _), found in cells.items()}
    parts = []
    for panel in dict.fromkeys(panel for panel, _, _ in cells):
        places = in_order(x for of, _, x in cells if of == panel)
        if is_numbers(places):
            places = places[:: -(1 + (len(places) - 1) // MOST_PLACES)][::-1]
        lines = [[picture.called(picture.series), *places]]
        for name in dict.fromkeys(series for of, series, _ in cells if of == panel):
            lines.append([name, *(spread(cells.get((panel, name, x), [])) for x in places)])
        of = f", {panel_title(picture, panel)}" if panel else ""
        by = picture.x if crossed(picture) else picture.panels or picture.x
        along = picture.called(by)
        what = picture.title or picture.called(picture.y) or "values"
        title = sentence(what if picture.title or not along else f"{what}, by {along}") + of
        parts.append(f"{title}:\n\n{form(lines, '')}")
    return "\n".join(parts)


def sentence(text: str) -> str:
    """The text, its first letter large."""
    return text[:1].upper() + text[1:]


def words(picture: Picture, rows: Rows, form: Form | None = None) -> str:
    """Texts, those of the first of the splits."""
    form = form or list_table
    panels: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for row in rows:
        if row[picture.y]:
            panel = row[picture.panels] if picture.panels else ""
            text = re.sub(r"([\\*`|_])", r"\\\1", row[picture.y])
            panels[panel].setdefault((row[picture.series], row[picture.x]), text)
    parts = []
    for panel, cells in panels.items():
        places = list(dict.fromkeys(x for _, x in cells))
        lines = [[picture.called(picture.series), *places]]
        for name in dict.fromkeys(name for name, _ in cells):
            lines.append([name, *(cells.get((name, x), "") for x in places)])
        of = f", {panel_title(picture, panel)}" if panel else ""
        title = sentence(f"{picture.called(picture.y)} of the first split{of}")
        parts.append(f"{title}:\n\n{form(lines, '')}")
    return "\n".join(parts)


def spread(values: Sequence[float]) -> str:
    """Median, and first and last decile."""
    if not values:
        return ""
    low, mid, high = map(written, np.percentile(values, DECILES))
    return mid if len(values) == 1 else f"{mid} [{low}, {high}]"


def written(value: float) -> str:
    """Four digits that count, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def comparison_rows(experiment: str, found: Iterable[Finding]) -> list[list[str]]:
    """Lines that show what verdicts rest on."""
    head = "claim", "than, or to", "of", "pairs", "holds by, in its unit", "p", "p of the opposite"
    pairs = (pair for one in found for pair in zip(one.claims, one.compared, strict=True))
    return [[*head]] + [
        [
            f"{claim.method}: {claim.says()}, {called(experiment, claim.value)}",
            made.other, ", ".join(made.where), str(len(made.pairs)), f"{made.gain:.4g}",
            f"{made.better:.2g}", f"{made.worse:.2g}",
        ]
        for claim, compared in pairs for made in compared
    ]  # fmt: skip


def heading(text: str, line: str) -> str:
    """A heading."""
    return f"{text}\n{line * len(text)}\n"


def list_table(rows: Sequence[Sequence[str]], widths: str) -> str:
    """Rows, of which the first is the head, as a table."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        *([f"   :widths: {widths}"] if widths else []),
        "",
    ]
    for row in rows:
        lines += [f"   {'  ' if i else '* '}- {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"
