# SPDX-License-Identifier: BSD-3-Clause
"""Every toolchain that is there, really launched: do ranks and threads sit where they were put?

Those from PyPI are fetched first, once, into build/test-cache; they are marked `toolchains`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haloscope.errors import UserError
from haloscope.host import machine
from haloscope.layout import Layout
from haloscope.toolchains import library
from haloscope.toolchains.launching import Job, launch
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import Toolchain

HERE = Path(__file__).parent
CORES = tuple(machine.physical_cores())
NAMES = [
    pytest.param(name, marks=[] if name == "system" else [pytest.mark.toolchains])
    for name in library.names()
]
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")


@pytest.fixture(scope="module", params=NAMES)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Toolchain, str]]:
    """A toolchain, and where.c compiled with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HALOSCOPE_CACHE", str(HERE.parents[2] / "build" / "test-cache"))
        try:
            found = library.ensure(request.param)
        except UserError as error:
            if request.param != "system":
                raise
            pytest.skip(f"toolchain system is not there: {error}")
        program = str(tmp_path_factory.mktemp("where") / "where")
        compile_it = [str(found.mpicxx), "-x", "c++", "-fopenmp", str(HERE / "where.c")]
        env = {**os.environ, **found.environment()}
        subprocess.run([*compile_it, "-o", program], env=env, check=True)
        yield found, program


def launched(built: tuple[Toolchain, str], job: Job) -> list[dict[str, Any]]:
    command, env = launch_command(built[0], job, [built[1]])
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    ranks: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["rank"] for answer in ranks] == list(range(job.layout.ranks))
    assert all(answer["ranks"] == job.layout.ranks for answer in ranks)
    return ranks


def test_one_rank_runs_on_the_first_core(built: tuple[Toolchain, str]) -> None:
    assert launched(built, Job(Layout()))[0]["threads"] == [[CORES[0]]]


@two_cores
def test_two_ranks_run_on_separate_cores(built: tuple[Toolchain, str]) -> None:
    seen = [answer["threads"] for answer in launched(built, Job(Layout(ppn=2)))]
    assert seen == [[[CORES[0]]], [[CORES[1]]]]


@two_cores
def test_ranks_run_in_the_requested_order(built: tuple[Toolchain, str]) -> None:
    swapped = Job(Layout(ppn=2), cpus=(CORES[1], CORES[0]))
    assert [r["threads"] for r in launched(built, swapped)] == [[[CORES[1]]], [[CORES[0]]]]


@two_cores
@pytest.mark.parametrize("bind", ["close", "spread"])
def test_two_threads_run_on_separate_cores(built: tuple[Toolchain, str], bind: str) -> None:
    cores = Job(Layout(threads=2, bind=bind)).cpus_of_ranks()[0]
    assert launched(built, Job(Layout(threads=2, bind=bind)))[0]["threads"] == [
        [cpu] for cpu in cores
    ]


def test_oversubscribed_ranks_share_the_cores(built: tuple[Toolchain, str]) -> None:
    cores = CORES[:2]
    crowd = launched(built, Job(Layout(ppn=2 * len(cores)), cpus=cores, oversubscribe=True))
    assert [answer["threads"] for answer in crowd] == [[list(cores)]] * (2 * len(cores))


@two_cores
def test_a_job_stays_within_the_affinity_mask(built: tuple[Toolchain, str]) -> None:
    mask = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORES[1]})
    try:
        assert launched(built, Job(Layout()))[0]["threads"] == [[CORES[1]]]
        with pytest.raises(UserError, match="2 ranks x 1 threads"):
            launched(built, Job(Layout(ppn=2)))
    finally:
        os.sched_setaffinity(0, mask)


@two_cores
def test_every_transport_carries_messages(built: tuple[Toolchain, str]) -> None:
    anywhere = {"shm", "tcp", "ucx"}  # the others need their network
    for transport in anywhere.intersection(launch.transports(built[0])):
        assert len(launched(built, Job(Layout(ppn=2), transport=transport))) == 2


def test_a_nested_launch_is_a_separate_job(
    built: tuple[Toolchain, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "PMI_FD", "PMIX_RANK", "SLURM_JOBID"):
        monkeypatch.setenv(name, "7")
    assert launched(built, Job(Layout()))[0]["rank"] == 0


def test_wrapper_and_launcher_match(built: tuple[Toolchain, str]) -> None:
    assert library.compiler_family(built[0]) == built[0].family
