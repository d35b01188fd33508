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
from benchmarks.papers.ledger import Item, Picture, called
from benchmarks.papers.verdicts import Tested, verdict

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
# Columns of a table; of more places on an axis some are shown.
MOST_PLACES = 8
PANELS_IN_A_ROW = 2
INTRODUCTION = """
Every table and figure of the papers that this package implements, what it says, and what came of
it here. ``python -m benchmarks.papers NAME`` runs an item again, and ``python -m
benchmarks.papers`` all of them, in about eight hours of one processor; two that run different
experiments take half of that.

An item is confirmed if each of its claims holds in all comparisons, or in most where the paper
says so, beyond chance (p < .05, permutation of signs over the splits); it is refuted if the
opposite of a claim holds in one of them, corrected for the number of comparisons and claims. What
is computed is judged by calculation. Splits are drawn from one corpus, and orders are of the same
documents: chance is that of the draw, and says nothing of other corpora.

Left out are the figures and tables that are models, notation or algorithms: of the boosting paper
Figures 2 to 5, 9 and 14 and Tables 1 and 2, of the thesis Figures 1 to 3 and 5 and Table 4, of
the power priors Figure 1, of subtle topics Figures 1 and 2. Bands and brackets go from the first
to the ninth decile, where chapter 3 of the thesis draws the third to the seventh. The p-value of
a verdict is that of the claims where they are confirmed, and where they cannot be decided; that of
their opposite where they are refuted. Items that add to a figure, such as "at this
package's defaults" or "signs aligned", are variants of our own; they are counted too.
""".strip()
WITHIN = """
Bands go from the first to the ninth decile of what is left of each value without the mean of its
{}, whose texts are longer or harder than others by more than the methods differ.
""".strip()
Rows = Sequence[Mapping[str, str]]
# Writes rows, of which the first is the head, as a table; the widths are of its columns.
Form = Callable[[Sequence[Sequence[str]], str], str]


def write(items: Sequence[Item], folder: Path, results: Path = RESULTS) -> None:
    """Write an index, a page for each paper, and all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    tested = {one.name: one.tested(results) for one in items}
    (folder / "index.rst").write_text(index(items, tested), encoding="utf-8")
    for paper, title in PAPERS.items():
        own = [one for one in items if one.paper == paper]
        parts = [
            heading(title, "="),
            *(section(one, tested[one.name], folder, results) for one in own),
        ]
        (folder / f"{paper}.rst").write_text("\n".join(parts), encoding="utf-8")


def index(items: Sequence[Item], tested: Mapping[str, Sequence[Tested]]) -> str:
    """Return the page that lists all items."""
    words = list(dict.fromkeys(map(stated, items)))
    summary = [["paper", *words]]
    parts = []
    for paper, title in PAPERS.items():
        own = [one for one in items if one.paper == paper]
        counts = [sum(stated(one) == word for one in own) for word in words]
        summary.append([f":doc:`{title} <{paper}>`", *(str(n or "") for n in counts)])
        rows = [["item", "the paper says", "verdict", "p"]]
        for one in own:
            name = f":ref:`{one.number} <{one.name}>`"
            rows.append([name, one.says, stated(one), p_value(one, tested[one.name])])
        parts += [heading(title, "-"), list_table(rows, "18 57 15 10")]
    summary.append(["all", *(str(sum(stated(one) == word for one in items)) for word in words)])
    toc = "\n".join(f"   {paper}" for paper in PAPERS)
    return (
        heading("The ledger of the papers", "=") + f"\n{INTRODUCTION}\n\n"
        f".. toctree::\n   :maxdepth: 1\n   :hidden:\n\n{toc}\n\n"
        + "\n".join([list_table(summary, ""), *parts])
    )


def p_value(item: Item, tested: Sequence[Tested]) -> str:
    """Return the p-value that the verdict rests on; "" where nothing is tested."""
    if not item.verdict or not item.claims:
        return ""
    return f"{verdict(tested)[1]:.2g}"


def stated(item: Item) -> str:
    """The verdict, or why there is none."""
    if item.verdict or item.missing:
        return item.verdict or "not to be had"
    return "not all runs are made" if item.claims else "no claim"


def section(item: Item, tested: Sequence[Tested], folder: Path, results: Path) -> str:
    """Return the section of an item, and draw its picture."""
    parts = [f"\n.. _{item.name}:\n", heading(f"{item.number}: {item.title}", "-")]
    if item.says:
        parts.append(f"*The paper says:* {item.says}\n")
    if item.missing:
        parts.append(f"*Not to be had:* {item.missing}\n")
        return "\n".join(parts)
    if item.verdict:
        p = p_value(item, tested)
        parts.append(f"*Here:* **{item.verdict}**{f' (p = {p})' if p else ''}.\n")
    for text in (item.data, item.remark):
        if text:
            parts.append(f"{text}\n")
    for place, picture in enumerate([item.picture, *item.more] if item.picture else item.more):
        rows = item.rows(results, picture.where)
        if rows:
            name = f"{item.name}-{place}" if place else item.name
            parts.append(shown(item.title, picture, rows, folder / f"{name}.png"))
    if any(one.comparisons for one in tested):
        compared = list_table(comparison_rows(item.experiment, tested), "")
        parts.append(folded("What the verdict rests on", compared))
    parts.append(f"``python -m benchmarks.papers {item.name}``\n")
    return "\n".join(parts)


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


def listed(item: Item, results: Path = RESULTS) -> str:
    """Return the tables of an item as they are printed, with its verdict."""
    parts = [f"{item.name}: {item.title} ({stated(item)})"]
    for picture in [item.picture, *item.more] if item.picture else item.more:
        rows = item.rows(results, picture.where)
        form = words if picture.kind == "words" else table
        parts.append(form(picture, rows, aligned) if rows else "no rows on file")
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


def comparison_rows(experiment: str, claims: Iterable[Tested]) -> list[list[str]]:
    """Lines that show what a verdict rests on."""
    head = "claim", "than, or to", "of", "pairs", "holds by, in its unit", "p", "p of the opposite"
    rows = [[*head]]
    for one in claims:
        claim, n = one.claim, len(one.comparisons)
        said = f"{claim.method}: {claim.says()}, {called(experiment, claim.value)}"
        rows += [
            [
                said, made.other, ", ".join(made.where), str(len(made.pairs)), f"{made.gain:.4g}",
                f"{made.better:.2g}", f"{made.worse:.2g}",
            ]
            for made in one.comparisons
        ]  # fmt: skip
        if n > 1:
            of = "most" if claim.most else "all"
            rows.append([said, of, "", "", "", f"{one.better:.2g}", f"{one.worse:.2g}"])
    return rows


def heading(text: str, line: str) -> str:
    """A heading."""
    return f"{text}\n{line * len(text)}\n"


def list_table(rows: Sequence[Sequence[str]], widths: str) -> str:
    """Rows, of which the first is the head, as a table."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        *([f"   :widths: {widths}"] if widths else []),
    ]
    lines.append("")
    for row in rows:
        lines += [f"   {'  ' if i else '* '}- {cell}".rstrip() for i, cell in enumerate(row)]
    return "\n".join(lines) + "\n"
