# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO

import pytest
from recorded import MACHINE, cases, pingpong, poisson, quick
from rich.console import Console

from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Prominence
from haloscope.report.compared import compare_cases
from haloscope.report.document import Document
from haloscope.report.draw.terminal import everything, summary, tables
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged
from haloscope.topics import tables as made
from haloscope.topics.common.making import warning
from haloscope.topics.common.table import Column, Table, label, plain


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_is_truncated_on_a_narrow_terminal(width: int) -> None:
    (table,) = made.build("bandwidth", cases(quick()), Context(machine=MACHINE))
    out = StringIO()

    Console(file=out, width=width).print(tables([table]))

    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for column in table.columns:
        assert column.title in text
    for row in table.rows:
        for cell in row[1:]:
            assert cell.text in text
    blocks = sum(line.startswith(" case ") for line in text.splitlines())
    assert blocks == {60: 6, 80: 3, 200: 1}[width]


@pytest.mark.parametrize("width", [60, 80])
def test_names_of_cases_and_folders_are_wrapped_not_truncated(width: int) -> None:
    names = "openmpi-5.0.11-before-the-firmware-update", "afterwards"
    raws = [poisson(n, exchange=one) for n in (64, 128) for one in ("blocking", "nonblocking")]
    found = compare_cases(cases([*raws, pingpong()]), cases([*raws, pingpong()]), names=names)
    out = StringIO()

    Console(file=out, width=width).print(tables(found.tables))

    text = out.getvalue()
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    sweeps, steps = found.tables
    for row in (*sweeps.rows, *steps.rows):
        assert {*row[0].text.split()} <= {*text.split()}
    assert {"openmpi-5.0.11-", "before-the-firmware-"} <= {*text.split()}


@pytest.mark.parametrize("width", [40, 80])
def test_cells_wider_than_the_terminal_are_wrapped_not_truncated(width: int) -> None:
    words = [f"word{k}" for k in range(30)]
    columns = (Column("a", "a"), Column("b", "b"), Column("c", "c", align="left"))
    cells = (label("one"), plain(1), plain(" ".join([*words, "x" * 100])))
    out = StringIO()

    Console(file=out, width=width).print(tables([Table("id", "any", "t", columns, (cells,))]))

    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert {*words} <= {*text.split()}
    assert text.count("x") == 100


@pytest.mark.parametrize("ids", [False, True])
def test_ids_of_tables_are_printed_on_request(ids: bool) -> None:
    table = Table("some-id", "any", "t", (Column("a", "a"),), ((label("one"),),))
    out = StringIO()

    Console(file=out, width=80).print(tables([table], ids=True) if ids else tables([table]))

    assert ("some-id" in out.getvalue()) == ids


@pytest.mark.parametrize(("ids", "name"), [(False, "One"), (True, "first")])
def test_notes_of_several_tables_are_printed_once(ids: bool, name: str) -> None:
    (table,) = made.build("bandwidth", cases(quick()), Context(machine=MACHINE))
    several = ("of both", "1", "2", "3")
    one = replace(table, id="first", title="One", notes=(*several, "of one"))
    other = replace(table, title="Other", notes=("of both", "of the other"))
    out = StringIO()

    Console(file=out, width=80).print(tables([one, other], ids=ids))

    noted = [line.strip() for line in out.getvalue().splitlines() if line.startswith("- of")]
    assert noted == ["- of the other", "- of both", f"- of one ({name})"]


def test_columns_of_verdicts_name_the_second_folder() -> None:
    raws = [poisson(64), pingpong()]
    found = compare_cases(cases(raws), cases(raws), names=("before", "after"))
    sweeps, steps = found.tables

    groups = {column.key: column.group for column in sweeps.columns}
    assert (groups["faster"], groups["slower"]) == ("after is", "after is")
    assert {column.key: column.title for column in steps.columns}["verdict"] == "after is"


LONG = "a name that is far too long for any line of a terminal, whoever it was that gave it"


def report(warnings: int, names: int = 1) -> Document:
    """A report of an answer, key figures and warnings, all of many words."""
    found = [
        Finding(
            f"{LONG} {index}",
            FindingShape.VALUE,
            tuple(
                Claim({"part": f"{LONG} {name}"}, estimate=Estimate(value, None, None, 1, "none"))
                for name in range(names)
            ),
            topic=f"topic{index}",
        )
        for index, value in enumerate((1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6))
    ]
    busy = [warning(Caveat.BUSY, common={"case": f"{LONG} {k}"}) for k in range(warnings)]
    return Document(LONG, "2 cases.", tuple(arranged([*busy, *found])), (), (LONG,), (), (), (), ())


@pytest.mark.parametrize("warnings", [0, 1, 20])
@pytest.mark.parametrize("names", [1, 30])
def test_a_summary_has_at_most_eleven_lines_of_eighty_columns(warnings: int, names: int) -> None:
    out = StringIO()

    Console(file=out, width=80).print(summary(report(warnings, names)))

    lines = out.getvalue().splitlines()
    assert len(lines) <= 11 and max(map(len, lines)) <= 80
    assert sum(line.startswith("! ") for line in lines) == min(warnings, 1)
    assert "haloscope show" in lines[-1]


def test_the_cases_are_named_if_they_fit_below_the_answer_and_warnings() -> None:
    part = Claim({"part": "x"}, estimate=Estimate(1.0, None, None, 1, "none"))
    answer = Finding("Q", FindingShape.VALUE, (part,), topic="any")
    busy = [warning(Caveat.BUSY, common={"case": f"{LONG} {k}"}) for k in range(2)]
    found = tuple(arranged([*busy, answer]))
    out = StringIO()

    Console(file=out, width=80).print(summary(replace(report(0), findings=found)))

    assert "2 cases." in out.getvalue().splitlines()


def test_a_long_warning_keeps_its_number_of_launches() -> None:
    parts = [Claim({"launches": 30}), *(Claim({"change": f"{LONG} v{k}"}) for k in range(3))]
    found = (*report(0).findings, warning(Caveat.CHANGED, parts=parts, of=54))
    out = StringIO()

    Console(file=out, width=80).print(summary(replace(report(0), findings=found)))

    said = " ".join(out.getvalue().split())
    assert "30 of 54" in said and "v2" not in said


@pytest.mark.parametrize("warnings", [0, 2])
@pytest.mark.parametrize("marks", [1, 3, 9])
@pytest.mark.parametrize("answer_alone", [False, True])
def test_every_mark_of_a_summary_is_explained(
    warnings: int, marks: int, answer_alone: bool
) -> None:
    """The answer and each key figure have caveats; with the warnings, too many for 12 lines."""
    several = [one for one in Caveat if one not in (Caveat.BUSY, Caveat.SIMULATED)][-marks:]
    whole = report(warnings)
    marked = [
        replace(one, question="Q", caveats=tuple(several))
        if one.severity is Prominence.ANSWER
        else replace(one, caveats=() if answer_alone else (several[k % marks],))
        if one.severity is Prominence.KEY_FIGURE
        else one
        for k, one in enumerate(whole.findings)
    ]
    out = StringIO()

    Console(file=out, width=80).print(summary(replace(whole, findings=tuple(marked))))

    lines = out.getvalue().splitlines()
    explained = {line.split()[0] for line in lines if line.startswith("[")}
    used = {mark for line in lines for mark in re.findall(r"\[\d+\]", line)}
    assert used <= explained and len(lines) <= 11
    assert used or marks > 1
    assert "…" not in out.getvalue()
    assert sum(line.startswith("! ") for line in lines) >= min(warnings, 1) * (marks < 9)


def test_output_is_wrapped_and_warnings_are_marked_without_colours() -> None:
    out = StringIO()

    Console(file=out, width=60).print(everything(report(1)))

    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("! ") for line in lines) == 1
    assert sum(line.startswith("- ") for line in lines) == 8
