# SPDX-License-Identifier: BSD-3-Clause
"""How many replicates a place takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.study.checks.capacity import Site
from haloscope.study.values import LAUNCHES_LIMIT

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
