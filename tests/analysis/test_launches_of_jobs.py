# SPDX-License-Identifier: BSD-3-Clause
"""Launches that a batch system ran in several jobs are nested in these, in samples and in tests."""

from __future__ import annotations

from math import comb

import pytest
from made import build
from noted import shows
from recorded import Raw, cases, pingpong, poisson

from haloscope.analysis.comparison import FEW_ALLOCATIONS, UNDECIDED, Contrast, contrasts, step
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.report import comparing
from haloscope.report.compared import compare_cases, untouched
from haloscope.report.method import method
from haloscope.topics.scaling import times_as_fast


def of_jobs(jobs: dict[int, list[float]], restarts: int = 0, **settings: object) -> list[Raw]:
    """Launches of one case, job by job."""
    timed = [(job, time_s) for job, times_s in jobs.items() for time_s in times_s]
    return [
        poisson(
            64,
            launch=k,
            time_s=time_s,
            allocation={
                **{"site": "lab", "scheduler": "slurm", "job": str(job), "partition": "all"},
                **{"nodes": ["n1"], "switches": None, "restarts": restarts},
            },
            **settings,  # type: ignore[arg-type]
        )
        for k, (job, time_s) in enumerate(timed)
    ]


NODES = {1: [1.0, 1.01, 1.02], 2: [1.2, 1.21, 1.22], 3: [0.9, 0.91, 0.92]}
"""The nodes of three jobs differ more than the launches on them."""


def test_the_interval_is_computed_over_jobs() -> None:
    (case,) = cases(of_jobs(NODES))

    assert case.time is not None and case.time.low is not None and case.time.high is not None
    assert (case.time.method, case.time.n, case.time.allocations) == (
        *("interval over allocations", 9, 3),
    )
    assert case.time.value == pytest.approx((1.01 * 1.21 * 0.91) ** (1 / 3))
    assert case.time.low < 0.8 and case.time.high > 1.3


def test_a_restarted_job_is_another_allocation() -> None:
    again = [{**raw, "launch": 9 + raw["launch"]} for raw in of_jobs({3: [1.3, 1.4]}, restarts=1)]

    (case,) = cases([*of_jobs(NODES), *again])

    assert case.time is not None and case.time.allocations == 4


def test_launches_of_one_job_are_valid_only_for_its_nodes() -> None:
    (table,) = build("summary", of_jobs({1: [1.0 + k / 100 for k in range(7)]}))

    assert any("one batch job" in note for note in table.notes)
    assert any("rank-based interval" in note for note in table.notes)


def test_a_table_states_the_number_of_jobs_of_its_intervals() -> None:
    (table,) = build("summary", of_jobs(NODES))

    (note,) = [note for note in table.notes if "Student's interval" in note]
    assert "3 allocations" in note and "9 launches" in note and "95.0 %" in note
    assert not any("one batch job" in note for note in table.notes)


def test_variation_is_reported_with_a_remedy() -> None:
    (apart,) = build("summary", of_jobs(NODES))
    noisy = {1: [1.0, 1.3, 1.1], 2: [1.2, 1.0, 1.15], 3: [1.3, 1.05, 1.0]}
    (alike,) = build("summary", of_jobs(noisy))

    (text,) = [note for note in apart.notes if note.startswith("Standard deviation")]
    assert shows(text, "allocations 14 %,", "allocation 0.98 %")
    assert shows(text, "add allocations ") and text.endswith("rather than launches.")
    (text,) = [note for note in alike.notes if note.startswith("Standard deviation")]
    assert "allocations 0 %" in text
    assert text.endswith("add launches.")


def test_launches_without_a_batch_system_are_unchanged() -> None:
    (table,) = build("summary", [poisson(64, launch=k) for k in range(7)])

    assert not any("allocation" in note for note in table.notes)


def of_one_folder(first: list[Raw], second: list[Raw]) -> Contrast:
    """Two settings whose launches are in one folder, so that a job's number is that of one job."""
    ((one,), (other,)) = cases(first), cases(second)
    (found,) = contrasts([(step(one), step(other))])
    return found


def test_settings_that_every_job_measured_are_compared_within_jobs() -> None:
    """In each job the second is 2 % faster, which launches of all jobs together can't show."""
    second = {
        job: [time / (1.02 + share) for time in times]
        for (job, times), share in zip(NODES.items(), (-0.001, 0.0, 0.001), strict=True)
    }

    within = of_one_folder(of_jobs(NODES), of_jobs(second))
    first, other = (
        [{**raw, "allocation": None} for raw in of_jobs(one)] for one in (NODES, second)
    )
    together = of_one_folder(first, other)

    assert (within.verdict, together.verdict) == ("faster", "no difference shown")
    assert within.ratio is not None and within.ratio.value == pytest.approx(1.02, rel=1e-4)
    assert within.ratio.allocations == 3


def test_the_verdict_within_jobs_overrides_the_pooled_one() -> None:
    """Simpson's paradox: more of the second's launches ran on the slow nodes."""
    first = {1: [1.0, 1.01, 1.0, 1.01, 1.0], 2: [2.0], 3: [2.02]}
    second = {1: [0.97], 2: [1.94, 1.94, 1.94], 3: [1.96, 1.96]}

    assert of_one_folder(of_jobs(first), of_jobs(second)).verdict == "faster"


def test_speedups_are_computed_over_jobs_too() -> None:
    half = {
        job: [time / (2 + share) for time in times]
        for (job, times), share in zip(NODES.items(), (-0.001, 0.0, 0.001), strict=True)
    }
    (slow,), (fast,) = cases(of_jobs(NODES)), cases(of_jobs(half))

    found = times_as_fast(slow, fast, seed=1)

    assert found is not None
    assert found.value == pytest.approx(2.0, rel=1e-4)
    assert (found.allocations, found.method) == (3, "interval over allocations")


def test_the_named_test_is_the_one_performed() -> None:
    other = {job: [0.9 * time for time in times] for job, times in NODES.items()}
    ways = {"blocking": NODES, "nonblocking": other}
    nested = [raw for way, one in ways.items() for raw in of_jobs(one, exchange=way, ranks=2)]
    alone = [{**raw, "allocation": None} for raw in nested]

    def text_of(raws: list[Raw]) -> str:
        (table,) = build("exchange", raws)
        return " ".join(table.notes)

    assert shows(text_of(nested), "Student's", " allocations")
    assert shows(text_of(alone), "Mann-Whitney", " launches")
    third = of_jobs(other, exchange="persistent", ranks=2)
    assert "Holm" in text_of([*nested, *third]) and "Holm" not in text_of(nested)

    def how(raws: list[Raw]) -> str:
        made = cases(raws)
        return " ".join(method([r for case in made for r in case.launches], made, {}))

    assert shows(how(nested), "Student's", " allocations")
    assert "allocations" not in how(alone)


@pytest.mark.parametrize("job", [7, 8])
def test_one_allocation_per_side_is_undecided(job: int) -> None:
    """Whatever the numbers of the jobs: a batch system that was set up anew counts from 1 again."""
    first = cases(of_jobs({7: [1.17 + k / 1000 for k in range(10)]}))
    second = cases(of_jobs({job: [1.0 + k / 1000 for k in range(10)]}))

    found = compare_cases(first, second)

    (one,) = found.contrasts
    assert (one.verdict, one.comparison, one.adjusted) == (UNDECIDED, None, None)
    assert one.ratio is not None and one.ratio.value == pytest.approx(1.1745 / 1.0045)
    assert (one.ratio.low, one.ratio.high, one.ratio.allocations) == (None, None, 1)


def test_one_allocation_against_local_launches_is_undecided() -> None:
    alone = [{**raw, "allocation": None} for raw in of_jobs({1: [1.0, 1.01, 1.02, 1.03, 1.04]})]
    jobs = of_jobs({1: [2.0, 2.01, 2.02, 2.03, 2.04]})

    (one,) = compare_cases(cases(jobs), cases(alone)).contrasts
    (local,) = compare_cases(cases(alone), cases(alone)).contrasts

    assert one.verdict == UNDECIDED
    assert local.verdict == "no difference shown" and local.comparison is not None


@pytest.mark.parametrize(
    ("slow", "fast", "verdict"),
    [
        (1, 2, FEW_ALLOCATIONS),
        (9, 1, FEW_ALLOCATIONS),
        (2, 2, FEW_ALLOCATIONS),
        (3, 3, FEW_ALLOCATIONS),
        (3, 5, "faster"),
        (4, 4, "faster"),
    ],
)
@pytest.mark.parametrize("first_job", [1, 50])
def test_an_allocation_decides_by_ranks_whatever_its_number(
    slow: int, fast: int, verdict: str, first_job: int
) -> None:
    """No p is below 2 / C(m + n, m), and jobs of two folders are not paired."""
    one = of_jobs({1 + k: [3.0 + k / 10] * 3 for k in range(slow)})
    other = of_jobs({first_job + k: [1.0 + k / 10] * 3 for k in range(fast)})

    (found,) = compare_cases(cases(one), cases(other)).contrasts

    assert found.comparison is not None
    assert found.comparison.test == "two-sided Mann-Whitney over allocations"
    assert found.comparison.p_value == pytest.approx(2 / comb(slow + fast, slow))
    assert found.verdict == verdict
    assert found.ratio is not None and found.ratio.allocations == min(slow, fast)


def test_several_allocations_against_local_launches_are_undecided() -> None:
    alone = [{**raw, "allocation": None} for raw in of_jobs({1: [1.0 + k / 100 for k in range(9)]})]
    jobs = of_jobs({k: [2.0 + k / 100] for k in range(9)})

    (one,) = compare_cases(cases(jobs), cases(alone)).contrasts

    assert one.verdict == FEW_ALLOCATIONS


def test_too_few_allocations_are_reported_with_the_number_needed() -> None:
    one, other = (of_jobs({k: [time] * 3 for k in range(3)}) for time in (1.0, 2.0))

    found = compare_cases(cases(one), cases(other))

    (finding,) = comparing.findings(found)
    assert {*finding.caveats} == {Caveat.FEW_ALLOCATIONS}
    assert [(part.verdict, part.count) for part in finding.parts] == [(Verdict.UNDECIDED, 1)]
    assert any("--allocations 4" in note for note in found.notes)


def test_a_point_missing_in_some_launches_keeps_its_allocations() -> None:
    first, second = (
        [
            {**one, "points": one["points"][: 2 if k % 3 else 1], "allocation": raw["allocation"]}
            for k, raw in enumerate(of_jobs({job: [1.0] * 3 for job in range(2)}))
            if (one := pingpong(launch=k, sizes=[8, 64]))
        ]
        for _ in range(2)
    )

    found = compare_cases(cases(first), cases(second)).contrasts

    assert [one.first.what for one in found] == ["8 B", "64 B"]
    assert {one.verdict for one in found} == {FEW_ALLOCATIONS}
    assert [one.ratio.allocations for one in found if one.ratio] == [2, 2]


def on_nodes(nodes: int, ranks: int, messages: float, n: int = 64) -> list[Raw]:
    """Launches of a job, whose sums take so much of a step."""
    found = [poisson(n, launch=k, time_s=1.0, nodes=nodes, ranks=ranks) for k in range(3)]
    for raw in found:
        raw["allocation"] = of_jobs({1: [1.0]})[0]["allocation"]
        for phase in raw["phases"]:
            share = {"sweep": 1 - messages, "halo": 0.0}.get(phase["name"], messages)
            phase["time_s"] = dict.fromkeys(("min", "mean", "max"), share)
    return found


def test_cases_that_the_network_cannot_affect_are_named() -> None:
    raws = [
        *on_nodes(2, 2, messages=0.01),
        *on_nodes(2, 2, messages=0.3, n=128),
        *on_nodes(1, 2, messages=0.3, n=256),
    ]

    near, changed, alike = (untouched(case, case) for case in cases(raws))

    assert shows(near, "messages take 1.0 %") and alike == "on one node"
    assert changed == ""
    alone = cases(on_nodes(1, 2, messages=0.01))
    assert not any(shows(note, "one node") for note in compare_cases(alone, alone).notes)


def test_messages_that_grew_on_one_side_are_not_a_control() -> None:
    (few,), (many,) = (cases(on_nodes(2, 2, messages=share)) for share in (0.01, 0.2))

    assert untouched(few, many) == ""
