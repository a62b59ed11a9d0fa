# SPDX-License-Identifier: BSD-3-Clause
"""Reports of device kernels one after the other: what a synchronisation between them costs."""

from __future__ import annotations

import pytest
from made import build
from noted import noted
from recorded import Raw, bad, cases
from recorded_devices import US, launches

from haloscope.analysis.context import Context
from haloscope.topics import figures
from haloscope.topics.star_forests.parts import FIGURE_15


def test_the_cost_of_waiting_for_the_first_kernel_is_listed_with_both_times() -> None:
    raws = [launches(70 + k, 95 + k, k) for k in range(7)]
    (table,) = build("launches", [*raws, launches(7, 8, size=65536)])

    small, large = table.rows
    assert [cell.text for cell in small[:4]] == ["size = 4 KiB", "5", "32 KiB", "4 KiB"]
    assert [cell.value for cell in small[4:]] == pytest.approx([73 * US, 98 * US, 25 * US])
    assert "‖" in small[4].marks
    assert large[6].value == pytest.approx(1 * US)
    assert any("launch is not hidden" in note for note in table.notes)


def on_gpu(cluster: str = "summit", **params: int) -> Raw:
    simulation = {"cluster": cluster, "verified": False}
    raw = launches(76, 113, **{**FIGURE_15, **params})
    return {**raw, "device": "simulated", "clock": "simulated", "simulation": simulation}


def test_the_published_example_is_shown_only_for_its_cluster() -> None:
    def published(raw: Raw) -> list[float | None]:
        (table,) = build("launches", [raw], "anl-petsc-summit-part2")
        notes = [note for note in table.notes if "assumes 10 µs" in note]
        found = [cell.published_value for cell in table.rows[0][4:]]
        assert bool(notes) == any(found)
        return found

    assert published(on_gpu()) == [70e-6, 95e-6, None]
    others = (on_gpu(size=4096), on_gpu(kernels=6), on_gpu(first=2), on_gpu("another"))
    for raw in (*others, launches(70, 95, **FIGURE_15)):
        assert published(raw) == [None, None, None]


def test_an_unmeasured_case_adds_no_value() -> None:
    failed = {**bad(launches(1, 1), "failed", "killed"), "points": [], "times_s": [], "result": {}}

    (table,) = build("launches", [failed, launches(7, 8, size=65536)])

    assert [cell.text for cell in table.rows[0][4:]] == ["failed", "failed", "–"]


def test_timelines_of_both_methods_are_named_with_their_device() -> None:
    traces = [{"clock_error_s": 0.0, "ranks": [[["synchronise", 0, 0.0, 9e-6]]]}] * 2
    raw = {**launches(70, 95), "timeline": traces}

    emulated, real = (
        figures.build("timeline", cases([{**raw, "device": device}]), Context())[0]
        for device in ("emulated", "NVIDIA H200 (CUDA 13.0)")
    )

    assert [panel.title for panel in emulated.panels] == ["pipelined, 4 KiB", "synchronised, 4 KiB"]
    assert noted(emulated, "Emulated device")
    assert not any("emulated" in note for note in real.notes)
