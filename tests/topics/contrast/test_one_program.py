# SPDX-License-Identifier: BSD-3-Clause
"""With one process nothing is exchanged: a note says that variants run identical code."""

from __future__ import annotations

import pytest
from made import build
from noted import shows
from recorded import Raw, fft, poisson, spmv

from haloscope.topics.contrast import alike


def products(ranks: int, ways: tuple[str, ...] = ("none", "split")) -> list[Raw]:
    return [spmv(ranks=ranks, overlap=way) for way in ways]


def notes_of(raws: list[Raw], kind: str) -> list[str]:
    return [note for table in build(kind, raws) for note in table.notes if "identical code" in note]


@pytest.mark.parametrize("kind", ["spmv", "summary"])
def test_one_process_exchanges_are_reported_as_one_program(kind: str) -> None:
    (note,) = notes_of(products(1) + products(2), kind)

    assert shows(note, " split", "2 measurements", "noise")


def test_simulated_times_do_not_differ_by_chance() -> None:
    raws = [{**raw, "clock": "simulated"} for raw in products(1) + products(2)]

    (note,) = notes_of(raws, "summary")

    assert shows(note, " none and split", "2 simulations") and "noise" not in note


def test_solver_exchanges_on_one_process_are_reported_too() -> None:
    raws = [poisson(64, ranks=1, exchange=way) for way in ("blocking", "nonblocking")]

    notes = notes_of(raws, "walltime_grid")  # each in a grid of its own
    assert len(notes) == 2 and all("pooled" in note for note in notes)
    assert "exchange = blocking and nonblocking " in notes_of(raws, "summary")[0]


def test_settings_that_matter_on_one_process_are_different_programs() -> None:
    """It adds a temporary; and groups of planes are transformed one after the other."""
    (note,) = notes_of(products(1, ("none", "split", "split_temporary")), "spmv")
    transforms = [fft(ranks=1, transpose=way) for way in ("alltoallv", "pairwise", "pipelined")]

    assert "overlap = none and split " in note and "split_temporary" not in note
    assert "transpose = alltoallv and pairwise " in notes_of(transforms, "fft")[0]


def test_several_processes_or_a_single_exchange_need_no_note() -> None:
    assert notes_of(products(2), "spmv") == []
    assert notes_of(products(1, ("split",)), "spmv") == []
    assert alike([]) == []
