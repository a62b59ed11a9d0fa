# SPDX-License-Identifier: BSD-3-Clause
"""Draws a function over the unit square as a coloured mesh, as in figure 3.1 of the HPCF papers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from haloscope.report.draw.palette import GRID, INK
from haloscope.topics.common.figure import Surface


def draw_surface(canvas: Canvas, panel: Surface) -> None:
    """The surface on its own axes. The mesh is a picture inside the SVG: thousands of faces."""
    axes: Any = canvas.add_axes((-0.02, -0.02, 0.98, 1.08), projection="3d")
    x, y = np.meshgrid(panel.points, panel.points)
    heights = np.array(panel.heights)
    faces = axes.plot_surface(
        x, y, heights, cmap="viridis", rcount=65, ccount=65, linewidth=0.15, edgecolor="#00000055"
    )
    faces.set_rasterized(True)
    axes.view_init(elev=24, azim=-52)
    axes.set_box_aspect((1, 1, 0.75), zoom=0.92)
    canvas.text(0.02, 0.97, panel.title, fontsize=11, va="top")
    axes.set_xlabel("x₁")
    axes.set_ylabel("x₂")
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
        axis.line.set_color(INK)
        axis._axinfo["grid"].update(color=GRID, linewidth=0.6)
