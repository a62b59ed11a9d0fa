# SPDX-License-Identifier: BSD-3-Clause
"""haloscope advise: find the best layout to request for a kernel."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from haloscope.advice import candidates, measuring, requests
from haloscope.advice.judging import Advice, Goal, Option
from haloscope.advice.measuring import ComparedLayouts, Question
from haloscope.commands import options
from haloscope.commands.options import flag, number
from haloscope.commands.predictions import advice_text
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, outside, reject
from haloscope.paths import dated_folder, write_whole
from haloscope.quantities import count
from haloscope.run.places import places
from haloscope.run.prepare import kernels
from haloscope.run.progress import Teller
from haloscope.sites.script import MOST_MINUTES
from haloscope.study.case import Value
from haloscope.study.plan import Via, no_kernel
from haloscope.study.values import COUNT_LIMIT, LAUNCHES_LIMIT
from haloscope.topics.common.table import Table

_DESCRIPTION = """\
Compare layouts of a kernel by predicted or measured time, and print the options that request the
best layout from a batch system. A layout is the number of nodes, tasks per node, and threads per
task, and the mapping of ranks to nodes.

On a cluster (--on stampede2), every candidate is simulated. The error of the result is estimated
from published tables of the same kernel and cluster, if there are any. On this machine (--on
local), all candidates are measured. On a site, candidates are simulated with the cluster file named
in the site file.

On this machine and on a site, the command then launches the two best candidates and the default
layout alternately, until their difference is significant or the time limit is reached. On a site,
all these launches run in one job.

The default layout is the baseline. It fills as few nodes as possible, in order, with one thread per
task. Different numbers of nodes and threads are compared first, then other rank mappings of the two
best candidates.

The command writes to DIR the advice (advice.json), the files that a launcher needs to apply the
layout, and a study that measures the advised and the default layouts on a real machine.

With --profile, the command compares rank mappings of any profiled program by the number of bytes on
the busiest network link. The mappings are block, round robin, random, and those that METIS and
SharedMap compute from the program's messages.
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


_LAUNCHES = 6


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `advise`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("kernel", metavar="KERNEL", nargs="?", help="name of a kernel (see haloscope list)")
    options.add_params_to(parser)
    number(parser, "--tasks", "number of MPI ranks")
    add(
        "--profile",
        metavar="DIR",
        type=Path,
        help="advise on the program whose profile is in DIR (see haloscope profile), instead of "
        "on KERNEL",
    )
    number(parser, "--nodes", "with --profile, number of nodes (default: the fewest possible)")
    add(
        "--on",
        metavar="PLACE",
        required=True,
        help="where to compare the layouts: a cluster (simulated), 'local' (measured), or a site "
        "(simulated; then the best layouts are measured)",
    )
    add("--via", metavar="SITE", help="run the simulations in batch jobs on SITE")
    add("--goal", choices=[*Goal], default=Goal.TIME, help="what to minimise (default: time)")
    number(parser, "--most-nodes", "maximum number of nodes (default: 8 times the least possible)")
    number(parser, "--launches", "number of launches per measured layout (default: 6)")
    add(
        "--within",
        metavar="TIME",
        type=_minutes,
        help="start no new candidate after this time, for example 90s, 10m, or 1h (default "
        "unit: minutes); on a site, also the time limit of the job",
    )
    options.add_programs_to(parser)
    add("--out", metavar="DIR", type=Path, help="folder (default: results/advise-KERNEL-DATE-TIME)")
    flag(parser, "--json", "print the advice as JSON instead of text")


def execute(arguments: argparse.Namespace) -> int:
    """Compare layouts, choose one, and print it; return the exit code."""
    reject(_problems(arguments))
    if arguments.profile is not None:
        # imported here: a kernel's layouts need no graph libraries
        from haloscope.commands.predictions import traffic_advice

        out = arguments.out or dated_folder("advise-profile")
        asked = (arguments.profile, arguments.on, arguments.nodes, out)
        return traffic_advice.advise(*asked, as_json=arguments.json, screen=Screen())
    tell = Teller(Screen(stderr=True))
    question = measuring.asked(
        arguments.kernel,
        dict(_pair(word) for word in arguments.params),
        places.place(arguments.on, via=Via(arguments.via, 1) if arguments.via else None),
        out=arguments.out or dated_folder(f"advise-{arguments.kernel}"),
        launches=arguments.launches or _LAUNCHES,
        programs=tuple(arguments.programs),
        within_minutes=arguments.within,
    )
    most = arguments.most_nodes
    found = measuring.compare(question, arguments.tasks, most, Goal(arguments.goal), tell)
    result, simulated, failed = found.advice, found.simulated, found.failed
    answer = _as_data(question, result, simulated, failed)
    _write(question, result, answer)
    layouts = _write_page(question, found, _command(arguments))
    if arguments.json:
        print(json.dumps(answer, indent=1))
    else:
        advice_text.show(question, result, failed, layouts, Screen())
    return 1 if failed else 0


def _problems(arguments: argparse.Namespace) -> Sequence[Problem]:
    found = []
    if (arguments.profile is None) == (arguments.kernel is None):
        remedy = "give KERNEL --tasks N or --profile DIR"
        return [Problem("advise", "requires either a kernel or a profile", remedy)]
    if arguments.profile is not None:
        nothing_runs = "remove it: nothing is simulated or launched"
        others = {
            "--tasks": (arguments.tasks, "remove it: the profile determines the number of ranks"),
            "--via": (arguments.via, nothing_runs),
            "--goal": (arguments.goal, "remove it: mappings are compared by the bytes on links"),
            "--most-nodes": (arguments.most_nodes, "remove it; --nodes sets the number of nodes"),
            "--launches": (arguments.launches, nothing_runs),
            "--within": (arguments.within, nothing_runs),
            "--program": (arguments.programs, nothing_runs),
        }
        found = [
            Problem(option, "cannot be combined with --profile", remedy)
            for option, (value, remedy) in others.items()
            if value not in (None, [], Goal.TIME)
        ]
        return [*found, *outside("--nodes", arguments.nodes, COUNT_LIMIT)]
    if arguments.tasks is None:
        found.append(
            Problem("advise", "--tasks is missing", "add --tasks N, the number of MPI ranks")
        )
    if arguments.nodes is not None:
        remedy = "remove it, or limit the number of nodes with --most-nodes"
        found.append(Problem("--nodes", "supported only with --profile", remedy))
    if arguments.kernel not in (known := kernels.names(arguments.programs)):
        found.append(no_kernel("advise", arguments.kernel, known))
    found += options.wrong_params(arguments)
    found += outside("--tasks", arguments.tasks, COUNT_LIMIT)
    found += outside("--most-nodes", arguments.most_nodes, COUNT_LIMIT)
    found += outside("--launches", arguments.launches, LAUNCHES_LIMIT)
    if (layouts := arguments.out and arguments.out / "layouts") and layouts.exists():
        what = "this folder already contains advice"
        found.append(Problem(f"--out {arguments.out}", what, "give another folder"))
    return found


def _minutes(text: str) -> float:
    """Convert a time with a unit to minutes. Raise ArgumentTypeError for an invalid one."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smh]?)", text)
    found = float(match[1]) * {"s": 1 / 60, "m": 1, "": 1, "h": 60}[match[2]] if match else 0.0
    if not 0 < found <= MOST_MINUTES:
        what = f"{text} is not a time above 0 and at most {MOST_MINUTES:,} minutes, such as 10m"
        raise argparse.ArgumentTypeError(what)
    return found


def _pair(word: str) -> tuple[str, Value]:
    """Parse a parameter; its value is a number, true, false, or a text, as in a study."""
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
    """Return the advice as data: times in seconds, node-hours per step.

    simulated: on a site, the layouts simulated before the best were measured.
    """
    return {
        "schema": "haloscope.advice/1",
        "kernel": question.kernel,
        "params": dict(question.params),
        "on": question.on.name,
        "simulated": question.final is None,
        "goal": result.goal,
        "verdict": result.verdict,
        "gain": result.gain.value,
        "gain_low": result.gain.low,
        "gain_high": result.gain.high,
        "band": None if result.band is None else asdict(result.band),
        "beyond": result.beyond,
        "advised": _option(result.advised),
        "default": _option(result.default),
        "request": requests.as_data(result.advised.candidate, question.sockets),
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
    title = f"Check the advice for {question.kernel}, {count(both[0].ranks, 'task')}"
    text = candidates.study(title, question.kernel, question.params, both, 6)
    write_whole(question.out / "check.toml", text)
    for name, content in requests.files(result.advised.candidate).items():
        write_whole(question.out / name, content)


def _command(given: argparse.Namespace) -> str:
    """Return the command line with the same request."""
    words = ["haloscope", "advise", given.kernel, *given.params, "--tasks", str(given.tasks)]
    for option, value, usual in (
        ("--on", given.on, None),
        ("--via", given.via, None),
        ("--goal", given.goal, Goal.TIME),
        ("--most-nodes", given.most_nodes, None),
        ("--launches", given.launches, None),
        ("--within", given.within and f"{given.within:g}m", None),
        *(("--program", path, None) for path in given.programs),
    ):
        words += [] if value == usual else [option, str(value)]
    return shlex.join(words)


def _write_page(question: Question, found: ComparedLayouts, command: str) -> Table:
    """Write the page; return its table of layouts."""
    from haloscope.commands.predictions import advice_page

    result = found.advice
    facts = advice_page.AdviceFacts(
        command=command,
        what=f"{advice_text.what(question)}, {count(result.advised.candidate.ranks, 'task')}",
        how=advice_text.how(question),
        sureness=advice_text.sureness(result),
        not_compared=found.failed,
        simulated=found.simulated,
        sockets=question.sockets,
    )
    advice_page.write(result, facts, question.out)
    return advice_page.layouts(result, result.options, "layouts", "Layouts")
