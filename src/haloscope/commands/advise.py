# SPDX-License-Identifier: BSD-3-Clause
"""haloscope advise: which layout to request for a kernel."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from haloscope.advice import candidates, requests
from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import (
    Advice,
    Goal,
    Option,
    Sureness,
    advice,
    band_of,
    cheapest,
    parted,
    tolerance,
)
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import open_folder
from haloscope.commands import placeoptions
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, out_of
from haloscope.paths import dated_folder, in_a_shell, write_whole
from haloscope.quantities import count, listed, node_time, percent, seconds
from haloscope.run import campaign, following, kernels, places, submission
from haloscope.run.batched import BatchPlace
from haloscope.run.here import LOCAL
from haloscope.run.place import Place
from haloscope.run.progress import Teller
from haloscope.run.simulated import SimulatedCluster
from haloscope.study.case import Value
from haloscope.study.plan import no_kernel
from haloscope.study.schema import COUNT_LIMIT, LAUNCHES_LIMIT

_DESCRIPTION = """\
Compare layouts of a kernel (nodes, tasks per node, threads per task, and which ranks share a node)
by predicted or measured time, and print the layout to request, ready to paste.

On a cluster (--on stampede2) every candidate is simulated; the result has the error band of the
simulation, from published tables of the same kernel and cluster where there are any. On this
machine (--on local) candidates are measured; then the best two and the default in turn, until their
intervals part. On a site, candidates are simulated on the cluster file that the site file names,
and the best two and the default are measured in one job. The default layout, which the others are
compared with, fills the fewest nodes in order, with one thread per task. First all numbers of
nodes and threads are compared, then other mappings of ranks for the best two.

DIR receives advice.json, a study that measures the advised and the default layout on a real
machine, and the files that launchers read.

With --profile, mappings of the ranks of any profiled program are compared by the bytes between
nodes: block, round robin, random, and one that METIS makes for its traffic.
"""
_EPILOG = """\
examples:
  haloscope advise poisson_cg n=4096 --tasks 512 --on stampede2
  haloscope advise jacobi3d size=256x256x256 --tasks 64 --on eagle --goal node-hours
  haloscope advise fft_pencil --tasks 2 --on local --json
  haloscope advise poisson_cg n=4096 --tasks 64 --on my-site --within 20
  haloscope advise --profile profile-20261121-010203 --on eagle

exit codes: 0 success, 1 a candidate failed, 2 usage error, 130 interrupted
"""
_REMAPPED = 2
"""_REMAPPED is the number of layouts for which other mappings are tried, the best ones."""
_FINALISTS = 2
"""_FINALISTS is the number of layouts that are measured again in turn with the default."""
_MOST_ROUNDS = 5
"""_MOST_ROUNDS is how often --launches of these are measured if their intervals do not part."""
_SHOWN = 5
"""_SHOWN is the largest number of rows of the table of alternatives."""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `advise`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("kernel", metavar="KERNEL", nargs="?", help="name of a kernel (see haloscope list)")
    add("params", metavar="key=value", nargs="*", help="parameters that differ from their defaults")
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
    add("--goal", choices=[*Goal], default=Goal.TIME, help="what to minimise (default: time)")
    add("--most-nodes", metavar="N", type=int, help="largest number of nodes (default: 8 x fewest)")
    add("--launches", metavar="N", type=int, default=6, help="measured: launches per layout")
    add(
        "--within",
        metavar="MINUTES",
        type=float,
        help="start no candidate after this time; on a site: time limit of the job",
    )
    placeoptions.add_programs_to(parser)
    add("--out", metavar="DIR", type=Path, help="folder (default: results/advise-KERNEL-DATE-TIME)")
    add("--json", action="store_true", help="print the content of advice.json instead of text")


@dataclass(frozen=True)
class _Question:
    """What is to be compared, and where.

    place: where layouts are compared. final: where the best are measured in turn; None if nowhere.
    until: when to start no more, by time.monotonic(); minutes: of a site's job.
    """

    kernel: str
    params: Mapping[str, Value]
    place: Place
    final: Place | None
    out: Path
    launches: int
    programs: tuple[Path, ...]
    until: float | None
    minutes: int | None

    @property
    def on(self) -> Place:
        """The place that was asked for."""
        return self.final or self.place

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def cluster(self) -> str | None:
        """The simulated cluster's name; None for a machine that is measured."""
        return self.place.cluster.name if isinstance(self.place, SimulatedCluster) else None


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
    began = time.monotonic()
    tell = Teller(Screen(stderr=True))
    asked_on = places.place(arguments.on)
    at_site = places.site_of(asked_on)
    place = asked_on if at_site is None else _simulated(at_site)
    question = _Question(
        arguments.kernel,
        dict(_pair(word) for word in arguments.params),
        place,
        None if at_site is None and place.facts.simulated else asked_on,
        arguments.out or dated_folder(f"advise-{arguments.kernel}"),
        arguments.launches,
        tuple(arguments.programs),
        None if arguments.within is None or at_site else began + 60 * arguments.within,
        None if arguments.within is None else math.ceil(arguments.within),
    )
    bench, _ = asked_on.preview({"--on": None})
    site = asked_on.site(bench, oversubscribe=False)
    tried = candidates.shapes(arguments.tasks, site, arguments.most_nodes)
    usual, goal = candidates.default(arguments.tasks, site), Goal(arguments.goal)
    if tried == [usual] and usual.nodes == 1 and at_site is None:  # nothing to compare
        question = replace(question, launches=1)
    found, failed = _compared(question, "layouts", tried, tell)
    if usual not in found:
        raise UserError(_nothing_to_compare_with(question, "layouts"))
    best = cheapest([option for option, _ in found.values()], goal, _REMAPPED)
    more = [
        other
        for one in (option.candidate for option in best)
        for other in candidates.remapped(
            one, candidates.grid_of(found[one][1].settings.get("topology"))
        )
    ]
    if more:
        remapped, further = _compared(question, "mappings", more, tell)
        found, failed = found | remapped, [*failed, *further]
    simulated = [] if at_site is None else [option for option, _ in found.values()]
    if question.final is not None:
        measured, further = _in_turn(question, found, usual, goal, tell)
        failed = [*failed, *further]
        found = measured if at_site is not None else found | measured
    cluster = question.cluster if at_site is None else None
    band = band_of(cluster, found[usual][1]) if cluster else None
    result = advice([option for option, _ in found.values()], usual, goal, band)
    answer = _as_data(question, result, simulated, failed)
    _write(question, result, answer)
    _write_page(question, result, simulated, failed)
    if arguments.json:
        print(json.dumps(answer, indent=1))
    else:
        _show(question, result, failed, Screen())
    return 1 if failed else 0


def _simulated(site: BatchPlace) -> Place:
    """The simulated cluster of a site's nodes. UserError where its file names none."""
    if site.described.cluster is None:
        what = "its site file names no cluster file, on which candidates are simulated first"
        remedy = 'add cluster = "NAME" to it (haloscope cluster list; haloscope calibrate)'
        raise UserError(Problem(f"--on {site.name}", what, remedy))
    return places.place(site.described.cluster)


def _in_turn(
    question: _Question, found: _Timed, usual: Candidate, goal: Goal, tell: Teller
) -> tuple[_Timed, list[str]]:
    """The best layouts and the default, measured in turn: on this machine until their intervals
    part, on a site in one job. UserError if the default has no time."""
    assert question.final is not None
    best = cheapest([option for option, _ in found.values()], goal, _FINALISTS)
    tried = [*dict.fromkeys([*(one.candidate for one in best), usual])]
    here = places.site_of(question.final) is None
    if here and (len(tried) == 1 or question.over):
        return {}, []
    final = replace(question, place=question.final)
    measured, failed = _compared(final, "finals", tried, tell)
    for rounds in range(2, _MOST_ROUNDS + 1):
        if not here or question.over or parted([option for option, _ in measured.values()]):
            break
        folder, launches = question.out / "finals", rounds * question.launches
        again = campaign.resume(folder, None, launches, tell, programs=question.programs)
        campaign.measure(again.probed(), tell, question.until)
        measured, failed = _read(folder, tried)
    if not here and usual not in measured:
        raise UserError(_nothing_to_compare_with(question, "finals"))
    return measured, failed


def _nothing_to_compare_with(question: _Question, name: str) -> Problem:
    what = "the default layout has no time, so nothing can be compared with it"
    remedy = f"haloscope show {in_a_shell(question.out / name)} has the reason"
    return Problem(f"advise {question.kernel}", what, remedy)


def _problems(arguments: argparse.Namespace) -> Sequence[Problem]:
    found = []
    if (arguments.profile is None) == (arguments.kernel is None):
        remedy = "give one of both: advise KERNEL --tasks N, or advise --profile DIR"
        return [Problem("advise", "needs a kernel or a profile", remedy)]
    if arguments.profile is not None:
        others = {
            "tasks": "remove it: the profile has its own number of ranks",
            "goal": "remove it: mappings are compared by bytes between nodes",
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
    found += [
        Problem(word, "not key=value", "for example n=512; see haloscope describe KERNEL")
        for word in arguments.params
        if not all(word.partition("="))
    ]
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
    if arguments.within is not None and not arguments.within > 0:
        found.append(Problem(f"--within {arguments.within}", "not above 0", "give minutes"))
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


_Timed = dict[Candidate, tuple[Option, MeasuredCase]]
"""Candidates with their times, and their cases."""


def _compared(
    question: _Question, name: str, tried: Sequence[Candidate], tell: Teller
) -> tuple[_Timed, list[str]]:
    """Each candidate with its time and its case, and why others have none."""
    question.out.mkdir(parents=True, exist_ok=True)
    title = f"Advice: {name} of {question.kernel}, {count(tried[0].tasks, 'task')}"
    by_jobs = places.site_of(question.place) is not None
    timeout_s = 60 * question.minutes if by_jobs and question.minutes else None
    asked = (question.kernel, question.params, tried, question.launches)
    text = candidates.study(title, *asked, timeout_s)
    file = question.out / f"{name}.toml"
    write_whole(file, text)
    folder = question.out / name
    request = campaign.Request(
        str(file), out=folder, on=question.place.name, programs=question.programs, together=True
    )
    try:
        started = campaign.start(request, tell)
        started = started if by_jobs else started.probed()
    except UserError as error:
        raise UserError(_of_no_run(question, error.problems, f"{file}: ")) from error
    if not by_jobs:
        campaign.measure(started, tell, question.until)
    else:
        jobs = submission.of(started, question.minutes)
        submission.begin(started, os.environ, tell)
        following.follow(jobs, tell)
    return _read(folder, tried)


def _read(folder: Path, tried: Sequence[Candidate]) -> tuple[_Timed, list[str]]:
    """Each candidate with its time and its case, as a folder has them, and why others have none."""
    none = not (folder / "records.jsonl").exists()  # the time was over before the first launch
    cases = () if none else open_folder(folder).cases
    found, failed = {}, []
    for one in tried:
        case = next((case for case in cases if _is_of(case, one)), None)
        if case is not None and case.time is not None:
            found[one] = (Option(one, case.time), case)
        else:
            failed.append(f"{one}: {_why(case)}")
    return found, failed


def _of_no_run(question: _Question, problems: Sequence[Problem], file: str) -> list[Problem]:
    """Problems of a study that was made here: each once, without its place in the file."""
    usual = f"advise {question.kernel}"
    named = [
        replace(one, where=re.sub(r"^runs#\d+[.:]? *", "", one.where.removeprefix(file)) or usual)
        for one in problems
    ]
    return [*dict.fromkeys(named)]


def _is_of(case: MeasuredCase, one: Candidate) -> bool:
    return all(case.settings.get(key) == value for key, value in one.keys().items())


def _why(case: MeasuredCase | None) -> str:
    """Why a candidate has no time."""
    if case is None:
        return "does not fit, or the kernel does not allow it"
    reasons = [record.reason for record in case.excluded if record.reason]
    return reasons[-1] if reasons else "not run"


def _as_data(
    question: _Question, result: Advice, simulated: Sequence[Option], failed: Sequence[str]
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
        "time_s": one.time.value,
        "low_s": one.time.low,
        "high_s": one.time.high,
        "node_hours": one.node_seconds / 3600,
    }


def _write(question: _Question, result: Advice, answer: Mapping[str, Any]) -> None:
    """The answer, the study that checks it, and the files of the advised layout."""
    write_whole(question.out / "advice.json", json.dumps(answer, indent=1) + "\n")
    both = [*dict.fromkeys((result.advised.candidate, result.default.candidate))]
    title = f"Check the advice for {question.kernel}, {count(both[0].tasks, 'task')}"
    text = candidates.study(title, question.kernel, question.params, both, 6)
    write_whole(question.out / "check.toml", text)
    for name, content in requests.files(result.advised.candidate).items():
        write_whole(question.out / name, content)


def _write_page(
    question: _Question, result: Advice, simulated: Sequence[Option], failed: Sequence[str]
) -> None:
    """The page, without which layouts are compared without the libraries that draw."""
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


def _what(question: _Question) -> str:
    """The kernel with its parameters."""
    given = " ".join(f"{key}={value}" for key, value in question.params.items())
    return f"{question.kernel} {given}".strip()


def _how(question: _Question) -> str:
    """Where times are from."""
    if question.final is None:
        return f"simulated on {question.cluster}"
    if question.cluster is None:
        return "measured on this machine"
    return f"measured on {question.final.name}, the best of those simulated on {question.cluster}"


def _show(question: _Question, result: Advice, failed: Sequence[str], out: Console) -> None:
    """The advice for people."""
    advised, usual = result.advised, result.default
    tasks = count(advised.candidate.tasks, "task")
    out.print(f"{_what(question)}, {tasks}, {_how(question)}", markup=False, soft_wrap=True)
    out.print(f"request: {_line(advised)}", style="bold", markup=False, soft_wrap=True)
    if advised is not usual:
        out.print(f"default: {_line(usual)}", markup=False, soft_wrap=True)
    elif len(result.options) > 1:
        out.print("This is the default layout. No other one is better.", soft_wrap=True)
    out.print(_sureness(result), markup=False, soft_wrap=True)
    out.print(_table(result))
    one = advised.candidate
    lines = [*requests.sbatch(one), requests.launchers(one)["Slurm"]]
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
    """How much better, and how sure that is."""
    band = result.band
    better = f"{result.gain:.3g}x {'faster' if result.goal is Goal.TIME else 'cheaper'}"
    if len(result.options) == 1:
        return "This is the default layout. No other one fits, so nothing was compared."
    if band is None:
        if result.verdict is Sureness.NO_DIFFERENCE:
            return "No interval lies below that of the default."
        return f"{better} than the default; the intervals do not overlap."
    errors = f"median error {100 * band.median:.2g} %, largest {100 * band.worst:.2g} %"
    known = (
        f"Published cells of this kernel and cluster: {errors} ({_by_paper(band.tables)})."
        if band.own
        else f"Not validated for this kernel and cluster; elsewhere: {errors}."
    )
    if result.verdict is Sureness.NO_DIFFERENCE:
        return f"Layouts within {percent(tolerance(band))} count as equal. {known}"
    words = {Sureness.YES: "sure", Sureness.POSSIBLE: "within the median error"}
    return f"{better} than the default ({words.get(result.verdict, result.verdict)}). {known}"


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
    """The front first, then others by time: few lines."""
    table = Table(box=None, pad_edge=False)
    for title in ("nodes", "tasks/node", "threads", "mapping", "time", "nodes x time", ""):
        table.add_column(title, justify="left" if title in ("mapping", "") else "right")
    rest = [one for one in result.options if one not in result.front]
    shown = [*result.front, *rest][:_SHOWN]
    for one in sorted({id(o): o for o in (*shown, result.default)}.values(), key=_seconds):
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


def _seconds(one: Option) -> float:
    return one.seconds
