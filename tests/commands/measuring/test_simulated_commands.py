# SPDX-License-Identifier: BSD-3-Clause
"""run and once on a simulated cluster, against the fake halobench and a fake smpirun."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from laboratory import Run, Write
from noted import shows

from haloscope.clusters import file as cluster_file
from haloscope.errors import UserError
from haloscope.paths import share
from haloscope.records.folder import ResultFolder
from haloscope.records.log import read
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.runners.simulation_costs import SimulationForecast
from haloscope.study.case import Case

STUDY = """
title = "ours"
[[runs]]
kernel = "fake"
params = { n = 8 }
layout = { nodes = 2, ppn = 2 }
[[runs]]
kernel = "fake"
params = { n = 16 }
layout = { nodes = 2, ppn = 2 }
"""

pytestmark = pytest.mark.usefixtures("simulator")


def verified(folder: Path) -> dict[int, bool]:
    """By n, whether answers are verified: in records, and in the input of halobench."""
    found = {}
    for record in read(folder / "records.jsonl"):
        asked = (record.command or [])[(record.command or []).index("--execute") + 1]
        found[record.params["n"]] = record.raw["simulation"]["verified"]
        assert asked == {True: "yes", False: "no"}[found[record.params["n"]]]
    return found


@pytest.mark.parametrize(
    ("key", "options", "found"),
    [
        ("", [], {8: False, 16: False}),
        ("", ["--execute"], {8: True, 16: True}),
        ("execute = true", [], {8: False, 16: True}),
    ],
)
def test_requested_results_are_verified(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    key: str,
    options: list[str],
    found: dict[int, bool],
) -> None:
    study = study_file(STUDY + key)
    assert haloscope("run", study, "--on", "stampede2", "--out", tmp_path / "out", *options) == 0
    assert verified(tmp_path / "out") == found


@pytest.mark.parametrize(
    ("key", "once", "more"),
    [
        (
            "execute = true",
            "verified",
            ("unknown until ", "; forecasts: 2 unknown"),
        ),
        (
            'transports = ["tcp"]',
            "here: transport 'tcp'",
            ("1 launch to run",),
        ),
    ],
)
def test_a_dry_run_lists_what_is_verified_and_what_cannot_run(
    haloscope: Run,
    study_file: Write,
    capsys: pytest.CaptureFixture[str],
    key: str,
    once: str,
    more: tuple[str, ...],
) -> None:
    assert haloscope("run", study_file(STUDY + key), "--on", "stampede2", "--dry-run") == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert out.count(once) == 1
    assert shows(out, *more)


def test_a_dry_run_forecasts_each_case_once(
    haloscope: Run, study_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    forecasts: list[str] = []
    usual = SimgridRunner.forecast

    def counted(runner: SimgridRunner, case: Case) -> SimulationForecast | None:
        forecasts.append(case.id)
        return usual(runner, case)

    monkeypatch.setattr(SimgridRunner, "forecast", counted)
    assert haloscope("run", study_file(STUDY), "--on", "stampede2", "--dry-run") == 0
    assert len(forecasts) == len({*forecasts}) == 2


def test_resuming_keeps_the_requested_options(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    options = ("--execute", "--keep", kept)
    haloscope("run", study_file(STUDY), "--on", "stampede2", "--out", out, *options)
    assert len(list(kept.iterdir())) == 2
    kept.rename(tmp_path / "moved")
    (out / "records.jsonl").write_text("")
    (tmp_path / "cache" / "simulated").rename(tmp_path / "gone")
    with pytest.raises(UserError, match=f"{kept}'\n.*--keep DIR"):
        haloscope("run", "--resume", out)
    assert not kept.exists()
    assert haloscope("run", "--resume", out, "--keep", kept) == 0
    assert verified(out) == {8: True, 16: True}
    assert len(list(kept.iterdir())) == 2


def test_resuming_repeats_the_warnings_of_the_cluster_file(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, out = tmp_path / "copied.toml", tmp_path / "out"
    mine.write_text((share("clusters") / "stampede2.toml").read_text())

    def warnings(*words: object) -> list[str]:
        assert haloscope("run", *words) == 0
        said = capsys.readouterr()
        return [line for line in (said.out + said.err).splitlines() if "warning: cluster" in line]

    begun = warnings(study_file(STUDY), "--on", mine, "--out", out, "--no-report")
    assert begun
    assert warnings("--resume", out, "--no-report") == begun


def test_resuming_keeps_files_inside_the_folder_silently(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    haloscope("run", study_file(STUDY), "--on", "stampede2", "--out", out, "--keep", out / "kept")
    (out / "kept").rename(tmp_path / "moved")
    (out / "records.jsonl").write_text("")

    assert haloscope("run", "--resume", out) == 0

    assert len(list((out / "kept").iterdir())) == 2


def test_a_study_with_the_execute_key_runs_on_this_machine_too(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    study = study_file(STUDY.replace("nodes = 2, ", "") + "execute = true")
    assert haloscope("run", study, "--out", tmp_path / "out") == 0
    assert [one.outcome for one in read(tmp_path / "out" / "records.jsonl")] == ["ok", "ok"]


def test_cases_without_memory_for_arithmetic_are_skipped(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However many layouts of a setting there are, they are one word."""
    large = STUDY.replace("n = 16", "n = 32768").replace("nodes = 2, ppn = 2", "tasks = 4")
    path = study_file(large.replace("tasks = 4", "tasks = 4, nodes = [1, 2, 4]"))
    assert haloscope("run", path, "--on", "stampede2", "--execute", "--out", tmp_path / "o") == 0
    assert {one.params["n"] for one in read(tmp_path / "o" / "records.jsonl")} == {8}
    (note,) = (one for one in capsys.readouterr().err.splitlines() if one.startswith("skipped "))
    assert "1 GiB" in note and note.endswith(": fake n=32768, 4 ranks (needs 8 GiB)")


def test_required_arithmetic_without_enough_memory_is_refused(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    path = study_file(STUDY.replace("n = 16", "n = 32768") + "execute = true")
    with pytest.raises(UserError) as caught:
        haloscope("run", path, "--on", "stampede2", "--out", tmp_path / "out")
    (problem,) = caught.value.problems
    assert problem.where == f"{path}: runs#2.params"
    assert shows(problem.what, "n=32768", "4 ranks on 2 nodes", " 8 GiB ")
    assert "n=11585" in problem.remedy and "execute" in problem.remedy
    assert not (tmp_path / "out").exists()


def test_once_on_a_cluster(haloscope: Run, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("once", "fake", "n=16", "--on", "stampede2", "--nodes", 2, "--ranks", 6)
    assert haloscope(*given, "--threads", 3, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    layout = {key: record["layout"][key] for key in ("nodes", "ppn", "ranks", "threads")}
    assert layout == {"nodes": 2, "ppn": 3, "ranks": 6, "threads": 3}
    assert record["machine"]["host"] == record["simulation"]["cluster"] == "stampede2"
    assert (record["clock"], record["simulation"]["verified"]) == ("wall", False)  # of the fake
    assert haloscope(*given, "--execute", "--all") == 0
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert shows(lines[0], "n=16", "6 ranks x 1 thread", "2 nodes of stampede2, simulated,")
    for line in ("cluster stampede2", "answer computed and verified", "messages 0"):
        assert line in lines


def test_once_reports_unverified_and_shortened_simulations(
    haloscope: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("once", "fake", "--on", "stampede2", "--nodes", 3) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert shows(out, "3 nodes of stampede2", "not computed", "bind = close: ok")


def test_once_applies_the_binding(haloscope: Run, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("once", "fake", "--on", "stampede2", "--nodes", 3)
    assert haloscope(*given, "--bind", "spread", "--json") == 0
    assert json.loads(capsys.readouterr().out)["layout"]["bind"] == "spread"
    threads = ("--ppn", 2, "--threads", 4, "--bind", "spread", "--thread-bind", "spread", "--json")
    assert haloscope(*given, *threads) == 0
    layout = json.loads(capsys.readouterr().out)["layout"]
    assert (layout["bind"], layout["thread_bind"]) == ("spread", "spread")


def test_once_keeps_the_simulation_files(haloscope: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert haloscope("once", "fake", "--on", "stampede2", "--keep", kept) == 0
    (folder,) = kept.iterdir()
    assert re.fullmatch(r"fake-1-rank-1-node-[0-9a-f]{12}", folder.name)
    assert sorted(path.name for path in folder.iterdir()) == [
        *("hosts", "machine", "platform", "run.sh")
    ]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["n=64", "--nodes", 4096],
            (r"--nodes: 4096 .*\n.* 1,736 nodes,",),
        ),
        (
            ["n=64", "--ranks", 49],
            ("--ranks, --ppn, --nodes, --threads: ", ": 49 ranks .* 48 cores\n.*more nodes$"),
        ),
        (
            ["n=262144"],
            (
                "params: fake n=262144, 1 rank ",
                " 512 GiB .* 192 GiB\n.*n=160529.*more nodes$",
            ),
        ),
        (
            ["--transport", "tcp"],
            ("once: .*\n.*'tcp'",),
        ),
        (
            ["--placement", "same-core"],
            ("'other-node'",),
        ),
    ],
)
def test_once_refuses_options_the_cluster_does_not_support(
    haloscope: Run, options: list[object], why: tuple[str, ...]
) -> None:
    with pytest.raises(UserError) as refused:
        haloscope("once", "fake", "--on", "stampede2", *options)
    assert [one for one in why if not re.search(one, str(refused.value))] == []


def test_the_list_includes_unreadable_cluster_files(
    haloscope: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("clusters").mkdir()
    Path("clusters", "bad.toml").write_text("nodes =", encoding="utf-8")
    assert haloscope("list") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "haloscope cluster show bad" in out
    assert haloscope("cluster", "list") == 1
    assert "haloscope cluster show bad" in capsys.readouterr().out
    assert shows(out, "1008 of its 1032 nodes", "[network]")


def test_clusters_are_listed_with_a_description(
    haloscope: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("cluster", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line[0] != " "}
    assert rows["cluster"] == ["nodes", "cores", "memory", "network"]
    assert " ".join(rows["eagle"]) == "1,008 28 64 GiB InfiniBand FDR, 56 Gbit/s"
    assert {*cluster_file.ready()} == {*rows} - {"cluster"}


@pytest.mark.parametrize(
    "words", [("cluster", "show", "mycl"), ("once", "fake", "--on", "mycl"), ("site", "check", "x")]
)
def test_user_files_may_be_in_another_folder(haloscope: Run, words: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as error:
        haloscope(*words)
    (problem,) = error.value.problems
    assert ("./sites/" if "site" in words else "./clusters/") in problem.remedy


def test_a_cluster_s_gpus_are_shown(haloscope: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert haloscope("cluster", "show", "summit") == 0

    out = " ".join(capsys.readouterr().out.split())
    assert shows(out, "6 x NVIDIA Tesla V100", "16 GiB ")
    assert "12.0 µs to launch " in out
    assert "between GPUs, same socket" in out and "48 KiB to 2.00 GiB: 17.2 µs, 46.9 GB/s" in out


def test_simulation_files_can_be_kept(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for command in (("run", study_file(STUDY)), ("once", "fake")):
        with pytest.raises(UserError, match="--keep .*file: "):
            haloscope(*command, "--on", "stampede2", "--keep", tmp_path / "file")


def test_concurrent_runs_into_one_folder_are_refused(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    there = pytest.raises(UserError, match=f"{out}: ")
    with ResultFolder(out).alone(), there:
        haloscope("run", study_file(STUDY), "--on", "stampede2", "--out", out)
    assert haloscope("run", study_file(STUDY), "--on", "stampede2", "--out", out) == 0


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "null",
        '{"measured": {}, "wall_s": 1}',
        '{"measured": {"times_s": [1]}, "wall_s": 1}',
        ("[0.25, 0.5]", "[0.25, -0.5]"),
        ("[0.25, 0.5]", "[0.25, NaN]"),
    ],
)
def test_a_damaged_cached_result_is_reported_and_simulated_again(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: str | tuple[str, str],
) -> None:
    study = study_file(STUDY)
    haloscope("run", study, "--on", "stampede2", "--out", tmp_path / "one")
    kept = sorted((tmp_path / "cache" / "simulated").iterdir())
    good = kept[0].read_text()
    kept[0].write_text(damage if isinstance(damage, str) else good.replace(*damage))

    assert haloscope("run", study, "--on", "stampede2", "--out", tmp_path / "other") == 0

    assert f"{kept[0]}: damaged" in caplog.text
    records = read(tmp_path / "other" / "records.jsonl")
    assert sorted(one.raw["simulation"]["cached"] for one in records) == [False, True]
    assert json.loads(kept[0].read_text())["measured"] == json.loads(good)["measured"]
