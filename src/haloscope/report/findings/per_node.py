# SPDX-License-Identifier: BSD-3-Clause
"""How many processes on each node solve a mesh fastest, mesh by mesh, on few nodes and on many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.races import Race, races
from haloscope.quantities import listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, on_steps, place

ORDER = 79
ANSWERS = ("walltime_grid",)
AXES = ("n", "nodes", "ppn")

_Field = dict[int, MeasuredCase]
"""Cases of one mesh on as many nodes, by processes per node."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of threads alone, and of one number of nodes, nothing; of several settings the fastest.

    The setting that solves the largest mesh on the most nodes in the least time is it.
    """
    solved = [
        case
        for case in cases
        if case.kernel == "poisson_cg" and case.time and case.number("threads") == 1
    ]
    parts = [(part, own) for part in facets(solved, AXES) if len(_nodes(own := _fields(part))) > 1]
    if not parts:
        return
    part, fields = min(parts, key=lambda pair: _rank(pair[1]))
    keys = list(fields)
    measured = {
        float(index): {ppn: step(case) for ppn, case in fields[key].items()}
        for index, key in enumerate(keys)
    }
    found = {keys[int(race.at)]: race for race in races(measured, context.seed)}
    meshes = [
        f"N = {n} {_by_nodes({at[1]: race for at, race in found.items() if at[0] == n})}"
        for n in sorted({n for n, _ in found})
    ]
    every = [case for field in fields.values() for case in field.values()]
    label = f" ({part.label})" if part.label else ""
    where = f"{label}{place(every[0])}{few(*every)}"
    top = max(found)
    best = fields[top][found[top].best]
    but = on_steps([(f"N = {top[0]} with {best.ranks:,} processes", best)], context.machine)
    yield Finding(f"Fastest by processes per node{where}: {'; '.join(meshes)}{but}.")


def _fields(part: Facet) -> dict[tuple[int, int], _Field]:
    """By mesh and nodes: where several numbers of processes per node were timed."""
    found: dict[tuple[int, int], _Field] = {}
    for case in sorted(part.cases, key=lambda case: case.number("ppn")):
        key = (case.number("n"), case.number("nodes"))
        found.setdefault(key, {})[case.number("ppn")] = case
    return {key: field for key, field in sorted(found.items()) if len(field) > 1}


def _nodes(fields: Mapping[tuple[int, int], _Field]) -> set[int]:
    return {nodes for _, nodes in fields}


def _rank(fields: Mapping[tuple[int, int], _Field]) -> tuple[int, int, float]:
    """Settings by the largest mesh, the most nodes, and the least time: the first is told."""
    n, nodes = max(fields)
    return -n, -nodes, min(case.time_s for case in fields[n, nodes].values())


def _by_nodes(of_mesh: Mapping[int, Race[int]]) -> str:
    """ "with 48 on 1 and 4 nodes and with 32 on 8 nodes"."""
    words: dict[str, list[str]] = {}
    for nodes, race in of_mesh.items():
        words.setdefault(_winner(race), []).append(str(nodes))
    return listed([
        f"{with_} on {listed(nodes)} node{'s' if nodes != ['1'] else ''}"
        for with_, nodes in words.items()
    ])  # fmt: skip


def _winner(race: Race[int]) -> str:
    """The fastest, those that are as fast, or the lowest median, where that shows nothing."""
    first = sorted(race.first)
    if len(first) == 1:
        return f"with {first[0]}"
    if race.tied:
        return f"with {' or '.join(map(str, first))} alike"
    return f"with none that is shown to be (lowest median: {race.best})"
