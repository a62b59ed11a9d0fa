# SPDX-License-Identifier: BSD-3-Clause
"""Every number in the words of a figure is one of its data, whatever kind it is of.

The words are the alt text, which report.md has too; the data are what is drawn, and the table of
the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made import draw
from noted import shows
from recorded import (
    MACHINE,
    Raw,
    cases,
    collectives,
    fft,
    of_phases,
    pingpong,
    poisson,
    quick,
    record,
    ring,
    spmv,
    star_forest,
    stream,
    write_folder,
)

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.quantities import BYTES, BYTES_PER_SECOND, FLOPS, PERCENT, SECONDS
from haloscope.report.composing import compose
from haloscope.report.draw import markdown
from haloscope.report.draw.figures.panels import draw_all
from haloscope.study import kinds
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Axis, Bars, Curve, Figure, Gantt, Lines, Mark, Surface
from haloscope.topics.phases import NAMES
from programs import swept

UNITS = {
    unit: factor
    for scale in (SECONDS, BYTES, BYTES_PER_SECOND, FLOPS, PERCENT)
    for factor, unit in scale
} | {"MLUP/s": 1e6, "GLUP/s": 1e9, "Gflop/s": 1e9, "GFLOP/s": 1e9}
"""What a number with a unit behind it is multiplied with."""
NUMBER = re.compile(r"(?<![\w.^])(\d[\d,]*(?:\.\d+)?)(?: ?([A-Za-zµ%/]+))?")


def sweeps(ranks: int, mlups: float, variant: str = "plain") -> Raw:
    """A launch of jacobi3d with 400 points along each rank's axes, one axis of ranks cut."""
    updates = 8.0 * ranks * 400**3
    time = updates / (1e6 * mlups)
    grid = f"{ranks}x1x1"
    settings = {
        **{"L": 400, "size": "cubes", "topology": grid, "variant": variant, "depth": 0},
        **{"overlap": "no", "precision": "double", "sweeps": 8},
    }
    phase = {"name": "sweep", "calls": 8, "time_s": dict.fromkeys(("min", "mean", "max"), time)}
    phase |= {"bytes": 24 * updates, "flops": 6 * updates, "model_s": None}
    found = {"mlups": mlups, "size": f"{400 * ranks}x400x400", "grid": grid, "depth": 1}
    return record("jacobi3d", settings, [time] * 3, ranks=ranks, result=found, phases=[phase])


def spread(tasks: int, nodes: int, time_s: float, n: int = 1024) -> Raw:
    where = {"tasks": tasks, "bind": "spread"}
    raw = poisson(n, time_s=time_s, ranks=tasks, nodes=nodes, layout=where)
    return {**raw, "case": f"{raw['case']}-{nodes}"}


def grown(tasks: int, nodes: int, time_s: float) -> Raw:
    """Tasks with as much work each."""
    raw = spread(tasks, nodes, time_s)
    return {**raw, "work": {**raw["work"], "flops": 1e9 * tasks}, "case": f"{tasks}-{nodes}"}


def solves(*numbers: int, **given: object) -> list[Raw]:
    """A mesh on numbers of processes, as fast as two thirds of them."""
    return [
        poisson(256, ranks=p, launch=k, time_s=(1 + 0.01 * k) * 4.0 / p**0.66, **given)  # type: ignore[arg-type]
        for p in numbers
        for k in range(6)
    ]


COLLECTIVE = {(op, size): 1e-6 + 1e-9 * size for op in ("bcast", "gather") for size in (8, 64, 512)}
RAWS: dict[str, list[Raw]] = {
    "points": [swept(launch) for launch in range(3)],
    "stream": [stream(), stream(ranks=2)],
    "pingpong": [pingpong()],
    "fits": [pingpong(launch=k) for k in range(3)],
    "transports": [{**pingpong(), "transport": name, "case": name} for name in ("shm", "tcp")],
    "ring": [ring(0.8e-6 * ranks, ranks=ranks) for ranks in (1, 2, 3, 4)],
    "collectives": [collectives(COLLECTIVE, ranks=2)],
    "surfaces": [poisson(32, surface=33)],
    "hybrid_grid": [poisson(256, ranks=p, threads=4 // p, time_s=1.0 / p) for p in (1, 2, 4)],
    "overlay": [poisson(1024, ranks=p, variant="textbook") for p in (1, 2)],
    "scaling": solves(1, 2, 4, 8),
    "scaling_law": solves(1, 2, 4, 8, 16, 32),
    "exchange": [
        poisson(256, ranks=p, exchange=exchange, time_s=time_s / p)
        for p in (2, 4, 8)
        for exchange, time_s in (("blocking", 1.0), ("nonblocking", 1.1 - 0.03 * p))
    ],
    "jacobi": [
        *[stream(ranks=ranks) for ranks in (1, 2)],
        *[pingpong(launch=k) for k in range(3)],
        *[sweeps(ranks, 500.0 * ranks**0.9) for ranks in (1, 2, 4)],
    ],
    "roofline": [
        *[stream(ranks=ranks) for ranks in (1, 2)],
        *[sweeps(ranks, 500.0 * ranks**0.9) for ranks in (1, 2)],
    ],
    "iterations": [raw for name in ("fused", "textbook") for raw in solves(1, 2, 4, variant=name)],
    "variability": [poisson(256, launch=k, time_s=1 + 0.01 * (k % 7)) for k in range(12)],
    "bind": [
        poisson(256, ranks=p, time_s=time_s / p, layout={"bind": bind})
        for p in (2, 4, 8)
        for bind, time_s in (("close", 1.0), ("spread", 1.1 - 0.03 * p))
    ],
    "overlap": [
        spmv(ranks=p, overlap=overlap, time_s=time_s / p)
        for p in (2, 4, 8)
        for overlap, time_s in (("none", 1.0), ("split", 1.1 - 0.03 * p))
    ],
    "sf_latency": [pingpong(), star_forest("sf_pingpong"), star_forest("sf_unpack")],
    "sf_grid": [star_forest("sf_grid")],
    "split_phase": [star_forest()],
    "timeline": [star_forest(timeline=3)],
    "weak_scaling": [
        *(grown(8, nodes, 1.0 / nodes) for nodes in (1, 2, 8)),
        *(grown(16, nodes, 1.7 / nodes) for nodes in (2, 4, 16)),
        *(grown(32, nodes, 2.9 / nodes) for nodes in (4, 8, 32)),
    ],
    "mapping": [
        spread(8, 1, 1.0),
        spread(8, 8, 0.5),
        spread(16, 2, 1.2),
        spread(16, 16, 3.0),
    ],
    "characterization": [
        spread(tasks, nodes, n * (1 + nodes) / 1024, n)
        for n in (256, 1024)
        for tasks in (4, 16)
        for nodes in (1, 4)
    ],
    "spmv": [spmv(ranks=ranks) for ranks in (1, 2, 4)],
    "transpose": [
        fft(transpose=way, ranks=p, time_s=time_s / p)
        for p in (2, 4, 8)
        for way, time_s in (("alltoallv", 1.0), ("pairwise", 1.1 - 0.03 * p))
    ],
    "phases": [poisson(64), poisson(64, ranks=2)],
    "sections": [of_phases("lammps_rhodo", dict.fromkeys(NAMES, 0.25), 2.0)],
}
"""Records that a figure of each kind is drawn of."""


def test_there_are_records_for_every_kind_of_figure() -> None:
    assert set(RAWS) == set(kinds.figures())


def drawn(kind: str) -> tuple[list[Figure], list[MeasuredCase]]:
    measured = cases(RAWS[kind])
    context = Context(machine=MACHINE, all_cases=measured, shelf=papers.list_papers())
    return figures.build(kind, measured, context), measured


@pytest.mark.parametrize("kind", kinds.figures())
def test_numbers_in_the_text_of_a_figure_are_in_its_data(kind: str) -> None:
    found, measured = drawn(kind)

    assert found
    for figure in found:
        assert list(strange(figure, measured)) == []


@pytest.mark.parametrize("kind", ["pingpong", "scaling", "phases", "stream", "timeline", "spmv"])
def test_a_number_off_by_a_tenth_is_found(kind: str) -> None:
    (figure, *_), measured = drawn(kind)
    numbers = [found for found in NUMBER.finditer(without_names(figure)) if "." in found[1]]
    if not numbers:
        numbers = list(NUMBER.finditer(without_names(figure)))
    (*_, last) = numbers
    value = float(last[1].replace(",", ""))
    wrong = figure.alt.replace(last[1], f"{1.13 * value + 1:.4g}")

    assert wrong != figure.alt
    assert list(strange(replace(figure, alt=wrong), measured))


def strange(figure: Figure, measured: Sequence[MeasuredCase]) -> Iterator[str]:
    """Numbers of the words that are none of the data, as printed."""
    known = [*data(figure), *table_data(figure.kind, measured)]
    unit = ""
    for found in reversed(list(NUMBER.finditer(without_names(figure)))):
        shown = found[1].replace(",", "")
        unit = unit if found[2] == "to" else found[2] or ""  # "from 4 to 5 ms"
        factor = UNITS.get(unit, 1.0)
        decimals = len(shown.partition(".")[2])
        nearly = 0.5001 * 10.0**-decimals
        if not any(abs(float(shown) - abs(value) / factor) <= nearly for value in known):
            yield found[0]


def without_names(figure: Figure) -> str:
    """The alt text less what curves, bars, rows and panels are called."""
    names: set[str] = {panel.title for panel in figure.panels if not isinstance(panel, Bars)}
    for panel in figure.panels:
        if isinstance(panel, Lines):
            names |= {curve.label for curve in panel.curves} | {word for _, word in panel.guides}
    text = " ".join([figure.alt, *(one.alt for one in figure.panels if isinstance(one, Lines))])
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"{name}:", ":").replace(f"({name})", "") if name else text
    return text


def data(figure: Figure) -> Iterator[float]:
    """All numbers that it draws in seconds, bytes and the like; how many there are of its parts."""
    labels = {curve.label for panel in figure.panels if isinstance(panel, Lines)
              for curve in panel.curves}  # fmt: skip
    models = {curve.label for panel in figure.panels if isinstance(panel, Lines)
              for curve in panel.curves if curve.model}  # fmt: skip
    bounds = {curve.label for panel in figure.panels if isinstance(panel, Lines)
              for curve in panel.curves if curve.bound}  # fmt: skip
    yield from (len(labels - models - bounds), len(models), len(figure.panels))
    operations = next((int(m[1]) for note in figure.notes
                       if (m := re.search(r"An update consists of (\d+)", note))), 1)  # fmt: skip
    for panel in figure.panels:
        for value in DATA[type(panel)](panel):
            yield value
            yield value / operations


def of_lines(panel: Lines) -> Iterator[float]:
    for curve in panel.curves:
        for mark in curve.marks:
            for axis, value in ((panel.x, mark.x), (panel.y, mark.y)):
                yield value * unit_of_axis(axis)
    yield from (x for x, _ in panel.guides)


def unit_of_axis(axis: Axis) -> float:
    unit = (re.findall(r"\(([^)]*)\)", axis.label) or [axis.label])[-1]
    return UNITS.get(unit, 1.0)


def of_bars(panel: Bars) -> Iterator[float]:
    yield len(panel.bars)
    yield from (share for _, shares in panel.parts for share in shares)


def of_gantt(panel: Gantt) -> Iterator[float]:
    factor = unit_of_axis(Axis(panel.x))
    yield len(panel.rows)
    yield from (factor * end for _, end in panel.ends)
    if "iB" in panel.title or panel.title.endswith(" B"):
        value, unit = panel.title.split()
        yield float(value) * UNITS[unit]


def of_surface(panel: Surface) -> Iterator[float]:
    scale = (re.findall(r"in (1e-\d+)", panel.title) or ["1"])[0]
    yield from (float(scale) * height for row in panel.heights for height in row)
    yield len(panel.points) - 1


DATA: dict[type, Callable[..., Iterator[float]]] = {
    Lines: of_lines,
    Bars: of_bars,
    Gantt: of_gantt,
    Surface: of_surface,
}


def table_data(kind: str, measured: Sequence[MeasuredCase]) -> Iterator[float]:
    """The numbers of the table of a kind."""
    if kind in kinds.tables():
        for table in tables.build(kind, measured, Context(machine=MACHINE, all_cases=measured)):
            cells = (cell for row in table.rows for cell in row)
            yield from (float(c.value) for c in cells if isinstance(c.value, int | float))
    yield from (float(n) for case in measured if isinstance(n := case.settings.get("n"), int))


def test_markdown_has_the_same_text(tmp_path: Path) -> None:
    document = compose(write_folder(tmp_path, [*quick(), *RAWS["timeline"]]))
    path = markdown.write(document, draw_all(document.figures), tmp_path)

    text = path.read_text(encoding="utf-8").replace("\\", "")
    assert document.figures
    for figure in document.figures:
        for panel in figure.panels:
            assert f"![{figure.alt_text(panel)}](" in text


def test_axis_units_are_parsed() -> None:
    panel = Lines("l", "", Axis("size"), Axis("time (ms)"), (Curve("", (Mark(8, 2.5),)),))

    assert list(of_lines(panel)) == pytest.approx([8.0, 2.5e-3])


def test_text_of_model_and_collective_figures_is_informative() -> None:
    """Their numbers are checked by the test of all kinds."""
    fits = draw("fits", [pingpong(launch=k) for k in range(6)])
    times_s = {("bcast", 8): 1e-6, ("bcast", 64): 3e-6, ("reduce", 8): 5e-6, ("reduce", 64): 7e-6}
    (operations,) = draw("collectives", [collectives(times_s)])

    assert "Best fit: piecewise Hockney" in fits[0].alt
    for panel, longest in zip(operations.panels, ("3.0", "7.0"), strict=True):
        alt = operations.alt_text(panel)
        assert alt.startswith(f"{panel.title}. ")
        # not the longest of all operations
        assert shows(alt, "message size. ", f". Longest: {longest}")
