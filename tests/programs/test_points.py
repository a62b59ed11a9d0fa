# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps that OSU, IMB and NetPIPE print, as points of records; and what becomes of these."""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from made import build, column, draw, panels
from noted import shows
from programs_page import page
from pydantic import ValidationError
from recorded import Raw, cases, record, write_folder
from rich.console import Console

from haloscope.analysis import cases as analysed
from haloscope.analysis.comparison import FEW_ALLOCATIONS, UNDECIDED, measures
from haloscope.analysis.context import Context
from haloscope.analysis.fits import message_models, unfitted
from haloscope.analysis.grouping import Planned, group
from haloscope.analysis.sweeps import sweep
from haloscope.cli import main
from haloscope.commands.measuring.launched import show
from haloscope.commands.screen import Screen
from haloscope.findings.caveats import Caveat
from haloscope.findings.sentences import sentence
from haloscope.programs.output import Answer, Asked, answer
from haloscope.programs.schema import ProgramFile
from haloscope.records.checked import wrong
from haloscope.records.record import Record
from haloscope.report.compared import compare_cases
from haloscope.report.record_view import record_view
from haloscope.study.checks.suited import unsuited
from haloscope.study.schema import Study
from haloscope.study.settings import describe
from haloscope.topics.contrast.views import ALONE
from haloscope.topics.quality import disturbed, scattered, untimed
from programs import USED, swept

HEAD = 'summary = "sweeps"\ncommand = ["true"]\n'
LATENCY, BANDWIDTH, PINGPONG, COLLECTIVE, NETPIPE = (
    HEAD + found for found in re.findall(r"```toml\n(\[points\]\n.*?)```", page(), re.DOTALL)
)
"""The examples of docs/programs.md."""
OSU_LATENCY = """\
# OSU MPI Latency Test v7.3
# Size          Latency (us)
# Datatype: MPI_CHAR.
1                       0.25
2                       0.26
4                       0.25
1024                    0.71
"""
OSU_BW = """\
# OSU MPI Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1                       4.00
1048576             10485.76
"""
IMB_PINGPONG = """\
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.52         0.00
            1         1000         0.53         1.89
      4194304           10       400.00     10485.76

#---------------------------------------------------
# Benchmarking PingPing
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.61         0.00
"""
IMB_ALLREDUCE = """\
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.04         0.05         0.04
            4         1000         1.32         1.40         1.36
"""
NETPIPE_LINES = """\
Send and receive buffers are 16384 and 87380 bytes
Now starting the main loop
  0:       1 bytes  20000 times -->      2.83 Mbps in       2.69 usec
  1:       2 bytes  37100 times -->      5.66 Mbps in       2.70 usec
"""


def said(toml: str, text: str) -> Answer:
    program = ProgramFile.model_validate(tomllib.loads(toml))
    return answer(program, text, Asked({}, 2, 1))


def points(toml: str, text: str) -> list[Any]:
    found = said(toml, text)
    assert (found.outcome, found.reason) == ("ok", None)
    assert found.measured is not None
    return [*found.measured["points"]]


def test_osu_latency_gives_a_time_per_size() -> None:
    found = said(LATENCY, OSU_LATENCY).measured or {}

    assert [one["size_bytes"] for one in found["points"]] == [1, 2, 4, 1024]
    assert found["points"][3] == {
        "size_bytes": 1024,
        "operation": None,
        "result": {},
        "steps": 1,
        "times_s": [pytest.approx(0.71e-6)],
        "bytes": 1024.0,
    }
    assert found["times_s"] == [pytest.approx(1.47e-6)]


def test_a_bandwidth_is_converted_to_the_time_of_its_bytes() -> None:
    first, last = points(BANDWIDTH, OSU_BW)

    assert first["times_s"] == [pytest.approx(0.25e-6)]
    assert last["times_s"] == [pytest.approx(1e-4)]


def test_imb_benchmarks_are_named_by_their_heading() -> None:
    found = points(PINGPONG, IMB_PINGPONG)

    values = [(one["operation"], one["size_bytes"], one["result"]) for one in found]
    assert values == [
        ("PingPong", 0, {"repetitions": 1000.0}),
        ("PingPong", 1, {"repetitions": 1000.0}),
        ("PingPong", 4194304, {"repetitions": 10.0}),
        ("PingPing", 0, {"repetitions": 1000.0}),
    ]
    assert found[2]["times_s"] == [pytest.approx(400e-6)]


def test_the_time_of_a_collective_is_that_of_the_slowest_rank() -> None:
    none, four = points(COLLECTIVE, IMB_ALLREDUCE)

    assert (none["operation"], none["bytes"]) == ("Allreduce", 0.0)
    assert four["times_s"] == [pytest.approx(1.40e-6)]
    assert four["result"] == {"t_min": 1.32}


def test_netpipe_lines_have_time_and_bandwidth() -> None:
    found = points(NETPIPE, NETPIPE_LINES)

    assert [(one["size_bytes"], one["times_s"][0]) for one in found] == [
        (1, pytest.approx(2.69e-6)),
        (2, pytest.approx(2.70e-6)),
    ]


def test_a_repeated_size_is_a_repetition() -> None:
    found = said(LATENCY, "8 1\n16 2\n8 3\n16 6\n8 5\n").measured or {}

    assert [one["times_s"] for one in found["points"]] == [
        [pytest.approx(1e-6), pytest.approx(3e-6), pytest.approx(5e-6)],
        [pytest.approx(2e-6), pytest.approx(6e-6)],
    ]
    assert found["times_s"] == [pytest.approx(3e-6), pytest.approx(9e-6)]


@pytest.mark.parametrize(
    ("toml", "text", "reason"),
    [
        (LATENCY, "nothing\n", "no point"),
        (LATENCY, "8 0.00\n", ": 0.00"),
        (LATENCY, f"{2**63} 1\n", f": {2**63}"),
        (BANDWIDTH, "0 1.0\n", "0 bytes"),
        (BANDWIDTH, "8 0.00\n", ": 0.00"),
        (PINGPONG, "  1  10  0.5  0.1\n", "operation"),
    ],
)
def test_malformed_points_are_reported(toml: str, text: str, reason: str) -> None:
    found = said(toml, text)

    assert found.outcome == "failed" and reason in str(found.reason)


@pytest.mark.parametrize(
    ("toml", "line", "size"),
    [
        (LATENCY, "8 0.00\n", 8),
        (BANDWIDTH, "8 0.00\n", 8),
        (BANDWIDTH, "0 17.2\n", 0),
        (HEAD + "[points]\npattern = '^(?P<size>\\d+) (?P<time>\\S+)'\n", "8 nan\n", 8),
    ],
)
def test_a_size_without_a_time_is_skipped_and_named(toml: str, line: str, size: int) -> None:
    found = said(toml, f"4 2.0\n{line}16 4.0\n")

    assert (found.outcome, found.reason) == ("ok", None)
    measured = found.measured or {}
    assert [one["size_bytes"] for one in measured["points"]] == [4, 16]
    assert len(measured["times_s"]) == 1
    (lost,) = found.untimed
    assert (lost["size_bytes"], lost["operation"], lost["line"]) == (size, None, line.strip())


def test_lines_without_a_time_cause_a_warning_with_the_size() -> None:
    lost = {"size_bytes": 8, "operation": None, "line": "8 0.00", "why": "invalid time"}
    raws = [
        {**one, "program": {**USED, "untimed": [lost] * (k > 0)}}
        for k, one in enumerate(swept(launch) for launch in range(3))
    ]
    assert [wrong(one, Record) for one in raws] == [None] * 3

    (found,) = untimed(cases(raws), Context())

    assert found.caveats == (Caveat.NO_TIME,)
    assert [(part.subject, part.count) for part in found.parts] == [({"point": "8 B"}, 2)]
    assert [*untimed(cases([swept()]), Context())] == []


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("", "[time] and [points]"),
        ("[time]\npattern = '(x)'\n[points]\npattern = '(?P<size>x)(?P<time>x)'", "[time] and"),
        ("[points]\npattern = '(?P<size>x)'", "group 'size'"),
        ("[points]\npattern = '(?P<time>x)'", "group 'size'"),
        ("[points]\npattern = '(?P<size>x)(?P<rate>x)(?P<time>x)'", "remove 'rate'"),
        ("[points]\npattern = '(?P<size>x)(?P<time>x)(?P<A>x)'", " 'A':"),
        ("[points]\npattern = '(?P<size>x)(?P<rate>x)'\nunit = 'us'", "'unit' and 'per'"),
        ("[points]\npattern = '(?P<size>x)(?P<time>x)'\nrate_unit = 'MB/s'", "rate_unit"),
        ("[points]\npattern = '(?P<size>x)(?P<rate>x)'\nsize_unit = 'rows'", "size_unit"),
        ("[points]\npattern = '(?P<size>x)(?P<time>x)'\nsize_unit = ''", "size_unit"),
    ],
)
def test_an_inconsistent_program_file_is_refused(table: str, why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        ProgramFile.model_validate(tomllib.loads(HEAD + table))


def printed(launch: int = 0, times_s: list[float] | None = None, **params: Any) -> Raw:
    result = {"speed": 2e9 + 1e8 * launch, "note": "fine", "norms": [1.0, 0.5]}
    more: Raw = {"program": USED, "result": result, "launch": launch}
    return record("theirs", params, times_s or [1.0], **more)


def test_points_are_swept_fitted_and_compared_like_native_kernels() -> None:
    (case,) = cases([swept(launch) for launch in range(3)])

    assert [point.size_bytes for point in sweep(case)] == [2**k for k in range(12)]
    assert sweep(case)[0].time.value == pytest.approx(1.011e-6)
    assert [one.what for one in measures(case)][:2] == ["1 B", "2 B"]
    latency = message_models(case)[0][1].parameters[0]
    assert latency.estimate.value == pytest.approx(1.01e-6, rel=1e-3)


def test_a_sweep_on_one_rank_has_no_messages() -> None:
    raws = [{**swept(launch), "layout": {**swept()["layout"], "ranks": 1, "ppn": 1}}
            for launch in range(3)]  # fmt: skip
    (case,) = cases(raws)

    assert case.ranks == 1 and sweep(case)
    assert message_models(case) == ()
    assert len(build("points", raws)) == 1 and build("fits", raws) == []


def uneven(sizes: dict[int, list[int]]) -> list[Raw]:
    """Launches that print no time of some sizes."""
    raws = [swept(launch) for launch in range(8)]
    for launch, lacking in sizes.items():
        kept = [one for one in raws[launch]["points"] if one["size_bytes"] not in lacking]
        raws[launch] |= {"points": kept, "times_s": [sum(one["times_s"][0] for one in kept)]}
    return raws


def test_launches_that_lack_a_size_are_comparable_and_the_size_is_named() -> None:
    raws = uneven({0: [2048, 1024], 1: [2048], 5: [2048], 6: [2048]})
    (case,) = cases(raws)

    assert [*disturbed([case], Context())] == []
    assert max(case.times_s) < 1.1 * min(case.times_s)
    (found,) = untimed([case], Context())
    counts = {part.subject["point"]: part.count for part in found.parts}
    assert counts == {"1 KiB": 1, "2 KiB": 4}
    assert case.lacking == {(None, 1024): 1, (None, 2048): 4}


def test_launches_without_common_sizes_have_separate_totals() -> None:
    odd, even = [1, 4, 16, 64, 256, 1024], [2, 8, 32, 128, 512, 2048]
    (case,) = cases(uneven({k: odd if k % 2 else even for k in range(8)}))

    assert len(case.times_s) == 8 and min(case.times_s) > 0


def test_each_size_reports_its_number_of_launches_in_every_file(tmp_path: Path) -> None:
    raws = uneven({0: [2048, 1], 1: [2048], 5: [2048], 6: [2048]})
    folder = write_folder(tmp_path, raws)

    main(["report", str(folder), "--format", "csv"])

    for name, size, launches in (
        ("summary", "point_size_bytes", "launches"),
        ("points", "size_bytes", "launches"),
    ):
        text = (folder / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        found = {int(row[size]): int(row[launches]) for row in csv.DictReader(text.splitlines())}
        assert found == {2**k: {0: 7, 11: 4}.get(k, 8) for k in range(12)}, name
    (table,) = build("points", raws)
    (whole,) = build("points", [swept(launch) for launch in range(8)])
    assert [one.columns[-1].only_csv for one in (table, whole)] == [False, True]


def test_once_names_the_sizes_missing_from_its_totals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lost = {"size_bytes": 2048, "operation": None, "line": "2048 0.00", "why": "invalid time"}
    raws = uneven({0: [2048]})
    raws[0]["program"] = {**USED, "untimed": [lost]}
    screen = Screen()

    screen.print(record_view(Record.of(raws[0])))
    show([Record.of(one) for one in raws], screen)

    printed = capsys.readouterr().out
    assert shows(printed, "but 2 KiB", "(without 2 KiB)")


ELEMENTS = """[points]
pattern = '^n = (?P<size>\\S+): (?P<time>\\S+) s'
size_unit = "elements"
"""


def in_elements(launch: int) -> Raw:
    one = swept(launch)
    points = [{**each, "bytes": 0.0} for each in one["points"]]
    return {**one, "points": points, "program": {**USED, "size_unit": "elements"}}


@pytest.mark.parametrize(
    ("unit", "printed", "size"),
    [
        ("KiB", "8", 8192),
        ("KiB", "0.5", 512),
        ("MB", "2", 2_000_000),
        ("elements", "8", 8),
        ("elements", "0.5", None),
        ("kB", "0.0001", None),
    ],
)
def test_a_size_uses_the_unit_of_its_file(unit: str, printed: str, size: int | None) -> None:
    found = said(HEAD + ELEMENTS.replace("elements", unit), f"n = {printed}: 2.0 s\n")

    if size is None:
        assert found.outcome == "failed" and printed in str(found.reason)
        return
    (point,) = (found.measured or {})["points"]
    assert point["size_bytes"] == size
    assert point["bytes"] == (0.0 if unit == "elements" else size)


def test_sizes_in_elements_are_displayed_as_such_without_a_bandwidth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raws = [in_elements(launch) for launch in range(6)]
    assert [wrong(one, Record) for one in raws] == [None] * 6
    (case,) = cases(raws)
    (table,) = build("points", raws)
    (figure,) = draw("points", raws)

    assert measures(case)[-1].what == "2,048 elements"
    assert table.columns[0].key == "size"
    assert table.rows[-1][0].text == "2,048 elements"
    assert {cell.value for cell in column(table, "bandwidth_bytes_per_s")} == {None}
    assert message_models(case) == ()
    (panel,) = panels(figure)
    assert panel.x.label == "size (elements)"
    assert not any("B" in text for _, text in panel.x.ticks)

    folder = write_folder(tmp_path, raws)
    main(["export", str(folder), "--to", "csv"])
    rows = [*csv.DictReader(capsys.readouterr().out.splitlines())]
    assert {row["size_unit"] for row in rows} == {"elements"} and "size_bytes" not in rows[0]
    assert {int(row["point_size"]) for row in rows} == {2**k for k in range(12)}
    main(["report", str(folder), "--format", "csv"])
    text = (folder / "tables" / "summary.csv").read_text(encoding="utf-8")
    columns = [
        (one["point_size"], one["point_size_bytes"]) for one in csv.DictReader(text.splitlines())
    ]
    assert columns[-1] == ("2048", "")
    console = Console(width=120)
    console.print(record_view(Record.of(raws[0])))
    assert "2,048 elements" in capsys.readouterr().out


def test_decreasing_times_give_no_bandwidth() -> None:
    raws = [swept(launch) for launch in range(3)]
    for raw in raws:
        for one in raw["points"]:
            one["times_s"] = [1e-6 * (5 - one["size_bytes"] / 1000)]
    (case,) = cases(raws)

    values = [each.estimate.value for _, model in message_models(case) for each in model.parameters]
    assert "Hockney, least squares" in [one.name for one in unfitted(case)]
    assert values and min(values) >= 0


def test_a_sweep_has_a_table_a_figure_and_models() -> None:
    raws = [swept(launch) for launch in range(3)]
    (table,) = build("points", raws)
    (figure,) = draw("points", raws)

    assert [column.key for column in table.columns] == [
        "size_bytes",
        "time_s",
        "bandwidth_bytes_per_s",
        "launches",
    ]
    assert column(table, "time_s")[3].value == pytest.approx(1.018e-6)
    assert column(table, "bandwidth_bytes_per_s")[3].value == pytest.approx(8 / 1.018e-6)
    assert [len(panel.curves[0].marks) for panel in panels(figure)] == [12, 12]
    assert len(build("fits", raws)) == 2
    assert panels(draw("fits", raws)[0])[0].y.label == "time (µs)"
    assert build("pingpong", raws) == []


def test_results_are_listed_with_their_units() -> None:
    (table,) = build("results", [printed(launch) for launch in range(3)])

    assert [cell.value for cell in table.rows[0]][1:] == [pytest.approx(2.1e9), "fine", "1 0.5"]
    assert column(table, "speed")[0].text == "2.10 GFLOP/s"


def test_a_kernel_without_a_table_lists_its_results_with_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = {"name": "round_s", "type": "real", "unit": "s", "minimum": 0, "maximum": None}
    known = {"toy": {"parameters": [], "results": [declared | {"absent": None}]}}
    monkeypatch.setattr(analysed, "declared", lambda: known)
    raws = [record("toy", {}, [1.0], launch=k, result={"round_s": 2e-6}) for k in range(3)]

    (table,) = build("results", raws)

    assert column(table, "round_s")[0].text == "2.00 µs"
    assert build("results", [record("empty", {}, [1.0], result={"step_s": 1.0})]) == []


def test_a_size_is_in_bytes_only_if_declared() -> None:
    (case,) = cases([printed(size=4096, points=4096)])
    (other,) = cases([{**printed(size=4096), "program": {**USED, "units": {}}}])

    assert describe(case.settings, ["size", "points"]) == "size = 4 KiB, points = 4096"
    assert describe(other.settings, ["size"]) == "size = 4096"
    assert case.settings["size"] == other.settings["size"] == 4096


def test_an_unrun_case_prints_its_size_like_the_others() -> None:
    (run,) = cases([printed(size=4096)])
    planned = Planned("absent", "theirs", {**run.settings, "size": 8192}, 1)
    (missing,) = [one for one in group(run.launches, [planned]) if not one.launches]

    assert describe(missing.settings, ["size"]) == "size = 8 KiB"


@pytest.mark.parametrize(("times_s", "warned"), [([1.0, 9.9], False), ([0.5, 5.0], True)])
def test_tenfold_differences_within_a_launch_cause_a_warning(
    times_s: list[float], warned: bool
) -> None:
    found = [*scattered(cases([printed(times_s=times_s)]), Context())]

    assert [one.caveats for one in found] == [(Caveat.SEVERAL_OPERATIONS,)] * warned
    assert ["10.0x" in sentence(one) for one in found] == [True] * warned


def test_a_sweep_cannot_be_a_scatter_plot_but_a_size_can() -> None:
    one = swept()
    one["points"] = [{**one["points"][0], "times_s": [1e-6, 2e-5]}, *one["points"][1:]]

    assert [*scattered(cases([swept()]), Context())] == []
    assert len([*scattered(cases([one]), Context())]) == 1


def test_their_records_are_readable() -> None:
    assert [wrong(one, Record) for one in (swept(), printed())] == [None, None]


def test_a_program_study_may_request_what_sweeps_provide() -> None:
    asked = [{"kind": kind} for kind in ("points", "results", "fits")]
    study = Study.model_validate({"title": "t", "runs": [{"kernel": "osu"}], "tables": asked})

    assert [*unsuited(study, "mine.toml", {"osu"})] == []
    assert len([*unsuited(study, "mine.toml")]) == 2  # results: of any kernel without a table


def test_results_are_compared_between_folders() -> None:
    first = cases([printed(launch) for launch in range(5)])
    second = cases([printed(launch + 10) for launch in range(5)])
    results = [table for table in compare_cases(first, second).tables if table.id == "results"]
    backwards = compare_cases(second, first).tables[-1]

    verdicts = [[cell.value for cell in column(one, "verdict")] for one in results]
    assert verdicts == [["higher", "the same", "the same"]]
    assert column(results[0], "result")[0].value == "speed"
    assert column(results[0], "second")[0].value == pytest.approx(3.2e9)
    assert column(results[0], "p_adjusted")[0].value == pytest.approx(2 / 252)
    assert column(backwards, "verdict")[0].value == "lower"


@pytest.mark.parametrize(
    ("result", "verdicts"),
    [
        ({"note": "fine", "norms": [1.0, 0.5]}, ["the same", "the same"]),
        ({"note": "bad", "norms": [1.0, 0.5]}, ["different", "the same"]),
        ({"note": "fine", "norms": [1.0, 0.5 + 1e-15]}, ["the same", "different"]),
        ({"note": "fine", "norms": [1.0]}, ["the same", "different"]),
        ({"note": "fine", "norms": []}, ["the same", "absent"]),
        ({"note": None, "norms": [1.0, 0.5], "more": 3}, ["absent", "the same", "new"]),
        ({"note": 4, "norms": [1.0, 0.5]}, ["different", "the same"]),
    ],
)
def test_texts_and_lists_are_equal_or_different(
    result: Raw, verdicts: list[str], tmp_path: Path
) -> None:
    whole = {"note": "fine", "norms": [1.0, 0.5]}
    first, second = (
        [{**printed(launch), "result": one} for launch in range(6)] for one in (whole, result)
    )
    folders = [write_folder(tmp_path / "a", first), write_folder(tmp_path / "b", second[::-1])]

    found = compare_cases(cases(first), cases(second))

    assert [one.verdict for one in found.results] == verdicts
    table = found.tables[-1]
    shown = [
        (one.value, other.value)
        for one, other in zip(column(table, "first"), column(table, "second"), strict=True)
    ]
    assert [one == other for one, other in shown] == [word == "the same" for word in verdicts]
    unpaired = {"absent", "new"} & {*verdicts}
    assert len([note for note in found.notes if note.startswith("Only in ")]) == len(unpaired)
    assert main(["compare", *map(str, folders)]) == (1 if unpaired else 0)


def test_a_text_that_differs_in_one_launch_is_different() -> None:
    first = [{**printed(k), "result": {"note": "fine"}} for k in range(3)]
    second = [{**one, "result": {"note": note}} for one, note in zip(first, ("fine", "bad", "fine"),
              strict=True)]  # fmt: skip

    (found,) = compare_cases(cases(first), cases(second)).results

    assert (found.verdict, found.adjusted) == ("different", None)


@pytest.mark.parametrize(
    ("launches", "verdict"), [([0, 0], "the same"), ([1, 2], "too few launches")]
)
def test_equal_results_are_reported_as_equal(launches: list[int], verdict: str) -> None:
    first = cases([{**printed(0), "launch": launch} for launch in range(2)])
    second = cases([{**printed(one), "launch": k} for k, one in enumerate(launches)])

    found = compare_cases(first, second).tables[-1]

    assert column(found, "verdict")[0].value == verdict


@pytest.mark.parametrize("backwards", [False, True])
def test_a_size_missing_in_one_folder_is_named_and_no_agreement(
    backwards: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    less = [{**one, "points": one["points"][:10]} for one in map(swept, range(8))]
    sides = [("all", [swept(k) for k in range(8)]), ("less", less)]
    names, raws = zip(*(reversed(sides) if backwards else sides), strict=True)
    folders = [write_folder(tmp_path / name, raw) for name, raw in zip(names, raws, strict=True)]
    table, xml = tmp_path / "compared.csv", tmp_path / "compared.xml"

    code = main(["compare", *map(str, folders), "--csv", str(table), "--junit", str(xml)])

    assert code == 1
    found = compare_cases(cases(raws[0]), cases(raws[1]), names=(names[0], names[1]))
    lacking = [one for one in found.contrasts if one.verdict == "not measured"]
    assert [one.first.what for one in lacking] == ["1 KiB", "2 KiB"]
    assert shows(found.notes, " all: osu", " 1 KiB and 2 KiB.")
    assert column(found.tables[0], "lacking")[0].value == 2
    assert column(found.tables[0], "open")[0].value == 10
    rows = [*csv.DictReader(table.read_text(encoding="utf-8").splitlines())]
    assert len(rows) == 12
    assert [row["verdict"] for row in rows[10:]] == [ALONE if backwards else "not measured"] * 2
    assert ElementTree.parse(xml).getroot()[0].get("errors") == "2"


def test_comparison_files_contain_results_and_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (
        write_folder(
            tmp_path / name,
            [*(printed(k + more) for k in range(5)), *(swept(k + more) for k in range(5))],
        )
        for name, more in (("before", 0), ("after", 10))
    )
    table, xml = tmp_path / "compared.csv", tmp_path / "compared.xml"

    main(["compare", str(before), str(after), "--csv", str(table), "--junit", str(xml)])

    rows = [*csv.DictReader(table.read_text(encoding="utf-8").splitlines())]
    speed, note, norms = [row for row in rows if row["result"]]
    assert (note["result"], note["first"], note["verdict"]) == ("note", "fine", "the same")
    assert (norms["second"], norms["verdict"]) == ("1 0.5", "the same")
    assert (speed["result"], speed["verdict"], speed["unit"]) == ("speed", "higher", "FLOP/s")
    assert (float(speed["first"]), float(speed["second"])) == (2.2e9, 3.2e9)
    assert len([row for row in rows if row["point"]]) == 12
    cases = ElementTree.parse(xml).getroot()[0]
    assert [one.get("name") for one in cases][-3:] == ["speed", "note", "norms"]
    assert len(cases) == len(rows)


def given(job: str) -> Raw:
    """The nodes of a job."""
    nodes = {"partition": "all", "nodes": ["n1"], "switches": None, "restarts": 0}
    return {"site": "lab", "scheduler": "slurm", "job": job, **nodes}


@pytest.mark.parametrize(("jobs", "verdict"), [(1, UNDECIDED), (2, FEW_ALLOCATIONS), (4, "higher")])
def test_results_are_compared_over_allocations_too(jobs: int, verdict: str) -> None:
    first, second = (
        cases([{**printed(k + more), "allocation": given(str(k % jobs))} for k in range(8)])
        for more in (0, 40)
    )

    found = compare_cases(first, second)

    assert [one.verdict for one in found.results if one.name == "speed"] == [verdict]
