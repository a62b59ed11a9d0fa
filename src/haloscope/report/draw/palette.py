# SPDX-License-Identifier: BSD-3-Clause
"""Colours: told apart by colour-blind readers, with enough contrast on white and on near-black.

Figures are drawn in the light colours. A viewer in dark mode sees them exchanged by the style sheet
in every SVG, so that one file serves both.
"""

from __future__ import annotations

INK, GRID, MUTED, ON_COLOUR = "#1f2328", "#d5dbe1", "#59636e", "#ffffff"
SERIES = ("#0072b2", "#c84f00", "#00815e", "#7d1f6b", "#452c14", "#4f46d8", "#db0052", "#394c00")
"""All differ for colour-blind readers, too; curves beyond eight by their signs and dashes."""
BLUES = (0, 5)
"""BLUES are those of SERIES of which one is enough in a panel that has other colours left."""

_DARK = {
    INK: "#e6edf3",
    GRID: "#3d444d",
    MUTED: "#9ea7b0",
    ON_COLOUR: "#0d1117",
    SERIES[0]: "#58b5f0",
    SERIES[1]: "#ff9a57",
    SERIES[2]: "#2fbf90",
    SERIES[3]: "#d060b0",
    SERIES[4]: "#fff3cf",
    SERIES[5]: "#8f8cff",
    SERIES[6]: "#ff3366",
    SERIES[7]: "#ffdf00",
}


def dark_style() -> str:
    """CSS that exchanges every light colour for its dark counterpart, in dark mode on a screen."""
    rules = [
        f'[style*="{use}: {light}"] {{ {use}: {dark} !important; }}'
        for light, dark in _DARK.items()
        for use in ("fill", "stroke")
    ]
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"
