# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of validations: tables there are, and the errors that were measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.papers import tables as papers
from haloscope.papers import validated as validated_module
from haloscope.papers.tables import exact_times
from haloscope.papers.validated import FILE, text_of, validated, validated_cells
from haloscope.paths import share

OURS = {"sf_dmda": "sf_grid", "bigfft": "fft_pencil", "matrix_sum": "sum3d"}
"""Kernels that stand for the programs of papers."""


def test_every_validated_table_is_published_for_that_cluster() -> None:
    for one in validated():
        table = papers.load(one.paper).table(one.table)
        facts = table.facts
        assert one.cluster in {part.facts["cluster_file"] for part in table.by_machine()}
        kernel = str(facts.get("kernel", one.kernel))
        assert OURS.get(kernel, kernel) in one.kernel
        assert facts.get("variant", one.variant) == one.variant
        assert 0 < one.median <= one.worst


def test_kept_cells_are_those_of_the_published_tables() -> None:
    for one in validated_cells():
        table = papers.load(one.paper).table(one.table)
        named = [key for key in table.keys if key in one.settings and key != "overlap"]  # by scheme
        keys = {key: one.settings[key] for key in named}
        assert any(
            all(str(row[key]) == str(value) for key, value in keys.items() if row.get(key))
            for row in (*table.rows, *(exact.row for exact in exact_times(table).values()))
        ), one


def test_a_file_states_the_command_and_commit_that_created_it() -> None:
    paths = sorted(share("papers").glob(f"*/{FILE}"))

    assert {path.parent.name for path in paths} == {one.paper for one in validated_cells()}
    for path in paths:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# haloscope validate {path.parent.name} --write-bands; commit ")


def test_written_cells_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = validated_cells()
    monkeypatch.setattr(validated_module, "share", lambda _: tmp_path)
    for paper in {one.paper for one in every}:
        (tmp_path / paper).mkdir()
        own = [one for one in every if one.paper == paper]
        (tmp_path / paper / FILE).write_text(text_of(own, "nobody"), encoding="utf-8")

    assert validated_cells.__wrapped__() == every
