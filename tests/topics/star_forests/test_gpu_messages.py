# SPDX-License-Identifier: BSD-3-Clause
"""Reports of messages between GPUs: start-up, bandwidth by two points, what forests add."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, cases, record, star_forest

from haloscope.analysis.context import Context
from haloscope.findings.finding import Finding
from haloscope.findings.sentences import key_figure
from haloscope.papers import tables as papers
from haloscope.quantities import within
from haloscope.topics.messages import pingpong
from haloscope.topics.star_forests import findings as topic
from haloscope.topics.star_forests import gpu_messages, placement_of

SIMULATED = {"device": "simulated", "clock": "simulated", "toolchain": "simgrid"}
SUMMIT = {"simulation": {"cluster": "summit", "verified": False}}


def between_gpus(kernel: str, times_us: dict[int, float], nodes: int = 1, **params: Any) -> Raw:
    """A launch between two of Summit's GPUs, by the time one way of each size."""
    given = {"memory": "device", "mpi": "gpu_aware", **params}
    given |= {"mode": "imb"} if kernel == "pingpong" else {"sync": "default_stream"}
    points = [
        {
            "size_bytes": size,
            "operation": None,
            "result": {"latency_s": time_us * 1e-6},
            "steps": 1,
            "times_s": [2e-6 * time_us],
            "bytes": 2.0 * size,
        }
        for size, time_us in times_us.items()
    ]
    raw = record(kernel, given, [1.0], ranks=2, nodes=nodes, points=points,
                 result=points[0]["result"])  # fmt: skip
    return {**raw, **SIMULATED, **SUMMIT}


MESSAGES = {8: 17.8, 2**20: 39.4, 2**22: 106.6}
FORESTS = {8: 23.8, 2**20: 45.1, 2**22: 112.6}


def test_a_two_point_bandwidth_matches_the_paper() -> None:
    """Table 1 within a socket, of which section 3 makes 47.2 GB/s."""
    raws = [between_gpus("pingpong", MESSAGES), between_gpus("sf_pingpong", FORESTS)]

    (found,) = gpu_messages(cases(raws))

    assert found.bandwidth.value == pytest.approx(47.2e9, rel=2e-3)
    assert found.sizes == (8, 2**22)
    assert found.added_s == pytest.approx({8: 6.0e-6, 2**20: 5.7e-6, 2**22: 6.0e-6})


def test_a_star_forest_with_another_placement_adds_no_overhead() -> None:
    raws = [between_gpus("pingpong", MESSAGES), between_gpus("sf_pingpong", FORESTS, nodes=2)]

    (found,) = gpu_messages(cases(raws))

    assert found.added_s == {}
    assert len(list(topic.between_gpus(cases(raws), Context(machine=MACHINE)))) == 1


def test_simulated_messages_show_their_error_on_the_first_screen() -> None:
    own = cases([between_gpus("pingpong", MESSAGES)])
    (speed,) = topic.between_gpus(own, Context(machine=MACHINE))
    start, *_ = pingpong(own, Context(machine=MACHINE))

    for found in (start, speed):
        (part,) = found.parts
        figure = key_figure(found)
        assert part.estimate and part.estimate.band and figure
        assert within(part.estimate.band) in figure.spread


def test_host_and_emulated_device_messages_are_not_between_gpus() -> None:
    raw = between_gpus("pingpong", MESSAGES)
    emulated = {**raw, "device": "emulated", "clock": "wall"}
    host = {name: value for name, value in raw.items() if name != "device"}

    assert gpu_messages(cases([emulated])) == []
    assert gpu_messages(cases([host])) == []


def test_latency_and_bandwidth_are_reported_per_placement() -> None:
    raws = [between_gpus("pingpong", MESSAGES), between_gpus("sf_pingpong", FORESTS)]

    (speed,) = topic.between_gpus(cases(raws), Context(machine=MACHINE))
    start, *_ = pingpong(cases(raws), Context(machine=MACHINE))
    (added,) = topic.overhead(cases(raws), Context(machine=MACHINE))

    def values(found: Finding) -> list[Any]:
        return [
            (part.subject["size"], part.estimate.value) for part in found.parts if part.estimate
        ]

    assert values(start) == [(8, pytest.approx(17.8e-6))]
    assert values(speed) == [(2**22, pytest.approx(47.2e9, rel=2e-3))]
    assert speed.metric.unit == "B/s"
    assert values(added) == [
        (8, pytest.approx(6.0e-6)), (2**20, pytest.approx(5.7e-6)), (2**22, pytest.approx(6.0e-6))
    ][: len(added.parts)]  # fmt: skip


def test_equal_overheads_of_layouts_are_one_value() -> None:
    forests = {size: time + 6 for size, time in MESSAGES.items()}
    raws = [
        between_gpus(kernel, times, nodes)
        for nodes in (1, 2)
        for kernel, times in (("pingpong", MESSAGES), ("sf_pingpong", forests))
    ]

    (added,) = topic.overhead(cases(raws), Context(machine=MACHINE))
    (speed,) = topic.between_gpus(cases(raws), Context(machine=MACHINE))
    start, *_ = pingpong(cases(raws), Context(machine=MACHINE))
    (part,) = added.parts

    assert part.subject == {"settings": 2} and part.at == tuple(sorted(MESSAGES))
    assert part.estimate and part.estimate.value == pytest.approx(6.0e-6)
    assert [one.subject["nodes"] for one in start.parts] == [1, 2] and len(speed.parts) == 2


def test_published_differences_that_were_not_reproduced_are_reported() -> None:
    """Table 3 between nodes: sf_scatter is 11.4 us longer at 4 MiB, and 0.2 us at 2 MiB."""
    times = {2**21: 212.0, 2**22: 440.0}
    raws = [between_gpus(kernel, times, nodes=2) for kernel in ("sf_unpack", "sf_scatter")]
    context = Context(paper=papers.load("anl-petsc-summit-part2"), machine=MACHINE)

    compared, published = topic.more(cases(raws), context)

    (part,) = published.parts
    assert part.subject == {"size": 2**22}
    assert part.estimate and part.estimate.value == pytest.approx(11.4e-6, rel=0.01)
    assert compared.cases == published.cases
    assert "least" not in published.question


def real(first: dict[str, Any], second: dict[str, Any]) -> str | None:
    raw = {
        **star_forest("sf_pingpong", memory="device"),
        "device": "a GPU",
        "gpus": [first, second],
    }
    (case,) = cases([raw])
    return placement_of(case)


def test_real_gpus_are_located_by_their_addresses() -> None:
    def gpu(pci: str, numa: int | None, uuid: str | None = None) -> dict[str, Any]:
        return {"uuid": uuid, "pci": pci, "numa": numa}

    assert real(gpu("0:1:0.0", 0), gpu("0:1:0.0", 0)) == "intra_gpu"
    assert real(gpu("0:1:0.0", 0, "a"), gpu("0:1:0.0", 0, "b")) == "intra_socket"  # parts of one
    assert real(gpu("0:1:0.0", 0), gpu("0:2:0.0", 0)) == "intra_socket"
    assert real(gpu("0:1:0.0", 0), gpu("0:2:0.0", 1)) == "inter_socket"
    assert real(gpu("0:1:0.0", None), gpu("0:2:0.0", 1)) == "intra_socket"  # as not known
