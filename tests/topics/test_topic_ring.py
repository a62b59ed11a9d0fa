# SPDX-License-Identifier: BSD-3-Clause
"""Messages round a ring: the fewest and the most processes, and the latency of each level."""

from __future__ import annotations

import pytest
from found import found, value
from recorded import MACHINE, Raw, changed
from recorded import ring as of_cycle

from haloscope.analysis import fits
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import FindingShape
from haloscope.topics.ring import level_name, ring

FOUR = {"core": ["0", "1", "2", "3"], "cache": ["0-3"]}


def of_ring(ranks: int, launch: int, message_s: float = 0.4e-6) -> Raw:
    cycle = 2 * ranks * message_s * (1 + 0.01 * (launch % 3))
    return of_cycle(cycle, ranks=ranks, launch=launch)


def rings(message_s: float = 0.1e-6, launches: int = 6) -> list[Raw]:
    return [
        changed(
            of_ring(ranks, k, message_s=message_s * ranks), machine={**MACHINE, "topology": FOUR}
        )
        for ranks in (1, 2, 3, 4)
        for k in range(launches)
    ]


def test_message_times_are_reported_for_fewest_and_most_processes_and_levels() -> None:
    ends, levels = found(ring, rings())

    assert [part.subject for part in ends.parts] == [{"ranks": 2}, {"ranks": 4}]
    assert [value(part) for part in ends.parts] == pytest.approx([202e-9, 404e-9], rel=0.01)
    assert all(part.estimate and part.estimate.confidence for part in ends.parts)
    assert [part.subject for part in levels.parts] == [{"level": "within a cache"}]
    assert Caveat.DOUBTFUL_FIT in levels.caveats  # messages take longer with more ranks
    assert levels.shape is FindingShape.VALUE


def test_one_process_passes_messages_to_itself() -> None:
    assert found(ring, [of_ring(1, 0)]) == []


@pytest.mark.parametrize("name", [*fits._ORDER, fits.OVERSUBSCRIBED])
def test_every_distance_has_a_description(name: str) -> None:
    assert "-" not in level_name(name)
    assert level_name(f"{name}, cores shared") == f"{level_name(name)}, cores shared"
