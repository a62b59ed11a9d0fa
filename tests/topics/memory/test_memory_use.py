# SPDX-License-Identifier: BSD-3-Clause
"""What a solver makes of the memory, set against stream's triad."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, cases, poisson, stream

from haloscope.topics.memory import Use, memory_triads, uses


def triad(size_bytes: int, bytes_per_s: float, **result: float) -> Raw:
    """One size of a rank, whose step takes a second."""
    work = {"steps": 1, "bytes": bytes_per_s, "result": result}
    return {"size_bytes": size_bytes, "operation": "triad", "times_s": [1.0], **work}


def used(n: int, sizes: list[Raw], ranks: int = 1, **stream_changes: Any) -> Use:
    """What a solve makes of the memory beside a stream of these sizes."""
    own = cases([poisson(n, ranks=ranks), stream(ranks=ranks, points=sizes, **stream_changes)])
    (use,) = uses(own, own, MACHINE)
    return use


def size_of(use: Use) -> int | None:
    return use.triad.point.size_bytes if use.triad else None


def test_triad_is_evaluated_at_the_working_set_per_rank() -> None:
    """Sizes of stream are those of a rank; three vectors of 256 x 256 points are 1.5 MiB."""
    use = used(256, [triad(2**20, 90e9), triad(2**15, 200e9)], ranks=2)

    assert (use.working_set_bytes, use.level) == (3 * 2**19, "L2")
    assert size_of(use) == 2**20
    assert use.share == pytest.approx(use.achieved.value / 90e9)


def test_memory_bounds_only_solves_in_memory_and_a_cache_only_those_in_it() -> None:
    assert used(256, [triad(2**28, 13e9)]).triad is None
    assert used(1024, [triad(2**15, 200e9)]).triad is None
    assert size_of(used(2048, [triad(2**15, 200e9), triad(2**27, 13e9)])) == 2**27


def test_only_a_triad_with_a_similar_or_smaller_working_set_is_a_bound() -> None:
    """Of 100 MB a cache of 32 MiB serves a part, of a gigabyte next to nothing."""
    assert used(2048, [triad(2**30, 13e9)]).triad is None
    assert size_of(used(8192, [triad(2**27, 13e9)])) == 2**27


def test_a_triad_with_another_binding_does_not_bound_multicore_solves() -> None:
    spread = {"bind": "spread"}

    assert used(256, [triad(2**20, 90e9)], ranks=2, layout=spread).triad is None
    assert size_of(used(256, [triad(2**20, 90e9)], layout=spread)) == 2**20


def test_write_allocate_traffic_is_counted() -> None:
    use = used(256, [triad(2**20, 90e9, traffic_bytes=120e9)])

    assert use.triad is not None and use.triad.moved.value == pytest.approx(120e9)


def test_no_share_is_above_its_bound() -> None:
    use = used(256, [triad(2**20, 1e9)])

    assert use.exceeds and use.share is None


def test_cache_bandwidth_is_not_memory_bandwidth() -> None:
    in_cache, both = ([triad(2**15, 200e9)], [triad(2**15, 200e9), triad(2**27, 13e9)])

    assert memory_triads(cases([stream(points=in_cache)]), MACHINE) == {}
    assert memory_triads(cases([stream(points=both)]), MACHINE)[1].point.rate.value == 13e9
    assert memory_triads(cases([stream(points=in_cache)]), None)[1].point.rate.value == 200e9


def test_a_triad_with_the_same_binding_is_preferred() -> None:
    """Two cores of two sockets have two memories; what is bound close has one."""
    close = stream(ranks=2, points=[triad(2**28, 13e9)], layout={"bind": "close"})
    spread = stream(ranks=2, points=[triad(2**28, 25e9)], layout={"bind": "spread"})

    def rate(bind: str) -> float:
        return memory_triads(cases([close, spread]), MACHINE, bind)[2].point.rate.value

    assert (rate("close"), rate("spread"), rate("none")) == (13e9, 25e9, 25e9)


def test_working_sets_include_all_ranks_and_match_by_ratio() -> None:
    """Three vectors of 128 x 128 points are 384 KiB."""
    of_a_rank, of_all = 3 * 2**16, 3 * 2**17
    half, more = 180 * 2**10, 614 * 2**10  # a ratio of 2.1, and of 1.6 though farther off

    assert size_of(used(128, [triad(of_a_rank, 90e9), triad(of_all, 90e9)], ranks=2)) == of_a_rank
    assert size_of(used(128, [triad(half, 90e9), triad(more, 90e9)])) == more
