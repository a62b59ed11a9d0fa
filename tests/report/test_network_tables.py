"""Tables and figures of messages: fits, libraries and transports, ring, sums, collectives."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, cases, changed, pingpong, record

from haloscope import papers, series, tables
from haloscope.distance import widest
from haloscope.evidence import MeasuredCase
from haloscope.fits import loggp_by_launch, ring_levels
from haloscope.method import method
from haloscope.rendezvous import rendezvous_bytes
from haloscope.report.csv_files import lines
from haloscope.series.model import Figure, Lines
from haloscope.tables import Context, Options, Table
from haloscope.tables.sum3d import shared_out

REPORT = "orfeo-mpi-report"
WITH = {"name": "mpich"}


def build(kind: str, raws: list[Raw], paper: str | None = None, **where: Any) -> list[Table]:
    measured = cases(raws)
    context = Context(
        options=Options(where=where),
        paper=papers.load(paper) if paper else None,
        machine=MACHINE,
        all_cases=measured,
    )
    return tables.build(kind, measured, context)


def draw(kind: str, raws: list[Raw]) -> list[Figure]:
    return series.build(kind, cases(raws), Context(machine=MACHINE))


def column(table: Table, key: str) -> list[Any]:
    index = [column.key for column in table.columns].index(key)
    return [row[index] for row in table.rows]


def panels(figure: Figure) -> list[Lines]:
    assert all(isinstance(panel, Lines) for panel in figure.panels)
    return [panel for panel in figure.panels if isinstance(panel, Lines)]


def slower(raw: Raw, factor: float) -> Raw:
    """The same launch with all its times multiplied."""
    points = [
        {**point, "times_s": [factor * time for time in point["times_s"]]}
        for point in raw["points"]
    ]
    return changed(raw, points=points)


def test_every_parameter_of_every_model_is_there_with_interval_and_source() -> None:
    table, _ = build("fits", [pingpong(launch=k) for k in range(8)])

    models = list(dict.fromkeys(cell.value for cell in column(table, "model")))
    assert models == [
        "Hockney, least squares",
        "Hockney, relative",
        "Hockney, extrapolated",
        "piecewise Hockney",
        "bandwidth curve",
    ]
    relative = {
        cell.value: value
        for name, cell, value in zip(
            column(table, "model"), column(table, "parameter"), column(table, "value"), strict=True
        )
        if name.value == "Hockney, relative"
    }
    latency = relative["alpha_s"]
    assert latency.low < latency.value < latency.high
    assert latency.value == pytest.approx(0.45e-6, rel=0.05)
    assert any("ORFEO report, equation (10)" in note for note in table.notes)
    assert any("misfit" in note for note in table.notes)


def test_a_negative_latency_is_shown_with_its_reason() -> None:
    raws = []
    for k in range(6):
        raw = pingpong(launch=k)
        steep = [
            {**p, "times_s": [t * (3 if p["size_bytes"] > 2**20 else 1) for t in p["times_s"]]}
            for p in raw["points"]
        ]
        raws.append(changed(raw, points=steep))

    table, _ = build("fits", raws)

    assert column(table, "value")[0].value < 0
    assert any("least squares: " in note and "negative" in note for note in table.notes)


def test_predictions_and_residuals_stand_beside_every_size() -> None:
    parameters, found = build("fits", [pingpong(launch=k) for k in range(6)])

    assert found.folded and not parameters.folded
    assert len(found.rows) == 24
    measured, told = column(found, "measured_s"), column(found, "hockney_relative_s")
    left = column(found, "hockney_relative_residual")
    assert measured[4].value == pytest.approx(0.45e-6, rel=0.05)  # 8 B
    for one, other, rest in zip(measured, told, left, strict=True):
        assert rest.value == pytest.approx((one.value - other.value) / one.value)


def test_the_sizes_that_a_parameter_rests_on_are_numbers_too() -> None:
    parameters, _ = build("fits", [pingpong(launch=k) for k in range(6)])

    ranges = {
        (model.value, name.value): (sizes.low, sizes.high)
        for model, name, sizes in zip(
            column(parameters, "model"),
            column(parameters, "parameter"),
            column(parameters, "valid_bytes"),
            strict=True,
        )
        if model.value != "piecewise Hockney"
    }
    assert ranges["Hockney, relative", "alpha_s"] == (0, 2**22)
    assert ranges["Hockney, extrapolated", "alpha_s"] == (1, 4)
    assert ranges["Hockney, extrapolated", "bandwidth_bytes_per_s"] == (2**20, 2**22)
    header = next(lines(parameters))
    assert header[1:4] == ["valid_bytes", "valid_bytes_low", "valid_bytes_high"]


def test_an_extrapolation_from_other_sizes_than_the_reports_says_so_everywhere() -> None:
    raws = [pingpong(launch=k) for k in range(6)]
    parameters, _ = build("fits", raws)
    (figure,) = draw("fits", raws)

    said = (
        "Hockney, extrapolated: The bandwidth is the mean over 1 MiB to 4 MiB: the report's sizes, "
        "32 MiB to 256 MiB, are not all in this sweep."
    )
    assert said in parameters.notes
    for panel in panels(figure):
        assert "Hockney, extrapolated: B from 1 MiB to 4 MiB" in [c.label for c in panel.curves]
    whole = [pingpong(launch=k, sizes=[0, *(2**k for k in range(29))]) for k in range(6)]
    parameters, _ = build("fits", whole)
    assert not any("not all in this sweep" in note for note in parameters.notes)


def test_a_model_that_does_not_suit_the_data_is_named_with_the_reason() -> None:
    raws = [pingpong(launch=k, sizes=[2**k for k in range(3, 23)]) for k in range(6)]
    parameters, predictions = build("fits", raws)
    (figure,) = draw("fits", raws)

    at = [cell.value for cell in column(parameters, "model")].index("Hockney, extrapolated")
    assert column(parameters, "value")[at].text == "not fitted"
    why = "Hockney, extrapolated: not fitted: extrapolation needs sizes from 1 B to 4 B."
    assert why in parameters.notes and why in figure.notes
    assert "hockney_extrapolated_s" not in [column.key for column in predictions.columns]


def test_a_loggp_that_can_not_be_fitted_says_why() -> None:
    raw = overheads(0)
    for point in raw["points"]:
        point["result"]["delay_s"] = 1e-9
    (parameters,) = build("fits", [raw])

    assert [row[3].text for row in parameters.rows] == ["not fitted"]
    assert any("LogGP: not fitted: at 1 B the delay" in note for note in parameters.notes)


def test_a_model_looks_the_same_in_every_panel_and_figure() -> None:
    (whole,) = draw("fits", [pingpong(launch=k) for k in range(6)])
    (without,) = draw("fits", [pingpong(sizes=[2**k for k in range(3, 23)])])

    styles = {
        (curve.label.split(":")[0], curve.style)
        for figure in (whole, without)
        for panel in panels(figure)
        for curve in panel.curves
        if curve.style is not None
    }
    assert len(styles) == len({name for name, _ in styles}) == 4
    assert len({style for _, style in styles} | {0}) == 5  # 0 is what was measured


def test_few_sizes_are_not_fitted() -> None:
    assert build("fits", [pingpong(sizes=[8, 64, 512])]) == []
    assert draw("fits", [pingpong(sizes=[8, 64, 512])]) == []


def test_streams_have_a_message_rate_and_no_latency() -> None:
    (table,) = build("pingpong", [pingpong(mode="stream", sizes=[8, 1024])])

    assert [c.key for c in table.columns][1:] == ["bandwidth_bytes_per_s", "messages_per_s"]
    rate, messages = (cell.value for cell in table.rows[0][1:])
    assert isinstance(rate, float) and messages == pytest.approx(rate / 8)
    assert build("fits", [pingpong(mode="stream")]) == []
    assert build("libraries", [pingpong(mode="stream"), pingpong(mode="bistream")]) == []


def test_a_rate_of_empty_messages_is_not_told_from_bytes() -> None:
    (table,) = build("pingpong", [pingpong(mode="stream", sizes=[0, 8])])
    assert [cell.text for cell in table.rows[0]] == ["0 B", "–", "–"]
    assert table.rows[1][2].text != "–"


def test_libraries_are_tested_against_the_first_size_by_size() -> None:
    ours = [pingpong(launch=k) for k in range(8)]
    theirs = [slower(pingpong(launch=k, toolchain=WITH), 2.0) for k in range(8)]

    (table,) = build("libraries", [*ours, *theirs])

    assert [cell.text for cell in column(table, "size")] == ["8 B", "1 KiB", "64 KiB", "1 MiB"]
    named = {cell.text for cell in column(table, "setting")}
    verdicts = {cell.text for cell in column(table, "verdict")}
    assert (named, verdicts) in (({"mpich"}, {"slower"}), ({"system"}, {"faster"}))
    assert any("Holm's correction for 4 comparisons" in note for note in table.notes)


def test_transports_have_a_panel_a_library_and_a_curve_each() -> None:
    raws = [
        slower(pingpong(toolchain={"name": name}, transport=transport), factor)
        for name, transport, factor in (("a", "shm", 1), ("a", "tcp", 9), ("b", "shm", 2))
    ]

    (figure,) = draw("transports", raws)

    assert [[c.label for c in panel.curves] for panel in panels(figure)] == [
        ["shm", "tcp"],
        ["shm"],
    ]
    assert draw("transports", raws[:1]) == []


def test_models_are_lines_and_residuals_stand_beside_them() -> None:
    (figure,) = draw("fits", [pingpong(launch=k) for k in range(6)])

    times, residuals = panels(figure)
    assert [curve.model for curve in times.curves] == [False, True, True, True, True]
    assert len(residuals.curves) == 4
    assert all(abs(mark.y) < 60 for mark in residuals.curves[1].marks)


def overheads(launch: int) -> Raw:
    """L = 1 µs, o_s = 0.2 µs, o_r = 0.3 µs, g = 0.5 µs, G = 0.1 ns a byte."""
    points = []
    for size in (1, 64, 1024, 65536):
        beyond = 1e-10 * (size - 1)
        trip = 2 * (1.5e-6 + beyond)
        result = {
            "round_trip_s": trip,
            "burst_s": trip + 15 * (0.5e-6 + beyond),
            "delayed_s": trip + 15 * (0.2e-6 + trip),
            "delay_s": trip,
            "receive_s": 0.3e-6,
            "send_s": 0.2e-6 if size < 65536 else 1.1 * trip,
            "wait_s": trip,
        }
        times = [1e-4 * (1 + 0.01 * launch)]
        points.append({"size_bytes": size, "times_s": times, "bytes": size, "result": result})
    return record("loggp", {"burst": 16}, [1e-3], ranks=2, launch=launch, points=points)


def test_overheads_and_gaps_are_loggps() -> None:
    table, _ = build("fits", [overheads(k) for k in range(6)])

    found = {
        cell.value: value.value
        for cell, value in zip(column(table, "parameter"), column(table, "value"), strict=True)
    }
    assert found == pytest.approx(
        {
            "latency_s": 1e-6,
            "send_overhead_s": 0.2e-6,
            "receive_overhead_s": 0.3e-6,
            "gap_s": 0.5e-6,
            "gap_s_per_byte": 1e-10,
        },
        rel=1e-6,
    )
    assert column(table, "valid_bytes")[0].text == "1 B to 1 KiB"
    assert draw("fits", [overheads(0)]) == []


def test_loggp_is_fitted_to_the_messages_that_did_not_wait() -> None:
    def waiting(first_bytes: int) -> list[Raw]:
        raws = [overheads(k) for k in range(6)]
        for point in (point for raw in raws for point in raw["points"]):
            late = point["size_bytes"] >= first_bytes
            point["result"]["send_s"] = point["result"]["wait_s"] if late else 0.2e-6
        return raws

    for first, valid in (
        (1024, "1 B to 64 B"),
        (65536, "1 B to 1 KiB"),
        (1 << 20, "1 B to 64 KiB"),
    ):
        assert rendezvous_bytes(cases(waiting(first))[0]) == (first if first < 1 << 20 else None)
        table, _ = build("fits", waiting(first))
        assert column(table, "valid_bytes")[0].text == valid


def test_each_launch_is_fitted_to_what_the_whole_case_found_eager() -> None:
    raws = [overheads(k) for k in range(6)]
    for raw in raws:
        for point in raw["points"]:
            late = raw is raws[0] and point["size_bytes"] >= 1024
            point["result"]["send_s"] = point["result"]["wait_s"] if late else 0.2e-6
    (case,) = cases(raws)
    assert rendezvous_bytes(case) is None
    assert len({model.valid for model in loggp_by_launch(case)}) == 1


def ring(ranks: int, launch: int, *, message_s: float = 0.4e-6) -> Raw:
    cycle = 2 * ranks * message_s * (1 + 0.01 * (launch % 3))
    return record("ring", {}, [cycle], ranks=ranks, launch=launch, result={"cycle_s": cycle})


def test_the_ring_gives_half_its_slope_as_the_latency_of_each_level() -> None:
    four = {"core": ["0", "1", "2", "3"], "cache": ["0-3"]}
    raws = [
        changed(ring(ranks, k), machine={**MACHINE, "topology": four})
        for ranks in (1, 2, 3, 4)
        for k in range(6)
    ]

    cycles, latencies = build("ring", raws, REPORT)

    assert [cell.value for cell in column(cycles, "ranks")] == [1, 2, 3, 4]
    assert column(cycles, "message_s")[1].value == pytest.approx(0.404e-6)
    assert [cell.value for cell in column(latencies, "level")] == ["same-cache"]
    assert column(latencies, "latency_s")[0].value == pytest.approx(0.4e-6, rel=0.05)
    assert any("inter node 1.16 µs (THIN)" in note for note in latencies.notes)
    (figure,) = draw("ring", raws)
    assert [curve.model for curve in panels(figure)[0].curves] == [False, True]


# Two sockets of two cores of two hardware threads; the caches are the sockets'.
TWO_SOCKETS = {
    "core": ["0,4", "1,5", "2,6", "3,7"],
    "cache": ["0,2,4,6", "1,3,5,7"],
    "socket": ["0,2,4,6", "1,3,5,7"],
}


def lying(cpus: list[int], hosts: str = "", **layout: Any) -> MeasuredCase:
    """A ring whose ranks run on these processors, of these hosts (one letter a rank)."""
    seen = [
        {"rank": rank, "host": host, "cpus": [cpu], "thread_cpus": [[cpu]]}
        for rank, (cpu, host) in enumerate(zip(cpus, hosts or "a" * len(cpus), strict=True))
    ]
    raw = changed(ring(len(cpus), 0), machine={**MACHINE, "topology": TWO_SOCKETS})
    raw["layout"] |= {"seen": seen, **layout}
    return cases([raw])[0]


@pytest.mark.parametrize(
    ("cpus", "hosts", "far"),
    [
        ([0], "", None),
        ([0, 4], "", "same-core"),
        ([0, 2], "", "same-cache"),
        ([0, 1], "", "other-socket"),
        ([0, 2, 1, 3], "", "other-socket"),
        ([0, 4, 2, 6], "", "same-cache, cores shared"),
        ([0, 2, 0, 2], "aabb", "other-node"),
        ([0, 4, 0], "aab", "other-node, cores shared"),
        ([0, 0], "", "oversubscribed"),
    ],
)
def test_a_rings_level_is_where_its_ranks_really_lay(
    cpus: list[int], hosts: str, far: str | None
) -> None:
    assert widest(lying(cpus, hosts)) == far


def test_what_was_asked_for_as_oversubscribed_is_and_unknown_is_unknown() -> None:
    assert widest(lying([0, 2], oversubscribed=True)) == "oversubscribed"
    assert widest(lying([0, 2], seen=[])) is None
    unknown = changed(ring(2, 0), machine={"cores": 2})
    assert widest(cases([unknown])[0]) == "same-node"
    for layout, far in (({}, "same-node"), ({"nodes": 2, "ppn": 2}, "other-node")):
        simulated = changed(ring(4, 0), clock="simulated")
        simulated["layout"] |= {"seen": [], **layout}
        assert widest(cases([simulated])[0]) == far


def test_levels_of_a_ring_follow_one_another() -> None:
    found = ring_levels([lying([0, 2, 4, 6, 1, 3, 5, 7][:ranks]) for ranks in (1, 2, 3, 4, 5, 8)])
    assert [(level.name, level.first_ranks, level.last_ranks) for level in found] == [
        ("same-cache", 2, 2),
        ("same-cache, cores shared", 3, 4),
        ("other-socket, cores shared", 5, 8),
    ]
    assert ring_levels([lying([0])]) == []


def test_one_number_of_ranks_gives_no_latency() -> None:
    (alone,) = build("ring", [ring(2, 0)])
    why = "No latency by level: it was measured at one number of processes alone."
    assert (alone.id, why in alone.notes) == ("ring", True)


def sum3d(distribution: str, counts: list[int], launch: int = 0, size: str = "2400x100x100") -> Raw:
    return record(
        "sum3d",
        {"size": size, "topology": "24x1x1", "distribution": distribution},
        [0.6 + 0.01 * launch],
        ranks=24,
        launch=launch,
        result={"cycle_s": 0.6, "elements_per_rank": counts},
    )


def test_sums_stand_beside_the_reports_interval_with_elements_a_process() -> None:
    raws = [sum3d("balanced", [1000000] * 24, k) for k in range(4)]
    raws.append(sum3d("subblock", [5, 7]))

    (table,) = build("sum3d", raws, REPORT)

    first, second = table.rows
    assert [cell.text for cell in first[:3]] == ["24x1x1", "balanced", "24 × 1,000,000"]
    assert first[3].value == pytest.approx(0.615)
    assert first[3].published == "[0.623, 0.631] s"
    assert second[2].text == "1 × 5; 1 × 7 (1)"
    assert second[3].published == ""


def test_sums_come_by_size_the_longest_arrays_first() -> None:
    sizes = ("1200x200x100", "2400x100x100", "800x300x100")
    raws = [sum3d("balanced", [1], size=size) for size in sizes]
    titles = [table.title for table in build("sum3d", raws)]
    assert [title.split("size = ")[1][:4] for title in titles] == ["2400", "1200", "800x"]


def test_elements_of_each_process_are_told_as_the_report_does() -> None:
    assert shared_out([7]) == "1 × 7"
    assert shared_out([9, 9, 8] * 3) == "6 × 9; 3 × 8 (2, 5, 8)"
    assert shared_out([9, 9, 8] * 8) == "16 × 9; 8 × 8 (2, 5 … 23)"
    assert shared_out([9, 9, 9, 9, 8, 8] * 2) == "8 × 9; 4 × 8 (4-5, 10-11)"
    assert shared_out([3, 2, 1, 3]) == "2 × 3; 1 × 2 (1); 1 × 1 (2)"


def test_collectives_have_a_column_an_operation_and_a_panel() -> None:
    points = [
        {"size_bytes": size, "operation": name, "times_s": [1e-6], "bytes": size, "result": {}}
        for name, sizes in (("barrier", [0]), ("bcast", [8, 64]))
        for size in sizes
    ]
    raw = record("collectives", {"call": "blocking", "synchronisation": "round_time"}, [3e-6],
                 ranks=2, points=points)  # fmt: skip

    (table,) = build("collectives", [raw])
    (figure,) = draw("collectives", [raw])

    assert [c.title for c in table.columns] == ["message", "barrier", "bcast"]
    assert [row[0].text for row in table.rows] == ["none", "8 B", "64 B"]
    assert "Processes start together by round time." in table.notes
    assert [panel.title for panel in panels(figure)] == ["bcast"]


def test_a_warmup_that_is_found_is_left_out_and_told() -> None:
    raws = [
        record("ring", {}, [2e-6, 1e-6, 1.001e-6, 1e-6], ranks=2, launch=k, result={})
        for k in range(6)
    ]
    (case,) = cases(raws)
    assert case.times_s == [1e-6] * 6
    told = method(case.launches, [case], {})
    assert (
        "Warm-up was found in 1 of 1 series of repetitions, one for each size of a case; left out "
        "at their beginning: 1."
    ) in told
    assert not any(
        "Warm-up was found" in line for line in method(case.launches[:5], cases(raws[:5]), {})
    )
