# SPDX-License-Identifier: BSD-3-Clause
"""The page of advise: what it shows of layouts that were simulated, and of measured ones."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from made import panels
from rich.console import Console

from haloscope.advice.candidates import Candidate
from haloscope.advice.counted_bytes import Load
from haloscope.advice.judging import Advice, Goal, Option, Sureness, advice
from haloscope.analysis.validation.bands import Subject
from haloscope.commands.predictions import advice_page, advice_text
from haloscope.commands.predictions.advice_page import AdviceFacts
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.report.draw.terminal import tables
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings

FACTS = AdviceFacts("haloscope advise", "fake, 64 tasks", "simulated on there", "Sure.", ["one"])


def option(nodes: int, value: float, half: float | None = None, mapping: str = "block") -> Option:
    """A simulated one, or a measured one with an interval of twice `half`."""
    low, high = (None, None) if half is None else (value - half, value + half)
    estimate = Estimate(value, low, high, 6, "none" if half is None else "rank interval", 0.95)
    where: Settings = {
        "n": 4096,
        "variant": "textbook",
        "nodes": nodes,
        "ppn": 64 // nodes,
        "threads": 1,
    }
    subject = Subject("stampede2", "", "poisson_cg", where) if half is None else None
    rounds = {} if half is None else {k: value + (k - 5) * half / 5 for k in range(11)}
    return Option(Candidate.of(64, nodes, mapping=mapping), estimate, subject, rounds_s=rounds)


def result(half: float | None = None) -> Advice:
    options = [option(2, 1.0, half), option(4, 0.6, half), option(8, 0.4, half)]
    options.append(option(8, 0.9, half, "random"))
    return advice(options, options[0].candidate, Goal.TIME)


def test_the_headline_is_the_layout_with_its_gain_and_cost() -> None:
    made = advice_page.document(result(), FACTS)

    answer = made.answer
    assert answer is not None
    (part,) = answer.parts
    assert part.subject == {"nodes": 8, "ppn": 8, "threads": 1, "mapping": "block"}
    assert (part.reference["nodes"], part.reference["choice"]) == (2, "the default")
    assert part.verdict is Verdict.FASTER
    assert part.ratio and part.ratio.median == pytest.approx(2.5)
    band = result().band
    assert band and part.ratio.estimate.band == band.factor
    assert part.node_hours and part.node_hours.median == pytest.approx(2.0 / 3.2)
    assert [len(one.parts) for one in made.findings] == [1, 2], "two others are on the front"
    assert [one.id for one in made.sections if one.unfolded] == ["request"]
    assert made.left_out == ("Not compared: one.",)


def test_the_figure_has_every_layout_and_the_simulation_error_band() -> None:
    made = advice_page.document(result(), FACTS)

    (panel,) = panels(made.figures[0])
    points = {one.label: [(mark.x, mark.y) for mark in one.marks] for one in panel.curves}
    assert points == {
        "Pareto front": [(2.0, 1.0), (2.4, 0.6), (3.2, 0.4)],
        "Pareto-optimal": [(2.4, 0.6)],
        "others": [(7.2, 0.9)],
        "default": [(2.0, 1.0)],
        "advised": [(3.2, 0.4)],
    }
    ((low, high),) = panel.bands
    assert low * high == pytest.approx(1.0) and low < 1.0  # of the default's time


def test_measured_layouts_have_intervals_and_simulated_ones_a_table() -> None:
    simulated = [option(16, 0.1), option(2, 0.3)]
    facts = AdviceFacts("haloscope advise", "fake", "measured", "Sure.", [], simulated)
    made = advice_page.document(result(0.01), facts)

    (panel,) = panels(made.figures[0])
    (advised,) = (one.marks[0] for one in panel.curves if one.label == "advised")
    assert (advised.low, advised.high) == pytest.approx((0.39, 0.41))
    assert panel.bands == ()
    request, layouts, before = made.tables
    assert [row[0].value for row in layouts.rows] == [8, 4, 8, 2]
    assert [row[0].value for row in before.rows] == [16, 2]
    assert request.rows[0][1].text == "#SBATCH --nodes=8"


def test_the_page_is_written_with_its_figure_and_tables(tmp_path: Path) -> None:
    page = advice_page.write(result(), FACTS, tmp_path)

    answer = advice_page.document(result(), FACTS).answer
    assert answer is not None
    assert answer.question in page.read_text(encoding="utf-8")
    assert {one.name for one in tmp_path.iterdir()} == {"report.html", "figures", "tables"}
    rows = (tmp_path / "tables" / "layouts.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 5


def test_the_table_shows_the_effect_of_a_mapping_on_counted_traffic() -> None:
    plain = advice_page.document(result(), FACTS)
    counted = replace(option(4, 0.6), load=Load(2048, 4096, 1024.0))
    options = [option(2, 1.0), counted]
    found = advice_page.document(advice(options, options[0].candidate, Goal.TIME), FACTS)
    tables = [one.sections[1].tables[0] for one in (plain, found)]
    names = [[column.key for column in table.columns] for table in tables]
    assert names[1] == [*names[0], "between_nodes", "byte_hops", "busiest_link"]
    assert [cell.value for cell in tables[1].rows[0][-3:]] == [2048, 4096, 1024.0]


def test_a_gain_beyond_the_error_of_other_programs_is_faster_but_not_validated() -> None:
    unsure = replace(result(), verdict=Sureness.NOT_VALIDATED)
    answers = [advice_page.document(one, FACTS).answer for one in (result(), unsure)]

    assert [one and one.parts[0].verdict for one in answers] == [Verdict.FASTER] * 2
    assert [one and one.caveats for one in answers] == [(), (Caveat.NOT_VALIDATED,)]


@pytest.mark.parametrize("half", [None, 0.01])
def test_the_screen_marks_the_advised_default_and_pareto_layouts_in_one_block(
    half: float | None,
) -> None:
    found = result(half)
    table = advice_text._shown(found, advice_page.document(found, FACTS).sections[1].tables[0])

    assert table.columns[-1].key == "is"
    assert {row[0].value: (row[-1].text, row[-1].spread) for row in table.rows} == {
        8: ("advised", "Pareto"),
        4: ("Pareto", ""),
        2: ("default", "Pareto"),
    }
    out = StringIO()
    Console(file=out, width=80).print(tables([table]))
    assert sum(line.startswith(" nodes ") for line in out.getvalue().splitlines()) == 1
    assert "(3 layouts)" in out.getvalue()
