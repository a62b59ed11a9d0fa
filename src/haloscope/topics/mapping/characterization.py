# SPDX-License-Identifier: BSD-3-Clause
"""The characterization map: few or many nodes, by data per task and number of tasks.

Source: the task-mapping paper, figure 14, which draws such a map without numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import contrasts, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.quantities import number, size
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark, around_one, counts
from haloscope.topics.common.making import made
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.mapping import AXES, loads, named

PACK, SPREAD, NEITHER = "pack", "spread", "neither"


@dataclass(frozen=True)
class Choice:
    """Tasks with the same data each: the fastest case on the fewest nodes, and on more nodes.

    ratio: time on the fewest nodes over that on more; above 1 if spreading is faster. band: error
    of a simulated ratio, as a factor.
    """

    packed: MeasuredCase
    spread: MeasuredCase
    ratio: float
    wins: str
    band: float | None = None


@dataclass(frozen=True)
class Map:
    """Choices of a kernel, by data per task in bytes and number of tasks."""

    part: Facet
    choices: Mapping[tuple[float, int], Choice]

    @property
    def cases(self) -> list[MeasuredCase]:
        """Return the cases of all choices."""
        return [case for one in self.choices.values() for case in (one.packed, one.spread)]

    @property
    def loads(self) -> list[float]:
        """Return the bytes per task, ascending."""
        return sorted({load for load, _ in self.choices})

    @property
    def tasks(self) -> list[int]:
        """Return the numbers of tasks."""
        return sorted({tasks for _, tasks in self.choices})


def maps(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Map]:
    """Return a map of each kernel and of all settings except sizes, tasks, nodes, and mappings."""
    given = [case for case in cases if case.settings.get("tasks") and case.time]
    parts = [
        part
        for own in grouped(given, lambda case: case.kernel).values()
        for part in facets(own, (*AXES, "topology", "threads"))
    ]
    return [one for part in parts if len((one := _map(part, seed)).choices) > 1]


def _map(part: Facet, seed: int) -> Map:
    known = {case: load for case, load in loads(part.cases).items() if load is not None}
    places = grouped(known, lambda case: (known[case], case.ranks))
    found = {place: choice for place, own in places.items() if (choice := _choice(own, seed))}
    return Map(part, dict(sorted(found.items())))


def _choice(own: Sequence[MeasuredCase], seed: int) -> Choice | None:
    """Return the choice; None if all cases use the same number of nodes."""
    fewest = min(case.layout.nodes for case in own)
    packed = min((c for c in own if c.layout.nodes == fewest), key=lambda case: case.time_s)
    more = [case for case in own if case.layout.nodes > fewest]
    if not more:
        return None
    spread = min(more, key=lambda case: case.time_s)
    ratio = packed.time_s / spread.time_s
    wins = SPREAD if ratio > 1 else PACK
    (contrast,) = contrasts([(step(packed), step(spread))], seed)
    apart = contrast.verdict in ("faster", "slower")
    band = contrast.ratio.band if contrast.ratio else None
    return Choice(packed, spread, ratio, wins if apart else NEITHER, band)


def tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Comparison of few and many nodes, by data per task and number of tasks."""
    return [_table(one, context, index) for index, one in enumerate(maps(cases, context.seed), 1)]


def _table(one: Map, context: Context, index: int) -> Table:
    notebook = Notebook(one.cases, context.all_cases)
    notebook.note(
        "pack: the fewest nodes are faster; spread: more nodes are, with the ratio of times.",
        "node-h: node-hours of spread / those of the fewest nodes.",
        "neither: within the simulation error, or no significant difference.",
    )
    keys = ("ratio", "packed_nodes", "spread_nodes", "packed_s", "spread_s", "node_hours")
    columns = [
        Column("data_bytes", "data per task", align="left"),
        *(
            Column(f"tasks_{tasks}_{key}", f"{tasks} tasks", only_csv=key != "ratio")
            for tasks in one.tasks
            for key in keys
        ),
    ]
    rows = []
    for load in one.loads:
        cells = [label(size(load), load)]
        for tasks in one.tasks:
            choice = one.choices.get((load, tasks))
            cells += _cells(choice, notebook) if choice else [missing() for _ in keys]
        rows.append(tuple(cells))
    return notebook.table(
        "characterization",
        context.title("Few or many nodes, by data and tasks", named(one.part)),
        columns,
        rows,
        id=f"characterization-{index}",
    )


def _cells(one: Choice, notebook: Notebook) -> list[Cell]:
    """Return the faster alternative and its ratio; for programs both times and the cost of
    spreading.
    """
    few, many = one.packed.layout.nodes, one.spread.layout.nodes
    factor = number(max(one.ratio, 1 / one.ratio))
    cost = many / few / one.ratio
    nodes = f"{few} or {many} nodes"
    text = f"{one.wins} {factor}× ({nodes})"
    if one.wins == SPREAD:
        text = f"{one.wins} {factor}× ({nodes}; {number(cost)}× node-h)"
    shown = Cell(one.ratio, text, tone="good" if one.wins == SPREAD else "")
    return [
        notebook.derived(shown, one.spread),
        plain(few),
        plain(many),
        plain(one.packed.time_s),
        plain(one.spread.time_s),
        plain(cost),
    ]


def figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """What spreading tasks gains, by their number: a panel for each kernel, a curve for each load.

    One figure of every map with several loads.
    """
    found = [one for one in maps(cases, context.seed) if len(one.loads) > 1]
    if not found:
        return
    panels = [_panel(index, one) for index, one in enumerate(found)]
    note = "Above 1, more nodes are faster; below 1, the fewest are."
    yield Figure(
        kind="characterization",
        title=context.title("Gain from more nodes, by data and tasks"),
        panels=tuple(panels),
        alt="Time on the fewest nodes / time on more nodes. " + " ".join(map(_in_words, panels)),
        notes=(note,),
    )


def _panel(index: int, one: Map) -> Lines:
    curves = [
        Curve(
            f"{size(load)} per task",
            tuple(
                Mark(tasks, choice.ratio, band=choice.band)
                for (own, tasks), choice in one.choices.items()
                if own == load
            ),
            style=style,
        )
        for style, load in enumerate(one.loads)
    ]
    ratios = [choice.ratio for choice in one.choices.values()]
    return Lines(
        f"characterization-{index}",
        named(one.part),
        Axis("tasks", "log2", counts(one.tasks)),
        around_one("gain from more nodes", [*ratios, 1.0]),
        tuple(curves),
    )


def _in_words(panel: Lines) -> str:
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves]
    values = "; ".join(f"{name}: {number(mark.y)} with {mark.x:g} tasks" for name, mark in last)
    return f"{panel.title}: {values}."


def findings(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield for each map with several loads in how many places packing or spreading is faster."""
    for one in maps(cases, context.seed):
        if len(one.loads) < 2:
            continue
        parts = []
        for wins, verdict in (
            (SPREAD, Verdict.FASTER),
            (PACK, Verdict.SLOWER),
            (NEITHER, Verdict.NO_DIFFERENCE),
        ):
            own = [choice for choice in one.choices.values() if choice.wins == wins]
            if own:
                parts.append(_claim(own, verdict))
        yield made(
            context,
            one.cases,
            f"Few or many nodes, {named(one.part)}",
            FindingShape.COMPARISON,
            parts,
            topic="mapping",
            metric=Metric("time of a step"),
            of=len(one.choices),
            but=(*PROCESSES, "tasks", "mapping", "mapping_seed", "topology", "threads"),
        )


def _claim(own: Sequence[Choice], verdict: Verdict) -> Claim:
    most = max(own, key=lambda one: max(one.ratio, 1 / one.ratio))
    ratio = Ratio.over([Estimate.alone(one.ratio) for one in own], {"tasks": most.packed.ranks})
    return Claim(
        {"pattern": "a larger number of nodes"},
        {"pattern": "the fewest nodes"},
        count=len(own),
        ratio=None if verdict is Verdict.NO_DIFFERENCE else ratio,
        verdict=verdict,
    )
