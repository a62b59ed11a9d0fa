# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
import json
import re
import weakref
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from noted import noted, shows
from recorded import MACHINE, bad, cases, changed, heat, poisson, quick, write_folder

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.dossier import Dossier, open_folder
from haloscope.errors import UserError
from haloscope.findings.caveats import Caveat
from haloscope.layout import Layout
from haloscope.report.composing import compose
from haloscope.report.document import Document
from haloscope.study.case import Case
from haloscope.study.plan import SavedPlan
from haloscope.topics import tables

STUDY = """
title = "Two exchanges"
paper = "hpcf-2010-6"
[[runs]]
kernel = "poisson_cg"
"""


def document(folder: Path) -> Document:
    return compose(folder)


def test_marks_of_key_figures_are_explained_with_them(tmp_path: Path) -> None:
    """The answer is of two launches, and one key figure of one."""
    report = document(write_folder(tmp_path, quick(2)))

    used = {mark for one in report.key_figures for mark in re.findall(r"\[\d+\]", one.marks)}

    assert used and used <= {line.split()[0] for line in report.first_caveats}


def test_invalid_record_lines_are_reported_first(tmp_path: Path) -> None:
    """Their launches were made: that they count as not run must not be all that is said."""
    folder = write_folder(tmp_path, [poisson(64), {**poisson(64, launch=1), "times_s": [-1.0]}])

    (first, *_) = document(folder).findings
    assert first.caveats == (Caveat.UNREADABLE,)
    counted, line = first.parts
    assert counted.subject == {"lines": 1}
    assert str(line.subject["line"]).startswith("line 2: times_s")
    good = document(write_folder(tmp_path / "good", [poisson(64)]))
    assert not any(Caveat.UNREADABLE in finding.caveats for finding in good.findings)


def write_plan(folder: Path, cases: list[dict[str, Any]], notes: list[str]) -> None:
    """A plan of two launches of each."""
    known = {field.name for field in fields(Layout)}
    planned = [
        Case(
            kernel=raw["kernel"],
            given={},
            params=raw["params"],
            layout=Layout(**{key: raw["layout"][key] for key in raw["layout"] if key in known}),
            toolchain=raw["toolchain"]["name"],
            run=0,
            launches=2,
            timeout_s=600.0,
            memory_bytes=0,
            transport=raw["transport"],
        )
        for raw in cases
    ]
    plan = SavedPlan("mine", "ours", 9, tuple(planned), tuple(notes), {}, {"host": "lark"})
    (folder / "plan.json").write_text(json.dumps(plan.as_dict()))


def test_without_study_options_every_topic_is_in_the_default_order(tmp_path: Path) -> None:
    report = document(write_folder(tmp_path / "mine", [*quick(), poisson(32, surface=9)]))

    assert report.title == "mine"
    assert [section.id for section in report.sections] == [
        "memory",
        "pingpong",
        "convergence",
        "walltime",
        "scaling",
        "exchange",
        "iterations",
        "phases",
        "summary",
    ]
    for ids in ([t.id for t in report.tables], [f.id for f in report.figures]):
        assert len(set(ids)) == len(ids) > 3


def test_a_long_table_is_collapsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haloscope.report.composing.LONG", 5)
    few, many = ([poisson(64, ranks=p) for p in range(1, 1 + rows)] for rows in (5, 6))

    for raws, folded in ((few, False), (many, True)):
        report = document(write_folder(tmp_path / str(len(raws)), raws))
        (summary,) = (table for table in report.tables if table.id == "summary")
        assert (len(summary.rows), summary.folded) == (len(raws), folded)


def test_the_study_selects_tables_their_order_and_their_cases(tmp_path: Path) -> None:
    study = (
        STUDY
        + """
[[tables]]
kind = "scaling"
where = { exchange = "blocking" }
title = "Ours"
[[tables]]
kind = "walltime_grid"
where = { n = 1024 }
[[figures]]
kind = "scaling"
where = { exchange = "blocking" }
"""
    )
    report = document(write_folder(tmp_path, quick(), study))

    assert report.title == "Two exchanges"
    assert [section.id for section in report.sections] == ["scaling", "walltime", "summary"]
    assert [table.id for table in report.tables[:3]] == [
        "scaling-time",
        "scaling-speedup",
        "scaling-efficiency",
    ]
    assert report.tables[0].title == "(a) Ours"
    assert {row[0].text for table in report.tables[3:4] for row in table.rows} == {
        "1 process per node",
        "2 processes per node",
    }
    assert not noted(report.tables[0], "tara (hpcf-2010-6, table 3.1)")


def test_requests_that_cannot_be_met_are_reported(tmp_path: Path) -> None:
    study = (
        STUDY
        + """
[[tables]]
kind = "hybrid_grid"
[[figures]]
kind = "scaling"
where = { exchnage = "blocking" }  # codespell:ignore
"""
    )
    report = document(write_folder(tmp_path, [poisson(64)], study))

    first, *_ = report.findings
    assert (first.common, first.caveats) == ({"figure": "scaling"}, (Caveat.UNKNOWN_SETTING,))
    (part,) = first.parts
    assert part.subject == {"setting": "exchnage"}  # codespell:ignore
    assert part.reference["nearest"] == "exchange"
    table, figure = report.left_out
    assert "No table 'hybrid_grid'" in table
    assert "No figure 'scaling'" in figure


def test_cases_without_a_launch_are_not_reported_as_unsuitable(tmp_path: Path) -> None:
    study = (
        STUDY
        + """
[[tables]]
kind = "split_phase"
[[figures]]
kind = "split_phase"
"""
    )
    there, absent = poisson(64), poisson(128)
    write_plan(tmp_path, [there, absent], [])
    write_folder(tmp_path, [there], study)

    for text, kind in zip(document(tmp_path).left_out[-2:], ("table", "figure"), strict=True):
        assert shows(text, f" {kind} 'split_phase': ", "no matching case; ")
        assert shows(text, " 1 of 2 cases", " successful")
    why = tables.why_none("heat", cases([bad(poisson(64), "failed", "killed")]), Context())
    assert shows(why, "no successful launch")


def test_case_counts_per_kernel_are_not_listed_as_settings(tmp_path: Path) -> None:
    report = document(write_folder(tmp_path, [poisson(64), poisson(128)], STUDY))
    assert shows(report.summary, "2 cases of poisson_cg, ", " 2 successful")
    (tmp_path / "two").mkdir()
    both = document(write_folder(tmp_path / "two", [poisson(64), poisson(128), heat()], STUDY))
    assert shows(both.summary, "3 cases", "1 of fe_heat", " poisson_cg")
    assert shows(both.summary, "3 successful launches")


def test_planned_launches_that_never_ran_are_reported_missing(tmp_path: Path) -> None:
    there, absent = poisson(64), poisson(128)
    write_plan(tmp_path, [there, absent], ["left out, as this machine is a single node: 2 nodes"])
    write_folder(tmp_path, [there])

    report = document(tmp_path)

    missing = report.findings[0]
    assert (missing.of, missing.caveats) == (4, (Caveat.INCOMPLETE,))
    assert [(part.count, part.subject) for part in missing.parts] == [
        (None, {"launches": 3}),
        (3, {"outcome": "not run"}),
    ]
    one, both, nodes = report.left_out
    assert shows(one, "Not run: ", "n = 64: 1 of 2 launches")
    assert shows(both, "Not run: ", "n = 128: both launches")
    assert nodes.startswith("Left out") and nodes.endswith(": 2 nodes.")


def test_a_study_stopped_early_lists_unrun_cases_in_one_line(tmp_path: Path) -> None:
    cases = [poisson(n) for n in (64, 128, 256, 512, 1024)]
    write_plan(tmp_path, cases, [])
    write_folder(tmp_path, cases[:1])

    (line,) = document(tmp_path).left_out
    assert line.startswith("Not run: 9 of 10 launches") and shows(line, " launches of 5 cases: ")
    assert re.findall(r"n = (\d+)|(and 2 more)", line) == [
        ("64", ""), ("128", ""), ("256", ""), ("", "and 2 more")
    ]  # fmt: skip


def test_a_retried_launch_counts_as_its_last_attempt(tmp_path: Path) -> None:
    first = bad(poisson(64, time_s=1.0), "failed", "killed")

    dossier = open_folder(write_folder(tmp_path, [first, poisson(64, time_s=2.0)]))

    (case,) = dossier.cases
    assert (case.times_s, case.excluded) == ([2.0], ())


def test_the_measurement_environment_is_read_from_the_records(tmp_path: Path) -> None:
    report = document(write_folder(tmp_path, quick()))

    assert ("processor", str(MACHINE["cpu"])) in report.machine
    assert shows(dict(report.machine)["caches"], "L1 32 KiB ", "L2 2 MiB ", "L3 32 MiB", " 2 cores")
    assert ("frequency governor", "not known") in report.machine
    assert report.toolchains[0][0] == "system"
    assert report.toolchains[0][1].startswith("Open MPI v4.1.4")
    assert shows(report.method[1], "MPI_Wtime", " 1.00 ns ", " 25.0 ns ")
    assert shows(report.method[2], " 4 to 5 ", " 1 to 5 ")
    facts = dict(report.provenance)
    assert facts["seed"] == "12345"
    assert facts["git commit"] == "0123456789abcdef0123456789abcdef01234567"
    assert facts["records"] == "85"


def test_records_with_few_keys_are_accepted(tmp_path: Path) -> None:
    nothing = {"machine": None, "timer": None, "memory": None, "work": None, "git": None}
    name_alone = {"toolchain": {"name": "system"}}
    bare = changed(bad(poisson(64), "failed", "killed"), **nothing, command=None, **name_alone)

    report = document(write_folder(tmp_path, [bare]))

    assert report.machine == ()
    assert len(report.left_out) == 1 and shows(report.left_out, " poisson_cg. ", " failed: killed")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "no records.jsonl"),
        ("", "contains no readable record"),
        ('{"schema":1,"cas', "contains no readable record"),
    ],
)
def test_a_folder_without_records_is_refused(
    tmp_path: Path, content: str | None, what: str
) -> None:
    if content is not None:
        (tmp_path / "records.jsonl").write_text(content)

    with pytest.raises(UserError, match=what):
        open_folder(tmp_path)


def test_an_unstarted_folder_suggests_the_command_to_continue(tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "plan.json").write_text("{}")

    with pytest.raises(UserError, match="no records yet\n.*run --resume '.*/two words'"):
        open_folder(folder)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="folder not found"):
        open_folder(tmp_path / "nowhere")


ASKS = f"""
question = "Which exchange is fastest?"
answer = "{{}}"
{STUDY}
"""


def test_the_question_is_the_first_line(tmp_path: Path) -> None:
    asking = document(write_folder(tmp_path / "a", [poisson(64)], ASKS.format("speedup")))
    untold = document(write_folder(tmp_path / "b", [poisson(64)], STUDY))

    assert (asking.title, untold.title) == ("Which exchange is fastest?", "Two exchanges")
    assert "Two exchanges" in asking.summary


def test_the_first_figure_shows_the_cases_of_the_headline(tmp_path: Path) -> None:
    raws = quick(2)
    solve = document(write_folder(tmp_path / "a", raws, ASKS.format("speedup")))
    messages = document(write_folder(tmp_path / "b", raws, ASKS.format("pingpong")))
    bandwidth = document(write_folder(tmp_path / "c", raws, ASKS.format("solver_bandwidth")))

    for one, kind in ((solve, "scaling"), (messages, "pingpong"), (bandwidth, "stream")):
        assert one.answer and one.first_figure and one.first_figure.kind == kind
    assert solve.answer and solve.first_figure
    assert {*solve.answer.cases} <= {*solve.first_figure.cases}


def test_a_composed_report_keeps_no_case_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: list[weakref.ref[MeasuredCase]] = []

    def opened(folder: Path) -> Dossier:
        dossier = open_folder(folder)
        cases.extend(map(weakref.ref, dossier.cases))
        return dossier

    monkeypatch.setattr("haloscope.report.composing.open_folder", opened)
    document = compose(write_folder(tmp_path, quick()))

    gc.collect()
    assert document.tables
    assert cases
    assert [one() for one in cases] == [None] * len(cases)
