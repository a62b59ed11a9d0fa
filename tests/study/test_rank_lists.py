# SPDX-License-Identifier: BSD-3-Clause
"""Mappings that name the node of each rank: taken as an axis, refused where they don't fit."""

from __future__ import annotations

import tomllib

import pytest
from pydantic import ValidationError

from haloscope.layout import Layout
from haloscope.study.case import identity
from haloscope.study.layouts import layouts
from haloscope.study.schema import LayoutAxes


def test_rank_lists_are_values_of_an_axis_like_keywords() -> None:
    axes = LayoutAxes(nodes=[1, 2], ppn=[2], mapping=["block", "0,1,1,0"])

    found = layouts(axes, axes.nodes, cores=2)

    assert [(one.nodes, one.mapping) for one in found] == [
        (1, "block"),  # on one node all are equal
        (2, "block"),
        (2, "0,1,1,0"),
    ]
    assert found[-1].nodes_of_ranks == [0, 1, 1, 0]
    assert str(found[-1]) == "4 ranks on 2 nodes, 0,1,1,0"
    ids = {identity("ring", {}, one, "system", None) for one in found}
    assert len(ids) == 3


def test_a_rank_list_with_uneven_tasks() -> None:
    axes = LayoutAxes(nodes=[2], tasks=[3], mapping=["0,1,0"])

    (one,) = layouts(axes, axes.nodes, cores=2)

    assert one.nodes_of_ranks == [0, 1, 0]


@pytest.mark.parametrize(
    ("mapping", "found"),
    [("0,1,1", "3 ranks"), ("0,1,1,1", "node 0 1 time"), ("1,2,2,1", "node 0 0 times")],
)
def test_a_rank_list_that_contradicts_its_layout_is_refused(mapping: str, found: str) -> None:
    axes = LayoutAxes(nodes=[2], ppn=[2], mapping=[mapping])

    with pytest.raises(ValueError, match=found) as caught:
        layouts(axes, axes.nodes, cores=2)
    problem = Layout(nodes=2, ppn=2, mapping=mapping).problem  # of a plan that was changed
    assert caught.value.args == (problem,)


@pytest.mark.parametrize("mapping", ["cyclic", "0", "0,", "-1,0", "0, 1", "0,99999999", [0, 1]])
def test_an_invalid_mapping_is_refused(mapping: object) -> None:
    with pytest.raises(ValidationError) as caught:
        LayoutAxes.model_validate({"mapping": mapping})
    assert {one["loc"][0] for one in caught.value.errors()} == {"mapping"}


@pytest.mark.parametrize(
    ("layout", "named"),
    [
        ('ppn = 3, mapping = "0,1,1"', "node 1"),
        ("ppn = 2, nodes = 2, mapping_seed = [1, 2]", "mapping_seed"),
        ("ppn = 2, nodes = 2, allocation_seed = [1, 2]", "allocation_seed"),
    ],
)
def test_settings_without_effect_are_refused(layout: str, named: str) -> None:
    axes = LayoutAxes(**tomllib.loads(f"layout = {{ {layout} }}")["layout"])
    with pytest.raises(ValueError, match=named):
        layouts(axes, axes.nodes, 4)
