# SPDX-License-Identifier: BSD-3-Clause
"""advise on a simulated cluster, against the fake halobench and a fake smpirun."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from laboratory import Run

from haloscope.errors import UserError
from haloscope.study.file import load

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
    assert {one["mapping"] for one in layouts} == {"block", "round_robin", "random"}
    assert found["default"]["layout"]["nodes"] == 2
    assert found["default"]["layout"]["threads"] == 1
    times = [one["time_s"] for one in found["options"]]
    assert times == sorted(times)
    for one in found["options"]:
        hours = one["time_s"] * one["layout"]["nodes"] / 3600
        assert one["node_hours"] == pytest.approx(hours)
    assert (found["band"]["own"], found["simulated"], found["not_compared"]) == (False, True, [])
    checked = load(out / "check.toml")
    assert checked.runs[-1].layout.nodes == [2]


def test_what_is_wrong_is_told_before_anything_runs(haloscope: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ("advise", "fakr", "n", "--tasks", "0", "--on", "stampede2", "--out", out)
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--within", "-1")
    where = [problem.where for problem in error.value.problems]
    assert [word.split()[0] for word in where] == ["advise", "n", "--tasks", "--within"]
    assert not out.exists()


def test_what_the_kernel_refuses_is_told_once(haloscope: Run, tmp_path: Path) -> None:
    asked = ("advise", "fake", "n=8", "--tasks", "96", "--on", "stampede2")
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--out", tmp_path / "out")
    assert [one.where for one in error.value.problems] == ["advise fake"]


def test_no_candidate_is_begun_after_the_time_is_over(haloscope: Run, tmp_path: Path) -> None:
    asked = ("advise", "fake", "n=96", "--tasks", "96", "--on", "stampede2", "--within", "1e-9")
    with pytest.raises(UserError) as error:
        haloscope(*asked, "--out", tmp_path / "out")
    (problem,) = error.value.problems
    assert problem.where == "advise fake"


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


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("--on stampede2", ["advise"]),
        ("fake --profile there --on stampede2", ["advise"]),
        ("--profile there --tasks 4 --goal node-hours --on stampede2", ["--tasks", "--goal"]),
        ("fake --nodes 2 --on stampede2", ["advise", "--nodes"]),
        ("--profile there --on local", ["--profile there"]),
    ],
)
def test_a_kernel_and_a_profile_have_options_of_their_own(
    haloscope: Run, words: str, where: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        haloscope("advise", *words.split())
    assert [problem.where for problem in error.value.problems] == where
