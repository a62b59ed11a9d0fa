# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of validations: tables there are, and the errors that were measured."""

from __future__ import annotations

import re
from pathlib import Path

from haloscope.papers import tables as papers
from haloscope.papers.validated import validated

MEASURED = Path(__file__).resolve().parents[2] / "docs" / "bench" / "simulation.md"

OURS = {"sf_dmda": "sf_grid", "bigfft": "fft_pencil"}
"""Kernels that stand for the programs of papers."""


def test_every_validated_table_is_published_for_that_cluster() -> None:
    for one in validated():
        facts = papers.load(one.paper).table(one.table).facts
        assert (facts.get("cluster_file") or str(facts["cluster"]).lower()) == one.cluster
        kernel = str(facts.get("kernel", one.kernel))
        assert OURS.get(kernel, kernel) in one.kernel
        assert facts.get("variant", one.variant) == one.variant
        assert 0 < one.median < one.worst


def test_errors_of_wall_times_are_those_of_the_last_measurement() -> None:
    told = re.findall(
        r"## (\S+), table (\S+): cells.*?only predicted \| (\d+) \| ([\d.]+)% \|.*?\| ([\d.]+)% \|",
        MEASURED.read_text(encoding="utf-8"),
        re.S,
    )

    assert len(told) == 8
    assert sorted(told) == sorted(
        (one.paper, one.table, str(one.cells), f"{100 * one.median:.1f}", f"{100 * one.worst:.1f}")
        for one in validated()
        if one.kernel == "poisson_cg"
    )
