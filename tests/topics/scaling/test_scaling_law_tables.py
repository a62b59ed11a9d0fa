# SPDX-License-Identifier: BSD-3-Clause
"""Laws of time over processes in tables and figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made import build, draw, panels, texts
from noted import noted, shows
from recorded import Raw, poisson, write_folder

from haloscope.report.composing import compose
from haloscope.report.draw import csv_files


def ladder(ranks: tuple[int, ...] = (1, 2, 4, 8, 16), launches: int = 6, n: int = 256) -> list[Raw]:
    return [
        poisson(n, ranks=p, launch=k, time_s=(0.5 + 8.0 / p) * (1 + 0.001 * k))
        for p in ranks
        for k in range(launches)
    ]


def test_the_law_is_listed_with_its_leave_out_error() -> None:
    (table,) = build("scaling_law", ladder())

    (row,) = texts(table)
    assert row[:4] == ["n = 256", "501 ms + 8.02 s p^(−1)", "501 ms", "1 to 16 processes"]
    assert table.rows[0][4].value == pytest.approx(0.0, abs=1e-6)
    assert any("Calotoiu and others 2013" in note for note in table.notes)
    assert noted(table, "may deviate more")


def test_a_mesh_with_too_few_process_counts_is_named_and_has_no_law() -> None:
    (table,) = build("scaling_law", [*ladder(), *ladder((1, 2), n=128)])

    assert len(table.rows) == 1
    assert noted(table, "n = 128: no law: ", " 2 numbers", " 5")
    assert build("scaling_law", ladder((1, 2, 4, 8))) == []


def test_the_law_is_drawn_with_the_points_and_its_band() -> None:
    (figure,) = draw("scaling_law", ladder())
    (panel,) = panels(figure)

    points, law, *band = panel.curves
    assert [mark.x for mark in points.marks] == [1, 2, 4, 8, 16] and not points.model
    assert law.model and (law.marks[0].x, law.marks[-1].x) == pytest.approx((1, 16))
    assert [curve.label for curve in band] == ["95 % band"] * 2
    assert all(low.y <= at.y <= high.y for low, at, high in zip(
        band[0].marks, law.marks, band[1].marks, strict=True))  # fmt: skip
    assert any(note.endswith("its terms fixed.") for note in figure.notes)


def test_a_simulated_law_has_no_band() -> None:
    (figure,) = draw("scaling_law", [{**raw, "clock": "simulated"} for raw in ladder(launches=1)])

    (panel,) = panels(figure)
    assert [curve.label for curve in panel.curves] == ["simulated", "law"]


def meshes(launches: int = 6) -> list[Raw]:
    return [
        poisson(n, ranks=2, launch=k, time_s=(0.5 + 1e-8 * n**3) * (1 + 0.001 * k))
        for n in (64, 128, 256, 512, 1024)
        for k in range(launches)
    ]


def test_each_mesh_has_its_own_law_with_powers_up_to_three() -> None:
    (table,) = build("scaling_law", meshes())

    (row,) = texts(table)
    assert row[0] == "2 processes"
    assert row[1].endswith("n^(3)") and row[3] == "n = 64 to 1024"
    assert table.rows[0][4].value == pytest.approx(0.0, abs=1e-6)
    (figure,) = draw("scaling_law", meshes())
    (panel,) = panels(figure)
    assert panel.x.label == "n"
    assert [mark.x for mark in panel.curves[0].marks] == [64, 128, 256, 512, 1024]
    assert figure.alt.startswith("Time for n from 64 to 1024, 504 ")
    assert build("scaling_law", [raw for raw in meshes() if raw["params"]["n"] > 64]) == []


def test_points_are_exported_for_extra_p_one_launch_per_line(tmp_path: Path) -> None:
    """Its JSON Lines format: https://github.com/extra-p/extrap/blob/master/docs/file-formats.md."""
    study = 'title = "T"\n[[runs]]\nkernel = "poisson_cg"\n[[tables]]\nkind = "scaling_law"\n'
    for name, param, raws, values in (
        ("scaling_law", "p", ladder(), {1, 2, 4, 8, 16}),
        ("scaling_law_sizes", "n", meshes(), {64, 128, 256, 512, 1024}),
    ):
        (folder := tmp_path / name).mkdir()

        csv_files.write(compose(write_folder(folder, raws, study)), {}, folder)

        text = (folder / "tables" / f"{name}.jsonl").read_text(encoding="utf-8")
        points = [json.loads(line) for line in text.splitlines()]
        assert {tuple(point) for point in points} == {("params", "callpath", "metric", "value")}
        assert {tuple(point["params"]) for point in points} == {(param,)}
        assert {point["params"][param] for point in points} == values
        assert [point["value"] for point in points] == [raw["times_s"][0] for raw in raws]
        assert [path.name for path in folder.glob("tables/*.jsonl")] == [f"{name}.jsonl"]


def test_each_law_has_an_extra_p_file_with_every_path_at_every_point(tmp_path: Path) -> None:
    raws = [*ladder(), *ladder((2, 4, 8, 16, 32), n=512)]
    study = 'title = "T"\n[[runs]]\nkernel = "poisson_cg"\n[[tables]]\nkind = "scaling_law"\n'

    csv_files.write(compose(write_folder(tmp_path, raws, study)), {}, tmp_path)

    for number, edge in ((1, 256), (2, 512)):
        text = (tmp_path / "tables" / f"scaling_law-{number}.jsonl").read_text(encoding="utf-8")
        assert {json.loads(line)["callpath"] for line in text.splitlines()} == {f"n = {edge}"}


def test_laws_that_differ_only_in_ppn_share_a_figure() -> None:
    raws = [
        poisson(256, nodes=on, ranks=on * ppn, time_s=8.0 / on / ppn)
        for on in (1, 2, 4, 8, 16)
        for ppn in (1, 2)
    ]

    (figure,) = draw("scaling_law", raws)

    (panel,) = panels(figure)
    assert figure.title.endswith("(n = 256)")
    assert [(curve.label, curve.like) for curve in panel.curves] == [
        ("1 per node", ""), ("2 per node", ""),
        ("law of each", "1 per node"), ("law of each", "2 per node"),
    ]  # fmt: skip
    assert shows(figure.alt, "1 per node: ", " 1 to 16 ", " 8,000 to 500 ms")
