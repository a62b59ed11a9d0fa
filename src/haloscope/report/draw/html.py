# SPDX-License-Identifier: BSD-3-Clause
"""The report as one self-contained HTML file: phone, print, light, and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from haloscope.paths import write_whole
from haloscope.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    FLOPS,
    PER_BYTE,
    PER_SECOND,
    PERCENT,
    SECONDS,
)
from haloscope.report.document import Document
from haloscope.report.draw.apart import apart, print_zoom
from haloscope.report.draw.figures import Drawing
from haloscope.report.draw.figures.palette import dark_style
from haloscope.topics.common.table import Table


@dataclass(frozen=True)
class Heading:
    """A cell of a table's head."""

    text: str
    columns: int
    rows: int
    align: str


def write(document: Document, drawings: Mapping[str, Sequence[Drawing]], directory: Path) -> Path:
    """Write report.html; return its path."""
    environment = Environment(
        loader=PackageLoader("haloscope.report.draw", "."),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("template.html")
    path = directory / "report.html"
    text = template.render(
        document=document,
        panels={
            figure.id: [
                Markup(drawing.inline(f"{figure.title}. {figure.alt_text(panel)}"))
                for drawing, panel in zip(drawings[figure.id], figure.panels, strict=True)
            ]
            for figure in document.figures
        },
        head=head,
        apart=apart,
        print_zoom=print_zoom,
        together=together,
        dark_figures=Markup(dark_style()),
        script=Markup(files("haloscope.report.draw").joinpath("page.js").read_text("utf-8")),
    )
    write_whole(path, text)
    return path


_UNITS = sorted(
    {
        unit
        for scale in (SECONDS, PER_BYTE, BYTES, FLOPS, BYTES_PER_SECOND, PER_SECOND, PERCENT)
        for _, unit in scale
    },
    key=len,
    reverse=True,
)
_MEASURE = re.compile(rf"(?<=\d) (?=(?:{'|'.join(map(re.escape, _UNITS))})(?!\w))")


def together(text: str) -> str:
    """Return a sentence with non-breaking spaces between numbers and units."""
    return _MEASURE.sub("\xa0", text)


def head(table: Table) -> list[list[Heading]]:
    """Return the rows of a table's head: two if some columns share a title above theirs."""
    columns = table.columns
    if not any(column.group for column in columns):
        return [[Heading(column.title, 1, 1, column.align) for column in columns]]
    above: list[Heading] = []
    below: list[Heading] = []
    for group, columns_of in groupby(columns, key=attrgetter("group")):
        own = [*columns_of]
        if group:
            above.append(Heading(group, len(own), 1, "center"))
            below += [Heading(column.title, 1, 1, column.align) for column in own]
        else:
            above += [Heading(column.title, 1, 2, column.align) for column in own]
    return [above, below]
