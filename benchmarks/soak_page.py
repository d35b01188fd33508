# SPDX-License-Identifier: BSD-3-Clause
"""The table and the picture of `benchmarks.soak`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, str]]
PANELS = {
    "megabytes": "memory, MB",
    "speed": "tokens a second",
    "score": "score, nats a word",
    "topics": "topics",
}


def of(rows: Rows, stream: str, part: str, column: str) -> np.ndarray:
    """A column of a part of a stream."""
    chosen = [row for row in rows if row["stream"] == stream and row["part"] == part]
    return np.array([float(row[column]) for row in chosen])


def speeds(rows: Rows, stream: str, part: str) -> np.ndarray:
    """Tokens a second between rows."""
    seconds = np.diff(of(rows, stream, part, "seconds"), prepend=0.0)
    tokens = np.diff(of(rows, stream, part, "tokens"), prepend=0.0)
    return tokens / np.maximum(seconds, 1e-3)


def draw(rows: Rows) -> Figure:
    """Memory, speed, scores and topics along the streams that nothing happened to."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for stream in dict.fromkeys(row["stream"] for row in rows):
        x = of(rows, stream, "alone", "tokens") / 1e6
        for ax, column in zip(axes, PANELS, strict=True):
            if column == "speed":
                ax.plot(x[1:], speeds(rows, stream, "alone")[1:], label=stream)
            else:
                ax.plot(x, of(rows, stream, "alone", column), label=stream)
    for ax, name in zip(axes, PANELS.values(), strict=True):
        ax.set(title=name, xlabel="million tokens")
        ax.grid(alpha=0.3)
        if "score" not in name:
            ax.set_ylim(bottom=0)
    axes[0].legend(fontsize="small")
    return figure


def table(rows: Rows) -> str:
    """A line for each stream."""
    head = [
        "stream", "tokens", "documents read meanwhile", "kills", "interrupts",
        "tokens a second, by quarters", "MB, by quarters",
    ]  # fmt: skip
    lines = [head]
    for stream in dict.fromkeys(row["stream"] for row in rows):
        quarters = np.array_split(speeds(rows, stream, "alone"), 4)
        memory = np.array_split(of(rows, stream, "alone", "megabytes"), 4)
        service = {name: of(rows, stream, "service", name) for name in ("kills", "interrupts")}
        lines.append([
            stream,
            f"{of(rows, stream, 'alone', 'tokens').max() / 1e6:.0f} million",
            f"{of(rows, stream, 'service', 'reads').sum():,.0f}",
            *(f"{found.max():.0f}" for found in service.values()),
            ", ".join(f"{part.mean():,.0f}" for part in quarters),
            ", ".join(f"{part.mean():.0f}" for part in memory),
        ])  # fmt: skip
    text = [".. list-table::", "   :header-rows: 1", ""]
    for line in lines:
        text += [f"   {'  ' if i else '* '}- {cell}" for i, cell in enumerate(line)]
    return "\n".join(text) + "\n"


def write_page(rows: Rows, folder: Path) -> None:
    """Write the table and the picture into the folder of the documentation."""
    (folder / "soak_table.rst").write_text(table(rows), encoding="utf-8")
    draw(rows).savefig(folder / "_static" / "soak.svg")
