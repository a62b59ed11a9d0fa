"""One record in a terminal: names and units of results."""

from __future__ import annotations

import pytest

from haloscope.report.record_view import named


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("latency_s", 4.4e-7, ("latency", "440 ns")),
        ("bandwidth_bytes_per_s", 2e9, ("bandwidth", "2.00 GB/s")),
        ("messages_per_s", 1354595.0, ("messages", "1.35 M/s")),
        ("gap_s_per_byte", 1.5e-10, ("gap s per byte", "1.5e-10")),
        ("rss_bytes", 4096, ("rss", "4 KiB")),
        ("elements", 2400000, ("elements", "2,400,000")),
        ("latency_s", None, ("latency", "–")),
    ],
)
def test_names_are_without_units_and_values_with_them(
    key: str, value: float | None, shown: tuple[str, str]
) -> None:
    assert named(key, value) == shown
