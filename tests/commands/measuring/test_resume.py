# SPDX-License-Identifier: BSD-3-Clause
"""run --resume: what is left is done, and nothing is measured otherwise than before."""

import json
import re
from dataclasses import replace
from pathlib import Path

import fake_halobench
import pytest
from fakes import FAKE, MACHINE, STUDY, Laboratory
from laboratory import ALL, QUIET, Run, Write, records
from noted import shows

from haloscope.errors import UserError
from haloscope.host import machine
from haloscope.paths import share
from haloscope.records.log import latest, read
from haloscope.run.campaign import campaign
from haloscope.run.campaign.campaign import measure
from haloscope.run.campaign.resuming import resume
from haloscope.run.doctor import CheckResult
from haloscope.run.prepare import probing
from haloscope.run.prepare.probing import Probe


def test_the_second_of_two_concurrent_resumes_is_refused(haloscope: Run, cut: Path) -> None:
    one, other = (resume(cut, None, launches, QUIET).probed() for launches in (3, 4))
    measure(one, QUIET)

    with pytest.raises(UserError, match=f"{cut}: "):
        measure(other, QUIET)
    assert len(records(cut)) == 12


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("seed", -1, "seed: invalid value -1"),
        ("seed", "x", """seed: invalid value "x\""""),
        ("machine", {}, "machine.host missing"),
        ("cases", None, "cases: invalid value null"),
        ("cases", [{}], "cases#1.kernel missing"),
        ("notes", [1], "notes#1: invalid value 1"),
        ("rule", {"half_width": 2}, "rule: invalid value"),
        ("sources", None, "sources: invalid value null"),
    ],
)
def test_a_plan_with_unknown_content_is_refused(
    haloscope: Run, cut: Path, key: str, value: object, what: str
) -> None:
    plan = json.loads((cut / "plan.json").read_text())
    (cut / "plan.json").write_text(json.dumps({**plan, key: value}))

    with pytest.raises(UserError, match=rf"plan.json: damaged \({what}"):
        haloscope("run", "--resume", cut)


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("case", "c0ffee", "case is c0ffee"),
        ("launches", 0, "launches = 0 or timeout_s = 300"),
        ("launches", 10**9, "launches = 1000000000 "),
        ("timeout_s", 1e10, "launches = 2 or timeout_s = 1e\\+10"),
    ],
)
def test_a_plan_with_an_impossible_case_is_refused(
    haloscope: Run, cut: Path, key: str, value: object, what: str
) -> None:
    plan = json.loads((cut / "plan.json").read_text())
    plan["cases"][0][key] = value
    (cut / "plan.json").write_text(json.dumps(plan))

    with pytest.raises(UserError, match=rf"plan.json: damaged \(.*{what}"):
        haloscope("run", "--resume", cut)


@pytest.mark.parametrize("text", ["", "null", "[]", '{"name": "cut off', "{}"])
def test_a_damaged_plan_is_refused(haloscope: Run, cut: Path, text: str) -> None:
    (cut / "plan.json").write_text(text)
    with pytest.raises(UserError, match=r"plan.json: damaged"):
        haloscope("run", "--resume", cut)


@pytest.fixture
def cut(haloscope: Run, study_file: Write, tmp_path: Path) -> Path:
    """A folder whose run was cut off in its fourth record."""
    folder = tmp_path / "out"
    haloscope("run", study_file(STUDY), "--out", folder)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[:3]) + lines[3][:50])
    return folder


def test_resuming_completes_the_missing_launches(
    haloscope: Run, cut: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (cut / "records.jsonl").read_text().splitlines()[:3]
    assert haloscope("run", "--resume", cut) == 0
    assert (cut / "records.jsonl").read_text().splitlines()[:3] == before
    assert sorted(records(cut)) == ALL
    assert "already done: 3 launches" in capsys.readouterr().err


def test_resuming_a_complete_folder_launches_nothing(
    haloscope: Run, cut: Path, laboratory: Laboratory
) -> None:
    haloscope("run", "--resume", cut)
    laboratory.launches.clear()
    assert haloscope("run", "--resume", cut) == 0
    assert laboratory.launches == []


def test_a_busy_machine_is_reported_if_launches_remain(
    haloscope: Run,
    cut: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy = CheckResult("load", "warn", "others keep all cores busy", "wait")
    monkeypatch.setattr(campaign, "check_load", lambda _: busy)

    warnings = []
    for _ in range(2):
        assert haloscope("run", "--resume", cut) == 0
        warnings.append("others keep all cores busy" in capsys.readouterr().err)

    assert warnings == [True, False]


@pytest.mark.parametrize(
    "option", ["--detach", "--script-only", "--minutes=5", "--minutes=0", "--allocations=2"]
)
def test_resuming_a_local_folder_with_jobs_is_refused(
    haloscope: Run, cut: Path, option: str
) -> None:
    before = records(cut)
    name = option.partition("=")[0]

    with pytest.raises(UserError) as caught:
        haloscope("run", "--resume", cut, option)
    assert [one.where for one in caught.value.problems] == [name]

    assert records(cut) == before


def test_resuming_can_add_launches(haloscope: Run, cut: Path) -> None:
    assert haloscope("run", "--resume", cut, "--launches", 3) == 0
    assert sorted(records(cut)) == sorted(ALL + [(n, p, 2, "ok") for n, p, k, _ in ALL if k == 0])
    assert haloscope("run", "--resume", cut) == 0
    assert len(records(cut)) == 12


def test_resuming_retries_failed_launches_and_reports_it(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    study = STUDY.replace("n = [8, 16]", 'fault = "once"').replace("[1, 2], nodes", "1, nodes")
    assert haloscope("run", study_file(study), "--out", folder) == 1
    assert haloscope("run", "--resume", folder) == 0
    outcomes = [(one.launch, one.outcome) for one in read(folder / "records.jsonl")]
    assert outcomes == [(0, "failed"), (1, "ok"), (0, "ok")]
    assert {one.outcome for one in latest(read(folder / "records.jsonl"))} == {"ok"}
    assert "run again: 1 launch" in capsys.readouterr().err


def test_resuming_refuses_another_study_and_names_the_changes(
    haloscope: Run, cut: Path, study_file: Write
) -> None:
    changed = STUDY.replace("[8, 16]", "[8, 32]").replace("timeout_s = 300\n", "")
    with pytest.raises(UserError) as caught:
        haloscope("run", study_file(changed), "--resume", cut)
    changes = [("(timeout_s: ", "300 -> "), ("(runs#1.params.n#2: ", "16 -> 32")]
    for problem, (key, values) in zip(caught.value.problems, changes, strict=True):
        assert shows(problem.what, key, values)
    assert haloscope("run", study_file(STUDY), "--resume", cut) == 0


def test_resuming_refuses_another_program_or_machine(
    haloscope: Run, cut: Path, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.source = "0ther"
    monkeypatch.setattr(machine, "describe", lambda: {**MACHINE, "cores": 2})
    with pytest.raises(UserError) as caught:
        haloscope("run", "--resume", cut)
    assert [problem.what for problem in caught.value.problems] == [
        "halobench changed: 5eed -> 0ther",
        "machine changed: cores 4 -> 2",
    ]


@pytest.mark.parametrize("transport", ["shm", "default"])
def test_a_failed_resume_without_working_messages_changes_nothing(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transport: str,
) -> None:
    folder = tmp_path / "out"
    haloscope("run", study_file(f'{STUDY}transports = "{transport}"\n'), "--out", folder)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[:3]))
    before = (folder / "plan.json").read_text()
    fails = {"shm": "shm", "default": None}[transport]
    monkeypatch.setattr(
        probing, "probe", lambda _, asked, *__: Probe(None, "no device" if asked == fails else None)
    )
    with pytest.raises(UserError, match="no device"):
        haloscope("run", "--resume", folder)
    assert (folder / "plan.json").read_text() == before
    assert len(records(folder)) == 3


def test_resuming_never_reduces_the_number_of_launches(haloscope: Run, cut: Path) -> None:
    before = (cut / "plan.json").read_text()
    with pytest.raises(UserError, match="2 launches .*--launches 1"):
        haloscope("run", "--resume", cut, "--launches", 1)
    assert (cut / "plan.json").read_text() == before


def change_everything(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    laboratory.source, laboratory.compiler = "0ther", "fake++ 2.0"
    laboratory.toolchain = replace(FAKE, version="Fake MPI 2.0")
    monkeypatch.setenv("CXXFLAGS", "-O1")
    monkeypatch.setattr(machine, "describe", lambda: {**MACHINE, "cpu": "a faster one"})


FLAGS = "-DCMAKE_BUILD_TYPE=Release"
CHANGES = [
    f"{what} changed: {before} -> {after}"
    for what, before, after in (
        ("halobench", "5eed", "0ther"),
        ("MPI library", "fake: Fake MPI 1.0", "Fake MPI 2.0"),
        ("compiler", "fake: fake++ 1.0", "fake++ 2.0"),
        ("compiler flags", f"fake: {FLAGS}", f"{FLAGS} CXXFLAGS=-O1"),
        ("machine", "cpu a fake processor", "a faster one"),
    )
]


def test_resuming_refuses_and_names_changed_measurement_conditions(
    haloscope: Run, cut: Path, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_everything(laboratory, monkeypatch)
    with pytest.raises(UserError) as caught:
        haloscope("run", "--resume", cut)
    assert [problem.what for problem in caught.value.problems] == CHANGES
    assert all("--accept-change" in problem.remedy for problem in caught.value.problems)


def test_an_accepted_change_marks_every_later_record(
    haloscope: Run,
    cut: Path,
    laboratory: Laboratory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change_everything(laboratory, monkeypatch)
    assert haloscope("run", "--resume", cut, "--accept-change") == 0
    assert CHANGES[0] in capsys.readouterr().err
    assert haloscope("run", "--resume", cut, "--launches", 3) == 0  # as it is now, nothing changed

    changed = [one.changed for one in read(cut / "records.jsonl")]
    assert changed == [[]] * 3 + [CHANGES] * 9


def test_what_a_plan_lacks_counts_as_changed(haloscope: Run, cut: Path) -> None:
    plan = json.loads((cut / "plan.json").read_text())
    del plan["libraries"]
    (cut / "plan.json").write_text(json.dumps(plan))

    with pytest.raises(UserError, match="None -> ") as refused:
        haloscope("run", "--resume", cut)
    assert len(refused.value.problems) == 3
    assert haloscope("run", "--resume", cut, "--accept-change") == 0


def test_resuming_without_the_original_library_is_refused(haloscope: Run, cut: Path) -> None:
    plan = json.loads((cut / "plan.json").read_text())
    plan["sources"]["gone"] = "5eed"
    (cut / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(UserError, match="gone .*: 'gone' .*not installed"):
        haloscope("run", "--resume", cut, "--accept-change")


def test_resuming_with_changed_halobench_parameters_is_refused(
    haloscope: Run, cut: Path, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    laboratory.source = "0ther"
    monkeypatch.setitem(fake_halobench.DEFAULTS, "new", "1")
    with pytest.raises(UserError, match="fake n=8"):
        haloscope("run", "--resume", cut, "--accept-change")


@pytest.mark.usefixtures("simulator")
def test_resuming_refuses_a_changed_cluster_file(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    folder, file = tmp_path / "out", tmp_path / "mine.cluster.toml"
    text = (share("clusters") / "stampede2.toml").read_text()
    file.write_text(text)
    haloscope("run", study_file(STUDY), "--on", file, "--out", folder)
    file.write_text(f"# a comment changes nothing\n{text}")
    assert haloscope("run", "--resume", folder) == 0
    changed = re.sub(r"(\[node\.sharpness\]\nvalue = )[\d.]+", r"\g<1>1.5", text)
    assert changed != text
    file.write_text(changed)

    with pytest.raises(UserError) as caught:
        haloscope("run", "--resume", folder)

    problems = [re.sub("[0-9a-f]{12}", "HASH", problem.what) for problem in caught.value.problems]
    assert len(problems) == 1 and problems[0].endswith(" HASH -> HASH")
