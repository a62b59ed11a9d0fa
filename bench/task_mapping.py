"""The paper on task mapping, simulated: table 6 (bigFFT on Eagle, 16 and 2048 tasks), and studies.

usage: .venv/bin/python bench/task_mapping.py [16] [2048]                      tasks of table 6
       .venv/bin/python bench/task_mapping.py --study DIR [DIR ...]
       (folders of: haloscope run task-mapping-NAME --on CLUSTER --out DIR, whole or not)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from turns import kept, taken, write_page

from haloscope.analysis.dossier import open_folder
from haloscope.clusters import simgrid_files
from haloscope.clusters.file import find
from haloscope.clusters.schema import Cluster, Quantity
from haloscope.clusters.seats import sockets_of_ranks
from haloscope.papers import tables as papers
from haloscope.report import tables
from haloscope.report.context import Context
from haloscope.report.draw.markdown import pipes
from haloscope.report.findings import mappings, weak_scaling
from haloscope.study.case import Case, Layout, Value
from haloscope.toolchains import build
from haloscope.toolchains.simgrid import SIMGRID, smpi

LEFT = 0.4
"""Of the links between pods: fitted to both ratios of 2048 tasks, as nobody measured it."""
POD = 168
"""Nodes of one, in the cluster file."""
SPLITS = MappingProxyType({128: (128,), 167: (140, 27), 256: (128, 128)})
"""Nodes of 2048 tasks by pod: a job that fits stays in one, one of 167 reaches into a second, one
of 256 is halved. Assumed: the scheduler's choice was not published."""
GIVEN: dict[str, Value] = {
    "transpose": "pairwise",
    "layout": "strided",
    "repetitions": 1,
    "warmup": 0,
    "steps": 1,
}
"""A transform and the way back, as textbooks have it: whole arrays, packed and unpacked."""


@dataclass(frozen=True)
class Job:
    """So many tasks over pencils, and the node of each."""

    size: str
    topology: str
    nodes: Sequence[int]


def small(tasks_per_node: int) -> Job:
    """16 tasks on nodes side by side."""
    return Job("512x1024x1024", "4x4", [task // tasks_per_node for task in range(16)])


def large(split: Sequence[int]) -> Job:
    """2048 tasks, as evenly as can be, on so many nodes of each pod."""
    places = [pod * POD + node for pod, nodes in enumerate(split) for node in range(nodes)]
    each, more = divmod(2048, len(places))
    counts = [each + (index < more) for index in range(len(places))]
    nodes = [place for place, count in zip(places, counts, strict=True) for _ in range(count)]
    return Job("8192x8192x1024", "64x32", nodes)


def simulated(cluster: Cluster, job: Job, program: Path) -> float:
    """Seconds of the job's step."""
    ranks = len(job.nodes)
    given = {"size": job.size, "topology": job.topology, **GIVEN}
    case = Case("fft_pencil", given, {}, Layout(1, ranks, bind="spread"), SIMGRID, 0, 1, 3600.0, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sockets = sockets_of_ranks(cluster.node, job.nodes, case.layout)
        (folder / "platform").write_text(simgrid_files.platform(cluster, job.nodes, sockets))
        (folder / "hosts").write_text(simgrid_files.hosts(job.nodes, sockets))
        (folder / "machine").write_text(simgrid_files.machine_file(cluster, case))
        command = [
            *simgrid_files.command(cluster, case, program, smpi().mpirun, folder),
            *("--out", str(folder / "record.json")),
            *("--execute", "no", "fft_pencil", *(f"{key}={value}" for key, value in given.items())),
        ]
        subprocess.run(command, check=True, capture_output=True)
        return float(json.loads((folder / "record.json").read_text())["times_s"][0])


def published(tasks: int) -> dict[int, float]:
    """Seconds by nodes, of Table 6."""
    (table,) = (t for t in papers.load("task-mapping-drop").tables.values() if t.id == "6")
    rows = [row for row in table.rows if row["ranks"] == tasks]
    return {int(str(row["nodes"])): float(str(row["time_s"])) for row in rows}


def busy(eagle: Cluster) -> Cluster:
    """The same whose pods share their links with others."""
    assert eagle.network is not None
    *lower, top = eagle.network.levels
    left = Quantity(value=LEFT, source="assumed: fitted to two published ratios")
    levels = (*lower, top.model_copy(update={"left": left}))
    return eagle.model_copy(update={"network": eagle.network.model_copy(update={"levels": levels})})


def section(title: str, told: str, known: dict[int, float], found: dict[int, float]) -> list[str]:
    """A section: ratios to the time on the fewest, or, of 16 tasks, on the most nodes."""
    first = next(iter(found))
    lines = [f"## {title}", "", f"{taken()} {told}", ""]
    lines += ["| nodes | published | simulated | off |", "|---|---|---|---|"]
    for nodes, seconds in found.items():
        was, now = known[nodes] / known[first], seconds / found[first]
        lines.append(f"| {nodes} | {was:.2f} | {now:.2f} | {now / was - 1:+.0%} |")
    return [*lines, ""]


def prediction(eagle: Cluster, program: Path) -> list[str]:
    """16 tasks: nothing of the cluster file was taken from this table."""
    found = {16 // ppn: simulated(eagle, small(ppn), program) for ppn in (1, 2, 4, 8, 16)}
    told = "No number was taken from the table. 1024 x 1024 x 512 points over 4 x 4 pencils."
    return section("16 tasks, predicted", told, published(16), found)


def explanation(eagle: Cluster, program: Path) -> list[str]:
    """2048 tasks: split and share are assumed."""
    start, found = time.perf_counter(), {}
    for nodes, split in SPLITS.items():
        found[nodes] = simulated(busy(eagle), large(split), program)
        print(
            f"{nodes} nodes: {found[nodes]:.4g} s, {time.perf_counter() - start:.0f} s", flush=True
        )
    told = (
        "An explanation, no prediction: how the job was split over pods "
        f"({', '.join(' + '.join(map(str, split)) for split in SPLITS.values())} nodes) and what "
        f"others left of the links between them ({LEFT:.0%}) are assumed, to fit two numbers. "
        "1024 x 8192 x 8192 points over 64 x 32 pencils."
    )
    return section("2048 tasks, explained", told, published(2048), found)


SHOWN = ("one_node", "weak_scaling", "mapping")
"""The tables of a study's report that stand on the page."""


def study(folder: Path) -> list[str]:
    """What a study found, beside what was published of the cluster; what it did not come to."""
    dossier = open_folder(folder)
    machine = dossier.machine or {}
    context = Context(
        paper=dossier.paper, shelf=dossier.shelf, machine=machine, all_cases=dossier.cases
    )
    good = [case for case in dossier.cases if case.launches]
    done = {(case.ranks, case.number("nodes")) for case in good}
    layouts = [one["layout"] for one in dossier.plan["cases"] if not one.get("absent")]
    lacking = [
        f"{one['tasks']} on {one['nodes']}"
        for one in layouts
        if (one["tasks"], one["nodes"]) not in done
    ]
    tasks = sorted({case.ranks for case in good})
    lines = [f"## {dossier.title}, {machine.get('host')}", "", taken(), ""]
    lines += [f"Numbers of tasks: {', '.join(map(str, tasks))}.", ""]
    if lacking:
        lines += [f"Not simulated, for want of time, tasks on nodes: {', '.join(lacking)}.", ""]
    for kind in SHOWN:
        for table in tables.build(kind, good, context):
            lines += [f"### {table.title}", "", *pipes(table), ""]
            lines += [*(f"- {note}" for note in table.notes), ""]
    found = [
        one.text for find_ in (mappings.find, weak_scaling.find) for one in find_(good, context)
    ]
    return [*lines, *(f"- {text}" for text in found), ""]


def main() -> None:
    """Run what is asked for, write docs/bench/task-mapping.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", choices=["16", "2048", []], help="of table 6")
    parser.add_argument("--study", type=Path, nargs="+", default=[], metavar="DIR")
    given = parser.parse_args()
    sections = kept("task-mapping")
    asked = given.tasks or ([] if given.study else ["16", "2048"])
    for folder in given.study:
        lines = study(folder)
        sections[lines[0]] = lines
    for name in asked:
        eagle, program = find("eagle"), build.build(smpi(), say=print)
        lines = (prediction if name == "16" else explanation)(eagle, program)
        sections[lines[0]] = lines
    page = [*chain(*sections.values())]
    write_page(
        "task-mapping", "The paper on task mapping", page, "Sections say when they are from."
    )


if __name__ == "__main__":
    main()
