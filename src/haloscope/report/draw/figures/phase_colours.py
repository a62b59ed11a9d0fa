# SPDX-License-Identifier: BSD-3-Clause
"""Colours of phases: the same for a name in all figures of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from haloscope.report.draw.figures.palette import INK, MUTED, SERIES
from haloscope.topics.common.figure import Bars, Figure, Gantt


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
            colours[name] = _free({**curves, **colours}, beside)
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


def _free(colours: Mapping[str, str], beside: set[str]) -> str:
    """Return the colour used least beside this one, and of these the one used least overall."""
    near = Counter(colours[name] for name in beside if name in colours)
    anywhere = Counter(colours.values())
    return min(SERIES, key=lambda colour: (near[colour], anywhere[colour]))


def _names(panel: object) -> list[str]:
    if isinstance(panel, Gantt):
        return list(dict.fromkeys(bar.name for bar in panel.bars))
    return [name for name, _ in panel.parts] if isinstance(panel, Bars) else []
