# SPDX-License-Identifier: BSD-3-Clause
"""haloscope advise: which layout to request for a kernel."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from haloscope.advice import candidates, measuring, requests
from haloscope.advice.judging import Advice, Goal, Option, Sureness
from haloscope.advice.measuring import Question
from haloscope.analysis.bands import COVERAGE, Basis
from haloscope.batch.script import MOST_MINUTES
from haloscope.commands import placeoptions
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, out_of
from haloscope.paths import dated_folder, in_a_shell, write_whole
from haloscope.quantities import count, listed, node_time, number, percent, seconds, size
from haloscope.records.folder import Via
from haloscope.run import kernels, places
from haloscope.run.here import LOCAL
from haloscope.run.progress import Teller
from haloscope.study.case import Value
from haloscope.study.plan import no_kernel
from haloscope.study.schema import COUNT_LIMIT, LAUNCHES_LIMIT

_DESCRIPTION = """\
Compare layouts of a kernel (nodes, tasks per node, threads per task, and which ranks share a node)
by predicted or measured time, and print the layout to request, ready to paste.

On a cluster (--on stampede2) every candidate is simulated; the result has the error band of the
simulation, from published tables of the same kernel and cluster where there are any. On this
machine (--on local) all candidates are measured. Then the best two and the default are measured in
turn, until their intervals no longer overlap. On a site, candidates are simulated with the cluster
file named in the site file, and the best two and the default are measured in one job. The default
layout, which the others are compared with, fills the fewest nodes in order, with one thread per
task. First all numbers of nodes and threads are compared, then other mappings of ranks for the best
two.

DIR receives advice.json, a study that measures the advised and the default layout on a real
machine, and the files that launchers read.

With --profile, mappings of the ranks of any profiled program are compared by the bytes of the
busiest link: block, round robin, random, and those that METIS and SharedMap make for its traffic.
"""
_EPILOG = """\
examples:
  haloscope advise poisson_cg n=4096 --tasks 512 --on stampede2
  haloscope advise jacobi3d size=256x256x256 --tasks 64 --on eagle --goal node-hours
  haloscope advise fft_pencil --tasks 2 --on local --json
  haloscope advise poisson_cg n=4096 --tasks 64 --on my-site --within 20m
  haloscope advise --profile profile-20261121-010203 --on eagle

exit codes: 0 success; 1 a candidate failed; 2 usage error; 130 interrupted
"""
_SHOWN = 5


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `advise`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("kernel", metavar="KERNEL", nargs="?", help="name of a kernel (see haloscope list)")
    placeoptions.add_params_to(parser)
    add("--tasks", metavar="N", type=int, help="number of MPI ranks")
    add(
        "--profile",
        metavar="DIR",
        type=Path,
        help="folder of haloscope profile, instead of a kernel",
    )
    add(
        "--nodes",
        metavar="N",
        type=int,
        help="with --profile: number of nodes (default: the fewest)",
    )
    add(
        "--on",
        metavar="PLACE",
        required=True,
        help="a cluster (simulated), local (measured), or a site (simulated, the best measured)",
    )
    add("--via", metavar="SITE", help="simulate the candidates in batch jobs of a site")
    add("--goal", choices=[*Goal], default=Goal.TIME, help="what to minimise (default: time)")
    add("--most-nodes", metavar="N", type=int, help="maximum number of nodes (default: 8 x fewest)")
    add("--launches", metavar="N", type=int, default=6, help="measured: launches per layout")
    add(
        "--within",
        metavar="TIME",
        type=_minutes,
        help="start no candidate after this time, such as 90s, 10m, or 1h (default unit: minutes); "
        "on a site: time limit of the job",
    )
    placeoptions.add_programs_to(parser)
    add("--out", metavar="DIR", type=Path, help="folder (default: results/advise-KERNEL-DATE-TIME)")
    add("--json", action="store_true", help="print the content of advice.json instead of text")


def execute(arguments: argparse.Namespace) -> int:
    """Compare, choose, print; the exit code."""
    if problems := [*_problems(arguments)]:
        raise UserError(problems)
    if arguments.profile is not None:
        # a kernel's layouts are compared without the libraries for graphs
        from haloscope.commands import traffic_advice

        out = arguments.out or dated_folder("advise-profile")
        asked = (arguments.profile, arguments.on, arguments.nodes, out)
        return traffic_advice.advise(*asked, as_json=arguments.json, screen=Screen())
    tell = Teller(Screen(stderr=True))
    question = measuring.asked(
        arguments.kernel,
        dict(_pair(word) for word in arguments.params),
        places.place(arguments.on, via=Via(arguments.via, 1) if arguments.via else None),
        out=arguments.out or dated_folder(f"advise-{arguments.kernel}"),
        launches=arguments.launches,
        programs=tuple(arguments.programs),
        within_minutes=arguments.within,
    )
    most = arguments.most_nodes
    found = measuring.compare(question, arguments.tasks, most, Goal(arguments.goal), tell)
    result, simulated, failed = found.advice, found.simulated, found.failed
    answer = _as_data(question, result, simulated, failed)
    _write(question, result, answer)
    _write_page(question, result, simulated, failed)
    if arguments.json:
        print(json.dumps(answer, indent=1))
    else:
        _show(question, result, failed, Screen())
    return 1 if failed else 0


def _problems(arguments: argparse.Namespace) -> Sequence[Problem]:
    found = []
    if (arguments.profile is None) == (arguments.kernel is None):
        remedy = "give one of both: advise KERNEL --tasks N, or advise --profile DIR"
        return [Problem("advise", "needs a kernel or a profile", remedy)]
    if arguments.profile is not None:
        others = {
            "tasks": "remove it: the profile has its own number of ranks",
            "via": "remove it: nothing is simulated",
            "goal": "remove it: mappings are compared by the bytes of links",
            "most_nodes": "remove it; --nodes sets the number of nodes",
        }
        given = (name for name in others if getattr(arguments, name) not in (None, Goal.TIME))
        found = [
            Problem(f"--{name.replace('_', '-')}", "does not apply to --profile", others[name])
            for name in given
        ]
        number = arguments.nodes
        if number is not None and (what := out_of(number, 1, COUNT_LIMIT)):
            found.append(Problem(f"--nodes {number}", what, f"give 1 to {COUNT_LIMIT:,}"))
        return found
    if arguments.tasks is None:
        found.append(Problem("advise", "--tasks is missing", "give the number of MPI ranks"))
    if arguments.nodes is not None:
        remedy = "remove it; --most-nodes limits the candidates"
        found.append(Problem("--nodes", "applies to --profile only", remedy))
    if arguments.kernel not in (known := kernels.names(arguments.programs)):
        found.append(no_kernel("advise", arguments.kernel, known))
    found += placeoptions.wrong_params(arguments)
    limits = (
        ("tasks", arguments.tasks, COUNT_LIMIT),
        ("most-nodes", arguments.most_nodes, COUNT_LIMIT),
        ("launches", arguments.launches, LAUNCHES_LIMIT),
    )
    found += [
        Problem(f"--{name} {number}", what, f"give a number from 1 to {most:,}")
        for name, number, most in limits
        if number is not None and (what := out_of(number, 1, most))
    ]
    if (layouts := arguments.out and arguments.out / "layouts") and layouts.exists():
        what = "this folder already contains advice"
        found.append(Problem(f"--out {arguments.out}", what, "give another folder"))
    return found


def _minutes(text: str) -> float:
    """A time with a unit, in minutes. ArgumentTypeError for what is none."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smh]?)", text)
    found = float(match[1]) * {"s": 1 / 60, "m": 1, "": 1, "h": 60}[match[2]] if match else 0.0
    if not 0 < found <= MOST_MINUTES:
        what = f"{text} is not a time above 0 and at most {MOST_MINUTES:,} minutes, such as 10m"
        raise argparse.ArgumentTypeError(what)
    return found


def _pair(word: str) -> tuple[str, Value]:
    """A parameter with its value as a study has it: a number, true or false, or a text."""
    key, _, text = word.partition("=")
    if text in ("true", "false"):
        return key, text == "true"
    for read in (int, float):
        try:
            return key, read(text)
        except ValueError:
            continue
    return key, text


def _as_data(
    question: Question, result: Advice, simulated: Sequence[Option], failed: Sequence[str]
) -> dict[str, Any]:
    """The advice for programs: times in seconds, node-hours per step.

    simulated: of a site, the layouts that were simulated before the best were measured.
    """
    return {
        "schema": "haloscope.advice/1",
        "kernel": question.kernel,
        "params": dict(question.params),
        "on": question.on.name,
        "simulated": question.final is None,
        "goal": result.goal,
        "verdict": result.verdict,
        "gain": result.gain,
        "band": None if result.band is None else asdict(result.band),
        "beyond": result.beyond,
        "advised": _option(result.advised),
        "default": _option(result.default),
        "request": requests.as_data(result.advised.candidate),
        "front": [_option(one) for one in result.front],
        "options": [_option(one) for one in result.options],
        "simulated_on": question.cluster,
        "simulated_options": [_option(one) for one in simulated],
        "not_compared": [*failed],
    }


def _option(one: Option) -> dict[str, Any]:
    return {
        "layout": {**one.candidate.keys(), "ppn": one.candidate.ppn},
        "mapping": one.candidate.mapped,
        "time_s": one.time.value,
        "low_s": one.time.low,
        "high_s": one.time.high,
        "node_hours": one.node_seconds / 3600,
        "traffic": None if one.load is None else asdict(one.load),
    }


def _write(question: Question, result: Advice, answer: Mapping[str, Any]) -> None:
    write_whole(question.out / "advice.json", json.dumps(answer, indent=1) + "\n")
    both = [*dict.fromkeys((result.advised.candidate, result.default.candidate))]
    title = f"Check the advice for {question.kernel}, {count(both[0].tasks, 'task')}"
    text = candidates.study(title, question.kernel, question.params, both, 6)
    write_whole(question.out / "check.toml", text)
    for name, content in requests.files(result.advised.candidate).items():
        write_whole(question.out / name, content)


def _write_page(
    question: Question, result: Advice, simulated: Sequence[Option], failed: Sequence[str]
) -> None:
    from haloscope.commands import advice_page

    what = f"{_what(question)}, {count(result.advised.candidate.tasks, 'task')}"
    asked = [f"{key}={value}" for key, value in question.params.items()]
    words = ["haloscope advise", question.kernel, *asked]
    words += ["--tasks", str(result.advised.candidate.tasks), "--on", question.on.name]
    command = " ".join(words)
    facts = advice_page.AdviceFacts(
        command, what, _how(question), _sureness(result), failed, simulated
    )
    advice_page.write(result, facts, question.out)


def _what(question: Question) -> str:
    given = " ".join(f"{key}={value}" for key, value in question.params.items())
    return f"{question.kernel} {given}".strip()


def _how(question: Question) -> str:
    if question.final is None:
        return f"simulated on {question.cluster}"
    if question.cluster is None:
        return "measured on this machine"
    return f"measured on {question.final.name}, the best of those simulated on {question.cluster}"


def _show(question: Question, result: Advice, failed: Sequence[str], out: Console) -> None:
    advised, usual = result.advised, result.default
    tasks = count(advised.candidate.tasks, "task")
    out.print(f"{_what(question)}, {tasks}, {_how(question)}", markup=False, soft_wrap=True)
    out.print(f"request: {_line(advised)}", style="bold", markup=False, soft_wrap=True)
    if advised is not usual:
        out.print(f"default: {_line(usual)}", markup=False, soft_wrap=True)
    elif len(result.options) > 1:
        out.print("This is the default layout. No other layout is better.", soft_wrap=True)
    out.print(_sureness(result), markup=False, soft_wrap=True)
    out.print(_table(result))
    if alike := _mapped_alike(result):
        out.print(_traffic(alike))
    one = advised.candidate
    lines = [requests.sbatch_line(one), requests.launchers(one)["Slurm"]]
    if question.on.name == LOCAL:
        lines = [requests.launchers(one)["Open MPI"]]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    for line in failed:
        out.print(f"not compared: {line}", markup=False, soft_wrap=True)
    where = in_a_shell(question.out)
    for line in (
        f"page: {where}/report.html; other launchers: {where}/advice.json",
        f"to check on a site: haloscope run {where}/check.toml --on SITE",
        f"to run a study in this layout: haloscope run STUDY --layout {where}/layout.toml",
    ):
        out.print(line, markup=False, soft_wrap=True)


def _line(one: Option) -> str:
    hours = node_time(one.node_seconds)
    return f"{one.candidate}: {seconds(one.seconds)} per step, {hours}"


def _sureness(result: Advice) -> str:
    band = result.band
    word = "faster" if result.goal is Goal.TIME else "cheaper"
    better = f"{result.gain:.3g}x {word}"
    if len(result.options) == 1:
        return "This is the default layout. No other layout fits, so nothing was compared."
    if band is None:
        if result.verdict is Sureness.NO_DIFFERENCE:
            return "No layout has an interval below that of the default."
        return f"{better} than the default; the intervals do not overlap."
    cells = f"{percent(COVERAGE)} of published ratios"
    known = f"{cells} of this kernel and cluster, {_by_paper(band.tables)}"
    if not band.own:
        what = "variant" if band.basis is Basis.VARIANT else "kernel and cluster"
        known = f"{cells} of {band.of}; not validated for this {what}"
    elif result.beyond:
        known += f", none of which has {result.beyond}; not validated for this layout"
    error = f"a factor of {number(band.factor)} ({known})"
    if result.verdict is Sureness.NO_DIFFERENCE:
        return f"Error of the ratio of simulated times: {error}."
    side = "within" if result.verdict is Sureness.POSSIBLE else "beyond"
    return f"{better} than the default, {side} the error of the simulation: {error}."


def _by_paper(tables: Sequence[str]) -> str:
    """ "hpcf-2018-10, tables 3.1 and 4.1": each paper once."""
    papers: dict[str, list[str]] = {}
    for one in tables:
        paper, _, table = one.partition(", table ")
        papers.setdefault(paper, []).append(table)
    return "; ".join(
        f"{paper}, {'tables' if len(own) > 1 else 'table'} {listed(own)}"
        for paper, own in papers.items()
    )


def _table(result: Advice) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("nodes", "tasks/node", "threads", "mapping", "time", "nodes x time", ""):
        table.add_column(title, justify="left" if title in ("mapping", "") else "right")
    shown = {id(one): one for one in (*result.front[:_SHOWN], result.advised, result.default)}
    for one in sorted(shown.values(), key=_seconds):
        notes = [
            word
            for word, those in (
                ("advised", (result.advised,)),
                ("default", (result.default,)),
                ("front", result.front),
            )
            if one in those
        ]
        layout = one.candidate
        table.add_row(
            str(layout.nodes),
            str(layout.ppn),
            str(layout.threads),
            layout.mapped,
            seconds(one.seconds),
            node_time(one.node_seconds),
            ", ".join(notes),
        )
    return table


def _mapped_alike(result: Advice) -> Sequence[Option]:
    """The layouts that differ from the advised one by their mapping, with counted traffic."""
    one = result.advised.candidate
    return [
        other
        for other in result.options
        if other.load
        and one.nodes > 1
        and (other.candidate.nodes, other.candidate.threads) == (one.nodes, one.threads)
    ]


def _traffic(options: Sequence[Option]) -> Table:
    """What mappings make of the traffic, beside their times."""
    table = Table(box=None, pad_edge=False)
    for title in ("mapping", "time", "between nodes", "bytes x links", "busiest link"):
        table.add_column(title, justify="left" if title == "mapping" else "right")
    for one in options:
        if one.load is not None:
            numbers = (one.load.between_nodes, one.load.byte_hops, one.load.busiest_link)
            table.add_row(one.candidate.mapped, seconds(one.seconds), *map(size, numbers))
    return table


def _seconds(one: Option) -> float:
    return one.seconds
