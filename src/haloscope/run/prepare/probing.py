# SPDX-License-Identifier: BSD-3-Clause
"""Probe each MPI library and transport with two ranks before a campaign, in one launch each.

A probe has three outcomes: messages arrived; the library reports that it cannot do this here; the
probe itself failed. Only the second makes cases absent, and only if a transport was requested by
name and the library's own choice works. Otherwise the machine, not the transport, is the cause.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from haloscope.errors import Problem, reject
from haloscope.host import process
from haloscope.host.scratch import scratch
from haloscope.layout import Layout
from haloscope.run.prepare import device_probing
from haloscope.run.prepare.workbench import Programs, Seen, Workbench
from haloscope.run.runners import answer
from haloscope.study.case import Case
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.transport import complaint, used_transport

TIMEOUT_S = 30
_OWN_FAULT = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}
"""_OWN_FAULT are the signals by which a library ends itself; all others come from outside."""
_SIGNAL = re.compile(r"KILLED BY SIGNAL: (\d+)|exited on signal (\d+)")
"""The messages of Hydra and Open MPI about a killed rank; their own exit codes do not show it."""
_ABORTED = re.compile(r"^Abort\(\d+\)", re.MULTILINE)
"""The message of MPICH and Intel MPI about a rank that ended itself. Their exit code is then the
last byte of the error number, which may equal that of a signal (143: no such provider)."""

_MESSAGES = KernelProgram("pingpong")
_ONCE = ("sizes=8,64K", "repetitions=1", "steps=1", "warmup=0")
_REFUSED = 2
"""halobench's exit code for an invalid case, such as messages of one rank."""
_ALONE = "each process ran as a single rank: the launcher does not belong to this MPI library"

Probed = tuple[str, str | None, bool]
"""An MPI library's name, the requested transport (None: the library's choice), and whether its two
ranks are on two nodes, as for cases on several nodes.
"""


@dataclass(frozen=True)
class Probe:
    """Whether a library can use a transport here. seen: what it reports to use; None: unknown.

    problem: why two ranks could not exchange messages; None if they did. answered: whether the
    library itself failed, not a timeout or a signal.
    """

    seen: str | None
    problem: str | None
    answered: bool = True


@dataclass(frozen=True)
class NodesAsked:
    """The nodes of a job (without nodes, this machine). bootstrap: as of toolchains' Job."""

    hosts: tuple[str, ...] = ()
    bootstrap: str | None = None

    def first(self, nodes: int) -> NodesAsked:
        """Return the job with the first `nodes` of its nodes, or all."""
        return replace(self, hosts=self.hosts[:nodes])


HERE = NodesAsked()


def probe(built: Build, transport: str | None, where: NodesAsked = HERE) -> Probe:
    """Exchange a few messages between two ranks while the library prints debug output."""
    two = Job(
        Layout.of(2, len(where.hosts) or 1),
        oversubscribe=True,
        transport=transport,
        hosts=where.hosts,
        bootstrap=where.bootstrap,
    )
    with scratch() as own:
        program = [str(built.path(_MESSAGES)), "--out", os.devnull, _MESSAGES.kernel, *_ONCE]
        command, environment = launch_command(
            built.toolchain, two, program, talkative=True, scratch=own
        )
        ended = process.run(command, environment, TIMEOUT_S, tail=1 << 20)
    if ended.timed_out:
        why = answer.with_cause(f"no message arrived within {TIMEOUT_S} s")
        return Probe(None, why, answered=False)
    if ended.code == _REFUSED:  # two ranks suffice for it, so the launcher is not the library's
        return Probe(None, _ALONE)
    if ended.code == 0:
        apart = len(where.hosts) > 1
        return Probe(
            used_transport(built.toolchain.family, transport, ended.output, apart=apart), None
        )
    if (number := _signal(ended)) is not None and number not in _OWN_FAULT:
        return Probe(None, answer.with_cause(answer.how_it_ended(128 + number)), answered=False)
    return Probe(None, complaint(ended.output))


def _signal(ended: process.Ended) -> int | None:
    if match := _SIGNAL.search(ended.output):
        return int(match[1] or match[2])
    return ended.code - 128 if ended.code > 128 and not _ABORTED.search(ended.output) else None


def programs(cases: Iterable[Case], bench: Workbench) -> Programs:
    """Return the programs of halobench that `probed` launches for these cases, by MPI library."""
    found: dict[str, dict[KernelProgram, None]] = {}
    for case in cases:
        if _is_asked(case, bench):
            found.setdefault(case.toolchain, {})[_MESSAGES] = None
        for program in device_probing.programs(case):
            found.setdefault(case.toolchain, {})[program] = None
    return found


def _is_asked(case: Case, bench: Workbench) -> bool:
    """Return whether a probe must find out what a case's library supports before it is launched."""
    if case.absent is not None or case.layout.ranks == 1:
        return False
    return case.kernel not in bench.programs or case.transport is not None


def probed(
    cases: Sequence[Case], bench: Workbench, where: NodesAsked = HERE
) -> tuple[tuple[Case, ...], Seen]:
    """Return the cases, with unsupported ones absent, and what libraries report to use.

    For cases on several nodes two nodes are probed, if available. Raise UserError if a probe itself
    failed, or if the library's own choice of transport fails.
    """
    built = bench.built

    def key(case: Case) -> Probed:
        return case.toolchain, case.transport, case.layout.nodes > 1 and len(where.hosts) > 1

    def asked_now(of: Probed) -> Probe:
        name, transport, apart = of
        return _settled(built[name], transport, where.first(1 + apart))

    asked = {key(case) for case in cases if _is_asked(case, bench)}
    probes = {one: asked_now(one) for one in sorted(asked, key=str)}
    failed = {one for one, each in probes.items() if each.problem}
    usual: set[Probed] = {(name, None, apart) for name, _, apart in failed}
    for one in sorted(usual - {*probes}, key=str):  # whether the library works at all
        probes[one] = asked_now(one)
    reject(
        _problem(built[one[0]], one[1], where.hosts[: 1 + one[2]], each)
        for one, each in probes.items()
        if each.problem and (one[1] is None or not each.answered)
    )
    why = {one: each.problem for one, each in probes.items()}
    able = tuple(
        replace(case, absent=lacks, launches=1)
        if _is_asked(case, bench) and (lacks := why[key(case)])
        else case
        for case in cases
    )
    seen = {one: each.seen for one, each in probes.items() if one in asked}
    return device_probing.probed(able, built, where.hosts[:1]), seen


def _settled(built: Build, transport: str | None, where: NodesAsked) -> Probe:
    """Return a probe; repeat a failed one, because the first launch on a busy machine may fail."""
    first = probe(built, transport, where)
    if first.problem is None:
        return first
    second = probe(built, transport, where)
    return first if first.answered and second.problem else second


def _problem(built: Build, transport: str | None, hosts: Sequence[str], each: Probe) -> Problem:
    over = f"over transport {transport}" if transport else "over the default transport"
    where = f"{built.toolchain.name} ({built.toolchain.version})"
    between = f" between {hosts[0]} and {hosts[1]}" if len(hosts) > 1 else ""
    what = f"two ranks could not exchange messages{between} {over}: {each.problem}"
    remedy = "check the installation (haloscope doctor), or "
    remedy += "choose other transports" if transport else "choose another library with --toolchain"
    return Problem(where, what, f"{remedy}; nothing was measured or saved")
