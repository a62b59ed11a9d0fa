"""Whether the GPUs that halobench was built for are here, and whether MPI takes their memory.

Each is tried once by a launch of its own, before a campaign: a library that is not aware of GPUs
may end its ranks by a signal, and no case of a study is to find that out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from haloscope.host import process
from haloscope.host.scratch import scratch
from haloscope.run.runners import answer
from haloscope.run.runners.local import Built
from haloscope.study.case import Case
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command

TIMEOUT_S = 60
"""TIMEOUT_S is how long a probe may take, in seconds: the first use of a GPU takes some."""
_ONCE = ("repetitions=1", "steps=1", "warmup=0")
_ALONE = ("launches", "kernels=2", "size=16", "first=1", *_ONCE)
_MESSAGES = ("pingpong", "memory=device", "mpi=gpu_aware", "sizes=8,1M", *_ONCE)
_SHARED = "gpus_shared="
"""How ranks that are too many for a node's GPUs are refused."""
_SAID = re.compile(r"^halobench: (.+)$", re.MULTILINE)

GpuNeed = tuple[str, bool]
"""An MPI library's name, and whether it is to be given addresses of a GPU's memory."""


def probed(
    cases: Sequence[Case], built: Mapping[str, Built], hosts: Sequence[str] = ()
) -> tuple[Case, ...]:
    """The cases, those absent that want a GPU which is not there, or of MPI what it can't do.

    hosts: the one that probes are to run on; none means this one.
    """
    wanted = dict.fromkeys(asked for case in cases if (asked := _asks(case, built)))
    names = dict.fromkeys(name for name, _ in wanted)
    alone = {(name, False): probe(built[name], _ALONE, 1, hosts) for name in names}
    found = {
        asked: alone[asked[0], False] or _probe_messages(built[asked[0]], hosts)
        for asked in wanted
        if asked[1]
    } | alone
    return tuple(
        replace(case, absent=why, launches=1)
        if (asked := _asks(case, built)) and (why := found[asked])
        else case
        for case in cases
    )


def _asks(case: Case, built: Mapping[str, Built]) -> GpuNeed | None:
    """What a case needs of GPUs; None where it needs none."""
    if case.absent is not None or built[case.toolchain].toolchain.device is None:
        return None
    if case.params.get("memory") != "device":
        return None
    return case.toolchain, case.params.get("mpi") == "gpu_aware" and case.layout.ranks > 1


def _probe_messages(built: Built, hosts: Sequence[str]) -> str | None:
    """Of two ranks, with a GPU each or, where there is but one, both on that."""
    why = probe(built, _MESSAGES, 2, hosts)
    if why and why.startswith(_SHARED):
        why = probe(built, (*_MESSAGES, f"{_SHARED}2"), 2, hosts)
    return why


def probe(built: Built, words: Sequence[str], ranks: int, hosts: Sequence[str] = ()) -> str | None:
    """Why some ranks can't run a small case of halobench; None if they can.

    One that died without a word is tried again, as a first launch on a busy machine does at times.
    """
    ended = _launched(built, words, ranks, hosts)
    if ended.code != 0 and not ended.timed_out and not _SAID.search(ended.output):
        ended = _launched(built, words, ranks, hosts)
    if ended.code == 0 and not ended.timed_out:
        return None
    if said := _SAID.search(ended.output):
        return said[1]
    how = f"no answer within {TIMEOUT_S} s"
    if not ended.timed_out:
        how = answer.how_it_ended(ended.code)
    if ranks == 1:
        return f"memory=device: tried on a GPU: {how}"
    version = built.toolchain.version
    return f"mpi=gpu_aware: tried with messages from a GPU's memory: {version}: {how}: give staged"


def _launched(
    built: Built, words: Sequence[str], ranks: int, hosts: Sequence[str]
) -> process.Ended:
    job = Job(ranks=ranks, oversubscribe=True, hosts=tuple(hosts))
    with scratch() as own:
        command, environment = launch_command(
            built.toolchain, job, [str(built.program), *words], scratch=own
        )
        return process.run(command, environment, TIMEOUT_S, tail=1 << 20)
