# SPDX-License-Identifier: BSD-3-Clause
"""The paper on task mapping, simulated: table 6 (bigFFT on Eagle, 16 and 2048 tasks), and studies.

usage: .venv/bin/python bench/task_mapping.py [16] [2048]                      tasks of table 6
       .venv/bin/python bench/task_mapping.py statements             each statement, simulated
       .venv/bin/python bench/task_mapping.py --study DIR [DIR ...]
       (folders of: haloscope run task-mapping-NAME --on CLUSTER --out DIR, whole or not)
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from pathlib import Path

from rich.console import Console
from simulated_statements import BY_TABLE, SEVERAL, by_launches, contradiction, right_share
from turns import kept, taken, write_page

from haloscope.analysis.context import Context
from haloscope.analysis.dossier import open_folder
from haloscope.analysis.validation.predictions import PredictedCell
from haloscope.analysis.validation.statements import counts
from haloscope.findings.sentences import sentence
from haloscope.predict import paper_validation
from haloscope.quantities import count, listed
from haloscope.report.draw.markdown import pipes
from haloscope.run.progress import Teller
from haloscope.topics import tables
from haloscope.topics.mapping import findings as mapping


def table(title: str, source: str, cells: list[PredictedCell]) -> list[str]:
    """A section: ratios to the time on other nodes of the same job."""
    if failed := [cell.problem for cell in cells if cell.predicted is None]:
        sys.exit(f"not simulated: {failed[0]}")
    lines = [f"## {title}", "", f"{taken()} {source}", ""]
    lines += ["| nodes | relative to | published | simulated | error |", "|---|---|---|---|---|"]
    for cell in cells:
        nodes, over = cell.keys["nodes"], cell.keys["over"]
        figures = f"{cell.published:.2f} | {cell.predicted:.2f} | {cell.error:+.0%}"
        lines.append(f"| {nodes} | {over} | {figures} |")
    return [*lines, ""]


PAPER, STATEMENTS = "task-mapping-drop", "statements"
HOW = "\n".join(
    [
        "Each section contains the date of its results. All times marked ‡ are simulated. They are "
        "deterministic and therefore have no interval.",
        "",
        "Three kernels represent the programs of the paper: a step of md_pppm represents a step "
        "of LAMMPS, a transform of fft_pencil represents a transform of bigFFT, and a solve of "
        "fe_heat represents a run of miniFE. The paper does not state the number of steps in a "
        "run.",
        "",
        "| term in the tables | meaning |",
        "|---|---|",
        "| steps in a run | the published time of a run divided by the simulated time per step |",
        "| concentrated | tasks on the smallest number of nodes that was simulated with this "
        "number of tasks |",
        "| distributed | tasks on the largest number of nodes that was simulated with this "
        "number of tasks |",
        "| intermediate | tasks on a number of nodes between those of "
        "concentrated and distributed |",
        "| reference | the run with the fewest tasks on one node; 'work per task' is relative to "
        "this run |",
        "| / fewest nodes | time relative to the run on the fewest nodes |",
        "",
        "These layouts use block mapping, and the ranks of a node are distributed across its "
        "cores. Published values are the run times of the original programs: from table 5 of the "
        "paper for one node, and otherwise from its section 6 and table 6. The paper does not "
        "specify the reference of its percentages. They are interpreted as relative to the "
        "shorter time.",
    ]
)
"""HOW explains all tables; their own notes repeat it and are not on the page."""
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
        f"{one['tasks']} tasks on {one['nodes']} nodes"
        for one in layouts
        if (one["tasks"], one["nodes"]) not in done
    ]
    tasks = sorted({case.ranks for case in good})
    lines = [f"## {dossier.title}, {machine.get('host')}", "", taken(), ""]
    lines += [f"The jobs have {listed([*map(str, tasks)])} tasks.", ""]
    if lacking:
        lines += [
            f"For lack of time, some cases were not simulated: {listed(lacking)}.",
            "",
        ]
    for kind in SHOWN:
        for table in tables.build(kind, dossier.cases, context):
            lines += [f"### {table.title}", "", *pipes(table), ""]
    found = [
        sentence(one)
        for find_ in (mapping.mappings, mapping.weak)
        for one in find_(dossier.cases, context)
    ]
    return [*lines, *(f"- {text}" for text in found), ""]


def statements(tell: Teller, launches: int) -> list[str]:
    """Every statement of the paper, and what its simulation says: one launch, and several."""
    done = [*by_launches(PAPER, tell, launches)]
    lines = [
        "## Statements, simulated",
        "",
        f"{taken()} The table is from `haloscope validate {PAPER}`.",
        "",
    ]
    lines += [*chain(*((note, "") for note in done[-1].notes))]
    for one in done:
        found = counts(one.found)[BY_TABLE]
        total = listed([f"{number} {name}" for name, number in found.items()])
        share = f"{right_share(found):.0%} of the decided statements are right"
        launched = count(one.launches, "launch", "launches")
        lines.append(f"- Statements scored with {launched}: {total}; {share}.")
    names = " | ".join(f"verdict with {count(one.launches, 'launch', 'launches')}" for one in done)
    lines += [
        "",
        f"| statement | place in the paper | {names} | first value that contradicts it, or reason "
        "for no verdict |",
    ]
    lines += [f"|---|---|{'---|' * len(done)}---|"]
    for same in zip(*(one.found for one in done), strict=True):
        last = same[-1]
        failed = last.simulated.examples[:1] if last.simulated else ()
        why = last.undecided or contradiction("".join(failed))
        scores = " | ".join(one.score for one in same)
        lines.append(f"| {last.statement.says} | {last.statement.place} | {scores} | {why} |")
    return [*lines, ""]


def main() -> None:
    """Run what is asked for, write docs/bench/task-mapping.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "tasks", nargs="*", choices=["16", "2048", STATEMENTS, []], help="of table 6"
    )
    parser.add_argument("--study", type=Path, nargs="+", default=[], metavar="DIR")
    parser.add_argument("--launches", type=int, default=SEVERAL, help="beside other jobs")
    given = parser.parse_args()
    asked = given.tasks or ([] if given.study else ["16", "2048"])
    (published,) = paper_validation.tables_of(PAPER, ["6"])
    cells: list[PredictedCell] = []
    tell, sections = Teller(Console(stderr=True)), kept("task-mapping")
    for folder in given.study:
        lines = study(folder)
        sections[lines[0]] = lines
    if STATEMENTS in asked:
        asked = [name for name in asked if name != STATEMENTS]
        lines = statements(tell, given.launches)
        sections[lines[0]] = lines
    if asked:
        cells = paper_validation.validate(published, tell)
    for name in asked:
        own = [cell for cell in cells if str(cell.keys["ranks"]) == name]
        *_, source = paper_validation.said(published)
        lines = table(f"{name} tasks, predicted", source, own)
        sections[lines[0]] = lines
    page = [*chain(*sections.values())]
    write_page("task-mapping", "Task-mapping paper, simulated", page, HOW)


if __name__ == "__main__":
    main()
