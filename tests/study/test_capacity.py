# SPDX-License-Identifier: BSD-3-Clause
"""The largest size that fits, and how many replicates a site takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from haloscope.study.checks.capacity import Fits, Site, largest_that_fits
from haloscope.study.values import LAUNCHES_LIMIT


def anything(given: Mapping[str, Any]) -> bool:
    return True


def test_the_suggested_size_of_a_cube_is_its_edge() -> None:
    case = {"L": 100, "depth": 2}, {"L": 100, "size": "cubes", "depth": 2}
    seen: list[Mapping[str, Any]] = []

    def fits(given: Mapping[str, Any]) -> bool:
        seen.append(given)
        return bool(given["L"] ** 3 <= 40**3)

    assert largest_that_fits(*case, fits, anything) == "L=40"
    assert all(given["depth"] == 2 for given in seen)
    assert largest_that_fits(*case, lambda given: False, anything) is None
    for edge in range(1, 100):
        found = largest_that_fits(*case, lambda given: given["L"] <= edge, anything)  # noqa: B023
        assert found == f"L={edge}"


def test_the_suggested_mesh_keeps_its_shape() -> None:
    case = {"size": "80x40x10"}, {"L": 100, "size": "80x40x10"}

    def fits(given: Mapping[str, Any]) -> bool:
        x, y, z = (int(extent) for extent in given["size"].split("x"))
        return x * y * z <= 40 * 20 * 5

    assert largest_that_fits(*case, fits, anything) == "size=40x20x5"


def test_a_case_without_a_size_has_no_suggestion() -> None:
    assert largest_that_fits({}, {"sizes": "8,64"}, anything, anything) is None


def test_a_suggested_size_is_accepted_by_the_kernel() -> None:
    case = {"size": 4096}, {"size": 4096}

    def suggested(accepted: Fits) -> str | None:
        return largest_that_fits(*case, lambda given: int(given["size"]) <= 1007, accepted)

    assert suggested(lambda given: int(given["size"]) % 16 == 0) == "size=992"
    assert suggested(lambda given: False) is None


ALIKE = Site(1, 4, 4, 2**30)
DIFFERENT = replace(ALIKE, nodes_differ=True)


@pytest.mark.parametrize(
    ("site", "asked", "problems"),
    [
        (ALIKE, None, 0),
        (ALIKE, 2, 1),
        (ALIKE, 1, 2),
        (DIFFERENT, 1, 1),
        (DIFFERENT, 2, 0),
        (DIFFERENT, LAUNCHES_LIMIT, 0),
        (DIFFERENT, LAUNCHES_LIMIT + 1, 1),
    ],
)
def test_replicates_need_nodes_that_differ(site: Site, asked: int | None, problems: int) -> None:
    assert len([*site.replicates(asked)]) == problems
