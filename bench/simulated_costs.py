# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation takes of this machine: seconds, memory, messages."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from built import built
from turns import taken

from haloscope.clusters.file import find
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.layout import Layout
from haloscope.study.case import Case, Value
from haloscope.toolchains.simgrid import SIMGRID, smpi

LIMITS = MappingProxyType({512: (2.5, 700), 2048: (12.0, 2500), 4096: (35.0, 16000)})
"""Seconds and megabytes of one case of 20 iterations at n = 16384."""
LARGE = (60.0, 8000)
"""The same of a transform on 2048 ranks."""
LAUNCHES = MappingProxyType({512: 9})
"""Of what takes seconds: their median."""
ALLTOALL = MappingProxyType({256: 4.0, 512: 20.0})
"""Seconds of an alltoall of 1 MiB, 16 ranks on each node of eagle."""
PERIOD = 9
"""Steps of md_pppm that are timed together: one is gone through for all that are alike."""
HEAT_SIZES = MappingProxyType({1024: 2540, 2048: 3200})
"""Elements along an edge of the most tasks of the task-mapping paper's table 2."""


def cases() -> list[str]:
    """What single cases take of this machine, each told as it is known."""
    lines = [
        f"## Time and memory of simulations: {smpi().version}",
        "",
        f"{taken()} For cases that ran several times, the table lists the median.",
        "",
        "Each case is simulated with one repetition, as haloscope does. The processor time is the "
        "user and system time; other programs lengthen it less than the wall time.",
        "",
        "| case | ranks | wall time | limit | processor time | peak memory | limit "
        "| messages per second |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, cluster, case in costly():
        line = cost(name, find(cluster), case)
        print(line, flush=True)
        lines.append(line)
    return [*lines, ""]


def costly() -> Iterator[tuple[str, str, Case]]:
    """What a case is, its cluster, and the case."""
    for ranks in LIMITS:
        given: dict[str, Value] = {"n": 16384, "variant": "textbook", "iterations": 20}
        layout = Layout(ranks // 32, 32, 1, bind="spread")
        name = "poisson_cg, textbook, n = 16384, 20 iterations, 32 ranks per node of stampede2"
        yield name, "stampede2", simulated_once("poisson_cg", given, layout)
    for ranks in ALLTOALL:
        given = {"operation": "alltoall", "sizes": "1M"}
        layout = Layout(ranks // 16, 16)
        name = "collectives, alltoall of 1 MiB, 16 ranks per node of eagle"
        yield name, "eagle", simulated_once("collectives", given, layout)
    given = {"size": "8192x8192x1024", "topology": "64x32", "warmup": 0, "steps": 1}
    given |= {"transpose": "pairwise", "layout": "strided", "planning": "estimate"}
    name = "fft_pencil, 1024 x 8192 x 8192 there and back, 64 x 32 pencils on 128 nodes of eagle"
    yield name, "eagle", simulated_once("fft_pencil", given, Layout(128, 16, bind="spread"))


def simulated_once(kernel: str, given: dict[str, Value], layout: Layout) -> Case:
    """A case as a study would have it: one repetition is enough, as all take the same time."""
    return Case(kernel, given | {"repetitions": 1}, {}, layout, SIMGRID, 0, 1, 600.0, 0)


def cost(name: str, cluster: Cluster, case: Case) -> str:
    """A line: wall time, peak memory and, of a solve, messages per second."""
    ranks = case.layout.ranks
    times = LAUNCHES.get(ranks, 1) if case.kernel == "poisson_cg" else 1
    spent = [simulated_case(cluster, case) for _ in range(times)]
    walls, peak = [one.wall_s for one in spent], max(one.peak_megabytes for one in spent)
    wall = statistics.median(walls)
    used = statistics.median(one.processor_s for one in spent)
    spread = f" ({min(walls):.1f} … {max(walls):.1f})" if times > 1 else ""
    messages = f"{solve_messages(ranks) / wall:,.0f}" if case.kernel == "poisson_cg" else ""
    if case.kernel == "collectives":
        seconds, most = ALLTOALL[ranks], ""
    else:
        seconds, megabytes = LIMITS[ranks] if case.kernel == "poisson_cg" else LARGE
        most = f"{megabytes:,} MB"
    figures = f"{wall:.1f} s{spread} | {seconds:g} s | {used:.1f} s"
    figures += f" | {peak:,.0f} MB | {most} | {messages}"
    return f"| {name} | {ranks} | {figures} |"


def dynamics(cluster: Cluster) -> list[str]:
    """The most tasks of the task-mapping paper, table 1: time of a period, of a step, memory."""
    given: dict[str, Value] = {"alike": "once"}
    layout = Layout(140, 16, bind="spread", tasks=2197)
    case = simulated_once("md_pppm", given, layout)
    spent = simulated_case(cluster, case)
    wall, used = spent.wall_s, spent.processor_s
    return [
        f"## md_pppm, a period of {PERIOD} steps with one build of neighbour lists, 140 nodes of "
        "stampede",
        "",
        f"{taken()} The simulator is {smpi().version}.",
        "",
        "| ranks | wall time per period | processor time per period | wall time per step | limit "
        "| processor time per step | peak memory | limit |",
        "|---|---|---|---|---|---|---|---|",
        f"| {layout.ranks} | {wall:.1f} s | {used:.1f} s | {wall / PERIOD:.1f} s | 60 s "
        f"| {used / PERIOD:.1f} s | {spent.peak_megabytes:,.0f} MB | 8,000 MB |",
        "",
    ]


def heat(cluster: Cluster) -> list[str]:
    """The most tasks of the task-mapping paper, table 2: what a solve of 200 iterations takes."""
    lines = [
        f"## fe_heat, 200 iterations, 128 nodes of {cluster.name}",
        "",
        f"{taken()} The simulator is {smpi().version}. The processor time is the user and "
        "system time.",
        "",
        "| ranks | elements | wall time | processor time | peak memory |",
        "|---|---|---|---|---|",
    ]
    for ranks, edge in HEAT_SIZES.items():
        given: dict[str, Value] = {"size": f"{edge}x{edge}x{edge}", "iterations": 200}
        layout = Layout(128, ranks // 128, bind="spread")
        spent = simulated_case(cluster, simulated_once("fe_heat", given, layout))
        figures = (
            f"{spent.wall_s:.1f} s | {spent.processor_s:.1f} s | {spent.peak_megabytes:,.0f} MB"
        )
        lines.append(f"| {ranks} | {edge}^3 | {figures} |")
    return [*lines, ""]


def solve_messages(ranks: int) -> int:
    """Of 20 iterations: the exchange's, and two sums that go up a tree and down again."""
    return 20 * (2 * (ranks - 1) + 2 * 2 * (ranks - 1))


@dataclass(frozen=True)
class Spent:
    """What a simulation took of this machine."""

    wall_s: float
    processor_s: float
    peak_megabytes: float


def simulated_case(cluster: Cluster, case: Case) -> Spent:
    """What a case takes, its program built before."""
    program = built(smpi(), case.kernel, device=case.given.get("memory") == "device")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in simgrid_files.files(cluster, case).items():
            (folder / file).write_text(content)
        command = [
            *simgrid_files.command(cluster, case, program, smpi().mpirun, folder),
            *("--out", str(folder / "record.json")),
            *("--execute", "no", case.kernel),
            *(f"{key}={value}" for key, value in case.given.items()),
        ]
        return simulated(command)


def simulated(command: list[str]) -> Spent:
    """What smpirun takes."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as smpirun:
        _, status, used = os.wait4(smpirun.pid, 0)
        smpirun.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if smpirun.returncode != 0:
        sys.exit(f"smpirun ended with {smpirun.returncode}: {' '.join(command)}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
