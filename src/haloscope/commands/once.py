# SPDX-License-Identifier: BSD-3-Clause
"""haloscope once: one case, right now."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from haloscope.commands import placeoptions
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, nearest, out_of
from haloscope.host import machine
from haloscope.outputs.printing import KERNEL, PRINTERS
from haloscope.quantities import count
from haloscope.records.record import Record
from haloscope.report.record_view import record_view
from haloscope.run import halobench, kernels, places, preparing, workbench
from haloscope.run.place import Place
from haloscope.run.progress import Teller
from haloscope.run.workbench import Workbench
from haloscope.study.case import Launch
from haloscope.study.expansion import expand
from haloscope.study.plan import Plan, no_kernel, nothing_runs
from haloscope.study.schema import (
    ALL,
    COUNT_LIMIT,
    DEFAULT,
    LAUNCHES_LIMIT,
    NODE_LIMIT,
    TIME_LIMIT_S,
    LayoutAxes,
    Run,
    Study,
)
from haloscope.toolchains.job import BINDS, THREAD_BINDS

_DESCRIPTION = (
    "Run one case now, on this machine or on a simulated cluster. Print its result, its time, "
    "and the time of each phase. --all also prints every parameter, the work, the memory, and "
    "the placement. No record is kept. With --launches, the median over launches is printed as "
    "well, with a confidence interval from 6 launches on. timeline=N draws a timeline of one step "
    "on each rank and prints the path of the picture. To list parameters and their defaults: "
    "haloscope describe KERNEL.\n"
)
_EPILOG = """\
examples:
  haloscope once poisson_cg n=512 --ranks 2
  haloscope once stream --threads 2
  haloscope once poisson_cg n=512 --ranks 2 --launches 7
  haloscope once poisson_cg n=512 --ranks 2 --all
  haloscope once jacobi3d timeline=40 --ranks 2
  haloscope once pingpong --ranks 2 --json | jq .result
  haloscope once pingpong --as osu                                   prints as osu_latency
  haloscope once poisson_cg n=4096 --on stampede2 --nodes 4 --ranks 192         simulated
  haloscope once poisson_cg n=256 --on stampede2 --nodes 4 --execute      simulated, result verified

exit codes: 0 success; 1 failed or wrong result; 2 usage error; 130 interrupted
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `once`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("kernel", metavar="KERNEL", help="name of a kernel (see haloscope list)")
    placeoptions.add_params_to(parser)
    add(
        "--ranks",
        metavar="N",
        type=int,
        help="number of processes, divided evenly among nodes (default: the fewest that the "
        "kernel allows)",
    )
    add("--ppn", metavar="N", type=int, help="processes per node, instead of --ranks")
    add("--nodes", metavar="N", type=int, default=1, help="nodes of a cluster (default: 1)")
    add("--threads", metavar="T", type=int, default=1, help="threads per process (default: 1)")
    add(
        "--bind",
        choices=BINDS,
        default=BINDS[0],
        help="binding of the processes to the cores of a node; close fills one socket first "
        "(default: close)",
    )
    add(
        "--thread-bind",
        choices=THREAD_BINDS,
        default=THREAD_BINDS[0],
        help="binding of the threads of a process within its share of the node (default: close)",
    )
    placeoptions.add_to(parser)
    placeoptions.add_programs_to(parser)
    add("--toolchain", metavar="NAME", help="MPI library (see haloscope toolchain list)")
    add("--transport", metavar="NAME", help="transport of messages (see haloscope toolchain list)")
    add(
        "--placement",
        metavar="NAME",
        help="relative position of two ranks, as in a study (same-socket, ...)",
    )
    add(
        "--oversubscribe",
        action="store_true",
        help="allow more ranks and threads than cores (flagged)",
    )
    add("--launches", metavar="N", type=int, default=1, help="number of launches (default: 1)")
    add(
        "--timeout",
        metavar="S",
        type=float,
        default=600.0,
        help="time limit per launch in seconds (default: 600)",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--all", action="store_true", help="show the complete record")
    printed.add_argument(
        "--json",
        action="store_true",
        help="print only the record of each launch, one per line, on standard output",
    )
    printed.add_argument(
        "--as",
        dest="printed_as",
        choices=PRINTERS,
        help=f"print the table of {KERNEL} in the format of this benchmark; sets the "
        "parameter mode (osu or imb), and repetitions to 1 unless given",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the case and show its record; the exit code."""
    if problems := [*placeoptions.misplaced(arguments), *_unusable(arguments)]:
        raise UserError(problems)
    tell = Teller(Screen(stderr=True))
    place = places.place(arguments.on, Path(arguments.keep) if arguments.keep else None)
    if site := places.site_of(place):
        _ = site.allocation  # refuses outside of a job, before anything is built
    wanted = {
        f"--toolchain {arguments.toolchain}": [arguments.toolchain] if arguments.toolchain else None
    }
    programs = kernels.load([arguments.kernel], arguments.programs)

    def planned(bench: Workbench) -> Plan:
        return _planned(arguments, place, bench)

    ready = preparing.prepared(place, wanted, programs, planned, tell)
    bench, (case,) = ready.bench, ready.plan.cases
    case = replace(case, launches=arguments.replicates or 1)
    (case,), seen = place.probed([case], bench)
    runner = place.runner("once", workbench.new_seed(), bench, seen)
    launches = arguments.replicates or arguments.launches
    records = list(runner.run([Launch(case, number) for number in range(launches)]))
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


def _show(
    records: Sequence[Record], out: Screen, given: Sequence[str] = (), *, whole: bool = False
) -> None:
    bad = [record for record in records if record.outcome != "ok"]
    shown = (bad or records)[-1]
    if len(records) > 1:
        out.print(f"launch {shown.launch + 1} of {len(records)}; summary at the end")
    out.print(record_view(shown, given, whole=whole))
    if len(records) > 1 or any(record.timeline for record in records):
        # one launch is shown without the libraries that fit and draw
        from haloscope.commands.launched import show

        show(records, out)


def _unusable(arguments: argparse.Namespace) -> Iterator[Problem]:
    if arguments.kernel not in (known := kernels.names(arguments.programs)):
        yield no_kernel("once", arguments.kernel, known)
    yield from placeoptions.wrong_params(arguments)
    if arguments.printed_as and arguments.kernel != KERNEL:
        lacking = f"{arguments.kernel} has no table in this format"
        yield Problem(f"--as {arguments.printed_as}", lacking, f"supported only for {KERNEL}")
    given = {option: getattr(arguments, option) for option in _LIMITS}
    wrong = {
        option: what
        for option, number in given.items()
        if number is not None and (what := out_of(number, SMALLEST, _LIMITS[option]))
    }
    for option, what in wrong.items():
        remedy = f"give a number above 0 and at most {_LIMITS[option]:,.0f}"
        yield Problem(f"--{option} {given[option]}", what, remedy)
    if not wrong and given["ranks"]:
        yield from _uneven(given["ranks"], given["nodes"], given["ppn"])
    if arguments.placement not in (None, *machine.PLACEMENTS):
        remedy = nearest(arguments.placement, machine.PLACEMENTS)
        where = f"--placement {arguments.placement}"
        yield Problem(where, "unknown placement", remedy)
    if arguments.transport == ALL:
        remedy = "give a placement listed by haloscope toolchain list; a study can use all"
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
    study = Study(title="once", timeout_s=arguments.timeout, runs=[_run(arguments)])
    site = place.site(bench, oversubscribe=arguments.oversubscribe)
    plan = expand(study, site, bench.program, lambda _, key: _OPTIONS.get(key, key), words=True)
    problems = [*bench.problems, *plan.problems, *site.replicates(arguments.replicates)]
    if problems := problems or nothing_runs(plan, site, "once"):
        raise UserError(problems)
    return plan


def _run(arguments: argparse.Namespace) -> Run:
    """The only run of the study. In the format of another benchmark, of one repetition."""
    pairs = [argument.partition("=") for argument in arguments.params]
    if arguments.printed_as:
        pairs = [("mode", "=", arguments.printed_as), ("repetitions", "=", "1"), *pairs]
    return Run(
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
        return LayoutAxes(placement=[arguments.placement])
    nodes, kernel = arguments.nodes, arguments.kernel
    least = halobench.describe(kernel).least_ranks if kernel in halobench.names() else 1
    ppn = arguments.ppn or (arguments.ranks // nodes if arguments.ranks else -(-least // nodes))
    return LayoutAxes(
        nodes=[nodes],
        ppn=[ppn],
        threads=[arguments.threads],
        bind=[arguments.bind],
        thread_bind=[arguments.thread_bind],
    )
