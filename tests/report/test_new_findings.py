# SPDX-License-Identifier: BSD-3-Clause
"""A finding is one file of report/findings, which says where its sentences stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recorded import cases, poisson, stream

from haloscope.report import findings as package
from haloscope.report.context import Context
from haloscope.report.findings import findings, topics


def test_every_topic_states_a_place_of_its_own() -> None:
    orders = [topic.ORDER for topic in topics()]

    assert len(orders) > 10
    assert orders == sorted(set(orders))


def test_a_file_is_all_that_a_new_finding_takes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = findings(cases([stream(), poisson(64)]), Context())
    (tmp_path / "weather.py").write_text(
        """
from haloscope.report.findings import Finding

ORDER = {order}

def find(cases, context):
    yield Finding(f"The weather was fine for {len(cases)} cases.")
""".replace("{order}", str(topics()[-1].ORDER - 1))
    )
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setattr(package, "weather", None, raising=False)
    monkeypatch.setitem(sys.modules, f"{package.__name__}.weather", None)
    monkeypatch.delitem(sys.modules, f"{package.__name__}.weather")

    told = findings(cases([stream(), poisson(64)]), Context())

    assert [topic.__name__.split(".")[-1] for topic in topics()][-2] == "weather"
    assert [finding.text for finding in told if finding not in before] == [
        "The weather was fine for 2 cases."
    ]
    assert len(told) == len(before) + 1
