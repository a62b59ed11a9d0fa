# SPDX-License-Identifier: BSD-3-Clause
"""Execution of haloscope once, after its arguments are parsed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haloscope.commands import options
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, an_integer, nearest, reject
from haloscope.host import machine
from haloscope.outputs.printed import KERNEL, PRINTERS
from haloscope.quantities import count
from haloscope.records.record import Record
from haloscope.report.record_view import record_view
from haloscope.run.campaign import preparing
from haloscope.run.places import Place, Runner, places
from haloscope.run.places.here import Here
from haloscope.run.prepare import halobench, kernels, workbench
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.progress import Teller
from haloscope.study.case import Launch
from haloscope.study.expansion import expand
from haloscope.study.plan import Plan, no_kernel, nothing_runs
from haloscope.study.schema import LayoutAxes, Run, Study
from haloscope.study.values import (
    ALL,
    COUNT_LIMIT,
    DEFAULT,
    LAUNCHES_LIMIT,
    NODE_LIMIT,
    TIME_LIMIT_S,
)


def execute(arguments: argparse.Namespace, since: machine.Used | None) -> int:
    """Run the case and show its record; return the exit code.

    since: processor time used when the command began.
    """
    reject(options.misplaced(arguments, places.facts(arguments.on)), _unusable(arguments))
    tell = Teller(Screen(stderr=True))
    place = places.place(arguments.on, Path(arguments.keep) if arguments.keep else None)
    if isinstance(place, Here):
        place = replace(place, since=since)
    if site := place.jobs_at:
        _ = site.allocation  # raises outside a job, before anything is built
    requested = {"--toolchain": [arguments.toolchain] if arguments.toolchain else None}
    programs = kernels.load([arguments.kernel], arguments.programs)

    def planned(bench: Workbench) -> Plan:
        return _planned(arguments, place, bench)

    ready = preparing.prepared(place, requested, programs, planned, tell)
    bench, (case,) = ready.bench, ready.plan.cases
    case = replace(case, launches=arguments.replicates or 1)
    (case,), seen = place.probed([case], bench)
    runner = place.runner("once", workbench.new_seed(), bench, seen)
    launches = arguments.replicates or arguments.launches
    todo = [Launch(case, number) for number in range(launches)]
    records = _records(runner, todo, tell)
    if arguments.json:
        for record in records:
            print(json.dumps(record))
    elif arguments.printed_as and all(record["outcome"] == "ok" for record in records):
        for one in map(Record.of, records):
            print("\n".join(PRINTERS[arguments.printed_as](one)))
    else:
        given = [word.partition("=")[0] for word in arguments.params]
        _show([Record.of(record) for record in records], Screen(), given, whole=arguments.all)
    return 0 if all(record["outcome"] == "ok" for record in records) else 1


def _records(runner: Runner, todo: Sequence[Launch], tell: Teller) -> list[dict[str, Any]]:
    """Run launches; a terminal shows their progress."""
    if not tell.console.is_interactive:
        return list(runner.run(todo))
    from haloscope.run.run_view import RunView  # loads rich's progress bars

    records = []
    with RunView(tell.console, todo, {}) as view:
        for record in runner.run(view.watch(todo)):
            view.ended(todo[record["launch"]], record)
            records.append(record)
    return records


def _show(
    records: Sequence[Record], out: Screen, given: Sequence[str] = (), *, whole: bool = False
) -> None:
    bad = [record for record in records if record.outcome != "ok"]
    shown = (bad or records)[-1]
    if len(records) > 1:
        out.print(f"launch {shown.launch + 1} of {len(records)}; summary at the end")
    out.print(record_view(shown, given, whole=whole))
    if len(records) > 1 or any(record.timeline for record in records):
        # a single launch is shown without the libraries for fits and drawings
        from haloscope.commands.measuring.launched import show

        show(records, out)


def _unusable(arguments: argparse.Namespace) -> Iterator[Problem]:
    if arguments.kernel not in (known := kernels.names(arguments.programs)):
        yield no_kernel("once", arguments.kernel, known)
    yield from options.wrong_params(arguments)
    if arguments.printed_as and arguments.kernel != KERNEL:
        lacking = f"{arguments.kernel} has no table in this format"
        yield Problem(f"--as {arguments.printed_as}", lacking, f"use it with the kernel {KERNEL}")
    given = {option: getattr(arguments, option) for option in _LIMITS}
    wrong = {
        option: number
        for option, number in given.items()
        if number is not None and not SMALLEST <= number <= _LIMITS[option]
    }
    for option, number in wrong.items():
        most = _LIMITS[option]
        remedy = an_integer(1, int(most))
        if option == "timeout":
            remedy = f"give a number of seconds above 0 and at most {most:,.0f}"
        yield Problem(f"--{option} {number}", "out of range", remedy)
    if not wrong and given["ranks"]:
        yield from _uneven(given["ranks"], given["nodes"], given["ppn"])
    if arguments.placement not in (None, *machine.PLACEMENTS):
        remedy = nearest(arguments.placement, machine.PLACEMENTS)
        where = f"--placement {arguments.placement}"
        yield Problem(where, "unknown placement", remedy)
    if arguments.transport == ALL:
        remedy = "give one transport; to list all: haloscope toolchain list"
        yield Problem("--transport all", "supported only in a study", remedy)


def _uneven(ranks: int, nodes: int, ppn: int | None) -> Iterator[Problem]:
    if ranks % nodes:
        what = f"cannot be divided evenly among {nodes} nodes"
        yield Problem(f"--ranks {ranks}", what, f"give a multiple of {nodes}")
    elif ppn and ranks != ppn * nodes:
        what = f"does not match --ppn {ppn} on {count(nodes, 'node')}"
        yield Problem(f"--ranks {ranks}", what, "remove --ranks or --ppn")


_LIMITS = {
    "ranks": COUNT_LIMIT,
    "nodes": COUNT_LIMIT,
    "ppn": NODE_LIMIT,
    "threads": NODE_LIMIT,
    "timeout": TIME_LIMIT_S,
    "launches": LAUNCHES_LIMIT,
}
SMALLEST = 1e-6
_OPTIONS = {
    "": "once",
    "layout": "--ranks, --ppn, --nodes, --threads",
    "layout.nodes": "--nodes",
    "layout.placement": "--placement",
    "transports": "--transport",
}


def _planned(arguments: argparse.Namespace, place: Place, bench: Workbench) -> Plan:
    run = _run(arguments)
    # not validated: the options were, and pydantic would first build its validators, for 15 ms
    study = Study.model_construct(title="once", timeout_s=arguments.timeout, runs=[run])
    site = place.site(bench, oversubscribe=arguments.oversubscribe)
    plan = expand(study, site, bench.program, lambda _, key: _OPTIONS.get(key, key), words=True)
    problems = [*bench.problems, *plan.problems, *site.replicates(arguments.replicates)]
    reject(problems or nothing_runs(plan, site, "once"))
    return plan


def _run(arguments: argparse.Namespace) -> Run:
    """Return the run of the study; in another benchmark's format, with one repetition."""
    pairs = [argument.partition("=") for argument in arguments.params]
    if arguments.printed_as:
        pairs = [("mode", "=", arguments.printed_as), ("repetitions", "=", "1"), *pairs]
    return Run.model_construct(
        kernel=arguments.kernel,
        params={key: [value] for key, _, value in pairs},
        layout=_layout(arguments),
        toolchains=[arguments.toolchain] if arguments.toolchain else None,
        transports=[arguments.transport or DEFAULT],
        skip_too_large=False,
        execute=arguments.arithmetic,
    )


def _layout(arguments: argparse.Namespace) -> LayoutAxes:
    if arguments.placement:
        return LayoutAxes.model_construct(placement=[arguments.placement])
    nodes, kernel = arguments.nodes, arguments.kernel
    least = halobench.describe(kernel).least_ranks if kernel in halobench.names() else 1
    ppn = arguments.ppn or (arguments.ranks // nodes if arguments.ranks else -(-least // nodes))
    return LayoutAxes.model_construct(
        nodes=[nodes],
        ppn=[ppn],
        threads=[arguments.threads],
        bind=[arguments.bind],
        thread_bind=[arguments.thread_bind],
    )
