# SPDX-License-Identifier: BSD-3-Clause
"""validate: predictions beside published and measured times, as a terminal and a CSV file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made import panels
from noted import shows

from haloscope.analysis.validation.predictions import (
    JACOBI,
    RELATIVE,
    WALL_TIME,
    PredictedCell,
    PredictedTime,
)
from haloscope.cli import main
from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import numbers
from haloscope.predict.local_validation import Validation
from haloscope.predict.paper_validation import Replicates
from haloscope.predict.planned_runs import PlannedCells
from haloscope.predict.sensitivity import Moved
from haloscope.report.draw import csv_files
from haloscope.report.predictions import predicted, prediction_errors, validating
from haloscope.stats.estimates import Estimate

SETS = ("node.memory",)


def on(nodes: int, ppn: int, threads: int, time_s: float | None) -> PredictedCell:
    keys = {"n": 16384, "nodes": nodes, "ppn": ppn, "threads": threads}
    return PredictedCell(
        *("4.1", WALL_TIME, keys, 52181.0),
        sets=SETS if nodes == 1 else (),
        predicted=time_s,
        problem=None if time_s else "no room",
    )


def test_the_command_prints_grids_at_terminal_width_and_both_error_kinds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cells = [on(2**k, 32, 2, 52240.0) for k in range(6)]
    monkeypatch.setattr(
        "haloscope.predict.paper_validation.validate", lambda _table, _tell, _: cells
    )
    command = ["validate", "hpcf-2018-10", "--table", "4.1", "--csv", str(tmp_path / "cells.csv")]

    assert main(command) == 0
    out = capsys.readouterr().out
    shown = [line.split() for line in out.splitlines()]
    assert max(map(len, out.splitlines())) <= 80
    assert shown.count(["32", "2", *["52,240"] * 6]) == 1
    assert shown.count(["32", "published", *["52,181"] * 6]) == 1
    assert shown.count(["32", "ratio", *["1.00"] * 6]) == 1
    assert [*["set", "parameters", "1", *["0.1", "%"] * 3]] in shown
    assert [*["only", "predicted", "5", *["0.1", "%"] * 3]] in shown
    report = tmp_path / "report"
    assert main([*command, "--out", str(report)]) == 0
    page = (report / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")
    assert shows(page, ": hpcf-2018-10, simulated on stampede2")
    assert "Published table 4.1: n = 16384, seconds" in page
    errors = ("median 0.1 % (5 predictions)", "and largest 0.1 %")
    assert shows(page, " table 4.1, ", " stampede2: ", *errors)
    assert shows(page, "6 predictions against published ", ": 6 within 10 %.")
    assert "<p>Nothing.</p>" in page and "MPI libraries and compilers" not in page
    assert (report / "figures" / "predicted-predicted-s.svg").exists()
    assert (report / "figures" / "predicted-ratio-s.svg").exists()
    capsys.readouterr()
    head, first, *_ = (tmp_path / "cells.csv").read_text().splitlines()
    assert (
        head
        == "table,n,nodes,ppn,threads,reading,unit,published,predicted,error,naive,null_model,sets"
    )
    error = repr(52240 / 52181 - 1)
    assert first == f"4.1,16384,1,32,2,,s,52181.0,52240.0,{error},,,node.memory"

    short = replace(on(2, 1, 1, 3.4), published=3.0, telling=False, step=1.0)
    cells += [short, replace(short, predicted=3.6), on(1, 1, 1, None)]
    assert main([*command, "--out", str(tmp_path / "again")]) == 1
    text = (tmp_path / "again" / "report.md").read_text(encoding="utf-8")
    assert "8 predictions." in text and "6 predictions against published values: 6 " in text
    assert shows(text, " 1 cell: no room")
    assert [re.findall(r"\d+", one) for one in text.splitlines() if "digit" in one] == [
        ["2", "1"]
    ] * 2
    out = " ".join(capsys.readouterr().out.split())
    assert "not simulated: no room" in out
    (short_of_digits,) = re.findall(r"(\d+) cells [^.]*digits[^.]*: (\d+) ", out)
    assert short_of_digits == ("2", "1")
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert lines[0].endswith(",published,predicted,predicted_note,error,naive,null_model,sets")
    assert lines[-1] == "4.1,16384,1,1,1,,s,52181.0,,no room,,,,node.memory"


def test_a_user_cluster_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It is what was simulated, though the paper's machine has its name."""
    cells = [on(1, 32, 2, 52240.0)]
    monkeypatch.setattr(
        "haloscope.predict.paper_validation.validate", lambda _table, _tell, _: cells
    )
    command = ["validate", "hpcf-2018-10", "--table", "4.1"]
    assert main(command) == 0
    assert "simulated on" not in capsys.readouterr().out
    cluster_file.write(cluster_file.find("stampede2"), tmp_path / "clusters" / "stampede2.toml")
    monkeypatch.chdir(tmp_path)
    assert main(command) == 0
    own = f"simulated on {tmp_path / 'clusters' / 'stampede2.toml'}, which replaces haloscope's own"
    assert own in capsys.readouterr().out.splitlines()


def test_jobs_on_full_nodes_have_separate_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where some leave cores free, which others may have used; with what the paper says of it."""
    full = replace(on(2, 8, 1, 52181.0), whole_nodes=True)
    some = replace(on(2, 1, 1, 52181.0 / 2), whole_nodes=False)
    cells = [full, some]
    monkeypatch.setattr(
        "haloscope.predict.paper_validation.validate", lambda _table, _tell, _: cells
    )
    assert main(["validate", "hpcf-2010-6", "--table", "4.1"]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["only", "predicted", "2", "25.0", "%", *["50.0", "%"] * 2] in shown
    assert ["...", "on", "all", "cores", "of", "nodes", "1", *["0.0", "%"] * 3] in shown
    assert ["...", "on", "some", "of", "their", "cores", "1", *["50.0", "%"] * 3] in shown
    assert any("Serial runs" in " ".join(line) for line in shown)
    cells.remove(some)
    assert main(["validate", "hpcf-2010-6", "--table", "4.1"]) == 0
    assert "on all cores" not in capsys.readouterr().out


def test_replicates_have_an_interval_next_to_the_published_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked: list[Replicates | None] = []

    def validated(_table: object, _tell: object, replicates: Replicates | None) -> list[Any]:
        asked.append(replicates)
        drawn = Estimate(52240.0, 52000.0, 53000.0, 7, "rank interval", 0.98)
        return [replace(on(2, 1, 1, 52240.0), drawn=drawn)]

    monkeypatch.setattr("haloscope.predict.paper_validation.validate", validated)
    command = ["validate", "hpcf-2018-10", "--table", "4.1", "--replicates", "7"]
    assert main([*command, "--spread", "0.03", "--csv", str(tmp_path / "cells.csv")]) == 0
    assert asked == [Replicates(7, 0.03)]
    out = " ".join(capsys.readouterr().out.split())
    assert "[52,000, 53,000]" in out
    assert shows(out, "medians of 7", "simulated replicates")
    assert shows(out, "(--spread ", "cluster file)")
    head, first = (tmp_path / "cells.csv").read_text().splitlines()
    assert "predicted,low,high,error" in head
    assert "52240.0,52000.0,53000.0" in first


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hpcf-2018-10", "--replicates", "1"], "--replicates 1: "),
        (["hpcf-2018-10", "--spread", "0.02"], "--spread: "),
        (["hpcf-2018-10", "--replicates", "2", "--spread", "2"], "--spread 2: "),
        (["local", "--replicates", "2"], "--replicates: "),
        (
            ["hpcf-2018-10", "--table", "99", "--replicates", "2", "--sensitivity"],
            "--sensitivity: ",
        ),
        (["orfeo-mpi-report", "--replicates", "2"], "orfeo"),
        (["my.toml"], "haloscope run FILE --dry-run"),
    ],
)
def test_invalid_replicate_options_are_refused(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", *words]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())


def test_assumed_numbers_are_listed_with_their_effect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [on(2, 1, 1, 52181.0)]
    monkeypatch.setattr(
        "haloscope.predict.paper_validation.validate", lambda _table, _tell, _: cells
    )
    number = numbers(cluster_file.find("stampede2"))[0]
    moved = [Moved(number, 0.05, 0.25, cells[0], -0.25)]
    monkeypatch.setattr(
        "haloscope.commands.predictions.validate.sensitivity", lambda _table, _tell: moved
    )

    assert main(["validate", "hpcf-2018-10", "--table", "4.1", "--sensitivity"]) == 0
    out = capsys.readouterr().out
    assert "stampede2" in out and " 1.2 " in out
    keys = "n = 16384, nodes = 2, ppn = 1, threads = 1"
    assert (
        f"  {number.where} = {number.value:g}\n    median 5.0 %, maximum −25.0 % at {keys}\n" in out
    )
    assert number.source.split(":")[0] in out
    others = "(not a number): mpi.collectives.allreduce"
    assert shows(" ".join(out.split()), "not varied (", others, "allreduce, mpi.collectives.reduce")
    fixed = "factor): node.memory.store_cost = 1, "
    assert fixed in " ".join(out.split())
    assert "mpi.send_overhead_s = 0, mpi.receive_overhead_s = 0" in " ".join(out.split())
    assert main(["validate", "local", "--sensitivity"]) == 2
    assert "--sensitivity: " in capsys.readouterr().err


def test_errors_of_several_tables_are_summed_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    several = {"4.1": [on(2, 1, 1, 52181.0)], "6.1": [replace(on(2, 1, 1, 60000.0), table="6.1")]}
    monkeypatch.setattr(
        "haloscope.predict.paper_validation.validate", lambda table, _tell, _: several[table.id]
    )

    assert main(["validate", "hpcf-2018-10", "--table", "4.1", "--table", "6.1"]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    after = shown[shown.index(["All", "tables"]) :]
    assert ["only", "predicted", "2", "7.5", "%", *["15.0", "%"] * 2] in after


def test_rates_are_compared_with_each_reading_of_the_paper() -> None:
    def cell(ranks: int, reading: str, mlups: float) -> PredictedCell:
        keys: dict[str, int | str] = {"ranks": ranks, "grid": f"{ranks}x1x1", "nodes": 1}
        return PredictedCell(
            "VI", JACOBI, keys, 400.0, SETS if ranks == 4 else (), reading, predicted=mlups
        )

    cells = [cell(4, "all", 400.0), cell(4, "each", 390.0), cell(8, "all", 440.0)]
    rates, errors, *_ = predicted.published_tables(cells)
    assert [column.title for column in rates.columns] == ["ranks", "grid", "all", "each"]
    assert [cell.text for row in rates.rows for cell in row] == [
        *("4", "4x1x1", "400.0", "390.0"),
        *("8", "8x1x1", "440.0", ""),
    ]
    assert (rates.rows[0][3].published, rates.rows[0][3].ratio) == ("400.0", "0.975")
    assert [[cell.text for cell in row] for row in errors.rows] == [
        ["all", "set parameters", "1", *["0.0 %"] * 3],
        ["all", "only predicted", "1", *["10.0 %"] * 3],
        ["each", "set parameters", "1", *["2.5 %"] * 3],
    ]


def test_a_report_separates_readings_and_tables_and_has_replicate_bars() -> None:
    def cell(table: str, reading: str, mlups: float, **more: Any) -> PredictedCell:
        return PredictedCell(
            table,
            JACOBI,
            {"ranks": 4},
            400.0,
            reading=reading,
            predicted=mlups,
            **more,
        )

    drawn = Estimate(440.0, 420.0, 444.0, 7, "rank interval", 0.98)
    cells = [
        cell("X", "each", 440.0, drawn=drawn),
        cell("X", "all", 400.0),
        cell("XI", "all", 380.0),
        cell("section-5.4", "all", 360.0),
    ]
    made = validating.of_paper("A", cells, [], [], {"X": ["thin"], "XI": ["gpu"]})

    assert shows(made.title, "A, ", " gpu and thin")
    assert [(*found.question.split(", "), found.parts[0].share) for found in made.findings] == [
        ("Prediction error", "table X", "simulated on thin", "each", pytest.approx(0.1)),
        ("Prediction error", "table X", "simulated on thin", "all", 0.0),
        ("Prediction error", "table XI", "simulated on gpu", pytest.approx(0.05)),
        ("Prediction error", "section 5.4", pytest.approx(0.1)),
    ]
    assert [one.id for one in made.findings] == [
        *("predicted.error.x.each", "predicted.error.x.all"),
        *("predicted.error.xi", "predicted.error.section_5.4"),
    ]
    first, second = made.figures
    assert [one.title.split(", ") for one in made.figures] == [
        ["Predicted / published", "in MLUP/s", "each"],
        ["Predicted / published", "in MLUP/s", "all"],
    ]
    over, ratio = panels(first)
    assert [(mark.low, mark.high) for mark in over.curves[-1].marks] == [(420.0, 444.0)]
    assert [(m.y, m.low, m.high) for m in ratio.curves[-1].marks] == [(1.1, 1.05, 1.11)]
    assert any(note.startswith("Bars: launches are simulated") for note in first.notes)
    assert second.notes == ("Dashed: predicted = published; dotted: ± 10 %.",)


def test_a_ratio_of_times_is_not_printed_as_a_time() -> None:
    """The headline and the title of the figure name the axis, with one value or several."""
    keys = {"ranks": 16, "nodes": 1, "over": 16}
    cell = PredictedCell("6", RELATIVE, keys, 3.0, (), "16 tasks", predicted=3.3)

    made = validating.of_paper("A", [cell], [], [], {"6": ["eagle"]})

    (one,) = made.findings
    assert re.findall(r"\d+", one.question) == ["6", "16", "16"]
    assert [part.share for part in one.parts] == pytest.approx([0.1])
    (figure,) = made.figures
    assert re.findall(r"\d+", figure.title) == ["16", "16"]
    assert panels(figure)[0].x.label == "published"
    seconds = PredictedCell("4", WALL_TIME, {"n": 1}, 30.0, predicted=33.0)
    (timed,) = validating.of_paper("A", [seconds], [], [], {}).figures
    assert timed.title == "Predicted / published"


def test_a_report_states_where_predictions_are_biased() -> None:
    def one_way(*errors: float, fitted: bool = False) -> dict[object, int | None]:
        cells = [
            PredictedCell(
                "X",
                JACOBI,
                {"ranks": k},
                100.0,
                SETS if fitted else (),
                predicted=100 + 100 * error,
            )
            for k, error in enumerate(errors)
        ]
        (found,) = validating.of_paper("A", cells, [], [], {}).findings
        assert [part.share for part in found.parts[:2]] == [0.25, 0.25]
        return {part.subject["predicted"]: part.count for part in found.parts[2:]}

    low, high = [-0.25] * 6, [0.25, 0.25]
    assert one_way(*low, *high) == {"lower": 6}
    assert one_way(*low, 0.25, *high) == {}
    assert one_way(*high, *high, *high, *high) == {"higher": 8}
    assert one_way(*low, -0.25) == {}
    assert one_way(*low, -0.25, -0.25, fitted=True) == {}


def test_calibration_cells_have_one_colour_on_every_page() -> None:
    def styles(*fitted: bool) -> dict[str, int | None]:
        cells = [
            PredictedCell("X", JACOBI, {"ranks": k}, 100.0, SETS if own else (), predicted=110.0)
            for k, own in enumerate(fitted)
        ]
        (figure,) = validating.of_paper("A", cells, [], [], {}).figures
        return {one.label: one.style for one in panels(figure)[0].curves if not one.bound}

    assert styles(False) == {"only predicted": 1}
    assert styles(False, True) == {"only predicted": 1, "set parameters": 0}


def test_latencies_are_in_rows_by_placement_with_the_differing_settings_across() -> None:
    def cell(size: int, placement: str, option: str, predicted_s: float) -> PredictedCell:
        keys: dict[str, int | str] = {"size_bytes": size, "placement": placement}
        keys["option"] = option
        return PredictedCell("2", "latency", keys, 2e-5, predicted=predicted_s)

    cells = [
        cell(8, "intra_socket", "A", 2.2e-5),
        cell(8, "intra_socket", "B", 1.8e-5),
        cell(1024, "intra_socket", "A", 2e-5),
        cell(8, "inter_node", "B", 2e-5),
    ]
    near, apart, errors, *_ = predicted.published_tables(cells)
    assert (near.title, apart.title) == ("intra-socket, µs", "inter-node, µs")
    assert [column.title for column in near.columns] == ["bytes", "A", "B"]
    assert [cell.text for cell in near.rows[0]] == ["8", "22.0", "18.0"]
    assert [cell.text for cell in near.rows[1]] == ["1,024", "20.0", ""]
    assert (near.rows[0][1].published, near.rows[0][1].ratio) == ("20.0", "1.100")
    assert [cell.text for cell in errors.rows[0]] == [
        "only predicted",
        "4",
        "5.0 %",
        "10.0 %",
        "10.0 %",
    ]


def test_latencies_of_grids_are_arranged_by_n_and_nodes() -> None:
    cells = [
        PredictedCell("4", "latency", {"n": n, "nodes": nodes}, 2e-5, problem="no")
        for n in (4, 8)
        for nodes in (9, 3)
    ]
    (table,) = predicted.published_tables(cells)
    assert [column.title for column in table.columns] == ["n", "9 nodes", "3 nodes"]
    assert [cell.text for cell in table.rows[1]] == ["8", "not simulated", "not simulated"]
    assert table.notes == ("not simulated: no",)


def test_local_measurements_are_compared_with_predictions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    solve = Estimate(2.0, 1.9, 2.2, 6, "rank interval", 0.97)
    message = Estimate(1e-6, None, None, 1, "none")
    times = (
        PredictedTime("poisson_cg", "n=512", solve, 2.2),
        PredictedTime("pingpong", "8 B", message, 0.8e-6),
    )
    model = cluster_file.find("stampede2").model_copy(update={"disturbed": ("Others computed.",)})
    done = Validation(model, times, ("n=1024: no room",))
    monkeypatch.setattr("haloscope.predict.local_validation.validate", lambda *_, **__: done)
    path = tmp_path / "times.csv"

    assert main(["validate", "local", "--from", str(tmp_path), "--csv", str(path)]) == 1
    out = capsys.readouterr().out
    shown = [line.split() for line in out.splitlines()]
    assert ["n=512", "2.00", "s", "2.20", "s", "+10.0", "%"] in shown
    assert ["[1.90,", "2.20]"] in shown
    assert ["8", "B", "1.00", "µs", "800", "ns", "−20.0", "%"] in shown
    assert ["all", "2", "15.0", "%", *["20.0", "%"] * 2] in shown
    assert "not simulated: n=1024: no room" in out
    assert main(["validate", "local", "--from", str(tmp_path), "--out", str(tmp_path / "r")]) == 1
    text = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert shows(text, "- **!** ", "disturbed: Others computed.")
    assert (
        shows(text, "Prediction error ", "10 % (1 prediction)")
        and "Not simulated: n=1024: no room" in text
    )
    assert shows(text, "rank-based interval", "over 6 launches")
    assert "Cells that set" not in text
    assert shows(text, "Table 2. pingpong, ")
    kept = predicted.kept_predictions(tmp_path)
    assert kept is not None
    assert (kept.failures, kept.disturbed) == (("n=1024: no room",), ("Others computed.",))
    assert [(one.kernel, one.what) for one in kept.errors] == [
        ("poisson_cg", "n=512"),
        ("pingpong", "8 B"),
    ]
    head, first, second = path.read_text().splitlines()
    assert head == "kernel,what,unit,measured,low,high,predicted,error"
    assert first.startswith("poisson_cg,n=512,s,2.0,1.9,2.2,2.2,0.1")
    assert second.startswith("pingpong,8 B,s,1e-06,,,8e-07,-0.")


def test_an_empty_prediction_has_no_table() -> None:
    assert predicted.measured_tables([]) == []
    assert list(csv_files.lines(predicted.every_time([]))) == [
        ["kernel", "what", "unit", "measured", "low", "high", "predicted", "error"]
    ]
    assert prediction_errors.errors([on(1, 1, 1, None)], "4.1") == []


def test_jobs_on_few_and_many_nodes_state_the_assumptions_about_other_jobs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    keys = {"ranks": 16, "nodes": 2, "over": 16}
    own = PredictedCell("6", RELATIVE, keys, 2.69, (), "16 tasks", predicted=2.14)
    monkeypatch.setattr("haloscope.predict.paper_validation.validate", lambda *_: [own])
    note = PlannedCells(notes=["Simulated for statements: nothing."])
    monkeypatch.setattr("haloscope.predict.planned_runs.simulated_cells", lambda *_: note)
    assert main(["validate", "task-mapping-drop", "--csv", str(tmp_path / "cells.csv")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert shows(out, "16 tasks: ", " 16 nodes")
    assert "2 2.14 2.69 0.80" in out
    assert "16 tasks only predicted 1 20.4 % 20.4 % 20.4 %" in out
    assert ("eagle", "90") in re.findall(r"(\w+)\)[^)]*?(\d+)% of the nodes", out)
    assert "Simulated for statements: nothing." in out
    assert "Not decided (10), table 1" in out
    first = (tmp_path / "cells.csv").read_text().splitlines()[1]
    assert first == f"6,16,2,16,16 tasks,times,2.69,2.14,{2.14 / 2.69 - 1!r},,,"


def test_residuals_of_a_machine_s_own_measurements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By what they vary in: here two nodes take 0.2 s an iteration longer than predicted."""
    times = tuple(
        PredictedTime(
            *("poisson_cg", f"n={n}", Estimate(4.0, 3.9, 4.1, 6, "rank interval", 0.97)),
            predicted_s=4.0 if nodes == 1 else 2.0,
            keys={"nodes": nodes, "ppn": 2, "n": n},
            iterations=10,
        )
        for n in (512, 1024, 2048)
        for nodes in (1, 2)
    )
    done = Validation(cluster_file.find("stampede2"), times, ())
    monkeypatch.setattr("haloscope.predict.local_validation.validate", lambda *_, **__: done)
    assert main(["validate", "local", "--from", str(tmp_path), "--residuals"]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    same = ["−50.0", "%"]
    assert ["2", "nodes", "3", *same, *same, *same, "+200", "ms"] in shown
    assert ["1", "node", "3", *["+0.0", "%"] * 3] in [line[:9] for line in shown]
