# SPDX-License-Identifier: BSD-3-Clause
"""haloscope advise: which layout to request for a kernel."""

from __future__ import annotations

import argparse
import json
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
    ALIKE,
    Advice,
    Goal,
    Option,
    Sureness,
    advice,
    band_of,
    cheapest,
)
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import open_folder
from haloscope.commands import placeoptions
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, out_of
from haloscope.paths import dated_folder, in_a_shell, write_whole
from haloscope.quantities import count, seconds
from haloscope.run import campaign, kernels, places
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
machine (--on local) candidates are measured in turn. The default layout, which the others are
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
  haloscope advise --profile profile-20261121-010203 --on eagle

exit codes: 0 success, 1 a candidate failed, 2 usage error, 130 interrupted
"""
_REMAPPED = 2
"""_REMAPPED is the number of layouts for which other mappings are tried, the best ones."""
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
    add("--on", metavar="PLACE", required=True, help="a cluster (simulated), or local (measured)")
    add("--goal", choices=[*Goal], default=Goal.TIME, help="what to minimise (default: time)")
    add("--most-nodes", metavar="N", type=int, help="largest number of nodes (default: 8 x fewest)")
    add("--launches", metavar="N", type=int, default=6, help="local: launches per layout")
    add("--within", metavar="MINUTES", type=float, help="start no candidate after this time")
    placeoptions.add_programs_to(parser)
    add("--out", metavar="DIR", type=Path, help="folder (default: results/advise-KERNEL-DATE-TIME)")
    add("--json", action="store_true", help="print the content of advice.json instead of text")


@dataclass(frozen=True)
class _Question:
    """What is to be compared, and where. until: when to start no more, by time.monotonic()."""

    kernel: str
    params: Mapping[str, Value]
    place: Place
    out: Path
    launches: int
    programs: tuple[Path, ...]
    until: float | None

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
    question = _Question(
        arguments.kernel,
        dict(_pair(word) for word in arguments.params),
        places.place(arguments.on),
        arguments.out or dated_folder(f"advise-{arguments.kernel}"),
        arguments.launches,
        tuple(arguments.programs),
        None if arguments.within is None else began + 60 * arguments.within,
    )
    if places.site_of(question.place) is not None:
        mend = "simulate its cluster file (haloscope cluster list), then run the study in DIR there"
        raise UserError(Problem(f"--on {arguments.on}", "advise does not submit jobs", mend))
    bench, _ = question.place.preview({"--on": None})
    site = question.place.site(bench, oversubscribe=False)
    tried = candidates.shapes(arguments.tasks, site, arguments.most_nodes)
    usual, goal = candidates.default(arguments.tasks, site), Goal(arguments.goal)
    found, failed = _compared(question, "layouts", tried, tell)
    if usual not in found:
        what = "the default layout has no time, so nothing can be compared with it"
        mend = f"haloscope show {in_a_shell(question.out / 'layouts')} has the reason"
        raise UserError(Problem(f"advise {question.kernel}", what, mend))
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
    band = band_of(question.cluster, found[usual][1]) if question.cluster else None
    result = advice([option for option, _ in found.values()], usual, goal, band)
    answer = _as_data(question, result, failed)
    _write(question, result, answer)
    if arguments.json:
        print(json.dumps(answer, indent=1))
    else:
        _show(question, result, failed, Screen())
    return 1 if failed else 0


def _problems(arguments: argparse.Namespace) -> Sequence[Problem]:
    found = []
    if (arguments.profile is None) == (arguments.kernel is None):
        mend = "give one of both: advise KERNEL --tasks N, or advise --profile DIR"
        return [Problem("advise", "needs a kernel or a profile", mend)]
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
        mend = "remove it; --most-nodes limits the candidates"
        found.append(Problem("--nodes", "applies to --profile only", mend))
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


def _compared(
    question: _Question, name: str, tried: Sequence[Candidate], tell: Teller
) -> tuple[dict[Candidate, tuple[Option, MeasuredCase]], list[str]]:
    """Each candidate with its time and its case, and why others have none."""
    question.out.mkdir(parents=True, exist_ok=True)
    title = f"Advice: {name} of {question.kernel}, {count(tried[0].tasks, 'task')}"
    text = candidates.study(title, question.kernel, question.params, tried, question.launches)
    file = question.out / f"{name}.toml"
    write_whole(file, text)
    folder = question.out / name
    request = campaign.Request(
        str(file), out=folder, on=question.place.name, programs=question.programs
    )
    try:
        started = campaign.start(request, tell).probed()
    except UserError as error:
        raise UserError(_of_no_run(question, error.problems, f"{file}: ")) from error
    campaign.measure(started, tell, question.until)
    none = not started.folder.records.exists()  # the time was over before the first launch
    cases = () if none else open_folder(folder).cases
    found, failed = {}, []
    for one in tried:
        case = next((case for case in cases if _is_of(case, one)), None)
        if case is not None and case.time is not None:
            found[one] = (Option(one, case.time), case)
        else:
            failed.append(f"{_named(one)}: {_why(case)}")
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


def _named(one: Candidate) -> str:
    mapping = "node list" if "," in one.mapping else one.mapping.replace("_", " ")
    threads = f" x {count(one.threads, 'thread')}" if one.threads > 1 else ""
    across = "" if one.nodes == 1 else f", {mapping}"
    return f"{count(one.nodes, 'node')}, {one.ppn} tasks per node{threads}{across}"


def _as_data(question: _Question, result: Advice, failed: Sequence[str]) -> dict[str, Any]:
    """The advice for programs: times in seconds, node-hours per step."""
    return {
        "schema": "haloscope.advice/1",
        "kernel": question.kernel,
        "params": dict(question.params),
        "on": question.place.name,
        "simulated": question.cluster is not None,
        "goal": result.goal,
        "verdict": result.verdict,
        "gain": result.gain,
        "band": None if result.band is None else asdict(result.band),
        "advised": _option(result.advised),
        "default": _option(result.default),
        "request": requests.as_data(result.advised.candidate),
        "front": [_option(one) for one in result.front],
        "options": [_option(one) for one in result.options],
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


def _show(question: _Question, result: Advice, failed: Sequence[str], out: Console) -> None:
    """The advice for people."""
    advised, usual = result.advised, result.default
    how = f"simulated on {question.cluster}" if question.cluster else "measured on this machine"
    given = " ".join(f"{key}={value}" for key, value in question.params.items())
    tasks = count(advised.candidate.tasks, "task")
    out.print(f"{question.kernel} {given}".strip() + f", {tasks}, {how}", markup=False)
    out.print(f"request: {_line(advised)}", style="bold", markup=False, soft_wrap=True)
    if advised is usual:
        out.print("This is the default layout. No other one is better.", soft_wrap=True)
    else:
        out.print(f"default: {_line(usual)}", markup=False, soft_wrap=True)
    out.print(_sureness(result), markup=False, soft_wrap=True)
    out.print(_table(result))
    one = advised.candidate
    for line in (*requests.sbatch(one), requests.launchers(one)["Slurm"]):
        out.print(line, markup=False, soft_wrap=True)
    for line in failed:
        out.print(f"not compared: {line}", markup=False, soft_wrap=True)
    where = in_a_shell(question.out)
    out.print(
        f"other launchers: {where}/advice.json; to check on a site: haloscope run "
        f"{where}/check.toml --on SITE",
        markup=False,
        soft_wrap=True,
    )


def _line(one: Option) -> str:
    hours = _node_time(one)
    return f"{_named(one.candidate)}: {seconds(one.seconds)} per step, {hours}"


def _node_time(one: Option) -> str:
    """Node-hours of a step, or node-seconds where these are a more readable number."""
    hours = one.node_seconds / 3600
    return f"{hours:.3g} node-hours" if hours >= 1 else f"{one.node_seconds:.3g} node-s"


def _sureness(result: Advice) -> str:
    """How much better, and how sure that is."""
    band = result.band
    better = f"{result.gain:.3g}x {'faster' if result.goal is Goal.TIME else 'cheaper'}"
    if band is None:
        if result.verdict is Sureness.NO_DIFFERENCE:
            return "No interval lies below that of the default."
        return f"{better} than the default; the intervals do not overlap."
    errors = f"median error {100 * band.median:.2g} %, largest {100 * band.worst:.2g} %"
    known = (
        f"Published cells of this kernel and cluster: {errors} ({', '.join(band.tables)})."
        if band.own
        else f"Not validated for this kernel and cluster; elsewhere: {errors}."
    )
    if result.verdict is Sureness.NO_DIFFERENCE:
        return f"Layouts within {100 * min(band.median, ALIKE):.2g} % count as equal. {known}"
    words = {Sureness.YES: "sure", Sureness.POSSIBLE: "within the median error"}
    return f"{better} than the default ({words.get(result.verdict, result.verdict)}). {known}"


def _table(result: Advice) -> Table:
    """The front first, then others by time: few lines."""
    table = Table(box=None, pad_edge=False)
    for title in ("nodes", "tasks/node", "threads", "mapping", "time", "node-s", ""):
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
        mapping = "node list" if "," in layout.mapping else layout.mapping.replace("_", " ")
        table.add_row(
            str(layout.nodes),
            str(layout.ppn),
            str(layout.threads),
            "" if layout.nodes == 1 else mapping,
            seconds(one.seconds),
            f"{one.node_seconds:.3g}",
            ", ".join(notes),
        )
    return table


def _seconds(one: Option) -> float:
    return one.seconds
