from __future__ import annotations

import pytest
from recorded import Raw, bad, cases, pingpong, poisson, stream

from haloscope.tables.compared import Compared, compare_cases


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
        (SLOW[:3], FAST[:3], "too few launches to tell"),
    ],
)
def test_verdicts(first: list[float], second: list[float], verdict: str) -> None:
    (one,) = compared(launches(first), launches(second)).contrasts

    assert one.verdict == verdict


def test_the_ratio_says_how_many_times_as_fast_the_second_is() -> None:
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
    assert {one.verdict for one in seven.contrasts} == {"too few launches to tell"}
    assert {one.verdict for one in six.contrasts} == {"faster"}
    assert six.contrasts[0].adjusted == pytest.approx(6 * 2 / 252)


def test_cases_match_by_settings_and_those_without_a_counterpart_are_named() -> None:
    found = compared(
        [*launches(SLOW), *launches(SLOW, 128)], [*launches(FAST), *launches(FAST, 256)]
    )

    assert len(found.contrasts) == 1
    assert found.notes == (
        "Only in the first: poisson_cg: n = 128.",
        "Only in the second: poisson_cg: n = 256.",
    )


def test_two_toolchains_are_what_is_compared_when_each_folder_has_one() -> None:
    ours = launches(SLOW, toolchain={"name": "openmpi"})
    theirs = launches(FAST, toolchain={"name": "mpich"})

    found = compared(ours, theirs)

    assert [one.verdict for one in found.contrasts] == ["faster"]
    assert found.notes == ("Toolchains compared: openmpi (first) and mpich (second).",)
    both = compared([*ours, *theirs], theirs)
    assert [one.verdict for one in both.contrasts] == ["no difference shown"]
    assert both.notes == ("Only in the first: poisson_cg: openmpi.",)


def test_sweeps_are_compared_at_their_ends() -> None:
    first = [*(stream(launch=k) for k in range(6)), *(pingpong(launch=k) for k in range(6))]

    found = compared(first, first)

    assert found.table is not None
    assert [row[0].text for row in found.table.rows] == [
        "pingpong, 0 B",
        "pingpong, 4 MiB",
        "stream, triad 32 KiB",
        "stream, triad 256 MiB",
    ]
    assert {one.verdict for one in found.contrasts} == {"no difference shown"}


def test_a_case_that_failed_in_the_second_is_not_measured_there() -> None:
    failed = [bad(raw, "failed", "killed") for raw in launches(FAST)]

    found = compared(launches(SLOW), failed)

    assert [one.verdict for one in found.contrasts] == ["not measured"]
    assert found.table is not None
    assert [cell.text for cell in found.table.rows[0]][2:] == ["failed", "–", "–", "not measured"]
    assert found.notes == ("Left out: poisson_cg: 6 of 6 launches failed: killed",)


def test_a_case_with_other_parameters_is_named_by_them() -> None:
    one, other = pingpong(), pingpong()
    one["params"]["sizes"], other["params"]["sizes"], other["case"] = "0:4M", "8:4M", "other"

    assert compared([one], [other]).notes == (
        "Only in the first: pingpong: sizes = 0:4M.",
        "Only in the second: pingpong: sizes = 8:4M.",
    )


def test_simulated_times_are_compared_as_they_are() -> None:
    (one,) = compared(
        launches([2.0], clock="simulated"), launches([2.0], clock="simulated")
    ).contrasts

    assert (one.verdict, one.comparison) == ("equal", None)


def test_simulated_and_measured_times_are_not_one_setting() -> None:
    found = compared(launches(SLOW), launches(FAST, clock="simulated"))

    assert found.table is None
