# SPDX-License-Identifier: BSD-3-Clause
"""advise on a simulated cluster, against the fake halobench and a fake smpirun."""

from __future__ import annotations

import argparse
import json
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from laboratory import Run, Write

from haloscope.advice import measuring
from haloscope.commands.predictions import advise
from haloscope.errors import Problem, UserError
from haloscope.records.log import read
from haloscope.run.campaign.request import Request
from haloscope.study.file import load
from haloscope.study.plan import Via

pytestmark = pytest.mark.usefixtures("simulator")


def test_candidates_are_compared_and_one_is_advised(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ("advise", "fake", "n=96", "--tasks", "96", "--on", "stampede2", "--out", out, "--json")
    assert haloscope(*asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((out / "advice.json").read_text())
    layouts = [one["layout"] for one in found["options"]]
    assert {(one["nodes"], one["ppn"]) for one in layouts} >= {(2, 48), (4, 24), (8, 12), (16, 6)}
    options = [one for one in found["options"] if one["layout"]["nodes"] > 1]
    mappings = {"block", "round robin", "random", "graph"}
    assert {one["mapping"] for one in options} - {"hierarchy"} == mappings
    between = {
        (one["layout"]["nodes"], one["mapping"]): one["traffic"]["between_nodes"] for one in options
    }
    assert between[2, "block"] == 400, "each of two nodes sends and receives two messages"
    assert between[2, "graph"] < between[2, "block"]
    assert found["default"]["layout"]["nodes"] == 2
    assert found["default"]["layout"]["threads"] == 1
    times = [one["time_s"] for one in found["options"]]
    assert times == sorted(times)
    for one in found["options"]:
        hours = one["time_s"] * one["layout"]["nodes"] / 3600
        assert one["node_hours"] == pytest.approx(hours)
    assert (found["verdict"], found["simulated"], found["not_compared"]) == (
        "no difference",
        True,
        [],
    )
    checked = load(out / "check.toml")
    assert checked.runs[-1].layout.nodes == [2]


def test_no_graph_mapping_is_compared_without_counted_traffic(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smpirun = tmp_path / "smpirun"
    smpirun.write_text(
        smpirun.read_text().replace("-trace-file ]; then", "-trace-file ]; then exit 1;")
    )
    asked = ("advise", "fake", "n=96", "--tasks", "96", "--on", "stampede2", "--json")
    assert haloscope(*asked, "--out", tmp_path / "out") == 0
    printed = capsys.readouterr()
    assert "graph mappings are not" in printed.err
    found = json.loads(printed.out)
    assert {one["mapping"] for one in found["options"]} == {"block", "round robin", "random"}
    assert {one["traffic"] for one in found["options"]} == {None}


def test_a_study_runs_with_the_advised_layout(
    haloscope: Run, tmp_path: Path, study_file: Write
) -> None:
    layout = tmp_path / "layout.toml"
    nodes = [rank % 3 for rank in range(96)]
    layout.write_text(f'tasks = 96\nnodes = 3\nmapping = "{",".join(map(str, nodes))}"\n')
    study = study_file(
        'title = "ours"\n[[runs]]\nkernel = "fake"\nparams = { n = 96 }\nlayout = { ppn = [1, 2] }'
    )
    out = tmp_path / "out"
    asked = ("run", study, "--on", "stampede2", "--out", out, "--no-report")
    assert haloscope(*asked, "--layout", layout) == 0
    (record,) = read(out / "records.jsonl")
    assert (record.layout["tasks"], record.layout["nodes"]) == (96, 3)
    assert record.layout["mapping"] == ",".join(map(str, nodes))
    with pytest.raises(UserError) as error:
        haloscope("run", "--resume", out, "--layout", layout)
    assert [one.where for one in error.value.problems] == ["--layout"]


def test_problems_are_reported_before_anything_runs(haloscope: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ("advise", "fakr", "n", "--tasks", "0", "--on", "stampede2", "--out", out)
    with pytest.raises(UserError) as error:
        haloscope(*asked, "m=1", "m=2")
    where = [problem.where for problem in error.value.problems]
    assert [word.split()[0] for word in where] == ["advise", "n", "m", "--tasks"]
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "minutes"), [("10", 10), ("1.5m", 1.5), ("90s", 1.5), ("2h", 120), (".5h", 30)]
)
def test_a_time_has_a_unit(text: str, minutes: float) -> None:
    assert advise._minutes(text) == pytest.approx(minutes)


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "10 min", "m", "1e9h", "99999999"])
def test_an_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        advise._minutes(text)


def test_a_folder_with_earlier_advice_is_refused(haloscope: Run, tmp_path: Path) -> None:
    (tmp_path / "layouts").mkdir()
    with pytest.raises(UserError) as error:
        haloscope("advise", "fake", "--tasks", "2", "--on", "stampede2", "--out", tmp_path)
    assert [one.where for one in error.value.problems] == [f"--out {tmp_path}"]


def test_a_site_without_a_cluster_file_is_refused_by_name(
    haloscope: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites").mkdir()
    keys = 'source = "a test"\nscheduler = "flux"\npartition = "short"\nlauncher = "mpirun"\n'
    keys += '[[partitions]]\nname = "short"\nnodes = 2\ncores = 2\nmemory_mb = 2000\n'
    (tmp_path / "sites" / "far.toml").write_text(keys)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        haloscope("advise", "fake", "n=8", "--tasks", "2", "--on", "far", "--out", "out")
    assert [one.where for one in error.value.problems] == ["--on far"]
    assert "cluster" in error.value.problems[0].remedy
    assert not Path("out").exists()


def test_jobs_on_a_site_simulate_the_candidates_of_another_cluster(
    haloscope: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites").mkdir()
    keys = 'source = "a test"\nscheduler = "slurm"\npartition = "short"\nlauncher = "mpirun"\n'
    keys += '[[partitions]]\nname = "short"\nnodes = 2\ncores = 2\nmemory_mb = 2000\n'
    (tmp_path / "sites" / "far.toml").write_text(keys)
    monkeypatch.chdir(tmp_path)
    requests: list[Request] = []

    def start(request: Request, _: object) -> None:
        requests.append(request)
        raise UserError(Problem("far", "no job", "none"))

    monkeypatch.setattr(measuring, "start", start)
    with pytest.raises(UserError):
        haloscope("advise", "fake", "n=8", "--tasks", "96", "--on", "stampede2", "--via", "far")
    (request,) = requests
    assert (request.on, request.via) == ("stampede2", Via("far", 1))


def test_the_best_and_the_default_are_measured_alternately(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("advise", "fake", "n=96", "--tasks", "1", "--on", "local", "--launches", "2")
    out = tmp_path / "out"
    assert haloscope(*asked, "--json", "--out", out) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["layout"]["threads"] for one in found["options"]} == {1, 4}
    assert (found["simulated"], found["simulated_options"]) == (False, [])
    launches = Counter(one.case for one in read(out / "finals" / "records.jsonl"))
    assert [*launches.values()] == [10, 10], "all of their times are alike, so five rounds of two"


def test_a_machine_with_only_one_possible_layout_is_refused(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert haloscope("advise", "fake", "n=96", "--tasks", "4", "--on", "local", "--out", out) == 0
    assert len(read(out / "layouts" / "records.jsonl")) == 1
    assert not (out / "finals").exists()
    assert "nothing was compared" in " ".join(capsys.readouterr().out.split())


def test_a_refusal_of_the_kernel_is_reported_once(haloscope: Run, tmp_path: Path) -> None:
    asked = ("advise", "fake", "n=8", "--tasks", "96", "--on", "stampede2")
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--out", tmp_path / "out")
    assert [one.where for one in error.value.problems] == ["advise fake"]


def test_a_kernel_with_steps_of_zero_time_is_refused(
    haloscope: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = measuring._compared

    def at_once(*asked: Any) -> Any:
        found, failed = compared(*asked)
        never = {
            one: (replace(option, time=replace(option.time, value=0.0)), case)
            for one, (option, case) in found.items()
        }
        return never, failed

    monkeypatch.setattr(measuring, "_compared", at_once)
    asked = ("advise", "fake", "n=96", "--tasks", "96", "--on", "stampede2")
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--out", tmp_path / "out")
    assert [one.where for one in error.value.problems] == ["advise fake"]


def test_no_candidate_starts_after_the_time_limit(haloscope: Run, tmp_path: Path) -> None:
    asked = ("advise", "fake", "n=96", "--tasks", "96", "--on", "stampede2", "--within", ".000001s")
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--out", tmp_path / "out")
    (problem,) = error.value.problems
    assert problem.where == "advise fake"
    assert "--within" in (problem.remedy or "")


@pytest.mark.parametrize(
    "words",
    [
        "fake n=96 --tasks 96 --on stampede2",
        "fake --tasks 8 --on eagle --goal node-hours --most-nodes 4 --within 1.5m",
        "fake --tasks 8 --on local --launches 9 --program there",
    ],
)
def test_the_command_on_the_page_reproduces_the_request(words: str) -> None:
    parser = argparse.ArgumentParser()
    advise.set_up(parser)
    asked = parser.parse_args(words.split())
    _, _, *again = shlex.split(advise._command(asked))
    assert parser.parse_args(again) == asked


def test_a_profile_gets_the_mapping_with_the_fewest_bytes_between_nodes(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks, stride = 96, 2
    pairs = [(rank, (rank + stride) % ranks) for rank in range(ranks)]  # evens, and odds
    lines = [f"p,{one},{two},1,100,message,1,1,no\n" for one, two in pairs]
    head = "phase,from,to,messages,bytes,kind,from_world,to_world,partial\n"
    (tmp_path / "traffic.csv").write_text(head + "".join(lines))
    asked = ("advise", "--profile", tmp_path, "--on", "stampede2", "--out", tmp_path / "out")
    assert haloscope(*asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    loads = {one["mapping"]: one["between_nodes"] for one in found["mappings"]}
    assert (found["ranks"], found["nodes"], found["bytes"]) == (96, 2, 9600)
    assert loads["block"] == 400
    assert loads["round_robin"] == loads["graph"] == 0
    assert found["advised"] in ("round_robin", "graph")
    assert haloscope(*asked, "--nodes", "4") == 0
    capsys.readouterr()
    assert haloscope(*asked) == 0
    assert "carries no bytes" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("--on stampede2", ["advise"]),
        ("fake --profile there --on stampede2", ["advise"]),
        ("--profile there --tasks 4 --goal node-hours --on stampede2", ["--tasks", "--goal"]),
        (
            "--profile there --within 5m --launches 3 --program x --on stampede2",
            ["--launches", "--within", "--program"],
        ),
        ("fake --nodes 2 --on stampede2", ["advise", "--nodes"]),
        ("--profile there --on local", ["--profile there"]),
    ],
)
def test_a_kernel_and_a_profile_have_separate_options(
    haloscope: Run, words: str, where: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        haloscope("advise", *words.split())
    assert [problem.where for problem in error.value.problems] == where
