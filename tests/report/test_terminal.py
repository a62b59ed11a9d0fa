from __future__ import annotations

from io import StringIO

import pytest
from recorded import MACHINE, cases, quick
from rich.console import Console

from haloscope import tables as made
from haloscope.report.terminal import tables
from haloscope.tables import Context


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
    assert blocks == {60: 4, 80: 2, 200: 1}[width]
