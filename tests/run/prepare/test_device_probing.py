# SPDX-License-Identifier: BSD-3-Clause
"""Missing GPUs, and MPI libraries without support for their memory, are detected once."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FAKE, FAKE_PROGRAMS

from haloscope.host import process
from haloscope.layout import Layout
from haloscope.run.prepare import device_probing, probing
from haloscope.run.prepare.device_probing import probe, probed
from haloscope.run.prepare.probing import Probe
from haloscope.run.prepare.workbench import Workbench
from haloscope.study.case import Case, Value
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job

GPU = Build(replace(FAKE, name="fake+cuda", device="cuda"), FAKE_PROGRAMS, "5eed")
BUILT = {"fake": Build(FAKE, FAKE_PROGRAMS, "5eed"), "fake+cuda": GPU}
BENCH = Workbench(BUILT, ("fake",), ())


def case(toolchain: str = "fake+cuda", ranks: int = 2, **params: Value) -> Case:
    return Case("pingpong", {}, params, Layout(ppn=ranks), toolchain, 0, 5, 60.0, 0)


def answers(
    monkeypatch: pytest.MonkeyPatch,
    alone: str | None,
    messages: str | None,
    together: str | None = None,
) -> list[int]:
    """What the probes of one rank, of messages, and of the ranks of a node say; the ranks of those
    that were made.
    """
    made: list[int] = []

    def answer(
        built: Build, words: Sequence[str], ranks: int, hosts: object, transport: object = None
    ) -> str | None:
        made.append(ranks)
        if words[0] != "launches":
            return messages
        return alone if ranks == 1 else together

    monkeypatch.setattr(device_probing, "probe", answer)
    return made


def reasons(*cases: Case) -> list[str | None]:
    return [one.absent for one in probed(cases, BUILT)]


AWARE, STAGED, STREAM, HOST = (
    case(memory="device", mpi="gpu_aware"),
    case(memory="device", mpi="staged"),
    case(memory="device", mpi="nccl"),
    case(memory="host", mpi="gpu_aware"),
)


def test_without_a_gpu_only_cases_that_need_one_are_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = answers(monkeypatch, "no GPU", None)
    emulated = case("fake", memory="device", mpi="gpu_aware")

    found = reasons(AWARE, STAGED, STREAM, HOST, emulated)
    assert found == ["no GPU", "no GPU", "no GPU", None, None]
    assert made == [1]


def test_messages_are_probed_once_and_not_for_staged_or_single_rank_cases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = answers(monkeypatch, None, "not aware")
    alone = case(ranks=1, memory="device", mpi="gpu_aware")

    found = reasons(AWARE, AWARE, STAGED, STREAM, alone)
    assert found == ["not aware", "not aware", None, None, None]
    assert made == [1, 2, 2]


def test_nodes_without_a_gpu_per_rank_are_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[tuple[str, int]] = []

    def answer(
        built: Build, words: Sequence[str], ranks: int, hosts: object, transport: object = None
    ) -> str | None:
        tried.append((words[-1], ranks))
        return "too few" if words[-1] == "gpus_shared=2" and ranks == 6 else None

    monkeypatch.setattr(device_probing, "probe", answer)
    crowded = case(ranks=6, memory="device", mpi="staged", gpus_shared=2)

    assert reasons(crowded, STAGED, STREAM, replace(crowded, layout=Layout(ppn=4))) == [
        *("too few", None, None, None)
    ]
    assert tried[1:] == [("gpus_shared=2", 6), ("gpus_shared=1", 2), ("gpus_shared=2", 4)]


def test_reductions_are_probed_only_if_cases_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may send from a GPU's memory, and end its ranks when it is to add there."""
    tried: list[str] = []

    def answer(
        built: Build, words: Sequence[str], ranks: int, hosts: object, transport: object = None
    ) -> str | None:
        tried.append(words[0])
        return "adds nothing" if words[0] == "collectives" else None

    monkeypatch.setattr(device_probing, "probe", answer)
    sums = replace(AWARE, kernel="collectives")

    assert reasons(AWARE) == [None]
    assert tried == ["launches", "launches", "pingpong"]
    assert reasons(sums, AWARE, sums, replace(sums, params=STAGED.params)) == [
        *("adds nothing", None, "adds nothing", None)
    ]
    assert tried[3:] == ["launches", "launches", "pingpong", "collectives"]
    assert reasons(replace(sums, layout=Layout(ppn=1))) == ["adds nothing"], "to itself"


def test_with_one_gpu_messages_are_probed_between_ranks_that_share_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def answer(
        built: Build, words: Sequence[str], ranks: int, hosts: object, transport: object = None
    ) -> str | None:
        tried.append(words[-1])
        shares = words[0] == "launches" or words[-1] == "gpus_shared=2"
        return None if shares else "gpus_shared=1: 2 ranks"

    monkeypatch.setattr(device_probing, "probe", answer)

    assert reasons(replace(AWARE, layout=Layout(nodes=2))) == [None]
    assert tried[-1] == "gpus_shared=2"


def test_messages_are_probed_with_each_requested_transport(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of a library's transports may take a GPU's memory, and another end its ranks."""
    made: list[tuple[str, str | None]] = []

    def launched(built: Build, words: Sequence[str], job: Job) -> process.Ended:
        made.append((words[0], job.transport))
        return process.Ended(139 if job.transport == "tcp" else 0, False, 0.1, "")

    monkeypatch.setattr(device_probing, "_launched", launched)
    ucx, tcp = (replace(AWARE, transport=name) for name in ("ucx", "tcp"))

    usual, by_ucx, by_tcp, again = reasons(AWARE, ucx, tcp, tcp)

    assert (usual, by_ucx) == (None, None)
    assert by_tcp == again
    for part in ("mpi=gpu_aware: ", " tcp ", "Fake MPI 1.0", "SIGSEGV", "mpi=staged"):
        assert part in str(by_tcp)
    alone = [("launches", None)] * 2
    asked = [*alone, ("pingpong", None), ("pingpong", "ucx"), ("pingpong", "tcp")]
    assert made == [*asked, asked[-1]]  # a launch that died without a word is made again


def test_with_working_probes_no_case_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, None, None)
    assert reasons(AWARE, STAGED) == [None, None]
    answers(monkeypatch, "no GPU", None)
    assert reasons(replace(AWARE, absent="too few nodes")) == ["too few nodes"]


def test_a_campaign_probes_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "no GPU", None)
    monkeypatch.setattr(probing, "probe", lambda *_: Probe("vader", None))

    (first, other), seen = probing.probed([STAGED, HOST], BENCH)

    assert (first.absent, first.launches, other.absent) == ("no GPU", 1, None)
    assert seen == {("fake+cuda", None, False): "vader"}


def test_an_unavailable_transport_is_reported_before_probing_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers(monkeypatch, None, "not aware")
    monkeypatch.setattr(
        probing, "probe", lambda _, transport, *__: Probe(None, "no efa" if transport else None)
    )

    (by_efa, usual), _ = probing.probed([replace(AWARE, transport="efa"), AWARE], BENCH)

    assert (by_efa.absent, usual.absent) == ("no efa", "not aware")


@pytest.mark.parametrize(
    ("script", "ranks", "expected"),
    [
        ("exit 0", 1, ""),
        ("echo 'halobench: mpi=gpu_aware: A says no'; exit 2", 2, "mpi=gpu_aware: A says no"),
        (
            "kill -SEGV $$",
            2,
            "mpi=gpu_aware: .*Fake MPI 1.0.*SIGSEGV.*mpi=staged",
        ),
        ("exit 3", 1, "memory=device: .*exit code 3"),
        ("exec sleep 600", 1, "memory=device: .*0.3 s"),
    ],
)
def test_a_failed_probe_states_the_reason(
    monkeypatch: pytest.MonkeyPatch, script: str, ranks: int, expected: str
) -> None:
    monkeypatch.setattr(device_probing, "TIMEOUT_S", 0.3 if "sleep" in script else 600)
    started = ["sh", "-c", script], dict(os.environ)
    monkeypatch.setattr(device_probing, "launch_command", lambda *_, **__: started)

    found = probe(GPU, ("launches" if ranks == 1 else "pingpong",), ranks) or ""
    assert re.fullmatch(expected, found), found


@pytest.mark.parametrize(
    ("script", "tries"), [("kill -SEGV $$", 2), ("echo 'halobench: A says no'; exit 2", 1)]
)
def test_a_launch_that_died_silently_is_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, tries: int
) -> None:
    """The first launch on a busy machine sometimes fails; a reported reason is reported again."""
    log = tmp_path / "tries"
    started = ["sh", "-c", f"echo >> {log}; {script}"], dict(os.environ)
    monkeypatch.setattr(device_probing, "TIMEOUT_S", 600)
    monkeypatch.setattr(device_probing, "launch_command", lambda *_, **__: started)

    assert probe(GPU, ("pingpong",), 2)
    assert log.read_text().count("\n") == tries

    second = f"test -e {log}.died || {{ echo > {log}.died; kill -SEGV $$; }}"
    monkeypatch.setattr(
        device_probing, "launch_command", lambda *_, **__: (["sh", "-c", second], dict(os.environ))
    )
    assert probe(GPU, ("pingpong",), 2) is None


def test_probe_programs_are_built_only_for_gpus() -> None:
    sums = replace(AWARE, kernel="collectives")
    emulated = case("fake", memory="device", mpi="gpu_aware")

    assert device_probing.programs(sums) == [
        KernelProgram(kernel, device=True) for kernel in ("launches", "pingpong", "collectives")
    ]
    assert device_probing.programs(STAGED) == [KernelProgram("launches", device=True)]
    assert device_probing.programs(emulated) == device_probing.programs(HOST) == []
