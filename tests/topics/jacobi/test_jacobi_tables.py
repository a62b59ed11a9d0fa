# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of Jacobi's sweeps, and of the conjugate gradient variants by ranks."""

from __future__ import annotations

from typing import Any

import pytest
from found import found
from noted import noted, shows
from recorded import Raw, cases, quick, record

from haloscope.analysis.cases import label_of
from haloscope.analysis.comparison import band_of
from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.topics import figures, tables
from haloscope.topics.common import figure as figure_model
from haloscope.topics.jacobi import operations_of_update, scalings
from haloscope.topics.jacobi.findings import model

PAPER = papers.load("orfeo-mpi-report")
BYTES_PER_UPDATE = 24.0


def sweeps(grid: tuple[int, int, int], mlups: float, **params: Any) -> Raw:
    """A launch of L = 400 on every rank."""
    ranks = grid[0] * grid[1] * grid[2]
    settings = {
        **{"L": 400, "size": "cubes", "topology": "x".join(map(str, grid)), "variant": "plain"},
        **{"depth": 0, "overlap": "no", "precision": "double", "sweeps": 8, **params},
    }
    updates = 8.0 * ranks * int(settings["L"]) ** 3
    seconds = updates / (1e6 * mlups)
    size = "x".join(str(int(settings["L"]) * axis) for axis in grid)
    return record(
        "jacobi3d",
        settings,
        [seconds] * 3,
        ranks=ranks,
        result={
            "mlups": mlups,
            "size": size,
            "grid": "x".join(map(str, grid)),
            "depth": 1,
        },
        phases=[
            {
                "name": "sweep",
                "calls": 8,
                "time_s": {"min": seconds, "mean": seconds, "max": seconds},
                "bytes": BYTES_PER_UPDATE * updates,
                "flops": 6.0 * updates,
                "model_s": None,
            }
        ],
    )


def study() -> list[Raw]:
    """One rank and two, beside messages and memory: 13 GB/s on one core, 25 on two."""
    return [*quick(), sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 1000.0)]


def context(raws: list[Raw]) -> Context:
    return Context(paper=PAPER, machine=raws[0]["machine"], all_cases=tuple(cases(raws)))


def test_k_and_c_are_modelled_measured_and_published() -> None:
    raws = study()
    (table,) = tables.build("jacobi", cases(raws), context(raws))
    keys = [column.key for column in table.columns]
    one, two = (dict(zip(keys, row, strict=True)) for row in table.rows)
    assert (one["neighbours"].value, two["neighbours"].value) == (0, 2)
    assert two["volume_mb"].value == pytest.approx(2 * 400**2 * 16 / 1e6)
    assert two["ratio"].value == pytest.approx(2 * 540 / 1000)
    assert one["textbook_mlups"].value == pytest.approx(540)
    textbook = two["textbook_mlups"].value
    assert isinstance(textbook, float) and 1060 < textbook < 1080  # messages of 5 MB, 64e6 points
    detailed = two["detailed_mlups"].value
    assert isinstance(detailed, float) and detailed == pytest.approx(textbook, rel=0.01)
    assert one["published_mlups"].value == pytest.approx(112.74)
    assert two["published_mlups"].value is None
    assert any("all measured here" in note for note in table.notes)


def test_simulated_sweeps_are_not_called_measured_or_independent() -> None:
    raws = on("orfeo-thin", study())
    (table,) = tables.build("jacobi", cases(raws), context(raws))
    (figure,) = figures.build("jacobi", cases(raws), context(raws))
    assert all("Largest: 1" in figure.alt_text(panel) for panel in figure.panels[1:])

    groups = list(dict.fromkeys(column.group for column in table.columns if column.group))
    assert groups == ["textbook model", "detailed model", "simulated", "published (MLUP/s)"]
    assert not any("measured here" in note for note in table.notes)
    assert any("from the same simulation" in note for note in table.notes)
    assert shows(figure.notes, "of the same simulation")


def detailed_of_two(slowness: float) -> float:
    """Million updates a second of two ranks whose triads take so many times as long."""
    raws = study()
    for raw in raws:
        if raw["kernel"] == "stream" and raw["layout"]["ranks"] == 2:
            for point in raw["points"]:
                point["times_s"] = [slowness * time for time in point["times_s"]]
    (table,) = tables.build("jacobi", cases(raws), context(raws))
    keys = [column.key for column in table.columns]
    return float(dict(zip(keys, table.rows[1], strict=True))["detailed_mlups"].value or 0)


def test_the_memory_bound_is_the_triad_with_write_allocate_traffic() -> None:
    """The triad says 25 GB/s on two cores and moves a third more, as a sweep's 24 bytes do."""
    allowed = 25e9 * 4 / 3 / BYTES_PER_UPDATE / 1e6

    assert detailed_of_two(1.5) == pytest.approx(allowed / 1.5, rel=0.03)
    assert detailed_of_two(1.5) < allowed / 1.45


def test_missing_model_inputs_are_named() -> None:
    raws = [sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 1000.0)]
    (table,) = tables.build("jacobi", cases(raws), context(raws))
    assert any("messages between two ranks" in note for note in table.notes)
    (figure,) = figures.build("jacobi", cases(raws), context(raws))
    assert any("messages between two ranks" in note for note in figure.notes)
    raws = [sweeps((2, 1, 1), 1000.0), sweeps((1, 2, 1), 900.0)]
    (table,) = tables.build("jacobi", cases(raws), context(raws))
    assert noted(table, "one rank ", "not measured")


def test_a_triad_in_cache_is_not_reported_as_unmeasured() -> None:
    raws = study()
    kept = [raw for raw in raws if raw["kernel"] != "stream"]
    for size, words in ((2**20, ("only with arrays ", "fit in caches")), (2**32, ())):
        streams = [
            {**raw, "points": [{**point, "size_bytes": size} for point in raw["points"]]}
            for raw in raws
            if raw["kernel"] == "stream"
        ]
        (table,) = tables.build("jacobi", cases([*kept, *streams]), context(raws))
        notes = [note for note in table.notes if "No detailed model" in note]
        assert bool(notes) == bool(words) and all(shows(note, *words) for note in notes)


def why_no_roofline(raws: list[Raw]) -> str:
    return figures.why_none("roofline", cases(raws), context(raws))


def test_a_missing_roofline_names_its_missing_inputs() -> None:
    large, small = sweeps((1, 1, 1), 540.0), sweeps((1, 1, 1), 900.0, L=20)
    cached = quick()
    for raw in cached:
        if raw["kernel"] == "stream":
            raw["points"] = [one for one in raw["points"] if one["size_bytes"] < 10**6]

    unmeasured = [raw for raw in quick() if raw["kernel"] != "stream"]
    assert why_no_roofline([*unmeasured, large]).endswith("1 core (stream)")
    assert why_no_roofline([*cached, large]).startswith("no STREAM triad")
    assert "all meshes fit" in why_no_roofline([*quick(), small])
    assert why_no_roofline(quick()) == "no matching case"


def panels(raws: list[Raw], kind: str = "jacobi") -> list[dict[str, figure_model.Curve]]:
    """The curves of each panel of the only figure, by their labels."""
    (figure,) = figures.build(kind, cases(raws), context(raws))
    lines = [panel for panel in figure.panels if isinstance(panel, figure_model.Lines)]
    assert all(len({c.label for c in one.curves}) == len(one.curves) for one in lines)
    return [{curve.label: curve for curve in panel.curves} for panel in lines]


def on(cluster: str, raws: list[Raw]) -> list[Raw]:
    """The same records as if simulated."""
    simulation = {"cluster": cluster, "verified": False}
    return [{**raw, "clock": "simulated", "simulation": simulation} for raw in raws]


def test_the_figure_has_the_bound_and_the_model() -> None:
    rates, ratios = panels(study())
    assert [*rates] == ["linear speedup", "measured", "detailed model"]
    assert [mark.y for mark in rates["measured"].marks] == pytest.approx([0.54, 1.0])
    assert [*ratios] == ["1-D", "1-D, detailed model"]
    assert [mark.y for mark in ratios["1-D"].marks] == pytest.approx([1.0, 1.08])


def test_ratios_compare_one_dimension_with_more_on_a_fitting_axis() -> None:
    raws = [*study(), sweeps((4, 1, 1), 1800.0), sweeps((2, 2, 1), 1900.0)]
    rates, ratios = panels(raws)
    assert [mark.y for mark in rates["measured"].marks] == pytest.approx([0.54, 1, 1.9])  # the best
    assert [*ratios] == ["1-D", "1-D, detailed model", "2/3-D", "2/3-D, detailed model"]
    assert [mark.y for mark in ratios["2/3-D"].marks] == pytest.approx([1.0, 4 * 540 / 1900])
    (figure,) = figures.build("jacobi", cases(raws), context(raws))
    assert [panel.y.from_zero for panel in figure.panels] == [True, False]  # type: ignore[union-attr]
    assert shows(figure.alt, "1 to 4 processes", "Highest: 1,900 MLUP/s")


def test_a_colour_has_one_meaning_in_both_panels() -> None:
    rates, ratios = panels([*study(), sweeps((4, 1, 1), 1800.0), sweeps((2, 2, 1), 1900.0)])
    first = {curve.style for curve in rates.values() if not curve.bound}
    second = {name: curve.style for name, curve in ratios.items()}
    assert first.isdisjoint(second.values())
    assert second["1-D"] == second["1-D, detailed model"] != second["2/3-D"]


def test_published_points_match_the_problem_and_the_machine() -> None:
    measured = [sweeps((1, 1, 1), 112.0), sweeps((4, 1, 1), 440.0)]
    strong = [
        sweeps((1, 1, 1), 112.0, size="400x400x400"),
        sweeps((4, 1, 1), 440.0, size="400x400x400"),
    ]
    rates, ratios = panels(on("orfeo-thin", measured))
    assert rates["published"].marks[0].y == pytest.approx(0.11274)
    assert [mark.x for mark in ratios["1-D, published"].marks] == [1, 4]
    others = [measured, on("maya-2013", measured), on("orfeo-thin", strong)]
    for raws in others:
        assert not [label for panel in panels(raws) for label in panel if "published" in label]


def test_simulated_ratios_have_a_ratio_error() -> None:
    simulated = on("orfeo-thin", [sweeps((1, 1, 1), 112.0), sweeps((4, 1, 1), 440.0)])
    _, ratios = panels(simulated)
    first, second = cases(simulated)

    assert [mark.band for mark in ratios["1-D"].marks] == [None, band_of(first, second)]
    assert ratios["1-D"].marks[1].band


def test_irrelevant_settings_are_in_no_title() -> None:
    strong = [sweeps(grid, 540.0, size="400x400x400", L=100) for grid in ((1, 1, 1), (2, 1, 1))]
    raws = [*strong, *study()]
    titles = [figure.title for figure in figures.build("jacobi", cases(raws), context(raws))]
    assert sorted(title.split(" (", 1)[1] for title in titles) == [
        "L = 400, size = cubes)",
        "size = 400x400x400)",
    ]


def test_the_roofline_has_memory_cache_and_variants() -> None:
    temporal = sweeps((1, 1, 1), 900.0, variant="temporal")
    temporal["phases"][0]["bytes"] /= 12
    slower = sweeps((1, 1, 1), 500.0, exchange="blocking")
    raws = [*study(), slower, temporal, sweeps((1, 1, 1), 2000.0, L=60)]
    (figure,) = figures.build("roofline", cases(raws), context(raws))
    (panel,) = figure.panels
    assert isinstance(panel, figure_model.Lines)
    assert panel.guides == ((0.25, "plain"), (3.0, "temporal"))
    assert figure.alt.split(". ") == [
        "plain, 1 core: 540 MLUP/s",
        "plain, 2 cores: 1,000 MLUP/s",
        "temporal, 1 core: 900 MLUP/s",
    ]
    found = {curve.label: curve for curve in panel.curves}
    assert [*found] == [
        *("achieved, 1 core", "achieved, 2 cores"),
        *("memory, 1 core", "memory, 2 cores", "in cache, 1 core"),
    ]
    reached = [(mark.x, mark.y) for mark in found["achieved, 1 core"].marks]
    assert reached == pytest.approx([(0.25, 3.24), (3, 5.4)])
    assert found["in cache, 1 core"].marks[0].y == pytest.approx(12)
    moved = 13 * 4 / 3  # a line is read before it is written
    assert found["memory, 1 core"].marks[0].y == pytest.approx(moved / 8, rel=0.1)
    assert found["memory, 1 core"].style == found["achieved, 1 core"].style


@pytest.mark.parametrize(("precision", "fits"), [("double", False), ("float", True)])
def test_whether_a_mesh_fits_the_cache_depends_on_its_precision(precision: str, fits: bool) -> None:
    """Two meshes of 140^3 values take 42 MiB or 21, beside a last cache of 32."""
    raws = [*study(), sweeps((1, 1, 1), 2000.0, L=140, precision=precision)]
    (figure,) = figures.build("roofline", cases(raws), context(raws))
    (panel,) = figure.panels
    assert isinstance(panel, figure_model.Lines)
    assert ("in cache, 1 core" in [curve.label for curve in panel.curves]) == fits


def test_operations_per_update_are_those_declared_by_the_kernel() -> None:
    """Also where several ghost layers have some points updated twice."""
    own, twice = sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 1000.0)
    own["phases"][0]["flops"] *= 7 / 6
    twice["phases"][0]["flops"] *= 1.3
    assert operations_of_update(cases([own, twice])) == 7


def solves(variant: str, ranks: int, seconds: float) -> Raw:
    params = {"n": 4096, "variant": variant, "iterations": 64, "s": 2, "reorthogonalise": 8}
    return record("poisson_cg", params, [seconds], ranks=ranks, result={"iterations": 64})


def test_variants_by_ranks_and_the_fastest() -> None:
    once = [
        *(solves("textbook", 1, 64.0), solves("sstep", 1, 16.0)),
        *(solves("textbook", 2, 32.0), solves("sstep", 2, 64.0)),
    ]
    raws = [{**raw, "launch": k} for raw in once for k in range(5)]
    (table,) = tables.build("iterations", cases(raws), context(raws))
    rows = [[cell.value for cell in row] for row in table.rows]
    assert rows == [[1, 1.0, 4.0, "sstep", 4.0], [2, 2.0, 1.0, "textbook", None]]
    (few,) = tables.build("iterations", cases(once), context(once))
    assert noted(few, "with s = 2")
    assert [row[-2].text for row in few.rows] == ["not shown", "not shown"]
    (figure,) = figures.build("iterations", cases(raws), context(raws))
    (panel,) = figure.panels
    assert isinstance(panel, figure_model.Lines)
    assert [curve.label for curve in panel.curves] == ["textbook", "sstep"]
    assert tables.build("iterations", cases(once[:1]), context(raws)) == []


def test_settings_specific_to_sstep_do_not_appear_in_other_names() -> None:
    fused, sstep = cases([solves("fused", 1, 20.0), solves("sstep", 1, 16.0)])
    assert label_of(fused, [fused, sstep]) == "fused"
    assert not {"s", "reorthogonalise"} & set(fused.settings)
    assert (sstep.settings["s"], sstep.settings["reorthogonalise"]) == (2, 8)


def test_a_model_is_not_tested_on_its_calibration_case() -> None:
    (scaling,) = scalings(cases(study()), cases(study()))

    (off,) = scaling.errors("textbook").values()
    predicted = scaling.predicted("textbook", scaling.swept[1]) or 0
    assert off == pytest.approx(predicted / 1000e6 - 1)
    (table,) = tables.build("jacobi", cases(study()), context(study()))
    assert noted(table, f" {100 * off:.1f} % ", " 2 ranks; ")


def test_a_single_rank_does_not_test_a_model() -> None:
    raws = [*quick(), sweeps((1, 1, 1), 540.0), sweeps((1, 1, 1), 500.0, variant="streaming")]

    assert tables.build("jacobi", cases(raws), context(raws)) == []
    assert found(model, raws) == []


def test_points_that_no_rank_owns_are_not_counted_as_updates() -> None:
    """400 planes over three ranks: the largest has 134, three of it 402."""
    alone, three = (
        sweeps(grid, rate, size="400x400x400")
        for grid, rate in (((1, 1, 1), 540.0), ((3, 1, 1), 900.0))
    )
    for raw in (alone, three):
        raw["result"]["size"] = "400x400x400"
        raw["times_s"] = [8 * 400**3 / (1e6 * raw["result"]["mlups"])] * 3
    raws = [*quick(), alone, three]

    (table,) = tables.build("jacobi", cases(raws), context(raws))

    keys = [column.key for column in table.columns]
    row = dict(zip(keys, table.rows[1], strict=True))
    model = row["textbook_mlups"].value
    assert isinstance(model, float)
    assert model < 540 * 400 / 134
    assert model == pytest.approx(540 * 400 / 134, rel=0.02)
