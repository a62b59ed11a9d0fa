# SPDX-License-Identifier: BSD-3-Clause
"""Star forests: against messages, ways of a device, what dominates by size, halos of grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from found import found, ratio, value, verdicts
from noted import shows
from recorded import MACHINE, Raw, bad, cases, of_case, on_device, star_forest
from recorded_devices import launches

from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import Library
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, Prominence, Verdict
from haloscope.papers import tables as papers
from haloscope.topics import findings
from haloscope.topics.star_forests import findings as topic
from haloscope.topics.star_forests import published_latency

SMALL, LARGE = (8, 64), (512, 4096, 32768)


def twice(raw: Raw) -> list[Raw]:
    """Two launches of the same times."""
    return [raw, {**raw, "launch": 1}]


def longest(raws: list[Raw]) -> dict[str, tuple[Any, ...]]:
    """Of the only forest, which part dominates at which sizes."""
    (one,) = found(topic.dominating, raws)
    return {str(part.subject["part"]): part.at for part in one.parts if part.at}


@pytest.mark.parametrize(("factor", "deviates"), [(1.0, False), (1.5, True)])
def test_parts_that_do_not_add_up_are_a_caveat(factor: float, deviates: bool) -> None:
    raw = star_forest()
    points = [{**one, "times_s": [factor * one["times_s"][0]]} for one in raw["points"]]

    (one,) = found(topic.dominating, twice({**raw, "points": points}))

    assert (Caveat.PARTS_DEVIATE in one.caveats) == deviates


def test_a_published_gpu_latency_names_its_memory() -> None:
    (case,) = cases([star_forest("sf_pingpong")])

    beside = published_latency(case, 8, Library([papers.load("anl-petsc-summit-part2")]))

    assert beside is not None and beside.variant == "GPU memory"


def test_a_single_launch_has_no_dominant_part() -> None:
    assert found(topic.dominating, [star_forest()]) == []


def test_a_part_must_be_longest_in_every_launch_to_be_named() -> None:
    quick, other = twice(star_forest())
    other = {**other, "parts": [
        {**part, "times_s": [1e-3]} if part["name"].endswith(" pack") and part["point"] == 0
        else part
        for part in quick["parts"]
    ]}  # fmt: skip

    assert longest([quick, other])["launches differ"] == (8,)


def test_the_dominant_part_is_named_from_small_to_large_sizes() -> None:
    by = longest(twice(star_forest()))

    assert by["message start-up"] == (8, 64, 512)
    assert by["the scatter within ranks"] == (4096, 32768)


def launched(raw: Raw) -> Raw:
    """The same in a device's memory, whose moves take 12 us each to launch, and waits 4 us."""
    own = []
    for part in raw["parts"]:
        if part["name"] == "messages":
            begins = ({**part, "name": name, "times_s": [4e-6]} for name in ("begin", "wait"))
            own += [part, *begins]
            continue
        own.append({**part, "times_s": [16e-6 + part["times_s"][0]]})
        own.append({**part, "name": f"{part['name']} launch", "times_s": [12e-6]})
    points = [
        {**point, "shape": {**point["shape"], "waits": {"bcast": 1, "reduce": 1}}}
        for point in raw["points"]
    ]
    params = {**raw["params"], "memory": "device", "mpi": "gpu_aware", "sync": "default_stream"}
    return {**raw, "params": params, "parts": own, "points": points, "device": "emulated"}


def test_launch_costs_are_reported_once() -> None:
    (one,) = found(topic.dominating, [launched(raw) for raw in twice(star_forest("sf_grid"))])

    names = [part.subject["part"] for part in one.parts]
    assert len(names) == len({*names})
    (starting,) = (
        part for part in one.parts if shows(str(part.subject["part"]), "kernel launches and waits")
    )
    assert starting.at == tuple(
        point["shape"]["remote_bytes"] for point in star_forest("sf_grid")["points"]
    )
    assert starting.share is not None and starting.share > 0.5
    assert "message start-up" not in names
    assert Caveat.PARTS_DEVIATE in one.caveats  # the whole has no launches here


def test_parts_that_add_up_need_no_caveat() -> None:
    (one,) = found(topic.dominating, twice(star_forest()))

    assert Caveat.PARTS_DEVIATE not in one.caveats


def test_the_share_of_packing_is_reported() -> None:
    """Packing takes 3 µs at every size, messages 2 to 9 and the rest next to nothing."""
    quick = star_forest()
    parts = [
        {**part, "times_s": [3e-6]} if part["name"].endswith(" pack") else part
        for part in quick["parts"]
    ]
    (one,) = found(topic.dominating, twice({**quick, "parts": parts}))

    by = {str(part.subject["part"]).partition(" (")[0]: part for part in one.parts}
    assert by["packing"].at == (8, 64, 512, 4096)
    assert by["packing and unpacking"].share == pytest.approx(0.75, abs=0.01)


def test_with_many_forests_the_fewest_and_the_most_ranks_are_reported() -> None:
    forests = (star_forest("sf_grid", ranks=ranks) for ranks in (2, 3, 4, 6, 8, 16))

    own = found(topic.dominating, [raw for forest in forests for raw in twice(forest)])

    assert [one.common["ppn"] for one in own] == [2, 16]


def timed(raw: Raw, small: float, large: float) -> Raw:
    """A launch of so many times some 2 us at each size below 512 B, and from there on."""
    for point in raw["points"]:
        factor = small if point["size_bytes"] < 512 else large
        point["times_s"] = [factor * (2e-6 + 0.001e-6 * raw["launch"])]
    return raw


def test_the_overhead_of_a_forest_over_plain_messages_is_tested_per_size() -> None:
    raws = [
        raw
        for k in range(7)
        for raw in (
            {**timed(star_forest("pingpong", launch=k), 1.0, 1.0), "params": {"mode": "imb"}},
            timed(star_forest("sf_pingpong", launch=k), 1.5, 1.0),
        )
    ]

    (one,) = found(topic.messages, raws)

    assert verdicts(one) == [(Verdict.SLOWER, SMALL), (Verdict.NO_DIFFERENCE, LARGE)]
    assert 1 / ratio(one.parts[0]) == pytest.approx(1.5)
    asked = Context(machine=MACHINE, question="sf_latency")
    (answer,) = (
        each for each in findings(cases(raws), asked) if each.severity is Prominence.ANSWER
    )
    assert answer.question == one.question, "not the latency of plain messages"


def synchronised(factors: dict[str, float], number: int = 7, mpi: str = "gpu_aware") -> list[Raw]:
    """Launches of sf_pingpong on an emulated device, as many times as long in each way."""
    return [
        timed(on_device("sf_pingpong", launch=launch, sync=sync, mpi=mpi), factor, 1.0)
        for launch in range(number)
        for sync, factor in factors.items()
    ]


def by_way(raws: list[Raw]) -> dict[Any, Finding]:
    return {next(iter(one.parts[0].subject.values())): one for one in found(topic.device, raws)}


def test_synchronisation_methods_are_compared_with_petsc_per_size() -> None:
    own = by_way(synchronised({"typed": 0.5, "default_stream": 1.0, "general": 2.0}))

    assert verdicts(own["general"]) == [(Verdict.SLOWER, SMALL), (Verdict.NO_DIFFERENCE, LARGE)]
    assert verdicts(own["typed"])[0] == (Verdict.FASTER, SMALL)
    assert ratio(own["typed"].parts[0]) == pytest.approx(2.0)
    assert own["typed"].parts[0].reference == {"sync": "default_stream"}
    assert all(Caveat.EMULATED in one.caveats for one in own.values())


def test_host_staged_messages_are_compared_with_device_messages() -> None:
    aware = synchronised({"general": 1.0})

    own = by_way([*aware, *synchronised({"general": 3.0}, mpi="staged")])

    assert own["staged"].parts[0].reference == {"mpi": "gpu_aware"}
    assert 1 / ratio(own["staged"].parts[0]) == pytest.approx(3.0)


def test_single_device_methods_and_few_launches_have_no_finding() -> None:
    host = [star_forest("sf_pingpong", launch=launch) for launch in range(7)]
    few = by_way(synchronised({"default_stream": 1.0, "general": 2.0}, number=2))
    mixed = by_way([
        *synchronised({"default_stream": 1.0, "general": 2.0}),
        *synchronised({"typed": 0.5}, number=2),
    ])  # fmt: skip

    assert found(topic.device, [*host, *synchronised({"general": 1.0})]) == []
    assert {part.verdict for part in few["general"].parts} == {Verdict.UNDECIDED}
    assert mixed["general"].parts[0].verdict is Verdict.SLOWER
    assert {part.verdict for part in mixed["typed"].parts} == {Verdict.UNDECIDED}


def starting(number: int, later_s: float = 0.0) -> dict[str, tuple[Any, ...]]:
    """Messages of 2 µs that take 1 ns a byte more, and in the last launch later."""
    raws = []
    for launch in range(number):
        raw = on_device("sf_pingpong", launch=launch, sync="default_stream", mpi="gpu_aware")
        for point in raw["points"]:
            more = later_s if launch == number - 1 and point["size_bytes"] > 8 else 0.0
            point["times_s"] = [2e-6 + 1e-9 * point["size_bytes"] + more]
        raws.append(raw)
    (one,) = found(topic.starts, raws)
    assert value(one.parts[0]) == pytest.approx(1e-6, rel=0.01)
    return {str(part.subject["part"]): part.at for part in one.parts}


def test_startup_dominates_device_messages_up_to_a_size_in_every_launch() -> None:
    assert starting(7) == {"start-up": (8, 64, 512), "transfer": (4096, 32768)}
    assert starting(2, 5e-6)["start-up"] == (8,)


def test_sizes_of_several_placements_name_their_part_only_if_parts_differ() -> None:
    def parts(later_s: float, key: str, *settings: object) -> list[Mapping[str, Any]]:
        raws = []
        for setting in settings:
            for launch in range(2):
                raw = on_device(
                    "sf_pingpong", launch=launch, sync="default_stream", mpi="gpu_aware"
                )
                for point in raw["points"]:
                    more = later_s if launch == 1 and point["size_bytes"] > 8 else 0.0
                    point["times_s"] = [2e-6 + 1e-9 * point["size_bytes"] + more]
                raw = of_case(raw, layout={**raw["layout"], key: setting})
                raws.append({**raw, "device": "emulated"})
        (one,) = found(topic.starts, raws)
        return [part.subject for part in one.parts]

    assert parts(0.0, "bind", "close", "spread") == [{"bind": "close"}, {"bind": "spread"}]
    unlike = parts(5e-6, "bind", "close", "spread")
    assert {one["part"] for one in unlike} == {"start-up", "launches differ"}
    assert {one["part"] for one in parts(0.0, "nodes", 1, 2)} == {"start-up"}  # 1 node has no name


PAIRS = {"sf_newpingpong": (1.0, 1.0), "sf_unpack": (1.5, 1.0), "sf_scatter": (1.5, 2.0)}


def pairs(names: tuple[str, ...], number: int, **params: Any) -> list[Raw]:
    """Launches of kernels, so many times as long below 512 B and beyond."""
    return [
        timed(star_forest(kernel, launch=launch, **params), *PAIRS[kernel])
        for launch in range(number)
        for kernel in names
    ]


def test_additions_and_local_leaves_are_compared_with_the_simpler_kernel() -> None:
    adding, leaves = found(topic.more, pairs(tuple(PAIRS), 8))

    assert verdicts(adding) == [(Verdict.SLOWER, SMALL), (Verdict.NO_DIFFERENCE, LARGE)]
    assert verdicts(leaves) == [(Verdict.NO_DIFFERENCE, SMALL), (Verdict.SLOWER, LARGE)]
    for one in found(topic.more, pairs(tuple(PAIRS), 2)):
        assert {part.verdict for part in one.parts} == {Verdict.UNDECIDED}


def test_kernels_are_compared_in_each_placement_that_has_both() -> None:
    def bound(bind: str, *kernels: str) -> list[Raw]:
        raws = pairs(kernels, 8, memory="device")
        layout = {**raws[0]["layout"], "bind": bind}
        return [{**of_case(raw, layout=layout), "device": "emulated"} for raw in raws]

    both = ("sf_newpingpong", "sf_unpack")
    own = found(topic.more, [*bound("close", *both), *bound("spread", *both)])
    assert [one.common["bind"] for one in own] == ["close", "spread"]
    alone = [*bound("close", "sf_newpingpong"), *bound("spread", "sf_unpack")]
    assert found(topic.more, alone) == []
    assert found(topic.more, bound("close", "sf_newpingpong", "sf_scatter")) == []


def test_grid_halos_without_timed_parts_have_separate_values() -> None:
    def grids(**changes: object) -> list[Finding]:
        return found(topic.grids, [
            {**star_forest("sf_grid", ranks=ranks, n="4,8,16,32,64", launch=launch), **changes}
            for ranks in (1, 2)
            for launch in range(2)
        ])  # fmt: skip

    (one,) = grids(parts=[])
    sizes = [part.subject["n"] for part in one.parts]
    assert (sizes[0], sizes[-1], one.common["ppn"]) == (4, 64, 2)
    assert value(one.parts[0]) < value(one.parts[-1])
    assert grids() == []  # what dominates at which size tells more


def test_waiting_for_the_first_device_kernel_is_compared_with_continuing() -> None:
    small = [launches(100, 150, k) for k in range(7)]
    large = [launches(1000 + k, 1000 + k, k, size=65536) for k in range(7)]
    failed = {**bad(launches(1, 1), "failed", "killed"), "points": [], "times_s": [], "result": {}}

    (both,) = found(topic.launches, [*small, *large])
    alone, hidden = both.parts
    (few,) = found(topic.launches, [launches(100, 150, k) for k in range(2)])

    assert value(alone) == pytest.approx(150e-6)
    assert 1 / ratio(alone) == pytest.approx(1.5)
    assert alone.verdict is Verdict.SLOWER
    assert hidden.verdict is Verdict.NO_DIFFERENCE
    assert few.parts[0].verdict is Verdict.UNDECIDED
    assert found(topic.launches, [failed]) == []
