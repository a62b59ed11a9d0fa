# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from io import StringIO

import pytest
from recorded import MACHINE, cases, quick
from rich.console import Console

from haloscope.report import tables as made
from haloscope.report.document import Document
from haloscope.report.draw.terminal import summary, tables
from haloscope.report.findings import Finding
from haloscope.report.tables import Context


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_is_cut_off_however_narrow_the_terminal(width: int) -> None:
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
    assert blocks == {60: 5, 80: 2, 200: 1}[width]


def test_findings_are_wrapped_below_each_other_and_warnings_marked_without_colours() -> None:
    found = (Finding("one two three four"), Finding("five", "warning"))
    document = Document("A study", "Found", "2 cases.", found, (), ("six",), (), (), (), ())
    out = StringIO()

    Console(file=out, width=12).print(summary(document))

    lines = ["A study", "2 cases.", "- one two", "  three four", "! five", "- six"]
    assert out.getvalue().splitlines() == lines
