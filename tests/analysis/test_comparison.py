# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import pytest
from noted import shows
from recorded import Raw, bad, cases, overheads, pingpong, poisson, record

from haloscope.analysis import comparison
from haloscope.analysis.comparison import UNTESTABLE
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.report import comparing
from haloscope.report.compared import Compared, compare_cases


def launches(times: list[float], n: int = 64, **settings: object) -> list[Raw]:
    return [
        poisson(n, launch=k, time_s=time, **settings)  # type: ignore[arg-type]
        for k, time in enumerate(times)
    ]


def compared(first: list[Raw], second: list[Raw]) -> Compared:
    return compare_cases(cases(first), cases(second))


SLOW = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]
FAST = [1.0, 1.05, 1.1, 1.15, 1.2, 1.25]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (SLOW, FAST, "faster"),
        (FAST, SLOW, "slower"),
        (SLOW, [2.05, 2.15, 2.25, 2.35, 2.45, 2.0], "no difference shown"),
        (SLOW[:3], FAST[:3], UNTESTABLE),
    ],
)
def test_verdicts(first: list[float], second: list[float], verdict: str) -> None:
    (one,) = compared(launches(first), launches(second)).contrasts

    assert one.verdict == verdict


def test_the_ratio_is_the_speedup_of_the_second_folder() -> None:
    (one,) = compared(launches(SLOW), launches(FAST)).contrasts

    assert one.ratio is not None
    assert one.ratio.value == 2.0
    assert one.ratio.low is not None and one.ratio.high is not None
    assert one.ratio.low < 2.0 < one.ratio.high


def test_many_comparisons_need_more_launches() -> None:
    first = [raw for n in (32, 64, 128, 256, 512, 1024, 2048) for raw in launches(SLOW[:5], n)]
    second = [raw for n in (32, 64, 128, 256, 512, 1024, 2048) for raw in launches(FAST[:5], n)]

    seven = compared(first, second)
    six = compared(first[5:], second[5:])

    # 5 launches against 5 give p = 2/252 at best: times 7 is above 0.05, times 6 below.
    assert {one.verdict for one in seven.contrasts} == {UNTESTABLE}
    assert {one.verdict for one in six.contrasts} == {"faster"}
    assert six.contrasts[0].adjusted == pytest.approx(6 * 2 / 252)


def test_verdicts_use_the_corrected_p_value() -> None:
    meshes, times = (32, 64, 128), [2.0 + 0.1 * k for k in range(8)]
    first = [raw for n in meshes for raw in launches(times, n)]
    second = [raw for n in meshes for raw in launches([time - 0.35 for time in times], n)]

    (alone,) = compared(first[:8], second[:8]).contrasts
    assert alone.comparison is not None
    assert alone.comparison.p_value == pytest.approx(0.0207, abs=1e-4)
    assert alone.verdict == "faster"
    among = compared(first, second).contrasts
    assert [one.verdict for one in among] == ["no difference shown"] * 3


def test_cases_match_by_settings_and_unmatched_ones_are_named() -> None:
    found = compared(
        [*launches(SLOW), *launches(SLOW, 128)], [*launches(FAST), *launches(FAST, 256)]
    )

    assert len(found.contrasts) == 1
    assert found.notes == (
        "Only in first: poisson_cg: n = 128.",
        "Only in second: poisson_cg: n = 256.",
    )


def test_two_folders_with_one_toolchain_each_compare_toolchains() -> None:
    ours = launches(SLOW, toolchain={"name": "openmpi"})
    theirs = launches(FAST, toolchain={"name": "mpich"})

    found = compared(ours, theirs)

    assert [one.verdict for one in found.contrasts] == ["faster"]
    assert len(found.notes) == 1 and shows(found.notes, "openmpi (first)", "mpich (second)")
    both = compared([*ours, *theirs], theirs)
    assert [one.verdict for one in both.contrasts] == ["no difference shown"]
    assert len(both.notes) == 1
    assert shows(both.notes, " first: ", "poisson_cg: openmpi.")


def ordinary(launch: int, **changes: object) -> list[Raw]:
    """A sweep of 24 sizes, a streamed one of 2, two collectives at 2 sizes, LogGP."""
    return [
        pingpong(launch=launch, **changes),  # type: ignore[arg-type]
        pingpong(launch=launch, mode="stream", sizes=[8, 64]),
        collectives(launch),
        overheads(launch),
    ]


def collectives(launch: int) -> Raw:
    points: list[Raw] = [
        {"size_bytes": size, "operation": operation, "steps": 1, "bytes": 0.0, "result": {},
         "times_s": [1e-6 * (1 + 0.01 * launch)]}
        for operation in ("bcast", "allreduce")
        for size in (8, 64)
    ]  # fmt: skip
    params = {"operations": "all", "synchronisation": "barrier"}
    return record("collectives", params, [4e-6], ranks=2, launch=launch, points=points)


def test_every_point_of_every_sweep_is_compared() -> None:
    first = [raw for k in range(8) for raw in ordinary(k)]

    found = compared(first, first)

    points = [(one.first.case.kernel, one.first.group, one.first.what) for one in found.contrasts]
    assert [what for kernel, _, what in points if kernel == "collectives"] == [
        *("allreduce 8 B", "allreduce 64 B", "bcast 8 B", "bcast 64 B")
    ]
    assert [what for kernel, _, what in points if kernel == "loggp"] == [
        "latency L",
        "overhead of sending oₛ",
        "overhead of receiving oᵣ",
        "gap between messages g",
        "gap between bytes G",
    ]
    assert sum(kernel == "pingpong" for kernel, *_ in points) == 24 + 2
    assert {one.verdict for one in found.contrasts} == {"no difference shown"}
    assert {one.family for one in found.contrasts} == {26 + 4 + 5}


@pytest.mark.parametrize(
    ("verdicts", "counted", "caveats"),
    [
        ([], [], set()),
        ([UNTESTABLE] * 3, [(Verdict.UNDECIDED, 3)], {Caveat.TOO_FEW}),
        (
            ["no difference shown"] * 3 + ["slower", "faster", "faster"],
            [(Verdict.FASTER, 2), (Verdict.SLOWER, 1), (Verdict.NO_DIFFERENCE, 3)],
            set(),
        ),
        (
            ["not measured", "not measured", "no difference shown"],
            [(Verdict.NO_DIFFERENCE, 1), (None, 2)],
            set(),
        ),
    ],
)
def test_comparisons_are_counted_by_verdict(
    verdicts: list[comparison.TestVerdict], counted: list[tuple[Verdict, int]], caveats: set[Caveat]
) -> None:
    raws = ordinary(0)
    one = compared(raws, raws).contrasts[0]
    made = Compared((), None, tuple(replace(one, verdict=verdict) for verdict in verdicts), ())

    (found,) = comparing.findings(made)

    assert [(part.verdict, part.count) for part in found.parts] == counted
    assert {*found.caveats} == caveats and found.of == len(verdicts)


def test_pingpong_is_compared_by_latency_and_stream_by_time_per_message() -> None:
    raws = [raw for k in range(6) for raw in ordinary(k)]

    by_mode = {
        (one.first.case.settings.get("mode"), one.first.what): one.first.time
        for one in compared(raws, raws).contrasts
    }

    one_way, streamed = by_mode["imb", "8 B"], by_mode["stream", "8 B"]
    assert one_way is not None and streamed is not None
    assert one_way.value == pytest.approx(0.45e-6, rel=0.05)
    assert streamed.value == pytest.approx(0.45e-6, rel=0.05)  # 2 messages in a step of both ways


def test_a_slower_size_in_the_middle_of_a_sweep_is_found() -> None:
    first = [pingpong(launch=k) for k in range(8)]
    second = [pingpong(launch=k) for k in range(8)]
    for raw in second:
        point = next(point for point in raw["points"] if point["size_bytes"] == 1024)
        point["times_s"] = [2 * time for time in point["times_s"]]

    found = compared(first, second)

    assert [one.first.what for one in found.contrasts if one.verdict == "slower"] == ["1 KiB"]
    (sweeps,) = found.tables
    (row,) = sweeps.rows
    assert [cell.text for cell in row[:5]] == ["pingpong", "24", "0", "1", "23"]
    assert [cell.text for cell in row[5:7]] == ["0.500", "1 KiB"]
    assert found.details is not None and len(found.details.rows) == 24


def test_the_number_of_launches_needed_is_reported() -> None:
    five = [pingpong(launch=k) for k in range(5)]

    found = compared(five, five)

    assert {one.verdict for one in found.contrasts} == {UNTESTABLE}
    # 24 comparisons: 24 * 2 / C(12, 6) is 0.052, 24 * 2 / C(14, 7) is 0.014.
    (finding,) = comparing.findings(found)
    assert [part.needed for part in finding.parts] == [7]


def test_a_negative_parameter_has_a_verdict_without_a_ratio() -> None:
    first, second = ([overheads(k) for k in range(8)] for _ in range(2))
    for k, raw in enumerate(second):
        for point in raw["points"]:
            point["result"]["receive_s"] *= 10 + 0.01 * k

    latency, *_ = compared(first, second).contrasts

    assert latency.first.what == "latency L"
    assert latency.second.time is not None and latency.second.time.value < 0
    assert (latency.ratio, latency.verdict) == (None, "faster")
    assert latency.adjusted is not None and latency.adjusted <= 0.05


def test_a_case_that_failed_in_the_second_folder_counts_as_unmeasured() -> None:
    failed = [bad(raw, "failed", "killed") for raw in launches(FAST)]

    found = compared(launches(SLOW), failed)

    assert [one.verdict for one in found.contrasts] == ["not measured"]
    assert [cell.text for cell in found.tables[0].rows[0]][2:] == [
        "failed",
        "–",
        "–",
        "not measured",
    ]
    assert len(found.notes) == 1
    assert shows(found.notes, " poisson_cg", "6 launches failed: killed")


def test_a_case_with_other_parameters_is_named_by_them() -> None:
    one, other = pingpong(), pingpong()
    one["params"]["sizes"], other["params"]["sizes"], other["case"] = "0:4M", "8:4M", "other"

    first, second = compared([one], [other]).notes
    assert shows(first, "in first: ", "pingpong: sizes = 0:4M.")
    assert shows(second, "in second: ", "pingpong: sizes = 8:4M.")


def test_simulated_times_are_compared_as_they_are() -> None:
    (one,) = compared(
        launches([2.0], clock="simulated"), launches([2.0], clock="simulated")
    ).contrasts

    assert (one.verdict, one.comparison) == ("equal", None)


def test_simulated_replicates_are_tested_like_launches() -> None:
    simulation = {"cluster": "x", "spread": {"nodes": 0.02, "phases": 0, "seed": 1}}
    (one,) = compared(
        launches(SLOW, clock="simulated", simulation=simulation),
        launches(FAST, clock="simulated", simulation=simulation),
    ).contrasts

    assert one.comparison is not None
    assert one.verdict == "faster"


def test_simulated_and_measured_times_are_different_settings() -> None:
    found = compared(launches(SLOW), launches(FAST, clock="simulated"))

    assert (found.tables, found.details) == ((), None)


def on_a_device(device: str) -> list[Raw]:
    return [{**raw, "device": device} for raw in launches(SLOW, memory="device")]


def test_emulated_device_times_are_not_compared_with_real_ones() -> None:
    gpu, emulated = "NVIDIA H200 (CUDA 13.0)", "emulated"
    with_mixed = compared(
        [*on_a_device(emulated), *launches(SLOW, 128)], [*on_a_device(gpu), *launches(FAST, 128)]
    )

    assert [one.first.case.settings["n"] for one in with_mixed.contrasts] == [128]
    assert len(with_mixed.notes) == 1
    assert shows(with_mixed.notes, "1 case", "emulated device")
    alone = compared(on_a_device(emulated), on_a_device(gpu))
    assert (alone.details, alone.tables) == (None, ())
    assert shows(alone.refused or "", "1 case", "emulated device")
    for device in (gpu, emulated):
        assert len(compared(on_a_device(device), on_a_device(device)).contrasts) == 1
