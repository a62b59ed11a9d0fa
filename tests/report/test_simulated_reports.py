# SPDX-License-Identifier: BSD-3-Clause
"""What a report of simulated cases says, and does not say, of how they came about."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from made import build, draw
from noted import noted, shows
from recorded import Raw, cases, pingpong, poisson, write_folder

from haloscope.analysis.context import Context
from haloscope.analysis.dossier import open_folder
from haloscope.analysis.validation.cell_groups import LAYOUT_AND_MESH
from haloscope.analysis.validation.published import Library
from haloscope.analysis.validation.trust import trust
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.findings.finding import FindingShape
from haloscope.findings.sentences import sentence
from haloscope.papers import tables as papers
from haloscope.quantities import within
from haloscope.report import comparing
from haloscope.report.compared import compare_cases
from haloscope.report.composing import compose, trusted
from haloscope.report.draw.json_document import GradeJson
from haloscope.report.method import machine_facts, method
from haloscope.topics import findings
from haloscope.topics.common.figure import Lines, of_launches
from haloscope.topics.common.table import Cell
from haloscope.topics.quality import validity


def simulated(n: int, ranks: int = 1, **more: Any) -> Raw:
    passed_over: Raw = {"iterations": None, "of_iterations": None, "iterations_from": None}
    said = {"cluster": "stampede2", "verified": False, "cached": False, **passed_over, **more}
    simulation: Raw = {"clock": "simulated", "simulation": said, "wall_s": 0.5}
    return poisson(n, ranks=ranks, variant="textbook", **simulation)


def test_simulated_reports_make_no_statement_about_launches() -> None:
    short: Raw = {"iterations": 20, "of_iterations": 1581, "iterations_from": "a paper, table 1"}
    one = simulated(1024, **short)
    one["work"] = {**(one["work"] or {}), "messages": 1581 * 6}
    text = method_of([one, simulated(32, verified=True)])
    first, *_, last = text
    assert "ran on stampede2." in first
    assert "haloscope cluster show stampede2" in first
    assert shows(text, "1 solve: 20 iterations ", ": 1581 (a paper")
    assert shows(last, " 120 point-to-point messages ", " took 500 ms ")
    assert "240 per second" in last
    assert shows(text, "verified in 1 of 2 cases.")
    for word in ("Mann-Whitney", "may use, which", "bootstrap", "Every timed configuration"):
        assert word not in " ".join(text)
    assert "Mann-Whitney" in " ".join(method_of([poisson(64)]))


def method_of(raws: list[Raw]) -> tuple[str, ...]:
    measured = cases(raws)
    return method([record for case in measured for record in case.launches], measured, {})


def test_verified_and_unverified_results_are_distinguished() -> None:
    raws = [simulated(64, verified=True), simulated(1024)]
    found = trust(cases(raws))
    assert found and found.verified == 1
    assert any("verified in 1 of 2" in line for line in method_of(raws))
    (table,) = build("summary", raws)
    assert [row[2].marks for row in table.rows] == ["‡§", "‡"]
    assert noted(table, "§ ")
    (unverified,) = build("summary", raws[1:])
    assert not any("§" in note for note in unverified.notes)


def test_with_only_verified_results_unverified_ones_are_not_mentioned() -> None:
    raws = [simulated(64, verified=True), simulated(1024, verified=True)]
    found = trust(cases(raws))
    assert shows(method_of(raws), "verified in 2 of 2 cases.")
    assert found and found.verified == 2


def test_a_failed_simulation_has_no_result() -> None:
    failed = {**simulated(64, verified=True), "outcome": "failed", "reason": "deadlock"}
    found = trust(cases([failed, simulated(1024)]))
    assert found and found.verified == 0
    assert [one.cases for one in found.grades] == [1]


def test_the_method_states_what_validates_these_simulations() -> None:
    (one,) = validity(cases([simulated(1024)]))
    assert one.shape is FindingShape.PUBLISHED
    assert sentence(one) in method_of([simulated(1024)])
    assert list(validity(cases([simulated(64, cluster="eagle")]))) == []


def test_tables_shade_unvalidated_times_if_others_are_validated() -> None:
    own, other = simulated(1024), {**simulated(64), "params": {"n": 64, "variant": "fused"}}
    both = trusted(cases([own, other]))
    assert [*both["unvalidated"]] == [case.id for case in cases([other])]
    assert trusted(cases([own]))["unvalidated"] == trusted(cases([other]))["unvalidated"] == set()


@pytest.mark.parametrize(
    ("n", "ranks", "near", "validated"),
    [(256, (1, 2), True, "partly"), (1024, (1,), False, "yes")],
)
def test_a_validated_result_near_a_cache_size_has_a_caveat(
    n: int, ranks: tuple[int, ...], near: bool, validated: str, tmp_path: Path
) -> None:
    """Four vectors of 256 x 256 points take what one core's L2 holds."""
    report = compose(write_folder(tmp_path, [simulated(n, one) for one in ranks]))

    assert (report.trust_class, report.trust and report.trust.validated) == (validated, "yes")
    text = EXPLAINED[Caveat.NEAR_CACHE_SIZE].text
    assert any(line.endswith(text) for line in report.first_caveats) == near


def test_the_mark_of_unvalidated_key_figures_is_explained(tmp_path: Path) -> None:
    solve = simulated(1024)
    sent = {**pingpong(), "clock": "simulated", "simulation": solve["simulation"]}

    report = compose(write_folder(tmp_path, [solve, sent]))

    used = {mark for one in report.key_figures for mark in re.findall(r"\[\d+\]", one.marks)}
    assert used and used <= {line.split()[0] for line in report.first_caveats}


@pytest.mark.parametrize(("time_s", "ratios"), [(7.0, []), (19.95, [6.655 / 19.95])])
def test_a_simulated_time_far_from_the_published_one_is_named(
    time_s: float, ratios: list[float], tmp_path: Path
) -> None:
    """Table 3.1 of the paper has 6.65 s."""
    report = compose(write_folder(tmp_path, [{**simulated(1024), "times_s": [time_s]}]))

    far = [
        part.ratio.estimate.value
        for one in report.findings
        if one.shape is FindingShape.PUBLISHED
        for part in one.parts
        if part.ratio and part.published
    ]
    assert far == pytest.approx(ratios)


def test_the_title_of_a_simulated_report_names_its_machine(tmp_path: Path) -> None:
    def title(name: str, raws: list[Raw]) -> str:
        return compose(write_folder(tmp_path / name, raws)).title

    assert title("a", [simulated(64)]) == "a, simulated on stampede2"
    assert title("b", [simulated(64), poisson(128)]) == "b"
    assert title("helps?", [simulated(64)]) == "helps? Simulated on stampede2"


def test_a_simulated_machine_is_labelled_with_its_source() -> None:
    machine = {"host": "stampede2", "cpu": "Example", "source": "a data sheet", "governor": None}
    assert machine_facts(machine) == (
        ("simulated cluster", "stampede2"),
        ("source of the description", "a data sheet"),
        ("processor", "Example"),
    )


def test_figures_of_simulations_do_not_explain_error_bars() -> None:
    raws = [simulated(1024), poisson(1024, ranks=2, variant="textbook", clock="simulated")]
    (figure,) = draw("scaling", raws)
    assert not any("Bars" in note for note in figure.notes)


def test_models_of_simulated_messages_state_that_nothing_was_measured() -> None:
    simulation = {"cluster": "stampede2", "verified": False}
    sent = [pingpong(clock="simulated", simulation=simulation)]
    (figure,) = draw("fits", sent)
    parameters, by_size = build("fits", sent)

    words = [figure.alt, *(each.title for each in figure.panels)]
    words += [each.y.label for each in figure.panels if isinstance(each, Lines)]
    words += [text for table in (parameters, by_size) for text in table.notes]
    words += [column.title for column in by_size.columns]
    assert [text for text in words if "easured" in text] == []
    assert "Residuals: simulated - model" in words
    assert not any("too few for" in text for text in words)
    assert any("too few for" in note for note in build("fits", [pingpong()])[0].notes)


def test_calibration_times_of_the_cluster_file_are_marked() -> None:
    """Those of one node beside a published one, as `haloscope validate` has it."""
    one = simulated(2048)
    more = {"clock": "simulated", "simulation": one["simulation"]}
    two = poisson(2048, variant="textbook", nodes=2, ranks=2, **more)
    (table,) = build("walltime_grid", [one, two], "hpcf-2018-10")
    first, second = table.rows[0][1:3]
    assert (first.marks, second.marks) == ("‡¶", "‡")
    assert first.published
    assert second.published
    assert any(note.startswith("¶ one node: ") for note in table.notes)
    real = {**one, "clock": "wall", "simulation": None}
    (measured,) = build("walltime_grid", [real], "hpcf-2018-10")
    assert measured.rows[0][1].marks == ""
    assert noted(measured, "ratio: measured")
    (alone,) = build("walltime_grid", [simulated(64)], "hpcf-2018-10")
    assert alone.rows[0][1].marks == "‡"


def test_published_figures_are_compared_only_with_the_same_variant() -> None:
    more: dict[str, Any] = {
        "clock": "simulated",
        "simulation": {"cluster": "stampede2", "verified": False},
    }
    raws = [poisson(2048, variant=name, **more) for name in ("textbook", "fused")]

    fused, textbook = build("walltime_grid", raws, "hpcf-2018-10")

    assert textbook.rows[0][1].published == "85 s"
    assert textbook.rows[0][1].ratio == "1.6 ×"
    assert noted(textbook, "ratio: simulated")
    assert not [note for note in textbook.notes if note.startswith("a–b")]
    (short,) = build(
        "walltime_grid", [poisson(1024, variant="textbook", time_s=7.0, **more)], "hpcf-2018-10"
    )
    assert short.rows[0][1].ratio == "0.93–1.1 ×"
    assert noted(short, "a–b: ")
    assert fused.rows[0][1].published == ""
    (years,) = build("clusters", raws, shelf=papers.list_papers())
    assert [row[0].text for row in years.rows if "simulated" in row[0].text] == [
        "stampede2, simulated"
    ]
    context = Context(shelf=papers.list_papers())
    assert not [one for one in findings(cases(raws), context) if one.question == "Serial solve"]
    measured = [poisson(2048, variant="textbook")]
    assert [one for one in findings(cases(measured), context) if one.question == "Serial solve"]
    assert years.rows[-1][2].value == cases(raws[:1])[0].times_s[0]


def test_a_simulated_time_is_compared_with_its_own_cluster() -> None:
    """For every table that a study may name; notes without numbers of the machine apply to all."""
    library = Library([papers.load("hpcf-2018-10")], only="4.1")

    def beside(cluster: str, column: str = "time_s") -> str | None:
        raw = simulated(2048, cluster=cluster)
        raw["layout"] = {**raw["layout"], "bind": "spread", "places": "cores"}
        (case,) = cases([raw])
        kinds = ("walltime_grid", "convergence")
        library_ = library if column == "time_s" else replace(library, only=None)
        found = library_.find(case, column, kinds)
        return found.source if found else None

    assert beside("stampede2") == "Stampede2 (hpcf-2018-10, table 4.1)"
    assert beside("rattler") == "rattler (hpcf-2018-10, table 6.2)"
    assert beside("zenith-ethernet") == "zenith (hpcf-2018-10, table 6.3)"
    assert beside("mine") is None
    assert beside("mine", "iterations") == "Stampede2 (hpcf-2018-10, table 3.1)"


def test_intervals_of_replicates_are_labelled_simulated() -> None:
    spread = {"nodes": 0.02, "phases": 0.0, "seed": 1}
    drawn = [
        {**simulated(64, spread=spread), "launch": k, "times_s": [1.0 + k / 10]} for k in range(7)
    ]
    alike = [simulated(128)]
    assert of_launches(cases(alike), "a note") == ()
    assert of_launches(cases([*drawn, *alike]), "a note")[0] == "a note"
    assert "replicates" in of_launches(cases(drawn), "a note")[1]
    text = " ".join(method_of(drawn))
    assert "Launches are simulated replicates" in text
    assert "One launch per case" not in text
    for raws, replicated in ((drawn, True), (alike, False)):
        first = findings(cases(raws), Context())[0]
        assert (Caveat.REPLICATES in first.caveats) == replicated
    (table,) = build("summary", drawn)
    time = next(cell for cell in table.rows[0] if cell.spread)
    assert (time.low, time.high, time.marks) == (1.0, 1.6, "‡")
    (note,) = [note for note in table.notes if note.startswith("‡")]
    assert "simulated replicates" in note
    assert "deterministic" not in note
    (both,) = build("summary", [*drawn, *alike])
    (note,) = [note for note in both.notes if note.startswith("‡")]
    assert "identical nodes" in note


def test_speedups_of_replicates_have_intervals() -> None:
    def speedup(**more: Any) -> Cell:
        said = {"clock": "simulated", "simulation": simulated(64, **more)["simulation"]}
        raws = [
            {**poisson(64, ranks=ranks, launch=k, **said), "times_s": [(1 + k / 100) / ranks]}
            for ranks in (1, 2)
            for k in range(7)
        ]
        return build("scaling", raws)[1].rows[0][2]

    assert speedup(spread={"nodes": 0.02, "phases": 0.0, "seed": 1}).low is not None
    assert speedup().low is None


def test_compared_simulation_ratios_have_their_error_in_table_and_figure(
    tmp_path: Path,
) -> None:
    before, after = (
        open_folder(
            write_folder(tmp_path / name, [{**simulated(n), "times_s": [s * n]} for n in (32, 64)])
        )
        for name, s in (("before", 3e-3), ("after", 1e-3))
    )
    compared = compare_cases(before.cases, after.cases)
    band = compared.contrasts[0].ratio.band if compared.contrasts[0].ratio else None

    report = comparing.document(before, after, compared, [])

    assert band and 1 < band < 2
    (cell,) = (cell for cell in report.sections[0].tables[0].rows[0] if cell.spread == within(band))
    assert cell.value == pytest.approx(3)
    assert (cell.low, cell.high) == pytest.approx((3 / band, 3 * band))
    (panel,) = report.figures[0].panels
    assert isinstance(panel, Lines)
    assert [mark.band for curve in panel.curves[1:] for mark in curve.marks] == [band] * 2
    assert panel.y.ticks[-1][0] >= 3 * band
    assert report.figures[0].notes == (), "there are no bars"


def test_every_property_outside_the_published_range_is_allowed_in_json() -> None:
    (items,) = get_args(GradeJson.model_fields["beyond"].annotation)
    assert {*get_args(items)} == {*LAYOUT_AND_MESH, "bind"}
