# SPDX-License-Identifier: BSD-3-Clause
"""Probe whether the required GPUs are available, and whether MPI supports their memory.

Each combination is tried once before a campaign: a library without GPU support may end its ranks by
a signal, and no case of a study should fail like that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from haloscope.host import process
from haloscope.host.scratch import scratch
from haloscope.layout import Layout
from haloscope.run.runners import answer
from haloscope.study.case import Case
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import parted

TIMEOUT_S = 60
"""TIMEOUT_S is the time limit of a probe in seconds: the first use of a GPU takes some."""
_ONCE = ("repetitions=1", "steps=1", "warmup=0")
_ALONE = ("launches", "kernels=2", "size=16", "first=1", *_ONCE)
_AWARE = ("memory=device", "mpi=gpu_aware", "sizes=8,1M", *_ONCE)
_MESSAGES = ("pingpong", *_AWARE)
_SUMS = ("collectives", "operation=allreduce", *_AWARE)
"""A library that sends from GPU memory may not support reductions there."""
_SHARED = "gpus_shared="
"""Beginning of halobench's refusal of too many ranks for a node's GPUs."""
_SAID = re.compile(r"^halobench: (.+)$", re.MULTILINE)

Trial = tuple[tuple[str, ...], int]
GpuTried = tuple[str, str | None, Trial]
"""An MPI library's name, the requested transport, and the trial: a library may support GPU memory
with one transport, and end its ranks with another.
"""


def probed(
    cases: Sequence[Case], built: Mapping[str, Build], hosts: Sequence[str] = ()
) -> tuple[Case, ...]:
    """Return the cases; those that need a missing GPU or an unsupported operation are absent."""
    found: dict[GpuTried, str | None] = {}

    def why(case: Case) -> str | None:
        """Return the reason of the case's first failed probe; each probe is made once."""
        for asked in _asks(case):
            transport = None if asked[0][0] == _ALONE[0] else case.transport
            key = case.toolchain, transport, asked
            if key not in found:
                found[key] = _tried(built[case.toolchain], transport, asked, hosts)
            if said := found[key]:
                return said
        return None

    return tuple(
        replace(case, absent=said, launches=1) if (said := why(case)) else case for case in cases
    )


def programs(case: Case) -> list[KernelProgram]:
    """Return the programs of halobench that are probed before a case."""
    names = dict.fromkeys(words[0] for words, _ in _asks(case))
    return [KernelProgram(name, device=True) for name in names]


def _asks(case: Case) -> tuple[Trial, ...]:
    """Return the trials before a case, in order; none if it needs no GPU."""
    if case.absent is not None or case.params.get("memory") != "device":
        return ()
    if parted(case.toolchain)[1] is None:  # an emulated device
        return ()
    asked: list[Trial] = [(_ALONE, 1)]
    # test whether the node has a GPU for each rank, or for as many as may share one
    if (ranks := case.layout.ppn) > 1:
        asked.append(((*_ALONE, f"{_SHARED}{case.params.get('gpus_shared', 1)}"), ranks))
    adds = case.kernel == "collectives"
    if case.params.get("mpi") == "gpu_aware" and (adds or case.layout.ranks > 1):
        asked += [(_MESSAGES, 2), (_SUMS, 2)] if adds else [(_MESSAGES, 2)]
    return tuple(asked)


def _tried(built: Build, transport: str | None, asked: Trial, hosts: Sequence[str]) -> str | None:
    """Try messages between two ranks with a GPU each or, if there is only one, on that one."""
    words, ranks = asked
    why = probe(built, words, ranks, hosts, transport)
    if why and why.startswith(_SHARED) and words[0] != _ALONE[0]:
        why = probe(built, (*words, f"{_SHARED}2"), ranks, hosts, transport)
    return why


def probe(
    built: Build,
    words: Sequence[str],
    ranks: int,
    hosts: Sequence[str] = (),
    transport: str | None = None,
) -> str | None:
    """Why ranks cannot run a small case of halobench, or None if they can.

    A launch that fails without a message is tried again: the first one on a busy machine may fail.
    """
    job = Job(
        Layout.of(ranks, len(hosts) or 1),
        oversubscribe=True,
        hosts=tuple(hosts),
        transport=transport,
    )
    ended = _launched(built, words, job)
    if ended.code != 0 and not ended.timed_out and not _SAID.search(ended.output):
        ended = _launched(built, words, job)
    if ended.code == 0 and not ended.timed_out:
        return None
    if said := _SAID.search(ended.output):
        return said[1]
    how = f"no answer within {TIMEOUT_S} s"
    if not ended.timed_out:
        how = answer.how_it_ended(ended.code)
    if words[0] == _ALONE[0]:
        return f"memory=device: a test on a GPU failed: {how}"
    version = built.toolchain.version
    what = f"{'reductions' if words[:2] == _SUMS[:2] else 'messages'} from GPU memory"
    what += f" over transport {transport}" if transport else ""
    return f"mpi=gpu_aware: a test of {what} failed with {version}: {how}; use mpi=staged"


def _launched(built: Build, words: Sequence[str], job: Job) -> process.Ended:
    with scratch() as own:
        program = [str(built.path(KernelProgram(words[0], device=True))), *words]
        command, environment = launch_command(built.toolchain, job, program, scratch=own)
        return process.run(command, environment, TIMEOUT_S, tail=1 << 20)
