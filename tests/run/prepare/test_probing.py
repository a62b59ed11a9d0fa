# SPDX-License-Identifier: BSD-3-Clause
"""The three outcomes of a probe, and what becomes of the cases that depend on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import FAKE, FAKE_PROGRAMS

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.run.prepare import probing
from haloscope.run.prepare.probing import HERE, NodesAsked, Probe, probe, probed, programs
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.runners.answer import how_it_ended
from haloscope.study.case import Case
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job

BUILT = {"fake": Build(FAKE, FAKE_PROGRAMS, "5eed")}
BENCH = Workbench(BUILT, ("fake",), ())
WORKS, LACKS = Probe("vader", None), Probe(None, "no device")
CUT = Probe(None, "no message arrived within 30 s", answered=False)


def case(transport: str | None, ranks: int = 2, nodes: int = 1) -> Case:
    layout = Layout(nodes=nodes, ppn=ranks)
    return Case("fake", {}, {}, layout, "fake", 0, 5, 60.0, 0, transport=transport)


class Probes:
    """Answers in their order, for each transport; the last one again and again."""

    def __init__(self, **answers: Sequence[Probe]) -> None:
        self.answers = {name: list(each) for name, each in answers.items()}
        self.asked: list[str | None] = []
        self.where: list[NodesAsked] = []

    def __call__(self, built: Build, transport: str | None, where: NodesAsked = HERE) -> Probe:
        self.asked.append(transport)
        self.where.append(where)
        far = "_far" if len(where.hosts) > 1 else ""
        answers = self.answers[f"{transport or 'default'}{far}"]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def install(monkeypatch: pytest.MonkeyPatch, **answers: Sequence[Probe]) -> Probes:
    probes = Probes(**answers)
    monkeypatch.setattr(probing, "probe", probes)
    return probes


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("exit 0", Probe(None, None)),
        ("echo Error: no device found; exit 1", Probe(None, "Error: no device found")),
        ("kill -9 $$", Probe(None, how_it_ended(137), answered=False)),
        ("kill -BUS $$", Probe(None, how_it_ended(135), answered=False)),
        ("echo failed at once; kill -SEGV $$", Probe(None, "failed at once")),
        (
            "echo YOUR APPLICATION WAS KILLED BY SIGNAL: 9; exit 9",
            Probe(None, how_it_ended(137), answered=False),
        ),
        (
            "echo exited on signal 7 '(Bus error)'; exit 1",
            Probe(None, how_it_ended(135), answered=False),
        ),
        (
            "echo 'Abort(673858959): Fatal error'; echo '(84): getinfo failed'; exit 143",
            Probe(None, "Fatal error"),
        ),
        ("exec sleep 600", Probe(None, "no message arrived within 0.3 s", answered=False)),
    ],
)
def test_a_probe_succeeds_fails_or_times_out(
    monkeypatch: pytest.MonkeyPatch, script: str, expected: Probe
) -> None:
    monkeypatch.setattr(probing, "TIMEOUT_S", 0.3 if "sleep" in script else 600)
    started = ["sh", "-c", script], dict(os.environ)
    monkeypatch.setattr(probing, "launch_command", lambda *_, **__: started)

    assert probe(BUILT["fake"], None) == expected


def test_an_unavailable_transport_makes_its_cases_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probes = install(monkeypatch, ucx=[LACKS], shm=[WORKS], default=[WORKS])

    cases, seen = probed([case("ucx"), case("shm"), case("ucx", ranks=1)], BENCH)

    assert [(one.absent, one.launches) for one in cases] == [("no device", 1), (None, 5), (None, 5)]
    assert seen == {("fake", "shm", False): "vader", ("fake", "ucx", False): None}
    # twice, as a launch may fail once; the last: whether the library works at all
    assert probes.asked == ["shm", "ucx", "ucx", None]


def test_a_library_that_failed_once_is_probed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = install(monkeypatch, default=[Probe(None, "it crashed"), WORKS], ucx=[LACKS, CUT])

    cases, seen = probed([case(None), case("ucx")], BENCH)

    assert [one.absent for one in cases] == [None, "no device"]
    assert seen == {("fake", None, False): "vader", ("fake", "ucx", False): None}
    assert probes.asked == ["ucx", "ucx", None, None]


def test_multi_node_cases_are_probed_on_two_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    tcp = Probe("tcp", None)
    probes = install(monkeypatch, default=[WORKS], default_far=[tcp], shm=[WORKS], shm_far=[LACKS])

    cases = [case(by, nodes=nodes) for by in (None, "shm") for nodes in (1, 4)]
    found, seen = probed(cases, BENCH, NodesAsked(("a", "b", "c", "d"), "slurm"))

    assert [one.absent for one in found] == [None, None, None, "no device"]
    assert seen["fake", None, False] == seen["fake", "shm", False] == "vader"
    assert (seen["fake", None, True], seen["fake", "shm", True]) == ("tcp", None)
    assert {*probes.where} == {NodesAsked(("a",), "slurm"), NodesAsked(("a", "b"), "slurm")}


def test_a_launcher_knows_the_job_of_the_two_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intel MPI's reaches the second one by ssh, if nobody tells it of Slurm."""
    asked: list[Job] = []

    def launched(toolchain: object, job: Job, *_: object, **__: object) -> object:
        asked.append(job)
        return ["true"], dict(os.environ)

    monkeypatch.setattr(probing, "launch_command", launched)

    probe(BUILT["fake"], None, NodesAsked(("a", "b"), "slurm"))
    probe(BUILT["fake"], None)

    assert [(one.hosts, one.bootstrap) for one in asked] == [(("a", "b"), "slurm"), ((), None)]


def test_a_missing_network_between_two_nodes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, default=[WORKS], default_far=[LACKS])

    with pytest.raises(UserError, match="between a and b"):
        probed([case(None), case(None, nodes=2)], BENCH, NodesAsked(("a", "b")))


def test_a_one_node_job_probes_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = install(monkeypatch, default=[WORKS])

    probed([case(None, nodes=2)], BENCH, NodesAsked(("a",)))

    assert probes.where == [NodesAsked(("a",))]


def test_a_failing_default_transport_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, default=[LACKS])

    with pytest.raises(UserError, match="no device"):
        probed([case(None)], BENCH)


def test_if_nothing_works_no_transport_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ucx=[LACKS], default=[LACKS])

    with pytest.raises(UserError, match="default transport"):
        probed([case("ucx")], BENCH)


@pytest.mark.parametrize("transport", ["ucx", None])
def test_a_probe_that_timed_out_is_retried_once(
    monkeypatch: pytest.MonkeyPatch, transport: str | None
) -> None:
    probes = install(monkeypatch, ucx=[CUT, WORKS], default=[CUT, WORKS])

    (able,), _ = probed([case(transport)], BENCH)

    assert (able.absent, probes.asked) == (None, [transport] * 2)


@pytest.mark.parametrize("transport", ["ucx", None])
def test_a_probe_that_times_out_twice_is_an_error(
    monkeypatch: pytest.MonkeyPatch, transport: str | None
) -> None:
    install(monkeypatch, ucx=[CUT], default=[CUT if transport is None else WORKS])

    with pytest.raises(UserError, match="no message arrived within 30 s"):
        probed([case(transport)], BENCH)


def test_probes_launch_one_program_and_single_rank_cases_need_none() -> None:
    assert programs([case(None), case("ucx")], BENCH) == {"fake": {KernelProgram("pingpong"): None}}
    assert programs([case(None, ranks=1), replace(case("ucx"), absent="no ucx")], BENCH) == {}


def test_external_programs_are_probed_only_if_a_transport_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else nothing of halobench is built for them."""
    probes = install(monkeypatch, default=[LACKS], ucx=[WORKS])
    bench = replace(BENCH, programs={"fake": object()})  # type: ignore[dict-item]

    cases, seen = probed([case(None), case("ucx")], bench)

    assert [one.absent for one in cases] == [None, None]
    assert (probes.asked, seen) == (["ucx"], {("fake", "ucx", False): "vader"})
    assert programs([case(None)], bench) == {}
    assert [*programs([case("ucx")], bench)["fake"]] == [KernelProgram("pingpong")]
