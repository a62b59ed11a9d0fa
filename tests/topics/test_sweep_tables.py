# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what sweeps inside a launch, of phases, bandwidth and everything at a glance."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest
from made import build
from noted import noted
from recorded import MACHINE, Raw, bad, cases, pingpong, poisson, quick, record, stream

from haloscope.analysis.sweeps import capacities, level_of, sweep
from haloscope.report.draw.apart import apart
from haloscope.report.draw.csv_files import lines
from haloscope.study import kinds


def point(size: int, times: list[float], bytes_: float, operation: str | None = None) -> Raw:
    return {
        "size_bytes": size,
        "operation": operation,
        "steps": 1,
        "times_s": times,
        "bytes": bytes_,
        "result": {},
    }


def test_a_sweep_gives_one_number_per_launch_and_point() -> None:
    raws = [
        pingpong(launch=k, points=[point(8, [1e-6 * (k + 1), 9e-6, 1e-6 * (k + 1)], 16.0)])
        for k in range(3)
    ]

    (swept,) = sweep(cases(raws)[0])

    assert swept.sample == pytest.approx((1e-6, 2e-6, 3e-6))
    assert swept.time.value == pytest.approx(2e-6)
    assert swept.time.method == "range"


def test_pingpong_halves_the_round_trip_and_counts_the_message_once() -> None:
    raws = [
        pingpong(launch=k, points=[point(0, [2e-6], 0.0), point(1024, [4e-6], 2048.0)])
        for k in range(2)
    ]

    (table,) = build("pingpong", raws)

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["0 B", "1.00 µs", "–"],
        ["1 KiB", "2.00 µs", "512 MB/s"],
    ]


def test_stream_names_the_level_that_holds_all_working_sets() -> None:
    sizes = (32768, 65536, 2**21, 2**24, 2**25)
    points = [point(size, [1e-3], 1e7, "triad") for size in sizes]

    (table,) = build("stream", [stream(ranks=2, points=points)])

    assert [(row[1].text, row[2].text) for row in table.rows] == [
        ("32 KiB", "L1"),
        ("64 KiB", "L2"),
        ("2 MiB", "L2"),
        ("16 MiB", "L3"),
        ("32 MiB", "memory"),
    ]
    assert {row[3].text for row in table.rows} == {"10.0 GB/s"}


def test_cache_levels_are_not_guessed_without_known_caches() -> None:
    (table,) = build("stream", [stream(points=[point(8192, [1.0], 1.0, "dot")])], machine=None)

    assert table.rows[0][2].text == ""
    assert level_of(1.0, cases([stream()])[0], {"caches": []}) == ""


@pytest.mark.parametrize(
    ("ranks", "nodes", "bind", "held"),
    [
        (2, 1, "close", [2, 2, 1]),
        (2, 1, "spread", [2, 2, 2]),
        (3, 1, "close", [3, 3, 2]),
        (8, 1, "spread", [8, 8, 4]),
        (4, 2, "close", [4, 4, 2]),
    ],
)
def test_caches_are_counted_per_rank(ranks: int, nodes: int, bind: str, held: list[int]) -> None:
    """Of a node with eight cores, two of which share a last cache."""
    one = stream(ranks=ranks)
    one["layout"] |= {"nodes": nodes, "ppn": ranks // nodes, "bind": bind}
    sizes = [cache["size_bytes"] for cache in MACHINE["caches"]]
    expected = [(f"L{k + 1}", float(n * sizes[k])) for k, n in enumerate(held)]
    assert capacities(cases([one])[0], {**MACHINE, "cores": 8}) == expected


def test_a_working_set_equal_to_the_cache_size_fits() -> None:
    (alone,) = cases([stream()])
    (_, first), *_ = capacities(alone, MACHINE)
    assert [level_of(first + more, alone, MACHINE) for more in (0, 1)] == ["L1", "L2"]


def test_phases_of_a_sweep_have_no_table() -> None:
    """They are recorded for all of its points together."""
    passes = {"name": "passes", "calls": 1, "time_s": {"min": 1.0, "mean": 1.0, "max": 1.0}}
    one = stream(phases=[{**passes, "bytes": 1.0, "flops": 1.0, "model_s": None}])
    assert not build("phases", [one])


def test_a_failed_stream_is_kept_in_its_table() -> None:
    (table,) = build("stream", [stream(), bad(stream(ranks=2), "failed", "killed")])

    assert [cell.text for cell in table.rows[-1]] == ["2", "–", "–", "failed", "failed", "failed"]
    assert any("failed: killed" in note for note in table.notes)


def test_stream_is_sorted_by_cores_and_sizes() -> None:
    (table,) = build("stream", [stream(ranks=2), stream()])

    order = [(row[0].value, row[1].value) for row in table.rows]
    assert order == sorted(order, key=lambda pair: (int(str(pair[0])), int(str(pair[1]))))
    assert len(order) == 28


def test_bandwidth_compares_declared_traffic_with_triad_on_equal_cores() -> None:
    triad = [point(2**23, [1.0], 20e9, "triad"), point(2**15, [1.0], 90e9, "triad")]
    one = [point(2**23, [1.0], 10e9, "triad")]
    iterations, n, per_point = 1581, 1024, 56.0
    time = per_point * n * n * iterations / 18e9

    (table,) = build(
        "bandwidth",
        [poisson(n, ranks=2, time_s=time), stream(ranks=2, points=triad), stream(points=one)],
    )

    (row,) = table.rows
    assert row[1].value == pytest.approx(time / iterations)
    assert [cell.text for cell in row[2:]] == [
        "56.0",
        "24 MiB (L3)",
        "18.0 GB/s",
        "20.0 GB/s",
        "16 MiB",
        "90 %",
    ]


def test_bandwidth_without_a_stream_on_equal_cores_has_no_share() -> None:
    (table,) = build("bandwidth", [poisson(64, ranks=2), stream()])

    assert table.title == "Achieved bandwidth"
    assert [column.title for column in table.columns[4:]] == ["achieved"]  # none without a value
    assert noted(table, "unknown: stream ")


def test_a_solve_that_moves_more_than_the_triad_is_not_bounded_by_it() -> None:
    triad = [point(2**24, [1.0], 20e9, "triad")]
    raws = [poisson(1024, time_s=56.0 * 1024**2 * 1581 / 30e9), stream(points=triad)]

    (table,) = build("bandwidth", raws)

    assert [cell.text for cell in table.rows[0][4:]] == [
        "30.0 GB/s",
        "20.0 GB/s",
        "16 MiB",
        "no bound",
    ]
    assert any(note.startswith("no bound") for note in table.notes)


def test_bandwidth_covers_only_cases_with_a_triad_if_some_have_one() -> None:
    (table,) = build("bandwidth", [poisson(64), poisson(64, ranks=2), poisson(128), stream()])

    assert len(table.rows) == 2 and all(row[7].text != "–" for row in table.rows)
    assert noted(table, " 1 case: stream ")


def phase(name: str, mean: float) -> Raw:
    time: dict[str, Any] = {"min": mean, "mean": mean, "max": mean}
    return {"name": name, "calls": 1, "time_s": time, "bytes": 0, "flops": 0, "model_s": None}


def test_phases_are_shares_of_a_step_plus_the_remainder() -> None:
    raws = [
        poisson(64, launch=k, time_s=10.0, phases=[phase("sweep", 8.0), phase("halo", 0.5 + k)])
        for k in range(3)
    ]

    table, in_seconds = build("phases", raws)

    assert [column.title for column in table.columns][2:] == ["sweep", "halo", "outside phases"]
    sweep_share, halo, rest = table.rows[0][2:]
    assert sweep_share.text == "80.0 %"
    assert in_seconds.folded and in_seconds.rows[0][1].text == "8.00 s"
    assert (halo.text, halo.spread) == ("15.0 %", "5.00 … 25.0")
    assert rest.value == pytest.approx(median([0.15, 0.05, 0.0]))


def test_overlapping_phases_leave_no_remainder() -> None:
    table, _ = build("phases", [poisson(64, time_s=10.0, phases=[phase("sweep", 11.0)])])

    assert [cell.text for cell in table.rows[0][2:]] == ["110 %", "0 %"]


def test_summary_includes_cases_without_a_good_launch() -> None:
    raws = quick()
    (table,) = build("summary", raws)

    assert len(table.rows) == len(cases(raws))
    settings = {c.key: cell for c, cell in zip(table.columns, table.rows[-1], strict=True)}
    assert (settings["kernel"].value, settings["ppn"].value) == ("stream", 2)
    assert [c.key for c in apart(table).columns] == ["case", "launches", "time_s", "found"]
    good = [row for row in table.rows if row[0].text == "pingpong"]
    assert [cell.text for cell in good[0][1:3]] == ["5 of 5", "–"]  # 24 sizes have no step
    assert good[0][3].text.startswith("24 points, ")
    short = [row for row in table.rows if row[1].text == "4 of 5"]
    assert [row[1].tone for row in short] == ["warning", "warning"]


def test_the_summary_s_csv_file_has_the_time_of_each_size() -> None:
    raws = quick()
    (table,) = build("summary", raws)
    settings = {case.id: case.settings for case in cases(raws)}
    head, *body = lines(table, settings)
    rows = [dict(zip(head, line, strict=True)) for line in body]

    for case in cases(raws):
        own = [row for row in rows if row["case_id"] == case.id]
        found = [(row["point_operation"], row["point_size_bytes"], row["time_s"]) for row in own]
        points = [(one.operation or "", one.size_bytes, one.time.value) for one in sweep(case)]
        expected = [(what, str(bytes_), repr(time)) for what, bytes_, time in points]
        assert found == (expected or [("", "", repr(case.time_s))])
    assert len(table.rows) == len(settings) < len(rows)
    (plain,) = build("summary", [record("empty", {}, [1e-6], ranks=1)])
    assert (plain.every, [c.key for c in plain.columns if "point" in c.key]) == ((), [])


def test_results_that_no_kernel_has_are_not_a_column() -> None:
    (table,) = build("summary", [record("empty", {}, [1e-6], ranks=1)])

    assert [c.key for c in apart(table).columns] == ["case", "launches", "time_s"]


def test_every_kind_handles_records_that_all_failed() -> None:
    raws = [bad(raw, "failed", "no such file") for raw in quick()]
    settings = {name for raw in raws for name in raw["params"]}

    for kind in kinds.tables():
        for table in build(kind, raws):
            values = [
                cell.value
                for row in table.rows
                for column, cell in zip(table.columns, row, strict=True)
                if column.key not in settings
            ]
            assert all(value is None or isinstance(value, str | int) for value in values), kind


def test_the_table_of_all_cases_agrees_with_other_tables() -> None:
    raws = [pingpong(launch=k) for k in range(3)]
    for raw, fast in zip(raws, (64, 256, 1024), strict=True):  # each is best at another size
        for one in raw["points"]:
            if one["size_bytes"] == fast:
                one["times_s"] = [time / 100 for time in one["times_s"]]

    (messages,) = build("pingpong", raws)
    (summary,) = build("summary", raws)
    rates = {row[0].text: row[2] for row in messages.rows if row[2].value is not None}
    best = max(rates, key=lambda name: float(str(rates[name].value)))
    (found,) = (row[3].text for row in summary.rows)

    assert found.endswith(f"{messages.rows[1][1].text}, {rates[best].text} at {best}")


def test_omissions_are_listed_only_in_their_section() -> None:
    (summary,) = build("summary", [bad(poisson(64), "failed", "killed"), poisson(64, launch=1)])

    assert not any("killed" in note for note in summary.notes)


def test_the_error_of_a_shortened_solve_is_not_reported() -> None:
    whole, cut = poisson(64), poisson(128)
    cut["params"]["iterations"] = 10

    (summary,) = build("summary", [whole, cut])

    assert sorted("error" in row[3].text for row in summary.rows) == [False, True]
