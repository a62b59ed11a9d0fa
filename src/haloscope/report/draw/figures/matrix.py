# SPDX-License-Identifier: BSD-3-Clause
"""Draw a matrix of ranks: traffic from each to each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from haloscope.quantities import size


def write(cells: Mapping[tuple[int, int], float], ranks: int, path: Path) -> Path:
    """Write a picture of bytes from sender (rows) to receiver (columns); dark means many."""
    values = np.zeros((ranks, ranks))
    for (sender, receiver), value in cells.items():
        if receiver >= 0:
            values[sender, receiver] = value
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.subplots()
    most = float(values.max())
    shown = np.ma.masked_equal(values, 0)
    least = float(shown.min()) if most else 1.0
    norm = LogNorm(least, max(most, 1.0)) if most > least else None
    image = axes.imshow(shown, cmap="viridis_r", norm=norm, interpolation="nearest")
    axes.set_title("Bytes between ranks")
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    if ranks <= 32:
        axes.set_xticks(range(ranks))
        axes.set_yticks(range(ranks))
    if most:
        ticks = np.geomspace(least, most, 5) if norm else [most]
        bar = figure.colorbar(image, ticks=ticks, format=lambda value, _: size(round(value)))
        bar.ax.minorticks_off()
    figure.savefig(path, dpi=144)
    return path
