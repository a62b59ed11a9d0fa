# SPDX-License-Identifier: BSD-3-Clause
"""What models make of messages, in tables and figures: Hockney, pieces, LogGP."""

from __future__ import annotations

from itertools import pairwise

import pytest
from made import build, column, draw, panels
from noted import noted, shows
from recorded import Raw, cases, changed, overheads, pingpong

from haloscope.analysis.fits import loggp_by_launch, rendezvous_bytes
from haloscope.report.draw.csv_files import lines


def test_every_model_parameter_is_listed_with_interval_and_source() -> None:
    table, _ = build("fits", [pingpong(launch=k) for k in range(8)])

    models = list(dict.fromkeys(cell.value for cell in column(table, "model")))
    assert models == [
        "Hockney, least squares",
        "Hockney, relative",
        "Hockney, extrapolated",
        "piecewise Hockney",
        "bandwidth curve",
    ]
    relative = {
        cell.value: value
        for name, cell, value in zip(
            column(table, "model"), column(table, "parameter"), column(table, "value"), strict=True
        )
        if name.value == "Hockney, relative"
    }
    latency = relative["alpha_s"]
    assert latency.low < latency.value < latency.high
    assert latency.value == pytest.approx(0.45e-6, rel=0.05)
    assert any("ORFEO report, equation (10)" in note for note in table.notes)
    assert any("misfit" in note for note in table.notes)


def test_a_negative_latency_is_explained() -> None:
    raws = []
    for k in range(6):
        raw = pingpong(launch=k)
        steep = [
            {**p, "times_s": [t * (3 if p["size_bytes"] > 2**20 else 1) for t in p["times_s"]]}
            for p in raw["points"]
        ]
        raws.append(changed(raw, points=steep))

    table, _ = build("fits", raws)

    assert column(table, "value")[0].value < 0
    assert any("least squares: " in note and "negative" in note for note in table.notes)


def test_predictions_and_residuals_are_listed_for_every_size() -> None:
    parameters, found = build("fits", [pingpong(launch=k) for k in range(6)])

    assert found.folded and not parameters.folded
    assert len(found.rows) == 24
    measured, predicted = column(found, "measured_s"), column(found, "hockney_relative_s")
    left = column(found, "hockney_relative_residual")
    assert measured[4].value == pytest.approx(0.45e-6, rel=0.05)  # 8 B
    for one, other, rest in zip(measured, predicted, left, strict=True):
        assert rest.value == pytest.approx((one.value - other.value) / one.value)


def test_the_size_range_of_a_parameter_is_numeric() -> None:
    parameters, _ = build("fits", [pingpong(launch=k) for k in range(6)])

    ranges = {
        (model.value, name.value): (sizes.low, sizes.high)
        for model, name, sizes in zip(
            column(parameters, "model"),
            column(parameters, "parameter"),
            column(parameters, "valid_bytes"),
            strict=True,
        )
        if model.value != "piecewise Hockney"
    }
    assert ranges["Hockney, relative", "alpha_s"] == (0, 2**22)
    assert ranges["Hockney, extrapolated", "alpha_s"] == (1, 4)
    assert ranges["Hockney, extrapolated", "bandwidth_bytes_per_s"] == (2**20, 2**22)
    header = next(lines(parameters))
    assert header[1:4] == ["valid_bytes", "valid_bytes_low", "valid_bytes_high"]


def test_an_extrapolation_from_other_sizes_is_marked_everywhere() -> None:
    raws = [pingpong(launch=k) for k in range(6)]
    parameters, _ = build("fits", raws)
    (figure,) = draw("fits", raws)

    assert noted(parameters, "Hockney, ", " 1 MiB ", " 32 MiB to 256 MiB.")
    for panel in panels(figure):
        labels = [curve.label for curve in panel.curves]
        assert shows(labels, "extrapolated", " 1 MiB to 4 MiB")
    whole = [pingpong(launch=k, sizes=[0, *(2**k for k in range(29))]) for k in range(6)]
    parameters, _ = build("fits", whole)
    assert not any("not all in this" in note for note in parameters.notes)


def test_an_unsuitable_model_is_named_with_the_reason() -> None:
    raws = [pingpong(launch=k, sizes=[2**k for k in range(3, 23)]) for k in range(6)]
    parameters, predictions = build("fits", raws)
    (figure,) = draw("fits", raws)

    at = [cell.value for cell in column(parameters, "model")].index("Hockney, extrapolated")
    assert column(parameters, "value")[at].text == "not fitted"
    for item in (parameters, figure):
        assert noted(item, "Hockney, ", "not fitted: ", " 1 B to 4 B.")
    assert "hockney_extrapolated_s" not in [column.key for column in predictions.columns]


def test_a_failed_loggp_fit_states_the_reason() -> None:
    raw = overheads(0)
    for point in raw["points"]:
        point["result"]["delay_s"] = 1e-9
    (parameters,) = build("fits", [raw])

    assert [row[3].text for row in parameters.rows] == ["not fitted"]
    assert shows(parameters.notes, "LogGP: not fitted: ", " 1 B ")


def test_a_model_has_the_same_style_in_every_figure() -> None:
    (whole,) = draw("fits", [pingpong(launch=k) for k in range(6)])
    (without,) = draw("fits", [pingpong(sizes=[2**k for k in range(3, 23)])])

    styles = {
        (curve.label.split(":")[0], curve.style)
        for figure in (whole, without)
        for panel in panels(figure)
        for curve in panel.curves
        if curve.style is not None
    }
    assert len(styles) == len({name for name, _ in styles}) == 4
    assert len({style for _, style in styles} | {0}) == 5  # 0 is what was measured


def test_a_piecewise_model_has_gaps_between_pieces() -> None:
    """Large messages are slower: nothing was measured between the two sizes where that begins."""
    (figure,) = draw("fits", [pingpong(launch=k) for k in range(6)])

    pieces = [c for c in panels(figure)[0].curves if c.label == "piecewise Hockney"]
    spans = [(piece.marks[0].x, piece.marks[-1].x) for piece in pieces]

    assert len(pieces) > 1
    assert [after[0] / before[1] for before, after in pairwise(spans)] == pytest.approx(
        [2.0] * (len(spans) - 1)
    )
    assert len({piece.style for piece in pieces}) == 1


def test_few_sizes_are_not_fitted() -> None:
    assert build("fits", [pingpong(sizes=[8, 64, 512])]) == []
    assert draw("fits", [pingpong(sizes=[8, 64, 512])]) == []


def test_overheads_and_gaps_come_from_loggp() -> None:
    table, _ = build("fits", [overheads(k) for k in range(6)])

    found = {
        cell.value: value.value
        for cell, value in zip(column(table, "parameter"), column(table, "value"), strict=True)
    }
    assert found == pytest.approx(
        {
            "latency_s": 1e-6,
            "send_overhead_s": 0.2e-6,
            "receive_overhead_s": 0.3e-6,
            "gap_s": 0.5e-6,
            "gap_s_per_byte": 1e-10,
        },
        rel=1e-6,
    )
    assert column(table, "valid_bytes")[0].text == "1 B to 1 KiB"
    assert draw("fits", [overheads(0)]) == []


def test_loggp_is_fitted_only_to_messages_that_did_not_wait() -> None:
    def waiting(first_bytes: int) -> list[Raw]:
        raws = [overheads(k) for k in range(6)]
        for point in (point for raw in raws for point in raw["points"]):
            late = point["size_bytes"] >= first_bytes
            point["result"]["send_s"] = point["result"]["wait_s"] if late else 0.2e-6
        return raws

    for first, valid in (
        (1024, "1 B to 64 B"),
        (65536, "1 B to 1 KiB"),
        (1 << 20, "1 B to 64 KiB"),
    ):
        assert rendezvous_bytes(cases(waiting(first))[0]) == (first if first < 1 << 20 else None)
        table, _ = build("fits", waiting(first))
        assert column(table, "valid_bytes")[0].text == valid


def test_each_launch_is_fitted_to_the_eager_sizes_of_the_whole_case() -> None:
    raws = [overheads(k) for k in range(6)]
    for raw in raws:
        for point in raw["points"]:
            late = raw is raws[0] and point["size_bytes"] >= 1024
            point["result"]["send_s"] = point["result"]["wait_s"] if late else 0.2e-6
    (case,) = cases(raws)
    assert rendezvous_bytes(case) is None
    assert len({model.valid for model in loggp_by_launch(case)}) == 1


def test_models_of_two_kernels_are_named_after_them() -> None:
    titles = [table.title for table in build("fits", [pingpong(), overheads(0)])]

    assert [title for title in titles if "default" in title] == []
    assert shows(titles, "Models of ", " time (pingpong)")
