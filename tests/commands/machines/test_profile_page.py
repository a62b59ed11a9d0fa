# SPDX-License-Identifier: BSD-3-Clause
"""The page of `profile`: what takes the run time, as an answer and rank by rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from haloscope.commands.machines import profile
from haloscope.commands.machines.profile_page import (
    MOST_PRINTED,
    MOST_RANKS,
    MOST_ROWS,
    document,
    printed,
)
from haloscope.findings.finding import FindingShape
from haloscope.profiling import traffic
from haloscope.profiling.document import ProfileJson, WorldJson
from haloscope.profiling.process import Sent
from haloscope.profiling.traffic import Flow, Rank, Traffic
from haloscope.toolchains.library import Toolchain
from haloscope.topics.common.figure import Bars


def world(times: dict[str, list[float]], run_s: list[float | None]) -> dict[str, Any]:
    """A world whose ranks spent these times in each function."""
    rows = [
        {**dict(phase="main", function=name, rank=rank, communicator=None), "calls": 2}
        | {"seconds": seconds}
        for name, own in times.items()
        for rank, seconds in enumerate(own)
    ]
    empty: dict[str, Any] = {
        name: []
        for name, field in WorldJson.model_fields.items()
        if "tuple" in str(field.annotation)
    }
    known = {"messages": 4, "of_messages": 4, "collective_calls": 2, "of_collective_calls": 2}
    return {
        **empty,
        **{"world": 1, "ranks": len(run_s), "hosts": ["a"] * len(run_s), "partial": False},
        **{
            "spawned_by": None,
            "run_s": run_s,
            "time": rows,
            "waits_known": known | {"reasons": []},
        },
        "mpi_s": [sum(own[rank] for own in times.values()) for rank in range(len(run_s))],
        "waits": [
            {"kind": "late sender", "phase": "main", "function": "Recv", "rank": 0, "calls": 1}
            | {"seconds": 0.5}
        ],
    }


def page(*worlds: dict[str, Any]) -> Any:
    """The page of these worlds, as data."""
    command = ("mpirun", "-n", "2", "./program")
    return document(ProfileJson.model_validate(GIVEN | {"command": command, "worlds": worlds}))


GIVEN = {"exit_code": 0}
FUNCTIONS = {name: [0.1 * k, 0.2 * k] for k, name in enumerate("abcdef", start=1)}


def test_the_headline_names_the_largest_share_of_run_time() -> None:
    made = page(world({"Recv": [1.0, 0.5], "Barrier": [0.25, 0.25]}, [2.0, 2.0]))

    answer, waits = made.findings
    whole, *parts = answer.parts
    assert made.answer is answer and answer.shape is FindingShape.BREAKDOWN
    assert whole.estimate.value == 4.0
    assert [part.subject["function"] for part in parts] == ["outside MPI", "Recv", "Barrier"]
    assert [part.share for part in parts] == pytest.approx([0.5, 0.375, 0.125])
    assert [part.share for part in waits.parts[1:]] == pytest.approx([0.125])


def test_each_rank_has_a_bar_with_the_longest_functions_and_the_rest() -> None:
    made = page(world(FUNCTIONS, [4.0, 8.0]))

    (figure,) = made.figures
    (panel,) = figure.panels
    assert isinstance(panel, Bars) and panel.bars == ("rank 0", "rank 1")
    assert [name for name, _ in panel.parts] == [
        "outside MPI", "f", "e", "d", "c", "other MPI functions",
    ]  # fmt: skip
    for rank in range(2):
        assert sum(shares[rank] for _, shares in panel.parts) == pytest.approx(1)
    assert dict(panel.parts)["f"] == pytest.approx((0.15, 0.15))
    assert made.first_figure is figure and made.sections[0].number(figure) == 1


def test_bars_need_run_times_and_not_too_many_ranks() -> None:
    many = MOST_RANKS + 1

    assert page(world({"Recv": [1.0, 0.5]}, [2.0, None])).figures == []
    assert page(world({"Recv": [1.0] * many}, [2.0] * many)).figures == []
    assert len(page(world({"Recv": [1.0] * MOST_RANKS}, [2.0] * MOST_RANKS)).figures) == 1


@pytest.mark.parametrize("number", [MOST_ROWS, MOST_ROWS + 3])
def test_phases_with_the_most_bytes_are_printed_and_the_rest_counted(number: int) -> None:
    ends = {"from": 0, "to": 1, "from_world": 1, "to_world": 1, "kind": "message", "messages": 1}
    traffic = [{"phase": f"p{k}", "bytes": 8 * (number - k)} | ends for k in range(number)]
    made = page(world(FUNCTIONS, [4.0, 8.0]) | {"traffic": traffic})

    (phases,) = (table for table in printed(made) if table.id == "phases-1")

    assert [row[0].text for row in phases.rows] == [f"p{k}" for k in range(MOST_ROWS)]
    assert len(phases.notes) == (number > MOST_ROWS)


def test_the_operation_with_the_most_bytes_is_printed_after_many_others() -> None:
    small = [
        {"phase": f"p{k}", "operation": "Bcast", "calls": 1, "bytes": 8} for k in range(MOST_ROWS)
    ]
    large = {"phase": "z", "operation": "File_write", "calls": 1, "bytes": 1 << 30}
    counts = {"collectives": small, "files": [large]}
    made = page(world(FUNCTIONS, [4.0, 8.0]) | counts)

    (operations,) = (table for table in printed(made) if table.id == "operations-1")

    assert [row[3].value for row in operations.rows] == [1 << 30, *[8] * (MOST_ROWS - 1)]


@pytest.mark.parametrize("ranks", [MOST_PRINTED, MOST_PRINTED + 1])
def test_a_matrix_that_is_not_printed_is_located(
    ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = Flow("p", Rank(1, 0), Rank(1, 1))
    counted = Traffic(1, ("a",) * ranks, {flow: Sent(1, 8)})
    monkeypatch.setattr(profile, "_counted", lambda *_: (0, [{}]))
    monkeypatch.setattr(traffic, "put_together", lambda _: [counted])
    mpi = Toolchain("mpich", None, Path("mpicxx"), Path("mpirun"), "mpich", "MPICH 5.0.2")

    assert profile._profiled(["./program"], mpi, tmp_path, with_sites=False) == 0

    out = capsys.readouterr().out
    assert (f"{ranks} ranks:" in out and "traffic.png" in out) == (ranks > MOST_PRINTED)
    assert ("to 1" in out) == (ranks <= MOST_PRINTED)


def test_transfers_to_other_worlds_have_their_own_table() -> None:
    ends = {"from": 0, "to": 1, "from_world": 1, "kind": "message", "phase": "p", "messages": 2}
    traffic = [{"to_world": other, "bytes": 8} | ends for other in (1, 2, None)]
    made = page(world(FUNCTIONS, [4.0, 8.0]) | {"traffic": traffic})
    tables = {one.id: one for one in made.tables}

    assert [row[1].text for row in tables["outside-1"].rows] == [
        "rank 1 of world 2",
        "rank 1 of another world",
    ]
    assert tables["phases-1"].rows[0][4].value == 3
