# SPDX-License-Identifier: BSD-3-Clause
"""The table and the picture of `proof.soak`: of each stream, the run with most tokens."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from proof.soak_checks import Rows, column, quarters, speeds

PANELS = {
    "megabytes": "memory, MB",
    "speed": "million tokens a second of the processor",
    "score": "score, nats a word",
    "topics": "topics",
}
HEAD = (
    "stream", "tokens", "calls of transform meanwhile", "kills", "interrupts",
    "columns that changed hands", "million tokens a second, by quarters", "MB, by quarters",
)  # fmt: skip


def streams(rows: Rows) -> dict[str, tuple[Rows, Rows]]:
    """Rows of both parts of each stream: the service, and what was left alone."""
    found: dict[str, tuple[Rows, Rows]] = {}
    for name in dict.fromkeys(row["stream"] for row in rows):
        runs = [row for row in rows if row["stream"] == name]
        largest = max(runs, key=lambda row: float(row["asked"]))
        given = [largest[key] for key in ("asked", "seed", "faults")]
        own = [row for row in runs if [row[key] for key in ("asked", "seed", "faults")] == given]
        service, alone = (
            [row for row in own if row["part"] == part] for part in ("service", "alone")
        )
        found[name] = service, alone
    return found


def draw(rows: Rows) -> Figure:
    """Memory, speed, scores and topics along the streams that nothing happened to."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for name, (_, alone) in streams(rows).items():
        x = column(alone, "tokens") / 1e6
        for ax, of_ax in zip(axes, PANELS, strict=True):
            if of_ax == "speed":
                seconds = np.maximum(np.diff(column(alone, "seconds")), 1e-3)
                ax.plot(x[1:], np.diff(x) / seconds, label=name)
            else:
                ax.plot(x, column(alone, of_ax), label=name)
    for ax, title in zip(axes, PANELS.values(), strict=True):
        ax.set(title=title, xlabel="million tokens")
        ax.grid(alpha=0.3)
        if "score" not in title:
            ax.set_ylim(bottom=0)
    axes[0].legend(fontsize="small")
    return figure


def table(rows: Rows) -> str:
    """A line for each stream."""
    text = [".. list-table::", "   :header-rows: 1", ""]
    lines = [list(HEAD)]
    for name, (service, alone) in streams(rows).items():
        memory = np.array_split(column(alone, "megabytes"), 4)
        lines.append([
            name,
            f"{sum(quarters(alone, 'tokens')) / 1e6:,.0f} million",
            f"{float(service[-1]['transform_calls']):,.0f}",
            f"{int(service[-1]['kills'])}",
            f"{int(service[-1]['interrupts'])}",
            f"{float(alone[-1]['recycled']):,.0f}",
            ", ".join(f"{speed / 1e6:.2f}" for speed in speeds(alone)),
            ", ".join(f"{part.mean():.0f}" for part in memory),
        ])  # fmt: skip
    for line in lines:
        text += [f"   {'  ' if i else '* '}- {cell}" for i, cell in enumerate(line)]
    return "\n".join(text) + "\n"


def write_page(rows: Rows, folder: Path) -> None:
    """Write the table and the picture into the folder of the documentation."""
    (folder / "soak_table.rst").write_text(table(rows), encoding="utf-8")
    draw(rows).savefig(folder / "_static" / "soak.svg")
