# SPDX-License-Identifier: BSD-3-Clause
"""haloscope run: measure every case of a study, and write a report."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from haloscope.commands import options
from haloscope.commands.options import flag, number
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, reject
from haloscope.host.machine import memory_available_bytes
from haloscope.paths import in_a_shell
from haloscope.quantities import count, size
from haloscope.run.campaign.campaign import Campaign, measure
from haloscope.run.campaign.request import Request, start
from haloscope.run.campaign.resuming import resume
from haloscope.run.jobs import following, submission
from haloscope.run.places import places
from haloscope.run.places.batched import BatchPlace
from haloscope.run.progress import Teller, duration
from haloscope.run.runners.simulation_costs import SimulationForecast
from haloscope.study.known_iterations import executes
from haloscope.study.plan import Via
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import DEVICES

_DRAWN = 500

_DESCRIPTION = """\
Run every case of a study, with launches in random order, and write a report.

STUDY is the name of a built-in study (haloscope list) or your own TOML file. All cases are
validated before the first launch. The result of each launch is written to DIR/records.jsonl before
the next launch starts, so an interruption loses at most one launch. To continue an interrupted run,
use --resume DIR.
"""
_EPILOG = """\
examples:
  haloscope run quick                               measure this machine for half a minute
  haloscope run poisson-scaling --dry-run           show the cases and their memory use
  haloscope run my-study.toml --launches 10 --out results/before
  haloscope run network --on lab                    submit to the batch system of a site
  haloscope run network --on lab --allocations 8    ... as eight jobs, so that compare can decide
  haloscope run poisson-scaling --on stampede2      simulate the study on a cluster
  haloscope run my-study.toml --on eagle --execute  ... and verify every result
  haloscope run quick --on stampede2 --replicates 7  ... with seven random sets of nodes
  haloscope run my-study.toml --program my_solver   measure a program of your own
  haloscope run sf-device --device cuda             ... in GPU memory
  haloscope run my-study.toml --layout advice/layout.toml --on lab   use the advised layout
  haloscope run --resume results/before             continue after an interruption
  haloscope run --resume results/before --launches 20         run more launches of each case

exit codes: 0 success; 1 a case failed or its result was wrong; 2 usage error; 130 interrupted
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `run`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("study", metavar="STUDY", nargs="?", help="name of a built-in study, or a TOML file")
    options.add_place_to(parser)
    options.add_programs_to(parser)
    add("--out", metavar="DIR", help="result folder (default: results/STUDY-DATE-TIME)")
    number(parser, "--launches", "number of launches per case (default: the number in the study)")
    number(
        parser, "--allocations", "on a site, submit N jobs that each run all launches of every case"
    )
    add(
        "--resume",
        metavar="DIR",
        help="continue the run in the result folder DIR, and keep its finished launches",
    )
    flag(
        parser,
        "--accept-change",
        "with --resume, continue even if the MPI library, the code, or the host has changed; "
        "new records are flagged",
    )
    flag(
        parser,
        "--dry-run",
        "list the cases and the memory that they need, without running, downloading, or "
        "building anything",
    )
    flag(parser, "--oversubscribe", "allow more ranks and threads than cores; records are flagged")
    add(
        "--layout",
        metavar="FILE",
        type=Path,
        help="use the layout in FILE for all cases, for example layout.toml from haloscope advise",
    )
    add("--toolchain", metavar="NAME", help="use this MPI library for all cases")
    add("--device", choices=DEVICES, help="build the kernels for GPUs, with CUDA or HIP")
    number(
        parser, "--seed", "seed of the random launch order (default: drawn at random and recorded)"
    )
    add("--via", metavar="SITE", help="run the simulations in batch jobs on SITE, one per core")
    number(parser, "--nodes", "with --via, number of nodes per job (default: 1)")
    flag(parser, "--detach", "submit the jobs to a site without waiting for them")
    flag(parser, "--script-only", "write the job scripts for a site without submitting them")
    number(parser, "--minutes", "time limit for each job on a site, in minutes")
    flag(parser, "--no-report", "print the summary, but do not write a report")


def execute(arguments: argparse.Namespace) -> int:
    """Plan, measure, and summarise; return the exit code."""
    tell = Teller(Screen(stderr=True))
    if arguments.dry_run:
        return _dry_run(arguments, tell, Screen())
    campaign = _campaign(arguments, tell)
    if campaign.place.jobs_at is not None:
        return _by_jobs(arguments, campaign, tell)
    campaign = campaign.probed()
    try:
        measure(campaign, tell)
    except (KeyboardInterrupt, OSError):  # OSError: a failed write, as on a full disk
        if campaign.folder.plan.exists():
            tell.warn(f"\nTo continue: haloscope run --resume {in_a_shell(campaign.folder.path)}")
        raise
    return _conclude(campaign, Screen(), arguments)


def _by_jobs(arguments: argparse.Namespace, campaign: Campaign, tell: Teller) -> int:
    out = Screen()
    jobs = submission.of(campaign, arguments.minutes)
    submission.begin(campaign, os.environ, tell)
    if arguments.script_only:
        for job in (jobs.check_asked(), *jobs.planned()):
            out.lines(f"written: {jobs.write(job).script}")
        # otherwise jobs with the same name wait for each other
        if not jobs.site.scheduler.queues_same_names:
            tell.say("submit them one at a time, each after the previous job has ended")
        return 0
    path = in_a_shell(campaign.folder.path)
    if arguments.detach:
        submission.submit_all(jobs, tell)
        out.lines(*(f"haloscope {action} {path}" for action in ("status", "collect", "cancel")))
        return 0
    try:
        following.follow(jobs, tell)
    except KeyboardInterrupt:
        tell.warn(f"\nThe jobs keep running. To show them: haloscope status {path}")
        tell.warn(f"To cancel them: haloscope cancel {path}")
        raise
    now = replace(campaign, plan=campaign.folder.load(), source=None)
    return _conclude(now, out, arguments)


def _conclude(campaign: Campaign, out: Screen, arguments: argparse.Namespace) -> int:
    # imported here because planning needs no libraries for fits and drawings
    from haloscope.report.writing import conclude

    conclude(campaign.folder.path, out, to_write=not arguments.no_report)
    return campaign.print_failures(out)


def _dry_run(arguments: argparse.Namespace, tell: Teller, out: Screen) -> int:
    campaign = _campaign(arguments, tell, dry=True)
    _show(campaign, out)
    if campaign.place.jobs_at is not None:
        _show_jobs(submission.of(campaign, arguments.minutes), out)
    out.lines(*campaign.first)
    return 0


def _show_jobs(jobs: submission.Submission, out: Screen) -> None:
    planned = jobs.planned()
    hours = sum(job.nodes * job.minutes for job in planned) / 60
    cost = f"{hours:.2g}" if hours < 10 else f"{math.ceil(hours):,}"
    out.print(f"{count(len(planned), 'job')}, at most {cost} node-hours")
    if (first := jobs.first) is not None:
        out.lines(f"preflight check: 1 node, up to {count(first.minutes, 'minute')}")
    for job in planned:
        line = f"{count(job.nodes, 'node')}, {count(job.minutes, 'minute')}: {jobs.tested(job)}"
        out.lines(line)


def _campaign(arguments: argparse.Namespace, tell: Teller, *, dry: bool = False) -> Campaign:
    problems = list(_unusable(arguments))
    if arguments.detach and arguments.script_only:
        what = "cannot be combined with --detach, which submits jobs"
        problems.append(Problem("--script-only", what, "remove one of them"))
    reject(problems)

    if arguments.resume:
        campaign = resume(
            Path(arguments.resume),
            arguments.study,
            arguments.launches,
            tell,
            allocations=arguments.allocations,
            keep=Path(arguments.keep) if arguments.keep else None,
            accept_change=arguments.accept_change,
            dry=dry,
            programs=arguments.programs,
        )
        if campaign.place.jobs_at is None and (
            problems := [*_without_jobs(arguments, campaign.place.name)]
        ):
            raise UserError(problems)
        return campaign
    nodes = 1 if arguments.nodes is None else arguments.nodes
    request = Request(
        study=arguments.study,
        out=Path(arguments.out) if arguments.out else None,
        launches=arguments.launches,
        allocations=arguments.allocations,
        replicates=arguments.replicates,
        toolchain=arguments.toolchain,
        seed=arguments.seed,
        oversubscribe=arguments.oversubscribe,
        on=arguments.on,
        keep=Path(arguments.keep) if arguments.keep else None,
        via=Via(arguments.via, nodes) if arguments.via else None,
        execute=arguments.arithmetic,
        layout=arguments.layout,
        programs=tuple(arguments.programs),
        device=arguments.device,
    )
    return start(request, tell, dry=dry)


def _unusable(arguments: argparse.Namespace) -> Iterator[Problem]:
    if not arguments.resume:
        yield from options.misplaced(arguments, places.facts(arguments.on))
        yield from _of_jobs(arguments)
        if arguments.study is None:
            yield Problem("STUDY", "missing", "give the name of a study (haloscope list) or a file")
        if arguments.accept_change:
            yield Problem("--accept-change", "requires --resume", "add --resume DIR")
        return
    on = None if arguments.on == "local" else arguments.on
    given = {**vars(arguments), "execute": arguments.arithmetic, "on": on}
    fixed = (
        "out",
        "layout",
        "toolchain",
        "device",
        "seed",
        "oversubscribe",
        "execute",
        "on",
        "replicates",
    )
    for option in (*fixed, "via", "nodes"):
        if given[option] not in (None, False):
            what = "cannot be combined with --resume, which uses the plan stored in the folder"
            yield Problem(
                f"--{option}", what, f"remove --{option}, or start a new run in another folder"
            )


def _of_jobs(arguments: argparse.Namespace) -> Iterator[Problem]:
    if arguments.nodes is not None and not arguments.via:
        remedy = "to set the nodes of cases, use layout.nodes in the study"
        yield Problem("--nodes", "requires --via SITE", remedy)
    if not (BatchPlace.has(arguments.on) or arguments.via):
        yield from _without_jobs(arguments, arguments.on)


def _without_jobs(arguments: argparse.Namespace, place: str) -> Iterator[Problem]:
    for option in ("detach", "script_only", "minutes", "allocations"):
        given = getattr(arguments, option)
        if given is not None and given is not False:  # also --minutes 0
            where = f"--{option.replace('_', '-')}"
            remedy = "add --on SITE, or --via SITE for simulated cases"
            if option == "allocations":
                remedy = "add --on SITE, or use --launches N without a batch system"
            yield Problem(where, f"requires a batch system, which {place} does not have", remedy)


def _show(campaign: Campaign, out: Screen) -> None:
    rows: list[tuple[str, ...]] = []
    here = campaign.place.facts.simulated and campaign.plan.via is None
    free_bytes = memory_available_bytes() if here else 0
    for case in campaign.plan.cases:
        marks = " (oversubscribed)" if case.oversubscribed else ""
        if campaign.place.facts.simulated and executes(case):
            marks = " (solution verified)"
        if case.absent:
            marks = f" (cannot run here: {case.absent})"
        launches = "none" if case.absent else str(case.launches)
        unchecked = KernelProgram.of(case.kernel, case.params) in campaign.unchecked
        unknown = case.kernel in campaign.bench.programs and not case.memory_bytes
        memory = "unknown" if unknown or unchecked else size(case.memory_bytes)
        # the id depends on parameters that the kernel resolves
        name = "unknown" if unchecked else case.id
        forecast = campaign.forecast(case) if here else None
        if forecast and (why := forecast.refusal(case.timeout_s, free_bytes)):
            marks = f" ({why})"
        cost = [str(forecast or "unknown")] if here else []
        rows.append((name, f"{case.title}{marks}", launches, memory, *cost))
    columns = ("case", "setting", "launches", "memory", *(["simulation"] if here else []))
    _show_cases(campaign.plan.study, columns, rows, out)
    left = [launch for launch in campaign.launches_left()[0] if not launch.case.absent]
    time = f"; expected time: {campaign.expected()}" if left else ""
    if here and left:
        time += _sources([campaign.forecast(launch.case) for launch in left])
    out.lines(
        f"{count(len(left), 'launch', 'launches')} to run{time}",
        *campaign.plan.notes,
        *campaign.remarks,
    )


def _sources(forecasts: Sequence[SimulationForecast | None]) -> str:
    known = [one for one in forecasts if one is not None and not one.kept]
    by = {
        "from the cache": sum(one is not None and one.kept for one in forecasts),
        "from earlier simulations": sum(one.earlier > 0 for one in known),
        "from the model (order of magnitude)": sum(one.earlier == 0 for one in known),
        "unknown": forecasts.count(None),
    }
    parts = [f"{number:,} {source}" for source, number in by.items() if number]
    low, high = (sum(one.range_s[end] for one in known) for end in (0, 1))
    span = f", {duration(low)} to {duration(high)} one at a time" if known else ""
    most = max((one.memory_bytes for one in known), default=0)
    largest = f"; memory of this machine: up to {size(most)} per simulation" if most else ""
    return f"{span}{largest}; forecasts: {', '.join(parts)}"


def _show_cases(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], out: Screen
) -> None:
    """Print a table, or lines if there are many cases: a table takes a millisecond per row."""
    if len(rows) > _DRAWN:
        lines = (
            "  ".join([case, f"{times:>8}", f"{memory:>9}", *cost, what])
            for case, what, times, memory, *cost in rows
        )
        named = [columns[0], *columns[2:], columns[1]]
        out.lines(f"{title}: {', '.join(named)}", "\n".join(lines))
        return
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*row)
    out.print(table)
