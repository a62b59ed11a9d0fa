# SPDX-License-Identifier: BSD-3-Clause
import re
from typing import Any

import pytest
from noted import shows

from haloscope.layout import Layout
from haloscope.run.runners.placement import misplaced, ran_alone, wrong_hosts


def rank(number: int, *threads: list[int], host: str = "a") -> dict[str, Any]:
    cpus = sorted({cpu for thread in threads for cpu in thread})
    return {"rank": number, "host": host, "cpus": cpus, "thread_cpus": list(threads)}


def values(why: str | None) -> list[str]:
    """The numbers and the hosts in a message: of what ran, then of what was requested."""
    return re.findall(r"\d+|\b[ab]\b", why or "")


@pytest.mark.parametrize(
    ("layout", "smt", "seen"),
    [
        (Layout(), 1, [rank(0, [3])]),
        (Layout(ppn=2), 1, [rank(0, [0]), rank(1, [1])]),
        (Layout(ppn=2), 2, [rank(0, [0, 4]), rank(1, [1, 5])]),
        (Layout(ppn=2, threads=2), 1, [rank(0, [0], [1]), rank(1, [2], [3])]),
        (Layout(nodes=2), 1, [rank(0, [0]), rank(1, [0], host="b")]),
        (Layout(threads=2, places="sockets"), 1, [rank(0, [0, 1], [0, 1])]),
        (Layout(ppn=2, bind="none"), 1, [rank(0, [0, 1]), rank(1, [0, 1])]),
    ],
)
def test_correct_placement_passes(layout: Layout, smt: int, seen: list[dict[str, Any]]) -> None:
    assert misplaced(layout, seen, threads_per_core=smt) is None


@pytest.mark.parametrize(
    ("layout", "seen", "why"),
    [
        (Layout(ppn=3), [rank(0, [0]), rank(1, [1])], ("2 ranks ran, ", " 3 were requested")),
        (
            Layout(ppn=2),
            [rank(0, [0]), rank(1, [0], host="b")],
            ("ran on 2 nodes (a, b), ", " 1 were requested"),
        ),
        (
            Layout(nodes=2, ppn=2),
            [rank(0, [0]), rank(1, [1]), rank(2, [2]), rank(3, [0], host="b")],
            ("3 ranks ran on a, ", " 2 per node were "),
        ),
        (Layout(threads=2), [rank(0, [0])], ("rank 0 ran 1 thread, ", " 2 were requested")),
        (
            Layout(ppn=2),
            [rank(0, [0]), rank(1, [1, 2, 3, 8])],
            ("rank 1 was not bound: ", " 1 thread on processors 1-3,8"),
        ),
        (
            Layout(ppn=3),
            [rank(0, [0]), rank(1, [1]), rank(2, [1])],
            ("rank 1 and rank 2 ", " shared processor 1 on a"),
        ),
        (
            Layout(threads=2),
            [rank(0, [0, 1], [0, 1])],
            ("rank 0: thread 0 and thread 1 ", " shared processor 0"),
        ),
    ],
)
def test_wrong_placement_is_reported(
    layout: Layout, seen: list[dict[str, Any]], why: tuple[str, ...]
) -> None:
    assert shows(str(misplaced(layout, seen)), *why)


def test_isolated_single_rank_runs_name_the_launcher() -> None:
    refused = ran_alone(Layout(ppn=2), "halobench: ranks=1: needs at least 2 ranks\n" * 2)

    assert refused is not None and refused == misplaced(Layout(ppn=2), [rank(0, [0])])
    assert "--mpi=list" in refused and "--toolchain" in refused
    assert ran_alone(Layout(), "halobench: ranks=1: needs at least 2 ranks\n") is None
    assert ran_alone(Layout(ppn=2), "halobench: n=0: needs at least 1\n") is None


def test_a_rank_bound_to_other_processors_is_misplaced() -> None:
    seen = [rank(0, [0]), rank(1, [2])]
    assert misplaced(Layout(ppn=2), seen, [[0], [2]]) is None
    assert values(misplaced(Layout(ppn=2), seen, [[0], [1]])) == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("mapping", "order"),
    [
        *(("block", "aabb"), ("block", "bbaa"), ("round_robin", "abab"), ("round_robin", "baba")),
        *(("0,1,1,0", "abba"), ("0,1,1,0", "baab")),
    ],
)
def test_ranks_share_nodes_according_to_the_mapping(mapping: str, order: str) -> None:
    layout = Layout(nodes=2, ppn=2, mapping=mapping)
    taken = {"a": 0, "b": 0}
    seen = []
    for number, host in enumerate(order):
        seen.append(rank(number, [taken[host]], host=host))
        taken[host] += 1

    assert misplaced(layout, seen, [(0,), (1,)]) is None


def test_a_rank_that_contradicts_a_rank_list_is_misplaced() -> None:
    hosts = "abab"
    seen = [rank(number, [number // 2], host=host) for number, host in enumerate(hosts)]

    said = misplaced(Layout(nodes=2, ppn=2, mapping="0,1,1,0"), seen, [(0,), (1,)])

    assert values(said) == ["2", "a", "b", "1", *"0110"]


def test_unevenly_divided_ranks_are_checked() -> None:
    """Whichever node has one less; not two less, and not where they should be mapped otherwise."""
    layout = Layout(nodes=2, ppn=2, tasks=3)

    def ran(order: str) -> str | None:
        taken = {"a": 0, "b": 0}
        seen = []
        for number, host in enumerate(order):
            seen.append(rank(number, [taken[host]], host=host))
            taken[host] += 1
        return misplaced(layout, seen, [(0,), (1,)])

    assert ran("aab") is None
    assert values(ran("aba")) == ["1", "b", "a", "0"]
    assert values(ran("aaa")) == ["1", "a", "2"]
    four = Layout(nodes=2, ppn=3, tasks=5)
    seen = [rank(number, [0], host=host) for number, host in enumerate("aaaab")]
    assert values(wrong_hosts(four, seen)) == ["4", "a", "3", "2"]


def test_ranks_that_should_share_a_node_and_do_not_are_misplaced() -> None:
    seen = [rank(n, [0], host=host) for n, host in enumerate("abab")]

    assert values(wrong_hosts(Layout(nodes=2, ppn=2), seen)) == ["1", "b", "a", "0"]


def test_every_host_has_the_requested_processors() -> None:
    seen = [rank(0, [0]), rank(1, [1]), rank(2, [0], host="b"), rank(3, [2], host="b")]

    why = misplaced(Layout(nodes=2, ppn=2), seen, [(0,), (1,)])

    assert values(why) == ["3", "2", "1"]
