"""Laws of time over processes in tables and figures."""

from __future__ import annotations

import pytest
from made import build, draw, panels, texts
from recorded import Raw, poisson


def ladder(ranks: tuple[int, ...] = (1, 2, 4, 8, 16), launches: int = 6, n: int = 256) -> list[Raw]:
    return [
        poisson(n, ranks=p, launch=k, time_s=(0.5 + 8.0 / p) * (1 + 0.001 * k))
        for p in ranks
        for k in range(launches)
    ]


def test_the_law_stands_with_its_error_at_points_left_out() -> None:
    (table,) = build("scaling_law", ladder())

    (row,) = texts(table)
    assert row[:4] == ["N = 256", "501 ms + 8.02 s p^(-1)", "501 ms", "1 to 16 processes"]
    assert table.rows[0][4].value == pytest.approx(0.0, abs=1e-6)
    assert any("Calotoiu and others 2013" in note for note in table.notes)


def test_a_mesh_with_too_few_numbers_of_processes_is_named_and_has_none() -> None:
    (table,) = build("scaling_law", [*ladder(), *ladder((1, 2), n=128)])

    assert len(table.rows) == 1
    assert any(
        note == "N = 128: no law: 2 numbers of processes were measured; a law needs 5 or more."
        for note in table.notes
    )
    assert build("scaling_law", ladder((1, 2, 4, 8))) == []


def test_the_law_is_drawn_beside_the_points_with_its_band() -> None:
    (figure,) = draw("scaling_law", ladder())
    (panel,) = panels(figure)

    points, law, *band = panel.curves
    assert [mark.x for mark in points.marks] == [1, 2, 4, 8, 16] and not points.model
    assert law.model and (law.marks[0].x, law.marks[-1].x) == pytest.approx((1, 16))
    assert [curve.label for curve in band] == ["95 % band"] * 2
    assert all(low.y <= at.y <= high.y for low, at, high in zip(
        band[0].marks, law.marks, band[1].marks, strict=True))  # fmt: skip
    assert "Dashed" in figure.notes[-1]


def test_a_simulated_law_has_no_band() -> None:
    (figure,) = draw("scaling_law", [{**raw, "clock": "simulated"} for raw in ladder(launches=1)])

    (panel,) = panels(figure)
    assert [curve.label for curve in panel.curves] == ["simulated", "law"]
