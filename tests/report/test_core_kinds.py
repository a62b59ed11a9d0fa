# SPDX-License-Identifier: BSD-3-Clause
"""A report says where ranks ran on cores of several kinds, and is silent where they did not."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, cases, poisson

from haloscope.report.context import Context
from haloscope.report.findings import core_kinds

HYBRID = {"machine": {"topology": {**MACHINE["topology"], "kind": ["0-3", "4-7"]}}}


def seen(*cpus: list[int]) -> dict[str, Any]:
    """A launch on a machine of two kinds of cores, whose ranks were bound to these."""
    ranks = [
        {"rank": rank, "host": "lark", "cpus": own, "thread_cpus": [own]}
        for rank, own in enumerate(cpus)
    ]
    return {"layout": {"seen": ranks}, **HYBRID}


@pytest.mark.parametrize(
    ("more", "number"),
    [(seen([0], [1]), 0), (seen([3], [4]), 1), (seen([5], [6]), 0), ({}, 0)],
)
def test_ranks_on_two_kinds_of_cores_are_told(more: dict[str, Any], number: int) -> None:
    found = [*core_kinds.find(cases([poisson(64, **more)]), Context())]

    assert [one.tone for one in found] == ["warning"] * number
