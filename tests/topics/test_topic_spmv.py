# SPDX-License-Identifier: BSD-3-Clause
"""Speedup of sparse products, matrix by matrix."""

from __future__ import annotations

import pytest
from found import found, ratio
from recorded import MACHINE, spmv

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.topics.spmv import products


def test_every_matrix_has_its_speedup_on_the_most_processes() -> None:
    raws = [
        spmv(ranks=ranks, matrix=matrix, launch=launch, time_s=time / ranks**power)
        for matrix, time, power in (("3d27", 27e-3, 1.0), ("3d7", 7e-3, 0.5))
        for ranks in (1, 2, 4)
        for launch in range(6)
    ]

    own = found(products, raws)

    assert [one.common["matrix"] for one in own] == ["3d27", "3d7"]
    assert [ratio(one.parts[0]) for one in own] == pytest.approx([4.0, 2.0], rel=0.02)
    assert [one.parts[0].share for one in own] == pytest.approx([1.0, 0.5], rel=0.02)
    assert all(one.parts[0].reference == {"cores": 1} for one in own)
    assert all(one.parts[0].verdict is Verdict.FASTER for one in own)


def test_with_many_settings_a_sparse_product_states_the_extremes() -> None:
    raws = [
        spmv(matrix=matrix, ranks=ranks, overlap=overlap, time_s=1.0 / ranks)
        for matrix in ("2d5", "3d7", "3d27")
        for overlap in ("none", "split", "split_temporary")
        for ranks in (1, 2)
    ]

    best, worst = found(products, raws)

    assert ratio(best.parts[0]) > ratio(worst.parts[0])
    assert best.parts[0].verdict is Verdict.UNDECIDED


def test_products_that_move_to_another_cache_have_a_caveat() -> None:
    raws = [
        {**spmv(ranks=ranks, launch=launch), "work": {"bytes": 30e6, "flops": 1.0, "messages": 0}}
        for ranks in (1, 4)
        for launch in range(6)
    ]
    machine = {**MACHINE, "cores": 4, "caches": [{"level": 3, "size_bytes": 2**24, "shared_by": 2}]}

    (one,) = found(products, raws, machine=machine)

    assert Caveat.OTHER_LEVEL in one.caveats


@pytest.mark.parametrize(
    ("launches", "caveat"), [(6, Caveat.SUPERLINEAR), (1, Caveat.SUPERLINEAR_UNSHOWN)]
)
def test_an_efficiency_above_one_has_a_caveat(launches: int, caveat: Caveat) -> None:
    raws = [
        spmv(ranks=ranks, launch=launch, time_s=time)
        for ranks, time in ((1, 27e-3), (2, 9e-3))
        for launch in range(launches)
    ]

    (one,) = found(products, raws)

    assert caveat in one.caveats


def test_one_process_count_has_no_speedup() -> None:
    assert found(products, [spmv(ranks=2, launch=k) for k in range(6)]) == []
