"""Reports of device kernels one after the other: what a synchronisation between them costs."""

from __future__ import annotations

import pytest
from made import build
from recorded import Raw, bad, record

US = 1e-6


def launches(pipelined_us: float, synchronised_us: float, launch: int = 0, **params: int) -> Raw:
    """One launch on an emulated device."""
    times = {"pipelined": pipelined_us * US, "synchronised": synchronised_us * US}
    points = [
        {
            "size_bytes": params.get("size", 4096),
            "operation": name,
            "result": {"chain_s": time},
            "steps": 1,
            "times_s": [time],
            "bytes": 1.0,
        }
        for name, time in times.items()
    ]
    result = {f"{name}_s": time for name, time in times.items()}
    given = {"memory": "device", "size": 4096, **params}
    whole = [sum(times.values())]
    return record("launches", given, whole, launch=launch, points=points, result=result,
                  device="emulated")  # fmt: skip


def test_what_waiting_for_the_first_device_kernel_adds_stands_beside_both_times() -> None:
    raws = [launches(70 + k, 95 + k, k) for k in range(7)]
    (table,) = build("launches", [*raws, launches(7, 8, size=65536)])

    small, large = table.rows
    assert [cell.text for cell in small[:4]] == ["size = 4096", "5", "32 KiB", "4 KiB"]
    assert [cell.value for cell in small[4:]] == pytest.approx([73 * US, 98 * US, 25 * US])
    assert "‖" in small[4].marks
    assert large[6].value == pytest.approx(1 * US)
    assert any("no launch is hidden" in note for note in table.notes)


def test_a_case_that_was_not_measured_adds_nothing() -> None:
    failed = {**bad(launches(1, 1), "failed", "killed"), "points": [], "times_s": [], "result": {}}

    (table,) = build("launches", [failed, launches(7, 8, size=65536)])

    assert [cell.text for cell in table.rows[0][4:]] == ["failed", "failed", "–"]
