# SPDX-License-Identifier: BSD-3-Clause
"""The colour and sign of every curve: one name, one look, in all figures of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from haloscope.report.draw.palette import BLUES, SERIES
from haloscope.topics.common.figure import Curve, Figure, Lines


def series_styles(figures: Sequence[Figure]) -> dict[str, int]:
    """The number of each name's style, of curves that have none of their own.

    Those of one panel differ, if there are enough, and so do others as long as there are; a second
    blue is for panels that have no other colour left. A second round has the same colours with
    other signs: for panels with more curves than colours.
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
    """What a curve has its colour for."""
    return curve.like or curve.label


def _free(panel: Lines) -> list[Curve]:
    return [curve for curve in panel.curves if curve.style is None and not curve.bound]


def _given(panel: Lines) -> set[int]:
    return {curve.style % len(SERIES) for curve in panel.curves if curve.style is not None}
