# SPDX-License-Identifier: BSD-3-Clause
"""What processes wrote is put together into worlds."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import pytest

from haloscope.errors import UserError
from haloscope.profiling import traffic
from haloscope.profiling.process import Sent
from haloscope.profiling.traffic import Flow, Rank

NOWHERE = (-1, -1, 0)
"""NOWHERE is an event without call site, communicator, and size."""


def write(
    folder: Path,
    rank: int,
    ranks: int,
    counts: list[Any],
    *events: dict[str, object],
    job: str = "",
    launched: int = 0,
    time: float = 0.0,
    ended: bool = True,
) -> Path:
    """Write what a process says. counts: way, phase, name, group, rank, calls and bytes."""
    about = {"rank": rank, "ranks": ranks, "host": "a", "job": job, "launched": launched}
    said: list[object] = [
        about | {"time": time},
        *([*one[:5], *NOWHERE] for one in counts),
        *events,
    ]
    lines = [json.dumps(one) for one in [*said, *([{"ended": True}] if ended else [])]]
    path = folder / f"rank-{len([*folder.iterdir()])}"
    path.write_text("".join(f"{line}\n" for line in lines))
    numbers = [0, 0, *(number for one in counts for number in one[5:])]
    path.with_name(f"{path.name}.counts").write_bytes(array("q", [*numbers, 0, 0]).tobytes())
    return path


def sent(phase: str, to: int, calls: int, size: int, group: int = 0) -> list[object]:
    return ["to", phase, "message", group, to, calls, size]


def phases(world: traffic.Traffic) -> set[str]:
    return {flow.phase for flow in world.pairs}


def test_counts_of_all_ranks_are_combined(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [sent("halo", 1, 2, 16), sent("rest", 1, 1, 100)])
    write(tmp_path, 1, 2, [sent("halo", 0, 1, 8), ["from", "halo", "one-sided", 0, 0, 1, 4]])

    (found,) = traffic.put_together(traffic.worlds(tmp_path))

    assert phases(found) == {"rest", "halo"}
    assert found.matrix() == {(0, 1): Sent(4, 120), (1, 0): Sent(1, 8)}
    assert found.total("message") == Sent(4, 124)
    assert found.total("one-sided") == Sent(1, 4)
    assert not found.is_partial


def test_a_rank_without_counts_is_named(tmp_path: Path) -> None:
    write(tmp_path, 0, 3, [])
    write(tmp_path, 2, 3, [], ended=False)

    (found,) = traffic.put_together(traffic.worlds(tmp_path))

    assert (found.lacking, found.unended, found.is_partial) == ([1], (2,), True)
    assert found.hosts == ("a", None, "a")


def test_a_truncated_line_is_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, 0, 1, [sent("halo", 0, 1, 8)], ended=False)
    with path.open("a") as file:
        file.write('["to","ha')

    (found,) = traffic.put_together(traffic.worlds(tmp_path))

    assert found.total("message") == Sent(1, 8)
    assert found.unended == (0,)


def test_jobs_become_worlds_in_order_of_start(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [sent("late", 1, 1, 1)], job="b", time=2)
    write(tmp_path, 0, 2, [sent("early", 1, 1, 1)], job="a", time=1)
    write(tmp_path, 1, 2, [sent("late", 0, 1, 1)], job="b", time=2)
    write(tmp_path, 1, 2, [sent("early", 0, 1, 1)], job="a", time=3)

    found = traffic.put_together(traffic.worlds(tmp_path))

    assert [(one.number, phases(one), one.is_partial) for one in found] == [
        (1, {"early"}, False),
        (2, {"late"}, False),
    ]


def test_an_unnamed_launch_ends_when_a_rank_repeats(tmp_path: Path) -> None:
    for time, phase in ((1, "first"), (2, "second")):
        for rank in range(2):
            write(tmp_path, rank, 2, [sent(phase, 1 - rank, 1, 1)], time=time)

    assert [phases(one) for one in traffic.put_together(traffic.worlds(tmp_path))] == [
        {"first"},
        {"second"},
    ]


def test_programs_without_a_launcher_are_distinguished_from_ranks(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path, 0, 1, [], launched=2)

    with pytest.raises(UserError, match="2 processes .* rank 0 of 1"):
        traffic.put_together(traffic.worlds(tmp_path))


def test_separately_started_programs_are_separate_worlds(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path, 0, 1, [])

    assert [one.ranks for one in traffic.put_together(traffic.worlds(tmp_path))] == [1, 1]


SPAWNS = {"group": 1, "size": 1, "spawns": "mark-1", "root": 0, "ranks": [1]}


def spawned(*marks: str) -> dict[str, object]:
    return {"group": 1, "size": 1, "spawned": [*marks], "root": 0, "ranks": [0]}


def test_a_spawned_world_is_identified_by_both_sides(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [], job="a")
    write(tmp_path, 1, 2, [sent("go", 0, 1, 8, group=1)], SPAWNS, job="a")
    write(tmp_path, 0, 1, [sent("back", 0, 1, 4, group=1)], spawned("mark-1"), job="b", time=1)

    parent, child = traffic.put_together(traffic.worlds(tmp_path))

    assert parent.pairs == {Flow("go", Rank(1, 1), Rank(2, 0)): Sent(1, 8)}
    assert child.pairs == {Flow("back", Rank(2, 0), Rank(1, 1)): Sent(1, 4)}
    assert child.spawned_by == 1
    assert parent.matrix() == {}
    assert parent.outside() == {(Rank(1, 1), Rank(2, 0)): Sent(1, 8)}


def test_a_world_that_only_receives_counts_as_calling_mpi(tmp_path: Path) -> None:
    write(tmp_path, 0, 1, [], job="a")
    write(tmp_path, 0, 1, [["time", "all", "Recv", 0, 0, 3, 100]], job="b", time=1)

    silent, receiver = traffic.put_together(traffic.worlds(tmp_path))

    assert (silent.functions, receiver.functions) == (frozenset(), frozenset({"Recv"}))
    assert "no rank called" in traffic.summary(silent)
    assert "no rank called" not in traffic.summary(receiver)


def test_an_ambiguous_spawned_world_is_not_guessed(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [], job="a")
    write(tmp_path, 1, 2, [sent("go", 0, 1, 8, group=1)], SPAWNS, job="a")
    for job in ("b", "c"):
        write(tmp_path, 0, 1, [], spawned("mark-1", "mark-2"), job=job, time=1)

    parent, *children = traffic.put_together(traffic.worlds(tmp_path))

    assert parent.pairs == {Flow("go", Rank(1, 1), Rank(None, 0)): Sent(1, 8)}
    assert [one.spawned_by for one in children] == [None, None]


def test_worlds_connected_through_a_port_are_identified(tmp_path: Path) -> None:
    def met(how: str, port: str) -> dict[str, object]:
        return {"group": 1, "size": 2, how: port, "root": 0, "ranks": [0, 1]}

    for how, job in (("accepts", "a"), ("connects", "b")):
        write(tmp_path, 0, 2, [], met(how, "port-1"), job=job)  # its root alone knows the port
        write(tmp_path, 1, 2, [sent(how, 0, 1, 8, group=1)], met(how, ""), job=job)

    one, other = traffic.put_together(traffic.worlds(tmp_path))

    assert one.pairs == {Flow("accepts", Rank(1, 1), Rank(2, 0)): Sent(1, 8)}
    assert other.pairs == {Flow("connects", Rank(2, 1), Rank(1, 0)): Sent(1, 8)}
    assert (one.spawned_by, other.spawned_by) == (None, None)
