# SPDX-License-Identifier: BSD-3-Clause
"""Colours that colour-blind readers can distinguish, with contrast on white and near-black.

Figures are drawn in the light colours. In dark mode the style sheet in every SVG replaces them, so
that one file serves both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from haloscope.topics.common.figure import Bars, Curve, Figure, Gantt, Lines

INK, GRID, MUTED, ON_COLOUR = "#1f2328", "#d5dbe1", "#59636e", "#ffffff"
SERIES = ("#0072b2", "#c84f00", "#00815e", "#7d1f6b", "#452c14", "#4f46d8", "#db0052", "#394c00")
"""All differ for colour-blind readers, too; curves beyond eight differ in markers and dashes."""
BLUES = (0, 5)
"""BLUES are the two blues of SERIES; one is enough in a panel that has other colours left."""

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
    """Return CSS that replaces every light colour by its dark counterpart, in dark mode on a
    screen.
    """
    rules = [
        f'[style*="{use}: {light}"] {{ {use}: {dark} !important; }}'
        for light, dark in _DARK.items()
        for use in ("fill", "stroke")
    ]
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"


def series_styles(figures: Sequence[Figure]) -> dict[str, int]:
    """Return the style number of each name, for curves without their own style.

    Names of one panel differ if there are enough styles, and others as long as possible. The second
    blue is used only in panels without another free colour. A second round has the same colours
    with other markers, for panels with more curves than colours.
    """
    panels = [panel for figure in figures for panel in figure.panels if isinstance(panel, Lines)]
    given = [_given(panel) for panel in panels]
    names = [list(dict.fromkeys(map(name_of, _free(panel)))) for panel in panels]
    styles: dict[str, int] = {}
    for name in dict.fromkeys(name for own in names for name in own):
        beside: Counter[int] = Counter()
        for own, taken in zip(names, given, strict=True):
            if name in own:
                beside.update(styles[other] for other in own if other in styles)
                beside.update(taken)
        anywhere = Counter(styles.values())
        styles[name] = min(
            range(2 * len(SERIES)),
            key=lambda one: (
                beside[one],
                one >= len(SERIES),
                one in BLUES and any(beside[other] for other in BLUES),
                anywhere[one],
            ),
        )
    return styles


def name_of(curve: Curve) -> str:
    """Return the name that determines a curve's colour."""
    return curve.like or curve.label


def _free(panel: Lines) -> list[Curve]:
    return [curve for curve in panel.curves if curve.style is None and not curve.bound]


def _given(panel: Lines) -> set[int]:
    return {curve.style % len(SERIES) for curve in panel.curves if curve.style is not None}


def phase_colours(figures: Sequence[Figure], curves: Mapping[str, str]) -> dict[str, str]:
    """Return a colour by name. Phases that contain others, and remainders, are grey.

    curves: colours of curves by name; a phase with the same name has the same colour. With more
    names than colours, those of one panel still differ, if possible.
    """
    panels = [panel for figure in figures for panel in figure.panels]
    together = [names for panel in panels if (names := _names(panel))]
    bars = [bar for panel in panels if isinstance(panel, Gantt) for bar in panel.bars]
    outer = list(dict.fromkeys(bar.name for bar in bars if bar.outer))
    left_over = {panel.parts[-1][0] for panel in panels if isinstance(panel, Bars) and panel.parts}
    colours = {name: (INK, MUTED)[index % 2] for index, name in enumerate(outer)}
    colours |= dict.fromkeys(left_over, MUTED)
    every = list(dict.fromkeys(name for names in together for name in names))
    colours |= {name: curves[name] for name in every if name in curves and name not in colours}
    for name in every:
        if name not in colours:
            beside = {other for names in together if name in names for other in names}
            colours[name] = _least_used({**curves, **colours}, beside)
    return colours


def hatches_of(names: Sequence[str], colours: Mapping[str, str]) -> dict[str, str]:
    """Return a hatch for each name whose colour an earlier one has; "" for the first of
    a colour.
    """
    seen: Counter[str] = Counter()
    found = {}
    for name in names:
        found[name] = _HATCHES[seen[colours[name]] % len(_HATCHES)]
        seen[colours[name]] += 1
    return found


_HATCHES = ("", "///", "...", "xxx")


def _least_used(colours: Mapping[str, str], beside: set[str]) -> str:
    """Return the colour used least beside this one, and of these the one used least overall."""
    near = Counter(colours[name] for name in beside if name in colours)
    anywhere = Counter(colours.values())
    return min(SERIES, key=lambda colour: (near[colour], anywhere[colour]))


def _names(panel: object) -> list[str]:
    if isinstance(panel, Gantt):
        return list(dict.fromkeys(bar.name for bar in panel.bars))
    return [name for name, _ in panel.parts] if isinstance(panel, Bars) else []
