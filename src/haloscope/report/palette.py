"""Colours: told apart by colour-blind readers, with enough contrast on white and on near-black.

Figures are drawn in the light colours. A viewer in dark mode sees them exchanged by the style sheet
in every SVG, so that one file serves both.
"""

from __future__ import annotations

INK, GRID, MUTED, ON_COLOUR = "#1f2328", "#d5dbe1", "#59636e", "#ffffff"
SERIES = ("#0072b2", "#c84f00", "#00815e", "#a8447f", "#7a6500", "#5b5fc7", "#8a4b2a", "#2f7d8c")

_DARK = {
    INK: "#e6edf3",
    GRID: "#3d444d",
    MUTED: "#9ea7b0",
    ON_COLOUR: "#0d1117",
    SERIES[0]: "#58b5f0",
    SERIES[1]: "#ff9a57",
    SERIES[2]: "#41d3a2",
    SERIES[3]: "#e79ac8",
    SERIES[4]: "#dcc14a",
    SERIES[5]: "#a9acff",
    SERIES[6]: "#d8a184",
    SERIES[7]: "#7fd0de",
}


def dark_style() -> str:
    """CSS that exchanges every light colour for its dark counterpart, in dark mode on a screen."""
    rules = [
        f'svg [style*="{use}: {light}"] {{ {use}: {dark} !important; }}'
        for light, dark in _DARK.items()
        for use in ("fill", "stroke")
    ]
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"
