# SPDX-License-Identifier: BSD-3-Clause
"""Simulated clusters: errors against published wall times, and what a simulation costs.

usage: .venv/bin/python bench/simulation.py [SECTION ...]; a table, orfeo, cases, dynamics, heat
       .venv/bin/python bench/simulation.py summary    all papers: errors, layouts, statements.
           What was simulated is kept: if it was interrupted, run it again
       .venv/bin/python bench/simulation.py "statements PAPER"    what a paper says, scored
           with --from DIR, repeatable: on cases of a run of task-mapping-NAME --on CLUSTER
       .venv/bin/python bench/simulation.py others [--from DIR]   a network that others use
       .venv/bin/python bench/simulation.py local --from DIR     of a run of validate-local
       .venv/bin/python bench/simulation.py causes      errors by structure, before and now
       SIMGRID_ROOT=PREFIX .venv/bin/python bench/simulation.py cases     with another SimGrid
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from simulated_causes import causes
from simulated_costs import cases, dynamics, heat
from simulated_here import TITLE, local
from simulated_others import others
from simulated_statements import SEVERAL, statements, summary
from simulated_tables import TABLES, orfeo, table
from turns import kept, write_page

from haloscope.clusters.file import find
from haloscope.papers.tables import list_papers
from haloscope.paths import cache_path

CASES, DYNAMICS, HEAT, ORFEO = "cases", "dynamics", "heat", "orfeo"
STATEMENTS, OTHERS, SUMMARY, CAUSES = "statements", "others", "summary", "causes"
LOCAL = "local"
HOW = "\n".join(
    [
        "Each section contains the date of its results. The tables use these terms:",
        "",
        "| term | meaning |",
        "|---|---|",
        "| error | simulated time of a table cell divided by its published time, minus 1 |",
        "| only predicted | no number in a cluster file was derived from the cell; otherwise, "
        "the cell 'set a number' |",
        "| naive guess | published time on one node divided by the number of nodes |",
        "| skill | 1 - error / error of the naive guess ([trust](../trust.md)): 1 is perfect, "
        "and 0 is as good as the naive guess |",
    ]
)


def section(
    name: str,
    folders: Sequence[Path],
    sections: Mapping[str, Sequence[str]],
    launches: int,
) -> list[str]:
    """One section's lines. sections: those on the page."""
    if name == CAUSES:
        return causes()
    if name == LOCAL:
        return local(folders[0], sections.get(TITLE, []))
    if name.startswith(STATEMENTS):
        return statements(name.removeprefix(f"{STATEMENTS} "), folders, launches)
    if name == OTHERS:
        return others(folders)
    if name == SUMMARY:
        return summary(launches)
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
    names = [*TABLES, ORFEO, CASES, DYNAMICS, HEAT, OTHERS, CAUSES, SUMMARY]
    names += [f"{STATEMENTS} {paper.id}" for paper in list_papers()]
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="; ".join([*names, LOCAL]))
    parser.add_argument(
        "--from", type=Path, dest="folders", action="append", default=[], help="result folders"
    )
    parser.add_argument("--launches", type=int, default=SEVERAL, help="beside other jobs")
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
            if name.startswith((STATEMENTS, OTHERS, SUMMARY, CAUSES)):  # nothing of them is timed
                os.environ.pop("HALOSCOPE_CACHE", None)
            else:
                os.environ["HALOSCOPE_CACHE"] = empty  # what was simulated before is not found
            lines = section(name, given.folders, sections, given.launches)
            sections[lines[0]] = lines
            if name == SUMMARY:
                sections = {lines[0]: lines, **sections}
            page = [*chain(*sections.values())]
            write_page("simulation", "Simulated clusters", page, HOW)


if __name__ == "__main__":
    main()
