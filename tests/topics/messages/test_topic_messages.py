# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two processes: latency, bandwidth, streams, and the fastest MPI library."""

from __future__ import annotations

import pytest
from found import found, ratio, value, verdicts
from noted import noted
from recorded import Raw, cases, pingpong

from haloscope.analysis.comparison import UNTESTABLE
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.topics import messages, tables

SIZES = [8, 64, 512, 4096, 32768]


def timed(factor: float, number: int = 6, **changes: object) -> list[Raw]:
    raws = [pingpong(launch=k, sizes=[8, 2**20], **changes) for k in range(number)]  # type: ignore[arg-type]
    for raw in raws:
        for point in raw["points"]:
            point["times_s"] = [factor * time for time in point["times_s"]]
    return raws


def test_few_settings_have_a_latency_and_a_bandwidth_each() -> None:
    latency, bandwidth = found(messages.pingpong, [*timed(1), *timed(2, mode="osu")])

    assert [part.subject["mode"] for part in latency.parts] == ["imb", "osu"]
    assert [value(part) for part in latency.parts] == pytest.approx([447e-9, 894e-9], rel=0.01)
    assert [value(part) for part in bandwidth.parts] == pytest.approx([9.88e9, 4.94e9], rel=0.01)
    assert latency.of == 2


def test_two_ranks_on_one_node_have_no_choice_of_nodes() -> None:
    def on(nodes: int, allocation: str) -> Raw:
        (raw,) = timed(1, 1, nodes=nodes, layout={"allocation": allocation})
        return raw

    raws = [on(1, "best_fit"), on(2, "best_fit"), on(2, "by_pod")]

    latency, _ = found(messages.pingpong, raws)

    places = [{key: part.subject.get(key) for key in part.subject if key != "size"}
              for part in latency.parts]  # fmt: skip
    assert places == [
        {"nodes": 1},
        {"nodes": 2, "allocation": "best_fit"},
        {"nodes": 2, "allocation": "by_pod"},
    ]


def test_with_many_settings_only_the_best_is_reported() -> None:
    raws = [raw for k in range(5) for raw in timed(1 + k, transport=f"t{k}")]

    latency, _ = found(messages.pingpong, raws)

    assert [part.subject["transport"] for part in latency.parts] == ["t0"] and latency.of == 5


@pytest.mark.parametrize(
    ("number", "caveat"), [(1, Caveat.ONE_LAUNCH), (2, Caveat.FEW_LAUNCHES), (6, None)]
)
def test_few_launches_are_a_caveat(number: int, caveat: Caveat | None) -> None:
    latency, _ = found(messages.pingpong, timed(1, number))

    own = {Caveat.ONE_LAUNCH, Caveat.FEW_LAUNCHES} & {*latency.caveats}
    assert own == ({caveat} if caveat else set())


def test_an_emulated_device_is_a_caveat() -> None:
    raws = [{**raw, "device": "emulated"} for raw in timed(1)]

    assert all(Caveat.EMULATED in one.caveats for one in found(messages.pingpong, raws))


def test_streams_report_their_maximum_message_rate_and_bandwidth() -> None:
    rate, bandwidth = found(
        messages.streams, [*timed(1, mode="stream"), *timed(2, mode="bistream")]
    )

    assert (rate.metric.unit, bandwidth.metric.unit) == ("1/s", "B/s")
    assert value(rate.parts[0]) == pytest.approx(2.24e6, rel=0.01)
    assert value(bandwidth.parts[0]) == pytest.approx(9.88e9, rel=0.01)
    assert rate.parts[0].subject["mode"] == "stream" and rate.parts[0].subject["size"] == 8
    assert found(messages.streams, timed(1)) == []


def of(name: str, factors: dict[int, float], launches: int = 10) -> list[Raw]:
    """A library's ping-pongs: the simple machine's times by a factor at each size."""
    raws = []
    for k in range(launches):
        raw = pingpong(launch=k, sizes=SIZES, toolchain={"name": name})
        for point in raw["points"]:
            factor = factors.get(point["size_bytes"], 1.0) * (1 + 0.001 * len(name))
            point["times_s"] = [factor * time for time in point["times_s"]]
        raws.append(raw)
    return raws


def test_the_fastest_library_is_named_per_size_with_the_second() -> None:
    slow, fast = {8: 1.5, 64: 1.25}, {4096: 2.0, 32768: 2.0}

    (one,) = found(messages.libraries, [*of("openmpi", slow), *of("mpich", fast)])

    by = {part.at: part for part in one.parts}
    assert by[8, 64].subject == {"library": "mpich"} and by[8, 64].reference == {
        "library": "openmpi"
    }
    assert by[4096, 32768].subject == {"library": "openmpi"}
    assert ratio(by[4096, 32768]) == pytest.approx(2.0, rel=0.01)
    assert by[512,].verdict is Verdict.NO_DIFFERENCE and one.points == tuple(SIZES)


def test_too_few_launches_name_no_fastest_and_state_the_number_needed() -> None:
    raws = [*of("openmpi", dict.fromkeys(SIZES, 2.0), 2), *of("mpich", {}, 2)]

    (one,) = found(messages.libraries, raws)

    assert verdicts(one) == [(Verdict.UNDECIDED, tuple(SIZES))]
    assert one.parts[0].needed == 5 and Caveat.TOO_FEW in one.caveats
    assert found(messages.libraries, of("openmpi", {})) == []


def test_two_placements_are_ranked_separately() -> None:
    raws = [*of("openmpi", {}), *of("mpich", dict.fromkeys(SIZES, 2.0))]
    apart = [
        {**raw, "layout": {**raw["layout"], "placement": placement},
         "case": f"{raw['case']}-{placement}"}
        for raw in raws
        for placement in ("same-core", "same-cache")
    ]  # fmt: skip

    own = found(messages.libraries, apart)

    assert {one.common["placement"] for one in own} == {"same-core", "same-cache"}


def test_the_finding_and_the_table_use_the_same_tests() -> None:
    """Launches that never overlap: enough for one family of tests of a few sizes alone."""
    raws = [
        *of("openmpi", dict.fromkeys(SIZES, 1.5), 5),
        *of("mpich", {8: 1.0, 1024: 1.0}, 5),
        *of("impi", dict.fromkeys(SIZES, 1.5), 5),
    ]
    own = cases(raws)

    (one,) = found(messages.libraries, raws)
    (table,) = tables.build("libraries", own, Context(all_cases=own))

    shown = {row[-1].text for row in table.rows}
    undecided = any(part.verdict is Verdict.UNDECIDED for part in one.parts)
    assert (UNTESTABLE in shown) == undecided
    assert any("corrected for 10 comparisons" in note for note in table.notes)
    assert noted(table, " 1 of 5 sizes", "together")


def test_a_library_with_few_launches_does_not_block_other_comparisons() -> None:
    raws = [
        *of("openmpi", dict.fromkeys(SIZES, 2.0)),
        *of("mpich", {}),
        *of("impi", dict.fromkeys(SIZES, 9.0), 1),
    ]
    own = cases(raws)

    (one,) = found(messages.libraries, raws)
    (table,) = tables.build("libraries", own, Context(all_cases=own))

    (part,) = one.parts
    assert (part.subject, part.reference) == ({"library": "mpich"}, {"library": "openmpi"})
    assert one.of == 3 and len(one.cases) == 2
    assert noted(table, "too few launches", "): impi.")


def test_placements_are_compared_per_library() -> None:
    raws = [
        {**raw, "layout": {**raw["layout"], "placement": placement},
         "case": f"{raw['case']}-{placement}"}
        for name in ("openmpi", "mpich")
        for raw in of(name, {})
        for placement in ("same-core", "same-cache")
    ]  # fmt: skip
    own = cases(raws)

    made = tables.build("libraries", own, Context(all_cases=own))

    assert [table.title.split(":")[0].split(" against ") for table in made] == [
        *[["Half round trip"]] * 2,
        ["Half round trip", "same-cache (mpich)"],
        ["Half round trip", "same-cache (openmpi)"],
    ]
