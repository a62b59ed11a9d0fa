"""What a solver makes of the memory, set against stream's triad."""

from __future__ import annotations

import pytest
from recorded import Raw, cases, poisson, stream

from haloscope.analysis.memory_use import uses


def triad(size_bytes: int, bytes_per_s: float) -> Raw:
    """One size of a rank, whose step takes a second."""
    work = {"steps": 1, "bytes": bytes_per_s, "result": {}}
    return {"size_bytes": size_bytes, "operation": "triad", "times_s": [1.0], **work}


def test_triad_is_taken_at_what_a_rank_has_of_the_working_set() -> None:
    """Sizes of stream are those of a rank, what a case allocated is of all of them."""
    sizes = [triad(2**15, 90e9), triad(2**16, 20e9)]
    solve = poisson(64, ranks=2, memory={"allocated_bytes": 2**16})
    own = cases([solve, stream(ranks=2, points=sizes)])

    (use,) = uses(own, own)

    assert use.working_set_bytes == 2**16
    assert use.triad is not None and use.triad.size_bytes == 2**15
    assert use.share == pytest.approx(use.achieved.value / 90e9)
