# SPDX-License-Identifier: BSD-3-Clause
"""Colours that all readers can tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from haloscope.report.draw.figures.palette import SERIES, dark_style

Array = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes 2009, full severity; linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
}  # fmt: skip
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> Array:
    """SRGB to linear RGB."""
    c = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: Array) -> Array:
    """CIE L*a*b* of linear RGB."""
    f = np.cbrt(XYZ @ np.clip(rgb, 1e-3, 1) / WHITE)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def luminance(colour: str) -> float:
    return float(linear(colour) @ np.array([0.2126, 0.7152, 0.0722]))


def dark(colour: str) -> str:
    rule = next(line for line in dark_style().splitlines() if f'"stroke: {colour}"' in line)
    return rule.split("stroke: ")[2][:7]


@pytest.mark.parametrize("sight", SIGHT)
def test_all_colours_are_distinguishable_on_light_and_dark_pages(sight: str) -> None:
    for colours in (SERIES, [dark(colour) for colour in SERIES]):
        seen = [lab(SIGHT[sight] @ linear(colour)) for colour in colours]
        nearest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
        assert nearest > 15  # 2 can just be seen side by side


def test_every_colour_contrasts_with_its_page() -> None:
    for colour in SERIES:
        assert 1.05 / (luminance(colour) + 0.05) > 4.5
        assert (luminance(dark(colour)) + 0.05) / (luminance("#0d1117") + 0.05) > 4.5


def test_a_dark_mode_rule_names_no_ancestor() -> None:
    """Signs are copies (<use>), whose originals no rule reaches that begins with "svg"."""
    rules = [line for line in dark_style().splitlines() if line.endswith("!important; }")]

    assert rules and all(rule.startswith("[style*=") for rule in rules)
