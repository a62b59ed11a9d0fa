"""haloscope once: one case, right now."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haloscope.case import Case
    from haloscope.session import Workbench
    from haloscope.study import LayoutAxes

_DESCRIPTION = """\
Run one case right now and show its record: result, times, phases, memory, placement. Nothing is
kept. For parameters and their defaults see haloscope describe KERNEL.
"""
_EPILOG = """\
examples:
  haloscope once poisson_cg n=512 --ranks 2
  haloscope once stream --threads 2
  haloscope once pingpong --ranks 2 --json | jq .result

exit codes: 0 good, 1 it failed or was wrong, 2 usage, 130 interrupted
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `once` to the command line."""
    parser = subparsers.add_parser(
        "once",
        help="one case right now",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("kernel", metavar="KERNEL", help="its name: see haloscope list")
    add("params", metavar="key=value", nargs="*", help="parameters that differ from their defaults")
    add("--ranks", metavar="N", type=int, default=1, help="processes (default: 1)")
    add("--threads", metavar="T", type=int, default=1, help="threads of each process (default: 1)")
    add("--toolchain", metavar="NAME", help="an MPI: see haloscope toolchain list")
    add("--transport", metavar="NAME", help="how messages travel: see haloscope toolchain list")
    add("--placement", metavar="NAME", help="of two ranks, as in a study (same-socket ...)")
    add("--oversubscribe", action="store_true", help="let ranks and threads share cores (marked)")
    add("--timeout", metavar="S", type=float, default=600.0, help="seconds (default: 600)")
    add(
        "--json", action="store_true", help="print the record, and nothing else, on standard output"
    )
    parser.set_defaults(execute=execute)
    _allow_params_after_options(parser)


def _allow_params_after_options(parser: argparse.ArgumentParser) -> None:
    """`once KERNEL --ranks 2 n=512`: argparse itself takes key=value only right after KERNEL."""
    parse = parser.parse_known_args

    def parse_known_args(
        args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        found, rest = parse(args, namespace)
        params = [word for word in rest if "=" in word and not word.startswith("-")]
        found.params = [*found.params, *params]
        return found, [word for word in rest if word not in params]

    parser.parse_known_args = parse_known_args  # type: ignore[assignment, method-assign]


def execute(arguments: argparse.Namespace) -> int:
    """Run the case and show its record; the exit code."""
    import json

    from rich.console import Console

    from haloscope import session
    from haloscope.case import Job
    from haloscope.progress import Teller
    from haloscope.records import Record
    from haloscope.recordview import record_view
    from haloscope.runners.local import LocalRunner

    tell = Teller(Console(stderr=True))
    named = [arguments.toolchain] if arguments.toolchain else None
    bench = session.workbench({f"--toolchain {arguments.toolchain}": named}, tell)
    (case,), seen = session.probed([_case(arguments, bench)], bench.built)
    runner = LocalRunner(session.session("once", session.new_seed()), bench.built, seen)
    (record,) = runner.run([Job(case, 0)])
    if arguments.json:
        print(json.dumps(record))
    else:
        Console(highlight=False).print(record_view(Record.of(record)))
    return 0 if record["outcome"] == "ok" else 1


def _case(arguments: argparse.Namespace, bench: Workbench) -> Case:
    """The case that was asked for. UserError with all that is wrong with it."""
    from haloscope import machine, session
    from haloscope.errors import Problem, UserError, nearest
    from haloscope.plan import expand
    from haloscope.study import ALL, DEFAULT, Run, Study

    pairs = [argument.partition("=") for argument in arguments.params]
    keys = [key for key, _, _ in pairs]
    problems = [
        Problem(key, "not key=value", "for example n=512; see haloscope describe KERNEL")
        for key, equals, _ in pairs
        if not (key and equals)
    ]
    for key in {key for key in keys if keys.count(key) > 1}:
        problems.append(Problem(key, "given more than once", "give it once: this is one case"))
    for option in ("ranks", "threads", "timeout"):
        value = getattr(arguments, option)
        if value <= 0:
            problems.append(Problem(f"--{option} {value}", "too small", "give more than 0"))
    if arguments.placement not in (None, *machine.PLACEMENTS):
        mend = nearest(arguments.placement, machine.PLACEMENTS)
        where = f"--placement {arguments.placement}"
        problems.append(Problem(where, "there is no such placement", mend))
    if arguments.transport == ALL:
        mend = "name one, as haloscope toolchain list has them; a study takes all"
        problems.append(Problem("--transport all", "this is one case", mend))
    if problems:
        raise UserError(problems)
    run = Run(
        kernel=arguments.kernel,
        params={key: [value] for key, _, value in pairs},
        layout=_layout(arguments),
        toolchains=[arguments.toolchain] if arguments.toolchain else None,
        transports=[arguments.transport or DEFAULT],
    )
    study = Study(title="once", timeout_s=arguments.timeout, runs=[run])
    site = session.site(bench, oversubscribe=arguments.oversubscribe)
    plan = expand(study, site, bench.program, lambda _, key: key or "once")
    if bench.problems or plan.problems:
        raise UserError([*bench.problems, *plan.problems])
    return plan.cases[0]


def _layout(arguments: argparse.Namespace) -> LayoutAxes:
    from haloscope.study import LayoutAxes

    if arguments.placement:
        return LayoutAxes(placement=[arguments.placement])
    return LayoutAxes(ppn=[arguments.ranks], threads=[arguments.threads])
