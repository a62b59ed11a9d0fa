# SPDX-License-Identifier: BSD-3-Clause
"""Launches that a plan would not let stand together are told apart, in every table and on top."""

from __future__ import annotations

from typing import Any

import pytest
from noted import shows
from recorded import cases, poisson

from haloscope.analysis.conditions import mixed
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.topics import findings
from haloscope.topics.common.notebook import Notebook


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"toolchain": {"mpi": "MPICH 5"}}, ("MPI library: Open MPI v4",)),
        ({"toolchain": {"compiler": "g++ 13"}}, ("compiler: g++ 12.2.0 and g++ 13",)),
        (
            {"toolchain": {"flags": "-O1"}},
            ("compiler's flags: -O3 -march=native", " -std=c++20 and -O1"),
        ),
        ({"toolchain": {"source": "0ther"}}, ("halobench's sources: ", ": 5f0c9a7be21d and 0ther")),
        (
            {"tuning": {"given": {"UCX_TLS": "tcp"}, "overridden": {}}},
            ("MPI variables: none set", " and UCX_TLS=tcp"),
        ),
        ({"toolchain": {"launcher": "mpirun"}}, ("launcher: srun --mpi=pmix", " and mpirun")),
        ({"machine": {"host": "owl", "cores": 2}}, ("host: lark and owl",)),
    ],
)
def test_differences_are_listed_in_tables_and_summarised_at_the_top(
    change: dict[str, Any], expected: tuple[str, ...]
) -> None:
    known: dict[str, Any] = {
        "tuning": {"given": {}, "overridden": {}},
        "toolchain": {"launcher": "srun --mpi=pmix"},
    }
    first = poisson(64, **{key: value for key, value in known.items() if key in change})
    launches = cases([first, poisson(64, launch=1, **change)])

    said = mixed(launches)

    assert said is not None and shows(said, *expected)
    assert said in Notebook(launches, launches).notes()
    assert Caveat.MIXED in {one.caveats[0] for one in findings(launches, Context()) if one.caveats}


def test_launches_after_an_accepted_change_are_reported() -> None:
    change = "node model: a -> b"
    launches = cases([poisson(64), poisson(64, launch=1, changed=[change])])

    assert shows(mixed(launches) or "", "1 launch ", "--accept-change", change)


def test_equal_or_intended_differences_are_not_reported() -> None:
    other = {"name": "mpich", "mpi": "MPICH 5"}
    simulated: dict[str, Any] = {"clock": "simulated", "machine": {"host": "tara"}}
    alike = [poisson(64), poisson(64, launch=1), poisson(64, toolchain=other)]

    assert mixed(cases([*alike, poisson(64, **simulated)])) is None


def test_two_states_of_a_cluster_file_are_reported() -> None:
    states = [
        poisson(n, clock="simulated", simulation={"cluster": "tara", "platform": state})
        for n, state in ((64, "aaa"), (128, "bbb"))
    ]

    assert shows(mixed(cases(states)) or "", "cluster file: ", " aaa", " bbb")
