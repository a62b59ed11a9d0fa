# SPDX-License-Identifier: BSD-3-Clause
"""once and describe: one case, and what a kernel takes, against the fake halobench."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fakes import Laboratory
from laboratory import Run
from noted import shows
from recorded import poisson

from haloscope.cli import parse
from haloscope.commands.measuring.one_case import _layout, _run, _show
from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.records.record import Record
from haloscope.run.campaign import preparing

FIRST = ("fake n=16, 2 ranks x ", " 1 thread, bind = close: ok", "answer  42", "375 ms")
REST = ("512 B", "rank 1  here", "n            16", "fault")


@pytest.mark.parametrize(("option", "shown"), [((), FIRST), (("--all",), (*FIRST, *REST))])
def test_once_prints_result_time_and_phases_and_more_on_request(
    haloscope: Run,
    capsys: pytest.CaptureFixture[str],
    option: tuple[str, ...],
    shown: tuple[str, ...],
) -> None:
    assert haloscope("once", "fake", "n=16", "--ranks", 2, *option) == 0
    out = capsys.readouterr().out
    assert [part for part in (*FIRST, *REST) if part in out] == [*shown]


@pytest.mark.parametrize(
    ("words", "ppn"),
    [
        (["loggp"], 2),
        (["loggp", "--nodes", "2"], 1),
        (["loggp", "--ranks", "1"], 1),
        (["ring"], 1),
        (["of_somebody"], 1),
    ],
)
def test_once_uses_the_fewest_ranks_the_kernel_needs_by_default(words: list[str], ppn: int) -> None:
    assert _layout(parse(["once", *words])).ppn == [ppn]


@pytest.mark.parametrize(
    ("words", "params"),
    [
        (["--as", "osu"], {"mode": ["osu"], "repetitions": ["1"]}),
        (["--as", "imb"], {"mode": ["imb"], "repetitions": ["1"]}),
        (["repetitions=5", "--as", "osu"], {"mode": ["osu"], "repetitions": ["5"]}),
        ([], {}),
    ],
)
def test_the_table_of_another_benchmark_takes_one_repetition_unless_given(
    words: list[str], params: dict[str, list[str]]
) -> None:
    assert _run(parse(["once", "pingpong", *words])).params == params


def test_once_prints_only_the_record_as_json(
    haloscope: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("once", "fake", "--threads", 2, "n=16", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["outcome"], record["params"]["n"], record["study"]) == ("ok", 16, "once")
    assert (record["layout"]["ranks"], record["layout"]["threads"]) == (1, 2)


def test_once_with_several_launches_prints_shared_values(
    haloscope: Run, capsys: pytest.CaptureFixture[str], laboratory: Laboratory
) -> None:
    assert haloscope("once", "fake", "n=16", "--launches", 6) == 0
    assert len(laboratory.launches) == 6
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("launch 6 of 6; ") and "fake n=16, 1 rank x 1 thread: ok" in out
    assert shows(out, "6 launches", "375 ms [375 ms, 375 ms]", "96.9 %")
    assert haloscope("once", "fake", "n=16", "--launches", 2) == 0
    assert "too few launches" in capsys.readouterr().out
    assert haloscope("once", "fake", "n=16", "--launches", 2, "--json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["launch"] for line in lines] == [0, 1]


def test_once_writes_a_timeline_and_prints_its_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spans = [[["sweep", 0, 0.0, 0.5], ["halo", 0, 0.5, 0.7]]] * 2
    trace = {"point": 0, "clock_error_s": 0.0, "ranks": spans}
    record = Record.of(poisson(64, ranks=2, timeline=[trace]))

    _show([record], Screen())

    (line,) = (one for one in capsys.readouterr().out.splitlines() if one.startswith("timeline"))
    assert "<svg" in (tmp_path / line.split(": ")[1]).read_text(encoding="utf-8")
    _show([Record.of(poisson(64))], Screen())
    lines = capsys.readouterr().out.splitlines()
    assert not any(one.startswith("timeline:") for one in lines)


def test_once_reports_the_transport_or_why_it_is_unknown(
    haloscope: Run, capsys: pytest.CaptureFixture[str], laboratory: Laboratory
) -> None:
    assert haloscope("once", "fake", "--ranks", 2, "--transport", "tcp", "--json") == 0
    assert json.loads(capsys.readouterr().out)["transport_seen"] == "vader"
    assert haloscope("once", "fake", "--ranks", 2, "--transport", "tcp", "--all") == 0
    assert re.search(r"messages by +vader", capsys.readouterr().out)
    launches = len(laboratory.launches)
    assert haloscope("once", "fake", "--ranks", 2, "--transport", "ucx") == 1
    assert "no device" in capsys.readouterr().out
    assert len(laboratory.launches) == launches


def test_once_exits_with_1_and_prints_the_reason(
    haloscope: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("once", "fake", "fault=crash") == 1
    out = capsys.readouterr().out
    assert shows(out, "failed: exit code 139:", "SIGSEGV")
    assert "boom" in out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["fak"], "once: .*'fak'"),
        (["fake", "m=3"], "fake has no parameter 'm'"),
        (["fake", "N=3"], "(?s)parameter 'N'.*'n'"),
        (["fake", "ranks=3"], "(?s)parameter 'ranks'.*--ranks"),
        (["fake", "threads=3"], "(?s)parameter 'threads'.*--threads"),
        (["fake", "--ppn", "0"], "--ppn 0: out of range"),
        (["fake", "--ppn", "3", "--ranks", "2"], "--ranks 2: .*--ppn 3 on 1 node"),
        (["fake", "n"], "n: not of the form KEY=VALUE"),
        (["fake", "--transport", "all"], "--transport all: .*in a study"),
        (["fake", "n=1", "n=2"], "n: .* given more than once"),
        (["fake", "n=0"], "once: fake n=0: "),
        (["fake", "--ranks", "5"], "5 ranks .* 4 cores"),
        (["fake", "--ranks", "0"], "--ranks 0: out of range"),
        (
            ["fake", "--timeout", "1e10"],
            "--timeout .*: out of range\n.*at most 2,592,000",
        ),
        (["fake", "--timeout", "inf"], "--timeout inf: out of range"),
        (["fake", "--timeout", "nan"], "--timeout nan: out of range\n.*number"),
        (["fake", "--threads", "100000"], "--threads 100000: out of range\n.*to 4,096"),
        (["fake", "--nodes", "0", "--ranks", "2"], "--nodes 0: out of range"),
        (["fake", "--nodes", "2", "--ranks", "5"], "(?s)--ranks 5: cannot .*multiple of 2"),
        (["fake", "--nodes", "2"], "--nodes: 2 .*\n.* at most 1 node,"),
        (["fake", "--execute"], "--execute: "),
        (["fake", "--keep", "x"], "--keep: "),
        (["fake", "--on", "slrum"], "--on slrum: "),
        (["fake", "--on", "tara", "--toolchain", "x"], "--toolchain: .*simulated"),
        (["fake", "--on", "tara", "--oversubscribe"], "--oversubscribe: .*simulated"),
        (["fake", "--timeout", "-1"], "--timeout -1.0: out of range"),
        (["fake", "--toolchain", "x", "n=0"], "(?s)--toolchain: .*'x'.*n=0: "),
    ],
)
def test_once_refuses_invalid_requests(haloscope: Run, arguments: list[str], what: str) -> None:
    with pytest.raises(UserError, match=what):
        haloscope("once", *arguments)


def test_describe_lists_every_parameter(haloscope: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert haloscope("describe", "fake") == 0
    out = capsys.readouterr().out
    for name in ("not a measurement", "fault", "repetitions", "a help"):
        assert name in out
    assert haloscope("describe", "fake", "--json") == 0
    described = json.loads(capsys.readouterr().out)
    assert described["name"] == "fake"
    assert described["parameters"][0]["name"] == "n"
    assert described["results"][0]["name"] == "answer"


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 2147483647}, "from 1 to 2,147,483,647"),
        ({"type": "real", "minimum": 1e-16, "maximum": 0.01}, "number from 1e-16 to 0.01"),
        ({"type": "choice", "choices": ("rows", "blocks")}, "rows | blocks"),
        ({"type": "sizes", "minimum": 0, "maximum": 8}, "8:4M, each from 0 to 8"),
        ({"type": "text"}, ""),
    ],
)
def test_allowed_values_of_a_parameter_are_described(parameter: dict[str, Any], words: str) -> None:
    from haloscope.commands.reference.describe import allowed
    from haloscope.run.prepare.halobench import KernelParameter

    none: dict[str, Any] = {"minimum": None, "maximum": None, "choices": (), "unit": None}
    given = {"name": "x", "default": "1", "help": "a help", **none, **parameter}
    assert allowed(KernelParameter(**given)).endswith(words)


def test_every_parameter_type_has_a_description() -> None:
    from haloscope.commands.reference.describe import allowed
    from haloscope.run.prepare.halobench import KernelParameter

    header = (Path(__file__).parents[3] / "halobench" / "base" / "params.hpp").read_text()
    (listed,) = re.findall(r"enum class Type \{ (.*?) \};", header)
    for kind in listed.split(", "):
        given: dict[str, Any] = {"type": kind, "choices": ("a",) if kind == "choice" else ()}
        none: dict[str, Any] = {"minimum": None, "maximum": None, "unit": None}
        allowed(KernelParameter(name="x", default="1", help="", **none, **given))  # no error


def test_describe_suggests_the_nearest_kernel(haloscope: Run) -> None:
    with pytest.raises(UserError, match="did you mean 'fake'"):
        haloscope("describe", "fakee")


def test_once_on_a_site_outside_a_job_is_refused_before_a_build(
    haloscope: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "mine.toml").write_text(
        'source = "a test"\nscheduler = "pbs"\npartition = "normal"\nlauncher = "mpirun"\n'
        '[[partitions]]\nname = "normal"\nnodes = 2\ncores = 4\nmemory_mb = 1000\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preparing, "prepared", lambda *_: pytest.fail("built"))

    with pytest.raises(UserError, match="a batch job"):
        haloscope("once", "fake", "--on", "mine")


def test_parameters_are_grouped() -> None:
    from haloscope.commands.reference.describe import grouped
    from haloscope.run.prepare.halobench import KernelParameter

    every = [
        KernelParameter(name, "integer", 0, None, None, (), None, "")
        for name in ("n", "mpi", "warmup")
    ]

    groups = grouped(every).values()
    assert [[one.name for one in group] for group in groups] == [["n"], ["mpi"], ["warmup"]]
