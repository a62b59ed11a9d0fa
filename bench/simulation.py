# SPDX-License-Identifier: BSD-3-Clause
"""Simulated clusters: errors against published wall times, and what a simulation costs.

usage: .venv/bin/python bench/simulation.py [SECTION ...]; a table, orfeo, cases, dynamics, heat
       .venv/bin/python bench/simulation.py summary    all papers: errors, layouts, statements.
           What was simulated is kept: if it was interrupted, run it again
       .venv/bin/python bench/simulation.py "statements PAPER"    what a paper says, scored
           with --from DIR, repeatable: on cases of a run of task-mapping-NAME --on CLUSTER
       .venv/bin/python bench/simulation.py others [--from DIR]   a network that others use
       .venv/bin/python bench/simulation.py local --from DIR     of a run of validate-local
       SIMGRID_ROOT=PREFIX .venv/bin/python bench/simulation.py cases     with another SimGrid
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from built import built
from rich.console import Console
from turns import kept, taken, write_page

from haloscope.analysis.dossier import open_folder
from haloscope.analysis.predictions import JACOBI, WALL_TIME, Errors, PredictedCell, Skill
from haloscope.analysis.statements import RIGHT, WRONG, Score, counts, scored
from haloscope.clusters import occupied as other_jobs
from haloscope.clusters import simgrid_files
from haloscope.clusters.file import find
from haloscope.clusters.schema import Cluster
from haloscope.papers.known_cells import KnownCell
from haloscope.papers.tables import Scalar, list_papers
from haloscope.paths import cache_path
from haloscope.predict import paper_validation
from haloscope.predict.local_validation import validate as validate_local
from haloscope.predict.paper_validation import tables_of, validate
from haloscope.predict.planned_runs import PlannedCells, simulated_cells
from haloscope.report.prediction_errors import groups
from haloscope.run.progress import Teller
from haloscope.study.case import Case, Layout, Value
from haloscope.toolchains.simgrid import SIMGRID, smpi
from haloscope.topics.mapping.plan_cells import deviation_percent, plan_cells

NEWER, OLDER = (0.06, 0.25), (0.10, 0.40)
"""Median and worst absolute relative error to reach over the cells that were only predicted."""
TABLES = MappingProxyType({
    "hpcf-2018-10 4.1": NEWER, "hpcf-2018-10 6.1": NEWER, "hpcf-2018-10 6.2": NEWER,
    "hpcf-2018-10 6.3": NEWER, "hpcf-2018-10 7.1": NEWER, "hpcf-2018-10 7.2": NEWER,
    "hpcf-2010-6 4.1": OLDER, "hpcf-2010-6 5.1": OLDER,
})  # fmt: skip
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
CASES, DYNAMICS, HEAT, ORFEO = "cases", "dynamics", "heat", "orfeo"
STATEMENTS, OTHERS, SUMMARY = "statements", "others", "summary"
REPLICATES = 3
"""Of each cell of table 6 beside others."""
LOCAL, LOCAL_MEDIAN = "local", 0.10
LOCAL_AIMS = MappingProxyType({"pingpong": "2.7%", "poisson_cg": f"{LOCAL_MEDIAN:.0%}"})
"""Of messages what there was before a node's memory was shared; of solves what was wanted."""


def table(name: str) -> list[str]:
    """A table's title, its errors, what simulating it took, and the cells beyond the aim."""
    paper, table_id = name.split()
    median, most = TABLES[name]
    (published,) = tables_of(paper, [table_id])
    start = time.perf_counter()
    cells = validate(published, Teller(Console(stderr=True)))
    wall = time.perf_counter() - start
    told = [cell for cell in cells if cell.error is not None]
    fitted = Errors.of([cell for cell in told if cell.fitted])
    others = [cell for cell in told if not cell.fitted]
    predicted = Errors.of(others)
    beyond = [f"- {described(cell)}" for cell in others if abs(cell.error or 0) > most]
    return [
        f"## {paper}, table {table_id}: cells with an error",
        "",
        f"{taken()} {len(cells)} cells simulated in {wall:.0f} s, none of them kept from before.",
        "",
        "| cells | number | median | aim | worst | aim | worst tenth | naive | naive, tenth "
        "| skill | skill, tenth |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        f"| set a number | {errors(fitted, '', '')} | {beside([])} |",
        f"| only predicted | {errors(predicted, f'{median:.0%}', f'{most:.0%}')} "
        f"| {beside(others)} |",
        "",
        "naive: one node's published time divided by the nodes; skill: 1 - error / naive error.",
        "",
        *structure(others),
        *(["Beyond the aim:", "", *beyond, ""] if beyond else []),
    ]


def beside(cells: Sequence[PredictedCell]) -> str:
    """The worst tenth of predictions, and the naive guess of those that have one."""
    found = Skill.of(cells, "naive")
    if not found.guess.number:
        return " | | | | "
    figures = (Errors.of(cells).tenth, found.guess.median, found.guess.tenth)
    skills = (found.at_median, found.at_tenth)
    shares = [f"{one:.1%}" if one is not None else "" for one in figures]
    return " | ".join([*shares, *(f"{one:.2f}" if one is not None else "" for one in skills)])


def structure(cells: Sequence[PredictedCell]) -> list[str]:
    """Errors and skill by distance and by size of time."""
    lines = [
        "| by | cells | number | median | worst tenth | naive | naive, tenth | skill "
        "| skill, tenth |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for group, parts in groups(cells).items():
        for name, own in parts.items():
            middle = Errors.of(own).median
            number_of = f"{len(own)} | {middle or 0.0:.1%}"
            lines.append(f"| {group} | {name} | {number_of} | {beside(own)} |")
    return [*lines, ""]


def statements(paper: str, folders: Sequence[Path]) -> list[str]:
    """A paper's statements, by its own cells and by the simulation of all its tables."""
    tell, cells = Teller(Console(stderr=True)), []
    for published in tables_of(paper, []):
        cells += validate(published, tell)
    known = [cell for path in folders for cell in recorded(paper, path)]
    planned = PlannedCells() if folders else simulated_cells(paper, tell)
    found = scored(paper, cells, [*known, *planned.cells])
    names = list(dict.fromkeys(one.published.verdict for one in found))
    own = ", ".join(f"{sum(o.published.verdict == name for o in found)} {name}" for name in names)
    lines = [
        f"## {paper}: statements",
        "",
        f"{taken()} {len(found)} statements; by the paper's own cells: {own}.",
        "",
        "| simulated | right | wrong | not decided | circular |",
        "|---|---|---|---|---|",
    ]
    for side, told in counts(found).items():
        lines.append(f"| {side} | {' | '.join(str(number) for number in told.values())} |")
    wrong = [
        f"- {one.statement.says} ({one.statement.place}): "
        f"{one.simulated.holds} of {one.simulated.holds + one.simulated.fails} comparisons hold"
        for one in found
        if (one.by_table or one.by_sentence) == WRONG and one.simulated is not None
    ]
    why: dict[str, list[str]] = {}
    for one in found:
        if one.undecided and one.by_table is None:
            why.setdefault(one.undecided, []).append(one.statement.id)
    open_ = [f"- {reason} ({len(ids)}): {', '.join(ids)}" for reason, ids in why.items()]
    return [
        *[*lines, ""],
        *[line for note in planned.notes for line in (note, "")],
        *(["Wrong by the paper's own cells:", "", *wrong, ""] if wrong else []),
        *(["Not decided:", "", *open_, ""] if open_ else []),
    ]


def summary() -> list[str]:
    """Every paper: errors beside the naive guess by table, fastest layouts, and statements."""
    tell = Teller(Console(stderr=True))
    lines = [
        "## All papers",
        "",
        f"{taken()} Cells that were only predicted and have an error. skill: 1 - error / naive "
        "error (`haloscope validate --help`).",
        "A fastest layout is named where the published times of a mesh on as many nodes differ by "
        "layout, and one of the fastest has an error and set no number.",
        "",
        "| table | cells | median | worst tenth | worst | naive | naive, tenth | skill "
        "| skill, tenth | fastest layout named |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    scores: list[tuple[str, dict[Score, int]]] = []
    for paper in (one.id for one in list_papers()):
        cells: list[PredictedCell] = []
        for published in tables_of(paper, []):
            cells += validate(published, tell)
        for table_id in dict.fromkeys(cell.table for cell in cells):
            own = [cell for cell in cells if cell.table == table_id]
            if any(cell.error is not None and not cell.fitted for cell in own):
                lines.append(f"| {paper} {table_id} | {summed(own)} |")
        planned = simulated_cells(paper, tell)
        both = counts(scored(paper, cells, planned.cells))
        scores.append((paper, both["by the paper's own cells"]))
    names = list(scores[0][1])
    scores.append(("all", {name: sum(score[name] for _, score in scores) for name in names}))
    lines += ["", f"| statements | {' | '.join(names)} | right of right and wrong |"]
    lines.append(f"|---|{'---|' * (len(names) + 1)}")
    for paper, score in scores:
        figures = " | ".join(str(score[name]) for name in names)
        share = score[RIGHT] / (score[RIGHT] + score[WRONG])
        lines.append(f"| {paper} | {figures} | {share:.0%} |")
    return [*lines, ""]


def summed(cells: Sequence[PredictedCell]) -> str:
    """A table's line: of cells in the last reading of the paper that no number is from."""
    last = cells[-1].reading if cells[-1].kind == JACOBI else None
    own = [one for one in cells if not one.fitted and (last is None or one.reading == last)]
    found, skill = Errors.of(own), Skill.of(own, "naive")
    shares = (found.median, found.tenth, found.worst, skill.guess.median, skill.guess.tenth)
    figures = [f"{one:.1%}" if one is not None else "" for one in shares]
    figures += [f"{x:.2f}" if x is not None else "" for x in (skill.at_median, skill.at_tenth)]
    named, asked = fastest_named(cells)
    figures.append(f"{named} of {asked}" if asked else "")
    return " | ".join([str(found.number), *figures])


def fastest_named(cells: Sequence[PredictedCell]) -> tuple[int, int]:
    """In how many groups the predicted fastest layout is a published fastest one; groups."""
    groups_: dict[tuple[Scalar, ...], list[PredictedCell]] = {}
    for cell in cells:
        if cell.kind == WALL_TIME and cell.predicted is not None:
            same = tuple(v for k, v in cell.keys.items() if k not in ("ppn", "threads"))
            groups_.setdefault(same, []).append(cell)
    named = asked = 0
    for own in groups_.values():
        least = min(cell.published for cell in own)
        first = [cell for cell in own if cell.published == least]
        if len(first) == len(own) or all(c.error is None or c.fitted for c in first):
            continue
        asked += 1
        named += min(own, key=lambda cell: cell.predicted or 0.0) in first
    return named, asked


def recorded(paper: str, folder: Path) -> list[KnownCell]:
    """A paper's cells in a result folder."""
    dossier = open_folder(folder)
    return [*plan_cells(paper, dossier.cases, str((dossier.machine or {}).get("host")))]


def others(folders: Sequence[Path]) -> list[str]:
    """Table 6 of the task-mapping paper, on eagle with others and without, and untapered."""
    (published,) = tables_of("task-mapping-drop", ["6"])
    there = paper_validation.simulated_place(published)
    places = {
        "with others": there.cluster,
        "empty": there.cluster.model_copy(update={"others": None}),
        "with others, non-blocking": untapered(there.cluster),
    }
    tell = Teller(Console(stderr=True))
    found = {
        name: paper_validation.predicted(
            published, replace(there, cluster=one), tell, 1 if name == "empty" else REPLICATES
        )
        for name, one in places.items()
    }
    title = "A network that others use: task-mapping-drop, table 6"
    lines = [f"## {title}", "", f"{taken()} Medians over {REPLICATES} launches with others."]
    lines += [
        *other_jobs.told(there.cluster),
        "",
        f"| tasks | nodes | over | published | {' | '.join(found)} |",
    ]
    lines.append(f"|---|---|---|---|{'---|' * len(found)}")
    for cells in zip(*found.values(), strict=True):
        keys = cells[0].keys
        figures = [f"{keys['ranks']} | {keys['nodes']} | {keys['over']} | {cells[0].published:.2f}"]
        for cell in cells:
            ends = cell.drawn and cell.drawn.low and cell.drawn.high
            span = (
                f" ({cell.drawn.low:.2f} to {cell.drawn.high:.2f})" if ends and cell.drawn else ""
            )
            figures.append(f"{cell.predicted:.2f}{span}")
        lines.append(f"| {' | '.join(figures)} |")
    return [*lines, "", *apart(folders)]


def untapered(cluster: Cluster) -> Cluster:
    """The same with as many links up from a switch as down to it."""
    assert cluster.network is not None
    levels, down = [], 1
    for level in cluster.network.levels:
        levels.append(level.model_copy(update={"parents": down, "links": 1}))
        down = level.children
    network = cluster.network.model_copy(update={"levels": tuple(levels)})
    return cluster.model_copy(update={"network": network})


def apart(folders: Sequence[Path]) -> list[str]:
    """How far launches lie from their mean, of cases with several."""
    lines = []
    for folder in folders:
        dossier = open_folder(folder)
        for case in dossier.cases:
            if (most := deviation_percent(case)) is not None:
                host, nodes = (dossier.machine or {}).get("host"), case.number("nodes")
                where = f"{case.kernel} | {host} | {case.ranks} | {nodes}"
                lines.append(f"| {where} | {len(case.times_s)} | {most:.1f} % |")
    head = ["| kernel | cluster | tasks | nodes | launches | largest deviation from the mean |"]
    return [*head, "|---|---|---|---|---|---|", *lines, ""] if lines else []


def errors(of: Errors, median: str, most: str) -> str:
    """The figures of a line."""
    if of.median is None or of.worst is None:
        return f"0 | | {median} | | {most}"
    return f"{of.number} | {of.median:.1%} | {median} | {of.worst:.1%} | {most}"


def described(cell: PredictedCell) -> str:
    """A cell in words."""
    where = ", ".join(f"{key} = {value}" for key, value in cell.keys.items())
    return f"{where}: predicted {cell.predicted:.3g} s, published {cell.published:g} s"


def local(folder: Path) -> list[str]:
    """Errors against this machine's real runs, by kernel, and the cells that are far off."""
    done = validate_local(folder, Teller(Console(stderr=True)), disturbed=True)
    launches = len({record.launch for record in open_folder(folder).records})
    lines = [
        "## This machine, predicted from its calibration",
        "",
        f"{taken()} `haloscope run validate-local`, {launches} launches of each case, the "
        "calibration's in turn with the others.",
        *(f"Marked as disturbed: {mark}" for mark in done.model.disturbed),
        "",
        "| kernel | times | median | aim | worst |",
        "|---|---|---|---|---|",
    ]
    kernels = dict.fromkeys(time.kernel for time in done.predictions)
    parts = {
        **{name: [t for t in done.predictions if t.kernel == name] for name in kernels},
        "both": done.predictions,
    }
    for name, times in parts.items():
        of = Errors.of(times)
        aim = LOCAL_AIMS.get(name, "")
        lines.append(f"| {name} | {of.number} | {of.median:.1%} | {aim} | {of.worst:.1%} |")
    lines.append("")
    far = [one for one in done.predictions if abs(one.error) > 2 * LOCAL_MEDIAN]
    told = [f"- {one.kernel}, {one.what}: {one.error:+.0%}" for one in far]
    return [*lines, *([f"More than {2 * LOCAL_MEDIAN:.0%} off:", "", *told, ""] if far else [])]


def orfeo() -> list[str]:
    """Jacobi on ORFEO's nodes, all tables together: errors by how the paper is read."""
    tell, cells = Teller(Console(stderr=True)), []
    for published in tables_of("orfeo-mpi-report", []):
        cells += validate(published, tell)
    lines = [
        "## orfeo-mpi-report: updates a second of Jacobi's sweeps, all tables",
        "",
        f"{taken()} The aim is what there was: 0.9 % at the median and 9.3 % at worst.",
        "",
        "| read as | cells | number | median | worst |",
        "|---|---|---|---|---|",
    ]
    for reading in dict.fromkeys(cell.reading for cell in cells):
        for kind, fitted in (("set a number", True), ("only predicted", False)):
            own = [c for c in cells if (c.reading, c.fitted) == (reading, fitted)]
            found = Errors.of(own)
            if found.median is not None and found.worst is not None:
                figures = f"{found.number} | {found.median:.1%} | {found.worst:.1%}"
                lines.append(f"| {reading} | {kind} | {figures} |")
    return [*lines, ""]


def cases() -> list[str]:
    """What single cases take of this machine, each told as it is known."""
    lines = [
        f"## What a simulation takes: {smpi().version}",
        "",
        f"{taken()} Medians where a case ran several times.",
        "",
        "One repetition, as haloscope simulates a case. Of a processor: user and system time, "
        "which others' load lengthens less than the wall's.",
        "",
        "| case | ranks | wall | at most | of a processor | peak memory | at most "
        "| messages a second |",
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
        name = "poisson_cg, textbook, n = 16384, 20 iterations, 32 ranks a node of stampede2"
        yield name, "stampede2", simulated_once("poisson_cg", given, layout)
    for ranks in ALLTOALL:
        given = {"operation": "alltoall", "sizes": "1M"}
        layout = Layout(ranks // 16, 16)
        name = "collectives, alltoall of 1 MiB, 16 ranks a node of eagle"
        yield name, "eagle", simulated_once("collectives", given, layout)
    given = {"size": "8192x8192x1024", "topology": "64x32", "warmup": 0, "steps": 1}
    given |= {"transpose": "pairwise", "layout": "strided", "planning": "estimate"}
    name = "fft_pencil, 1024 x 8192 x 8192 there and back, 64 x 32 pencils on 128 nodes of eagle"
    yield name, "eagle", simulated_once("fft_pencil", given, Layout(128, 16, bind="spread"))


def simulated_once(kernel: str, given: dict[str, Value], layout: Layout) -> Case:
    """A case as a study would have it: one repetition is enough, as all take the same time."""
    return Case(kernel, given | {"repetitions": 1}, {}, layout, SIMGRID, 0, 1, 600.0, 0)


def cost(name: str, cluster: Cluster, case: Case) -> str:
    """A line: wall time, peak memory and, of a solve, messages a second."""
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
        f"## md_pppm, a period of {PERIOD} steps with a build of neighbour lists, 140 nodes of "
        "stampede",
        "",
        f"{taken()} {smpi().version}.",
        "",
        "| ranks | a period, wall | of a processor | a step, wall | at most | of a processor "
        "| peak memory | at most |",
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
        f"{taken()} {smpi().version}. Of a processor: user and system time.",
        "",
        "| ranks | elements | wall | of a processor | peak memory |",
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


def section(name: str, folders: Sequence[Path]) -> list[str]:
    """One section's lines."""
    if name == LOCAL:
        return local(folders[0])
    if name.startswith(STATEMENTS):
        return statements(name.removeprefix(f"{STATEMENTS} "), folders)
    if name == OTHERS:
        return others(folders)
    if name == SUMMARY:
        return summary()
    if name == ORFEO:
        return orfeo()
    if name == DYNAMICS:
        return dynamics(find("stampede"))
    if name == HEAT:
        return heat(find("eagle"))
    return cases() if name == CASES else table(name)


def main() -> None:
    """Run what is asked for, write docs/bench/simulation.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*TABLES, ORFEO, CASES, DYNAMICS, HEAT, OTHERS, SUMMARY]
    names += [f"{STATEMENTS} {paper.id}" for paper in list_papers()]
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="; ".join([*names, LOCAL]))
    parser.add_argument(
        "--from", type=Path, dest="folders", action="append", default=[], help="result folders"
    )
    given = parser.parse_args()
    asked = given.sections
    if LOCAL in asked and len(given.folders) != 1:
        parser.error("local needs one --from")
    if unknown := set(asked) - {*names, LOCAL}:
        parser.error(f"no section {', '.join(unknown)}; there are {'; '.join(names)}")
    sections = kept("simulation")
    with tempfile.TemporaryDirectory() as empty:
        kept_builds = cache_path()
        for name in ("builds", "toolchains"):
            (Path(empty) / name).symlink_to(kept_builds / name)
        for name in asked or names:
            if name.startswith((STATEMENTS, OTHERS, SUMMARY)):  # nothing of them is timed
                os.environ.pop("HALOSCOPE_CACHE", None)
            else:
                os.environ["HALOSCOPE_CACHE"] = empty  # what was simulated before is not found
            lines = section(name, given.folders)
            sections[lines[0]] = lines
            if name == SUMMARY:
                sections = {lines[0]: lines, **sections}
            page = [*chain(*sections.values())]
            write_page("simulation", "Simulated clusters", page, "Sections say when they are from.")


if __name__ == "__main__":
    main()
