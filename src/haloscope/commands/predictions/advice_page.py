# SPDX-License-Identifier: BSD-3-Clause
"""The report of `advise`: layouts by time and node-hours, and what to request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haloscope.advice import requests
from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import Advice, Goal, Option, Sureness
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.quantities import SECONDS, count, node_time, number, quantity, size
from haloscope.report import writing
from haloscope.report.document import Document, Section
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings
from haloscope.topics import arranged
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark, second_ticks
from haloscope.topics.common.notebook import spread_text
from haloscope.topics.common.table import NODE_TIME, Cell, Column, Table, label, plain

_VERDICTS = {Sureness.NO_DIFFERENCE: Verdict.NO_DIFFERENCE, Sureness.POSSIBLE: Verdict.UNDECIDED}


@dataclass(frozen=True)
class AdviceFacts:
    """Facts on the page besides the layouts. how: where they were simulated or measured.

    simulated: layouts simulated before others were measured. sockets: per node, if known.
    """

    command: str
    what: str
    how: str
    sureness: str
    not_compared: Sequence[str]
    simulated: Sequence[Option] = ()
    sockets: int | None = None


def write(result: Advice, facts: AdviceFacts, directory: Path) -> Path:
    """Write the page, its figure, and its tables; return the page's path."""
    return writing.write(document(result, facts), directory, ("html", "csv"))


def _compared(layouts: int) -> str:
    return f"{count(layouts, 'layout')} {'was' if layouts == 1 else 'were'} compared"


def document(result: Advice, facts: AdviceFacts) -> Document:
    """Return the page as data."""
    tables = [layouts(result, result.options, "layouts", "Layouts")]
    if facts.simulated:
        title = "Layouts, simulated before"
        tables.append(layouts(result, facts.simulated, "simulated", title))
    figure = _figure(result, facts)
    drawn = (figure,) if figure.shows_enough else ()
    request = _request(result.advised.candidate, facts.sockets)
    return Document(
        title=f"Advice: {facts.what}",
        summary=f"{_compared(len(result.options))} ({facts.how}). {facts.sureness}",
        findings=tuple(arranged([*_findings(result)], 1)),
        sections=(
            Section("request", "Request", (), (request,), unfolded=True),
            Section("advice", "Time and node-hours", drawn, tuple(tables), first_table=2),
        ),
        left_out=tuple(f"Not compared: {line}." for line in facts.not_compared),
        machine=(),
        toolchains=(),
        method=(
            "A layout is Pareto-optimal if no other layout is both faster and cheaper in "
            "node-hours.",
            "The default layout fills as few nodes as possible, in order, with one thread per "
            "task.",
        ),
        provenance=(("command", facts.command),),
    )


def _request(one: Candidate, sockets: int | None) -> Table:
    lines = [
        *(("job script", line) for line in (*requests.sbatch(one), requests.environment(one))),
        *requests.launchers(one, sockets).items(),
    ]
    return Table(
        id="request",
        kind="advice",
        title="Request",
        columns=(
            Column("launcher", "launcher", align="left"),
            Column("line", "line to paste", align="left"),
        ),
        rows=tuple((label(where), plain(line)) for where, line in lines),
        notes=(
            "The job creates the files named in these lines with request.script of advice.json.",
            "MPICH and Intel MPI fill nodes in order: reorder the ranks with MPI_Comm_split and "
            f"the keys in {requests.ORDER_FILE}.",
        )
        if requests.script(one)
        else (),
    )


def _findings(result: Advice) -> list[Finding]:
    advised, usual = result.advised, result.default
    metric = Metric("time of a step" if result.goal is Goal.TIME else "node-hours of a step")
    cost = usual.node_seconds / advised.node_seconds
    other = Ratio.of(Estimate.alone(cost))
    by_time = advised is not usual and result.goal is Goal.TIME
    band = result.band.factor if result.band else None
    claim = Claim(
        {**_settings(advised), **({"choice": _DEFAULT} if advised is usual else {})},
        {"choice": _DEFAULT, **_settings(usual)} if by_time else {},
        estimate=advised.time,
        ratio=Ratio.of(replace(result.gain, band=band)) if by_time else None,
        node_s=advised.node_seconds,
        node_hours=other if by_time and advised.candidate.nodes != usual.candidate.nodes else None,
        verdict=_VERDICTS.get(result.verdict, Verdict.FASTER),
    )
    unsure = (Caveat.NOT_VALIDATED,) if result.verdict is Sureness.NOT_VALIDATED else ()
    found = [
        Finding(
            "Layout to request",
            FindingShape.REQUEST,
            (claim,),
            metric,
            "advice",
            caveats=unsure,
            kind="layout",
        )
    ]
    parts = tuple(
        Claim(_settings(one), estimate=one.time, node_s=one.node_seconds)
        for one in result.front
        if one is not advised
    )
    if parts:
        question = "Other Pareto-optimal layouts"
        shape, metric = FindingShape.VALUE, Metric("time")
        found.append(Finding(question, shape, parts, metric, "advice", kind="others"))
    return found


_DEFAULT = "the default"


def _settings(one: Option) -> Settings:
    """Return the layout, without a mapping on one node."""
    layout = {name: getattr(one.candidate, name) for name in ("nodes", "ppn", "threads")}
    mapped = one.candidate.mapped
    return {**layout, **({"mapping": mapped} if mapped else {})}


def _figure(result: Advice, facts: AdviceFacts) -> Figure:
    band, several = result.band, len(result.front) > 1
    named = (result.advised, result.default)
    others = [one for one in result.options if one not in (*named, *result.front)]
    line = tuple(Mark(one.node_seconds, one.seconds, None, None) for one in reversed(result.front))
    curves = [
        Curve("Pareto front", line if several else (), model=True, style=0),
        Curve("Pareto-optimal", _marks(result.front, but=named), joined=False, style=0),
        Curve("others", _marks(others), joined=False, style=7),
        Curve("default", _marks([result.default]), joined=False, style=1),
    ]
    if result.advised is not result.default:
        advised = _marks([result.advised])
        curves.append(Curve("advised", advised, joined=False, style=2))
    costs = [one.node_seconds for one in result.options]
    times = [one.seconds for one in result.options]
    usual = result.default.seconds
    alike = ((usual / band.factor, usual * band.factor),) if band else ()
    notes = ["Layouts further to the lower left are better."]
    notes += ["The line shows the Pareto front."] * several
    if band is not None:
        notes.append(
            "In the shaded area, times differ from that of the default layout by at most the "
            f"simulation error (a factor of {number(band.factor)})."
        )
    else:
        notes.append("Bars show the confidence interval of the median over launches.")
    return Figure(
        kind="advice",
        title="Time and node-hours per step",
        panels=(
            Lines(
                "advice",
                "",
                Axis("nodes × time of a step", "log", second_ticks(costs)),
                Axis("time of a step", "log", second_ticks(times)),
                tuple(curve for curve in curves if curve.marks),
                bands=alike,
            ),
        ),
        alt=f"{facts.what}: {count(len(result.options), 'layout')}. Advised: "
        f"{result.advised.candidate}.",
        notes=tuple(notes),
    )


def _marks(options: Sequence[Option], but: Sequence[Option] = ()) -> tuple[Mark, ...]:
    return tuple(
        Mark(one.node_seconds, one.seconds, one.time.low, one.time.high)
        for one in options
        if one not in but
    )


def layouts(result: Advice, options: Sequence[Option], name: str, title: str) -> Table:
    """Return a table of layouts with their times and costs."""
    words = {result.advised: "advised", result.default: "default"}
    if result.advised is result.default:
        words = {result.default: "advised, the default"}
    front = {one.candidate for one in result.front} if name == "layouts" else set()
    by_candidate = {one.candidate: word for one, word in words.items()}
    counted = any(one.load for one in options)
    rows: list[tuple[Cell, ...]] = [
        (
            label(str(one.candidate.nodes), one.candidate.nodes),
            plain(one.candidate.ppn),
            plain(one.candidate.threads),
            plain(one.candidate.mapped),
            Cell(
                one.seconds,
                quantity(one.seconds, SECONDS),
                one.time.low,
                one.time.high,
                spread_text(one.time, SECONDS),
            ),
            plain(one.node_seconds, node_time(one.node_seconds)),
            plain(
                result.default.seconds / one.seconds,
                f"{number(result.default.seconds / one.seconds)} ×",
            ),
            plain(
                ", ".join(
                    [
                        *filter(None, [by_candidate.get(one.candidate)]),
                        *["Pareto-optimal"] * (one.candidate in front),
                    ]
                )
            ),
            *(_traffic(one) if counted else ()),
        )
        for one in options
    ]
    return Table(
        id=name,
        kind="advice",
        title=title,
        columns=(
            Column("nodes", "nodes", align="left"),
            Column("ppn", "tasks per node"),
            Column("threads", "threads"),
            Column("mapping", "mapping", align="left"),
            Column("time_s", "step"),
            NODE_TIME,
            Column("speedup", "default / step"),
            Column("is", "", align="left"),
            *(_TRAFFIC if counted else ()),
        ),
        rows=tuple(rows),
    )


_TRAFFIC = (
    Column("between_nodes", "between nodes"),
    Column("byte_hops", "bytes × links"),
    Column("busiest_link", "busiest link"),
)


def _traffic(one: Option) -> tuple[Cell, ...]:
    """Return the network load of its mapping; nothing on one node."""
    if one.load is None or one.candidate.nodes == 1:
        return (plain(""),) * len(_TRAFFIC)
    numbers = (one.load.between_nodes, one.load.byte_hops, one.load.busiest_link)
    return tuple(plain(number, size(number)) for number in numbers)
