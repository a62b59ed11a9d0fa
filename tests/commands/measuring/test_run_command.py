# SPDX-License-Identifier: BSD-3-Clause
"""The commands, from their command line to what they print, against the fake halobench."""

import errno
import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import STUDY, Laboratory
from laboratory import ALL, QUIET, Run, Write, records
from noted import shows

from haloscope import cli
from haloscope.commands.measuring import run
from haloscope.errors import UserError
from haloscope.records.log import append, read
from haloscope.run.campaign.campaign import Campaign, measure
from haloscope.run.campaign.request import Request, start
from haloscope.run.prepare import probing
from haloscope.run.prepare.probing import Probe
from haloscope.toolchains import build, library
from haloscope.toolchains.simgrid import absent


def test_a_run_writes_a_complete_folder(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert haloscope("run", study_file(STUDY), "--out", folder, "--seed", 5) == 0
    assert sorted(records(folder)) == ALL
    assert (folder / "study.toml").read_text() == STUDY
    plan = json.loads((folder / "plan.json").read_text())
    assert (plan["name"], plan["study"], plan["seed"]) == ("mine", "ours", 5)
    (note,) = plan["notes"]
    assert note.endswith(": fake on 2 nodes")
    machine = {"host": "here", "cpu": "a fake processor", "cores": 4}
    assert plan["machine"] == {**machine, "cluster": None, "platform": None}
    flags = "-DCMAKE_BUILD_TYPE=Release"
    built = {"version": "Fake MPI 1.0", "compiler": "fake++ 1.0", "flags": flags}
    assert plan["libraries"] == {"fake": built}
    assert len(plan["cases"]) == 4
    order = [[one.case, one.launch] for one in read(folder / "records.jsonl")]
    assert plan["order"] == order
    captured = capsys.readouterr()
    said = captured.out.split()  # long paths are wrapped
    assert said == ["summary", "of", "out", "report:", f"{folder}/report.html"]
    assert shows(captured.err, "4 cases", "8 launches", "(seed 5)")
    assert note in captured.err
    assert "[8/8]" in captured.err


def test_the_report_of_a_run_is_composed_once(
    haloscope: Run, laboratory: Laboratory, study_file: Write, tmp_path: Path
) -> None:
    assert haloscope("run", study_file(STUDY), "--out", tmp_path / "out") == 0

    assert laboratory.reports == [tmp_path / "out"]


def test_the_default_folder_is_named_after_the_study_and_the_time(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    assert haloscope("run", study_file(STUDY), "--launches", 1, "--no-report") == 0
    (folder,) = (tmp_path / "results").glob("mine-20*")
    assert len(records(folder)) == 4


def test_no_report_is_written_if_disabled(
    haloscope: Run, study_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    haloscope("run", study_file(STUDY), "--no-report")
    assert "report:" not in capsys.readouterr().out


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = study_file(STUDY)
    assert haloscope("run", path, "--dry-run") == 0
    assert list(tmp_path.iterdir()) == [path]
    out = capsys.readouterr().out
    assert "fake n=16, 2 ranks, fake" in out
    assert "2 KiB" in out
    assert "8 launches to run; " in out
    assert "fake on 2 nodes" in out


@pytest.mark.parametrize(
    ("options", "expected"), [((), True), (("--on", "tara"), False), (("--launches", "2"), False)]
)
def test_the_minutes_of_a_study_are_printed_only_for_its_defaults(
    haloscope: Run,
    study_file: Write,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    expected: bool,
) -> None:
    path = study_file("minutes = 3\n" + STUDY)

    assert haloscope("run", path, "--dry-run", *options) == 0

    assert ("about 3 minutes" in capsys.readouterr().out) is expected


def test_a_dry_run_on_a_cluster_works_without_simgrid_and_names_it(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = study_file(STUDY)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SIMGRID_ROOT", raising=False)

    assert haloscope("run", path, "--on", "tara", "--dry-run") == 0
    assert absent().what in " ".join(capsys.readouterr().out.split())

    with pytest.raises(UserError) as refused:
        haloscope("run", path, "--on", "tara")
    assert refused.value.problems == [absent()]


def test_very_many_cases_are_printed_one_per_line(
    haloscope: Run,
    study_file: Write,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "_DRAWN", 3)
    monkeypatch.setenv("COLUMNS", "40")

    assert haloscope("run", study_file(STUDY), "--dry-run") == 0

    title, *lines = capsys.readouterr().out.splitlines()
    name, columns = title.split(": ")
    assert (name, columns.split(", ")) == ("ours", ["case", "launches", "memory", "setting"])
    assert [line.split()[0].isalnum() for line in lines[:4]] == [True] * 4
    assert any("2 KiB  fake n=16, 2 ranks, fake" in line for line in lines[:4]), lines
    assert lines[4].startswith("8 launches to run")


def forbidden(*_: object, **__: object) -> None:
    raise AssertionError("a dry run fetches and builds nothing")


def test_a_dry_run_lists_downloads_and_builds_without_doing_them(
    haloscope: Run,
    study_file: Write,
    laboratory: Laboratory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in ((library, "ensure"), (library, "install"), (build, "build")):
        monkeypatch.setattr(module, name, forbidden)
    monkeypatch.setattr(library, "names", lambda: ["fake", "mpich"])
    path = study_file(f'{STUDY}toolchains = ["fake", "mpich"]\n')

    assert haloscope("run", path, "--dry-run") == 0
    out = capsys.readouterr().out
    assert shows(out, "before the run: ", ": install mpich ")
    assert "fake n=16, 2 ranks, fake" in out and "fake n=16, 2 ranks, mpich" in out
    assert "before the run: build " not in out

    laboratory.forget_builds()
    assert haloscope("run", path, "--dry-run") == 0
    out = capsys.readouterr().out
    assert shows(out, "fake and pingpong ", " fake")
    assert "fake n=16, 2 ranks, fake" in out and "unknown" in out

    monkeypatch.setattr(library, "available", list)
    assert haloscope("run", path, "--dry-run", "--toolchain", "mpich") == 0
    assert shows(capsys.readouterr().out, "before the run: ", ": install mpich ")


def test_transports_of_a_library_to_fetch_count_once_and_are_accepted(
    haloscope: Run,
    study_file: Write,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library, "names", lambda: ["fake", "mpich"])
    path = study_file(f'{STUDY}toolchains = ["mpich"]\ntransports = ["all", "ucx"]\n')

    assert haloscope("run", path, "--dry-run") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "16 launches to run" in out  # 4 cases, by default and by ucx, of two launches
    assert "cannot run here" not in out


def test_a_dry_run_uses_earlier_run_times(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results" / "before"
    haloscope("run", study_file(STUDY), "--out", folder)
    for record in read(folder / "records.jsonl"):
        append(folder / "records.jsonl", {**record.raw, "wall_s": 20.0 - record.raw["wall_s"]})
    haloscope("run", study_file(STUDY), "--dry-run")
    assert "time: about 1 min 20 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "outcome"), [("crash", "failed"), ("wrong", "wrong"), ("misplaced", "misplaced")]
)
def test_a_bad_case_is_named_and_the_exit_code_is_1(
    haloscope: Run,
    study_file: Write,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    outcome: str,
) -> None:
    study = STUDY.replace("n = [8, 16]", f'fault = ["none", "{fault}"]')
    study = study.replace("ppn = [1, 2]", "ppn = 2")
    assert haloscope("run", study_file(study), "--launches", 1) == 1
    captured = capsys.readouterr()
    assert f"{outcome}: fake fault={fault}, 2 ranks, fake: " in captured.err
    assert "1 launch failed; to retry" in captured.out


def test_all_problems_are_found_before_anything_runs(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    text = STUDY.replace("launches", "lanches").replace("n = [8", "n = [0, 8").replace("2, ", "9, ")
    text = text.replace("ppn = [1, 2]", "ppn = [1, 9]") + 'toolchains = ["fak"]\n'
    text += '[[runs]]\nkernel = "fake"\n[[runs]]\nkernel = "fume"\n'
    path = study_file(text)
    with pytest.raises(UserError) as caught:
        haloscope("run", path)
    found = caught.value.problems
    assert [problem.where.removeprefix(f"{path}: ") for problem in found] == [
        "lanches",
        "runs#1.toolchains",
        "runs#1.layout",
        "runs#1",
        "runs#1",
        "runs#3.kernel",
    ]
    values = ("lanches", "'fak'", "4 cores", "n=0", "ranks=9", "'fume'")
    assert all(value in problem.what for value, problem in zip(values, found, strict=True))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize("options", [[], ["--on", "stampede2"]])
def test_problems_that_need_no_halobench_are_refused_before_a_build(
    haloscope: Run, study_file: Write, laboratory: Laboratory, options: list[str]
) -> None:
    laboratory.forget_builds()
    text = STUDY.replace("n = [8", "n = [0, 8") + '[[runs]]\nkernel = "fume"\nlanches = 3\n'
    path = study_file(text)
    with pytest.raises(UserError) as caught:
        haloscope("run", path, *options)
    assert [problem.where for problem in caught.value.problems] == [
        f"{path}: runs#2.lanches",
        f"{path}: runs#1",
        f"{path}: runs#2.kernel",
    ]
    assert not laboratory.is_built
    text = STUDY.replace("n = [8, 16]", "n = 1").replace("nodes = [1, 2]", "nodes = 1")
    with pytest.raises(UserError, match="ranks=2: refused"):  # which only halobench knows
        haloscope("run", study_file(f"{text}skip_too_large = false\n"), *options)
    assert laboratory.is_built


@pytest.mark.parametrize(
    "arguments",
    [["once", "faker"], ["describe", "faker"], ["run", "mine.toml", "--toolchain", "fak"]],
)
def test_unknown_names_are_refused_before_halobench_is_built(
    haloscope: Run, study_file: Write, laboratory: Laboratory, arguments: list[str]
) -> None:
    laboratory.forget_builds()
    study_file(STUDY)
    with pytest.raises(UserError, match=r"'fake?r?'\n.*'fake'"):
        haloscope(*arguments)
    assert not laboratory.is_built


def test_without_simgrid_nothing_is_built(
    haloscope: Run, study_file: Write, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.forget_builds()
    monkeypatch.setenv("SIMGRID_ROOT", "/nowhere")
    with pytest.raises(UserError, match="SimGrid is not installed"):
        haloscope("run", study_file(STUDY), "--on", "tara")
    assert not laboratory.is_built


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--on", "slrum"], "--on slrum: "),
        (["--launches", 0], "--launches 0: out of range"),
        (["--launches", 10**9], "--launches 1000000000: out of range"),
        (["--seed", -1], "--seed -1: out of range"),
        (["--seed", 2**63], "--seed 9223372036854775808: out of range"),
        (["--resume", "x", "--seed", 1], "--seed: .*--resume"),
        (["--execute"], "--execute: "),
        (["--keep", "x"], "--keep: "),
        (["--resume", "x", "--on", "tara"], "--on: .*--resume"),
        (["--resume", "x", "--execute"], "--execute: .*--resume"),
        (["--on", "tara", "--toolchain", "x"], "--toolchain: .*simulated"),
        (["--on", "tara", "--oversubscribe"], "--oversubscribe: .*simulated"),
        (["--on", "summit", "--device", "cuda"], "--device: .*simulated"),
        (["--accept-change"], "--accept-change: .*--resume"),
        (["--resume", "x"], "x: .*plan.json"),
        (["--detach", "--script-only"], "--script-only: .*--detach"),
        (["--toolchain", "mpjch"], "--toolchain: .*'mpjch'"),
    ],
)
def test_invalid_option_combinations_are_refused(
    haloscope: Run, study_file: Write, options: list[str], what: str
) -> None:
    with pytest.raises(UserError, match=what):
        haloscope("run", study_file(STUDY), *options)


def test_an_inactive_lab_is_refused_with_the_command_that_starts_it(
    haloscope: Run, study_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haloscope.sites.file.OF_THE_LAB", tmp_path)
    with pytest.raises(UserError, match="--on lab: .*\n.*haloscope lab up"):
        haloscope("run", study_file(STUDY), "--on", "lab")


def test_a_folder_with_results_is_not_overwritten(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    haloscope("run", study_file(STUDY), "--out", folder)
    with pytest.raises(UserError, match=f"--out {folder}: "):
        haloscope("run", study_file(STUDY), "--out", folder)


def test_a_kernel_given_for_a_study_or_the_reverse_gets_the_right_command(
    haloscope: Run,
) -> None:
    for words, command in (
        (("run", "fake"), "haloscope once fake"),
        (("run", "fake", "--dry-run"), "haloscope once fake"),
        (("once", "quick"), "haloscope run quick"),
        (("describe", "quick"), "haloscope run quick"),
    ):
        with pytest.raises(UserError) as caught:
            haloscope(*words)
        assert command in caught.value.problems[0].remedy


def planned(path: Path, folder: Path) -> Campaign:
    """A campaign that is ready to measure."""
    return start(Request(str(path), out=folder), QUIET).probed()


@pytest.mark.usefixtures("haloscope")
def test_of_two_concurrent_runs_into_one_folder_the_second_is_refused(
    study_file: Write, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    one = planned(study_file(STUDY), folder)
    other = planned(study_file(STUDY.replace("[8, 16]", "[8, 32]")), folder)
    measure(one, QUIET)
    before = (folder / "plan.json").read_text(), (folder / "records.jsonl").read_text()

    with pytest.raises(UserError, match=f"--out {folder}: "):
        measure(other, QUIET)

    assert before == ((folder / "plan.json").read_text(), (folder / "records.jsonl").read_text())


def test_an_unwritable_folder_is_refused(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=f"--out .* '{tmp_path}/file'"):
        haloscope("run", study_file(STUDY), "--out", tmp_path / "file" / "out")


def test_a_table_that_filters_by_an_unused_setting_is_refused(
    haloscope: Run, study_file: Write
) -> None:
    text = STUDY + "[[tables]]\nkind = 'summary'\nwhere = { m = 8, n = 8, ppn = 1 }\n"
    with pytest.raises(UserError) as caught:
        haloscope("run", study_file(text))
    assert [problem.where.split(": ")[1] for problem in caught.value.problems] == [
        "tables#1.where.m"
    ]


@pytest.mark.parametrize("kind", ["pipe", "damaged", "folder"])
def test_damaged_neighbouring_folders_neither_stop_nor_clutter_a_run(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    kind: str,
) -> None:
    beside = tmp_path / "beside" / "records.jsonl"
    beside.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(beside)
    elif kind == "folder":
        beside.mkdir()
    else:
        beside.write_text('{"schema": 1, "case": [1]}\n[1]\nnull\n')

    assert haloscope("run", study_file(STUDY), "--out", tmp_path / "out") == 0
    assert str(beside) not in caplog.text


def test_a_run_with_a_broken_library_writes_nothing(
    haloscope: Run, study_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "probe", lambda *_: Probe(None, "no component 'nope'"))
    with pytest.raises(UserError, match="no component 'nope'"):
        haloscope("run", study_file(STUDY), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interrupt_keeps_results_and_explains_how_to_resume(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from haloscope.host import process

    folder, run, count = tmp_path / "out", process.run, iter(range(9))

    def interrupted(*arguments: Any) -> process.Ended:
        if next(count) == 3:
            raise KeyboardInterrupt
        return run(*arguments)

    monkeypatch.setattr(process, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        haloscope("run", study_file(STUDY), "--out", folder)
    assert len(records(folder)) == 3
    assert f"haloscope run --resume {folder}" in capsys.readouterr().err
    assert haloscope("run", "--resume", folder) == 0
    assert sorted(records(folder)) == ALL


def test_a_full_disk_stops_the_run_and_explains_how_to_resume(
    haloscope: Run, study_file: Write, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, filler = small_disk / "out", small_disk / "filler"
    filler.write_bytes(bytes(48 << 10))  # room for the plan and a few records
    path = study_file(STUDY)
    with pytest.raises(OSError) as full:
        haloscope("run", path, "--out", folder)
    assert (full.value.errno, str(full.value.filename)) == (
        *(errno.ENOSPC, f"{folder}/records.jsonl"),
    )

    assert 0 < len(records(folder)) < len(ALL)
    assert (folder / "records.jsonl").read_bytes().endswith(b"}\n")
    assert f"haloscope run --resume {folder}" in capsys.readouterr().err
    filler.unlink()
    assert haloscope("run", "--resume", folder) == 0
    assert sorted(records(folder)) == ALL


def test_a_termination_signal_acts_as_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(_: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)
        return 0

    monkeypatch.setattr(cli, "parse", lambda _: SimpleNamespace(execute=ended, verbosity="normal"))
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert cli.main(["list"]) == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "haloscope: interrupted" in capsys.readouterr().err


def test_an_unsupported_case_is_recorded_and_is_not_a_failure(
    haloscope: Run, study_file: Write, laboratory: Laboratory, tmp_path: Path
) -> None:
    text = STUDY.replace("n = [8, 16]", "n = 8").replace("ppn = [1, 2], nodes = [1, 2]", "ppn = 2")
    text += 'toolchains = ["fake", "gone"]\ntransports = "all"\n'
    folder = tmp_path / "out"
    assert haloscope("run", study_file(text), "--out", folder) == 0
    found = {
        (one.toolchain["name"], one.raw["transport"], one.outcome, one.raw["transport_seen"])
        for one in read(folder / "records.jsonl")
    }
    assert found == {
        ("fake", "shm", "ok", "vader"),
        ("fake", "tcp", "ok", "vader"),
        ("fake", "ucx", "absent", None),
        ("fake", "verbs", "ok", "vader"),
        ("gone", None, "absent", None),
    }
    reasons = {one.reason for one in read(folder / "records.jsonl") if one.outcome == "absent"}
    assert reasons == {"no device", "'gone' is not installed"}
    assert len(laboratory.launches) == 6
    assert haloscope("run", "--resume", folder) == 0
    assert len(laboratory.launches) == 6
