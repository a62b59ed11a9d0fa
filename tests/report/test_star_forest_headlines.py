# SPDX-License-Identifier: BSD-3-Clause
"""What reports say of star forests in words: causes by size, ways of a device, halos of a grid."""

from __future__ import annotations

import re
from typing import Any

import pytest
from made import build
from recorded import MACHINE, Raw, cases, of_case, on_device, star_forest
from recorded_devices import parted_forest

from haloscope.analysis.split_phase import (
    STARTING,
    dominant,
    split_phase_model,
    starting_device_kernels,
)
from haloscope.report.context import Context
from haloscope.report.findings import (
    device_messages,
    findings,
    grid_halos,
    synchronisation,
    unpacking,
)


def twice(raw: Raw) -> list[Raw]:
    """Two launches of the same times."""
    return [raw, {**raw, "launch": 1}]


def test_one_launch_alone_has_no_headline_of_causes() -> None:
    said = findings(cases([star_forest()]), Context(machine=MACHINE))

    assert not [finding for finding in said if "longest" in finding.text]


def test_a_part_that_is_not_longest_in_every_launch_is_not_named() -> None:
    quick, other = twice(star_forest())
    other = {**other, "parts": [
        {**part, "times_s": [1e-3]} if part["name"].endswith(" pack") and part["point"] == 0
        else part
        for part in quick["parts"]
    ]}  # fmt: skip

    said = findings(cases([quick, other]), Context(machine=MACHINE))

    (text,) = [finding.text for finding in said if "longest" in finding.text]
    assert "in each of 2 launches, " in text and "at 8 B launches differ in which" in text


def test_the_headline_says_where_one_part_dominates_everywhere() -> None:
    quick = star_forest()
    scatters = ("bcast scatter", "reduce scatter")
    parts = [
        {**part, "times_s": [1e-8]} if part["name"] in scatters else part for part in quick["parts"]
    ]
    own = cases(twice({**quick, "parts": parts}))

    said = [finding.text for finding in findings(own, Context(machine=MACHINE))]

    (text,) = [text for text in said if "longest" in text]
    assert text == (
        "sf_scatter: longest of an operation's parts in each of 2 launches, by bytes sent: "
        "starting messages (what 8 B take) at 8 B to 4 KiB; packing at 32 KiB; packing and "
        "unpacking are 2.9 to 44 % of all parts."
    )


def test_the_headline_says_what_dominates_from_small_to_large() -> None:
    own = cases(twice(star_forest()))

    said = [finding.text for finding in findings(own, Context(machine=MACHINE))]

    (text,) = [text for text in said if "longest" in text]
    assert "(what 8 B take) at 8 B to 512 B; the scatter within ranks at 4 KiB to 32 KiB" in text


def test_packing_that_takes_longest_is_said_with_its_share() -> None:
    """Packing takes 3 µs at every size, messages 2 to 9 and the rest next to nothing."""
    quick = star_forest()
    parts = [
        {**part, "times_s": [3e-6]} if part["name"].endswith(" pack") else part
        for part in quick["parts"]
    ]
    own = cases(twice({**quick, "parts": parts}))

    said = [finding.text for finding in findings(own, Context(machine=MACHINE))]

    (text,) = [text for text in said if "longest" in text]
    assert "by bytes sent: packing at 8 B to 4 KiB; the scatter within ranks at 32 KiB" in text
    assert " are 17 to 75 % of all parts" in text


def test_of_many_forests_the_fewest_ranks_and_the_most_have_a_headline() -> None:
    forests = (star_forest("sf_grid", ranks=ranks) for ranks in (2, 3, 4, 6, 8, 16))
    raws = [raw for forest in forests for raw in twice(forest)]

    said = [finding.text for finding in findings(cases(raws), Context(machine=MACHINE))]

    named = [text.split(":")[1] for text in said if "longest" in text]
    assert named == [" 2 processes", " 16 processes"]


def test_on_a_device_launches_and_waits_are_apart_from_what_they_start() -> None:
    """Messages of 9 us are longer than a scatter of 0.1 to 4 us, though its launch takes 12."""
    (case,) = cases([parted_forest()])
    model = split_phase_model(case)
    assert model is not None

    scatters_s = [1e-9 * 8 * n**2 for n in (4, 8, 16, 32, 64)]
    by_hand = [2 * (2e-6 + 12e-6 + 4e-6 + (12e-6 + one) + 12e-6) for one in scatters_s]
    assert model.composed_s(overlap=True) == pytest.approx(by_hand)
    assert model.composed_s(overlap=True) == pytest.approx(model.whole_s)
    assert [model.longest(point) for point in range(5)] == ["messages"] * 4 + ["scatter"]
    assert model.crossings_bytes == [pytest.approx(1024, rel=0.1)]
    assert dominant(model)[:4] == [STARTING] * 4
    assert starting_device_kernels(model)[0] == pytest.approx(40 / 51, rel=0.01)


def test_a_table_of_parts_on_a_device_has_what_only_a_device_takes() -> None:
    (table,) = build("split_phase", [parted_forest()])

    def column_us(key: str) -> list[float]:
        place = [column.key for column in table.columns].index(key)
        return [float(row[place].value or 0) * 1e6 for row in table.rows]

    assert column_us("begin_s") == pytest.approx([2.0] * 5)
    assert column_us("synchronise_s") == pytest.approx([4.0] * 5)
    assert column_us("launches_s") == pytest.approx([36.0] * 5)
    assert column_us("scatter_s") == pytest.approx([0.128, 0.512, 2.048, 8.192, 32.768])
    assert column_us("max_s")[0] == pytest.approx(42.128)


def test_staged_messages_are_copied_as_a_part_of_packing_and_unpacking() -> None:
    raw = parted_forest(mpi="staged")
    names = ("bcast copy out", "bcast copy in", "reduce copy out", "reduce copy in")
    copies = [
        {"point": point, "name": name + more, "steps": 1, "times_s": [time_s]}
        for point in range(5)
        for name in names
        for more, time_s in (("", 12e-6 + 3e-6 + 4e-6), (" launch", 12e-6))
    ]
    (case,) = cases([{**raw, "parts": raw["parts"] + copies}])
    model = split_phase_model(case)
    assert model is not None

    assert model.parts_s["bcast pack"] == pytest.approx([27e-6] * 5)
    assert model.parts_s["reduce unpack launch"] == pytest.approx([24e-6] * 5)


def test_what_a_forest_adds_to_plain_messages_is_tested_size_by_size() -> None:
    def timed(kernel: str, factor: float, launch: int) -> Raw:
        raw = star_forest(kernel, launch=launch)
        for point in raw["points"]:
            longer = factor if point["size_bytes"] < 512 else 1.0
            point["times_s"] = [longer * (2e-6 + 0.001e-6 * launch)]
        return raw

    def plain(launch: int) -> Raw:
        return {**timed("pingpong", 1.0, launch), "params": {"mode": "imb"}}

    raws = [raw for k in range(7) for raw in (plain(k), timed("sf_pingpong", 1.5, k))]

    said = [finding.text for finding in findings(cases(raws), Context(machine=MACHINE))]

    assert (
        "A star forest (sf_pingpong) against plain messages (pingpong): takes 1.50 times as long "
        "at 8 B to 64 B; no difference shown at 512 B to 32 KiB." in said
    )


def timed(raw: Raw, small: float, large: float) -> Raw:
    """A launch of so many times some 2 us at each size below 512 B, and from there on."""
    for point in raw["points"]:
        factor = small if point["size_bytes"] < 512 else large
        point["times_s"] = [factor * (2e-6 + 0.001e-6 * raw["launch"])]
    return raw


def synchronised(factors: dict[str, float], launches: int = 7, mpi: str = "gpu_aware") -> list[Raw]:
    """Launches of sf_pingpong on an emulated device, as many times as long in each way."""
    return [
        timed(on_device("sf_pingpong", launch=launch, sync=sync, mpi=mpi), factor, 1.0)
        for launch in range(launches)
        for sync, factor in factors.items()
    ]


def said_of_devices(raws: list[Raw]) -> list[str]:
    context = Context(machine=MACHINE)
    return [finding.text for finding in synchronisation.find(cases(raws), context)]


def test_ways_to_synchronise_are_tested_against_petscs_size_by_size() -> None:
    assert said_of_devices(synchronised({"typed": 0.5, "default_stream": 1.0, "general": 2.0})) == [
        "A star forest (sf_pingpong) in an emulated device's memory: against sync = "
        "default_stream, with general it takes 2.00 times as long at 8 B to 64 B, no difference "
        "shown at 512 B to 32 KiB; with typed it is 2.00 times as fast at 8 B to 64 B, no "
        "difference shown at 512 B to 32 KiB.",
    ]


def starting(launches: int, later_s: float = 0.0) -> str:
    """What is said of messages of 2 µs that take 1 ns a byte more, and in the last launch later."""
    raws = []
    for launch in range(launches):
        raw = on_device("sf_pingpong", launch=launch, sync="default_stream", mpi="gpu_aware")
        for point in raw["points"]:
            more = later_s if launch == launches - 1 and point["size_bytes"] > 8 else 0.0
            point["times_s"] = [2e-6 + 1e-9 * point["size_bytes"] + more]
        raws.append(raw)
    (said,) = device_messages.find(cases(raws), Context(machine=MACHINE))
    return said.text


def test_the_start_of_a_device_s_message_dominates_up_to_a_size_in_every_launch() -> None:
    assert starting(7) == (
        "What dominates a message from an emulated device's memory (sf_pingpong, sync = "
        "default_stream, mpi = gpu_aware): its start (1.00 µs) up to 512 B, its bytes beyond. Its "
        "start is what 8 B take."
    )
    assert "medians of 2 launches: its start (1.00 µs) at 8 B" in starting(2, 5e-6)


def test_messages_through_the_hosts_memory_are_tested_against_those_of_the_device() -> None:
    aware = synchronised({"general": 1.0})

    (said,) = said_of_devices([*aware, *synchronised({"general": 3.0}, mpi="staged")])

    assert (
        "against mpi = gpu_aware, with staged it takes 3.00 times as long at 8 B to 64 B," in said
    )


def test_grids_in_a_device_s_memory_are_tested_by_the_size_of_their_messages() -> None:
    ways = {"gpu_aware": 1, "staged": 2}
    raws = [
        on_device("sf_grid", mpi=mpi, sync="default_stream", messages=messages, launch=launch)
        for mpi, messages in ways.items()
        for launch in range(8)
    ]

    (said,) = said_of_devices(raws)

    assert said.startswith(
        "A star forest (sf_grid) in an emulated device's memory: against mpi = gpu_aware, with "
        "staged it takes 1.01 (32 B) to 1.03 (128 B) times as long at 32 B to 128 B"
    )


def test_ways_of_a_device_alone_or_of_few_launches_show_nothing() -> None:
    host = [star_forest("sf_pingpong", launch=launch) for launch in range(7)]
    few = said_of_devices(synchronised({"default_stream": 1.0, "general": 2.0}, launches=2))

    assert said_of_devices([*host, *synchronised({"general": 1.0})]) == []
    assert [text.rpartition(": ")[2] for text in few] == [
        "against sync = default_stream, launches are too few to tell of general at any size."
    ]


def pairs(factors: dict[str, tuple[float, float]], launches: int, **params: Any) -> list[Raw]:
    """Launches of kernels, so many times as long below 512 B and beyond."""
    return [
        timed(star_forest(kernel, launch=launch, **params), small, large)
        for launch in range(launches)
        for kernel, (small, large) in factors.items()
    ]


def said_of_more(raws: list[Raw]) -> list[str]:
    context = Context(machine=MACHINE)
    return [finding.text for finding in unpacking.find(cases(raws), context)]


PAIRS = {"sf_newpingpong": (1.0, 1.0), "sf_unpack": (1.5, 1.0), "sf_scatter": (1.5, 2.0)}


def test_adding_and_local_leaves_are_tested_against_the_kernel_that_does_less() -> None:
    assert said_of_more(pairs(PAIRS, launches=8)) == [
        "Adding values where they arrive (sf_unpack), against writing them there "
        "(sf_newpingpong): 501 ns more at 8 B, takes 1.50 times as long at 8 B to 64 B, no "
        "difference shown at 512 B to 32 KiB.",
        "Leaves on rank 0 itself, too (sf_scatter), against on the other rank alone (sf_unpack): "
        "no difference shown at 8 B to 64 B, takes 2.00 times as long at 512 B to 32 KiB.",
    ]
    assert [text.rpartition(": ")[2] for text in said_of_more(pairs(PAIRS, launches=2))] == [
        "launches are too few to tell at any size."
    ] * 2


def test_what_more_takes_is_told_by_places_and_of_kernels_that_are_there() -> None:
    def bound(bind: str, *kernels: str) -> list[Raw]:
        raws = pairs({name: PAIRS[name] for name in kernels}, launches=8, memory="device")
        layout = {**raws[0]["layout"], "bind": bind}
        return [{**of_case(raw, layout=layout), "device": "emulated"} for raw in raws]

    both = ("sf_newpingpong", "sf_unpack")
    (said,) = said_of_more([*bound("close", *both), *bound("spread", *both)])
    assert (
        "(sf_newpingpong), on an emulated device: bind = close and bind = spread: 501 ns " in said
    )
    alone = [*bound("close", "sf_newpingpong"), *bound("spread", "sf_unpack")]
    assert said_of_more(alone) == []
    assert said_of_more(bound("close", "sf_newpingpong", "sf_scatter")) == []


def test_a_way_of_few_launches_leaves_what_is_shown_of_another() -> None:
    many = synchronised({"default_stream": 1.0, "general": 2.0})

    (said,) = said_of_devices([*many, *synchronised({"typed": 0.5}, launches=2)])

    assert "with general it takes 2.00 times as long at 8 B to 64 B" in said
    assert said.endswith("with typed too few launches to tell at every size.")


def test_a_size_that_launches_differ_in_is_no_size_at_which_the_start_dominates() -> None:
    raws = []
    for launch, later_s in enumerate((0.0, 0.0, 5e-6)):
        raw = on_device("sf_pingpong", launch=launch, sync="default_stream", mpi="gpu_aware")
        for point in raw["points"]:
            point["times_s"] = [2e-6 + (later_s if point["size_bytes"] == 32768 else 0.0)]
        raws.append(raw)

    (said,) = device_messages.find(cases(raws), Context(machine=MACHINE))

    assert "its start (1.00 µs) at 8 B to 4 KiB, launches differ at 32 KiB." in said.text


def test_halos_of_a_grid_without_timed_parts_have_a_headline_of_their_own() -> None:
    def told(**changes: object) -> list[str]:
        own = cases([
            {**star_forest("sf_grid", ranks=ranks, n="4,8,16,32,64", launch=launch), **changes}
            for ranks in (1, 2)
            for launch in range(2)
        ])  # fmt: skip
        return [finding.text for finding in grid_halos.find(own, Context())]

    (text,) = told(parts=[])
    assert re.fullmatch(
        r"Halos of a grid \(sf_grid, 2 processes\), one way: n = 4 takes [\d.]+ µs "
        r"\([\d.]+ to [\d.]+ µs of 2 launches\) and n = 64 takes [\d.]+ µs \(.* of 2 launches\); "
        r"no more than 2 times as long as n = 4 up to n = \d+\.",
        text,
    )
    assert told() == []  # what dominates at which size tells more
