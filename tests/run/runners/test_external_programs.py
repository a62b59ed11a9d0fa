# SPDX-License-Identifier: BSD-3-Clause
"""External programs as kernels: which may be run, what is recorded of them, and how they fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import Laboratory

from haloscope.analysis.context import Context
from haloscope.analysis.grouping import group
from haloscope.errors import UserError
from haloscope.findings.caveats import Caveat
from haloscope.host.scratch import Scratch
from haloscope.programs.file import load
from haloscope.programs.trust import Trusted
from haloscope.records.log import read
from haloscope.records.record import Record
from haloscope.run.prepare.workbench import Kernels
from haloscope.run.runners import local
from haloscope.toolchains.launching import Job
from haloscope.toolchains.library import Toolchain
from haloscope.topics.quality import marked
from programs import SCRIPT, STUDY, TOML, put, started

Run = Callable[..., int]
Write = Callable[[str], Path]
CPU = min(os.sched_getaffinity(0))
RANKS = f'ranks=$1; shift; r=0; while [ $r -lt "$ranks" ]; do \
OMPI_COMM_WORLD_RANK=$r taskset -c {CPU} "$@" || exit $?; r=$((r + 1)); done'


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch, laboratory: Laboratory, tmp_path: Path) -> None:
    """Starts the ranks of external programs one after the other, all on one processor."""
    ours = vars(local)["launch_command"]

    def launch_command(
        toolchain: Toolchain, job: Job, program: list[str], scratch: Scratch
    ) -> tuple[list[str], Mapping[str, str]]:
        command, environment = ours(toolchain, job, program, scratch=scratch)
        if program[0] == "sh":
            command = ["sh", "-c", RANKS, "launcher", str(job.layout.ranks), *program]
        return command, environment

    monkeypatch.setattr(local, "launch_command", launch_command)
    monkeypatch.setattr("haloscope.host.machine.processors", lambda *_: [CPU])
    monkeypatch.setenv("HALOSCOPE_PROGRAMS", str(tmp_path / "trusted"))


def only(folder: Path) -> Record:
    (record,) = read(folder / "records.jsonl")
    return record


def measured(haloscope: Run, study_file: Write, tmp_path: Path, **asked: Any) -> Record:
    """The record of one launch of `theirs`, named on the command line."""
    program = asked.pop("program", None) or put(tmp_path / "named")
    layout = f"layout = {{ ppn = {asked.pop('ranks', 1)} }}\n"
    timeout = asked.pop("timeout_s", 600)
    params = ", ".join(f"{key} = {value!r}" for key, value in asked.items())
    study = f'title = "t"\ntimeout_s = {timeout}\n[[runs]]\nkernel = "theirs"\n{layout}'
    out = tmp_path / "out"
    words = ("run", study_file(f"{study}params = {{ {params} }}\n"), "--program", program)
    haloscope(*words, "--out", out, "--oversubscribe")
    return only(out)


def test_a_launch_becomes_a_record(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    record = measured(haloscope, study_file, tmp_path, n=4)

    assert (record.outcome, record.reason) == ("ok", None)
    assert (record.times_s, record.steps) == ([0.002], 4)
    assert record.params == {"n": 4, "fault": "none"}
    assert record.result == {"error": 0.001}
    assert [phase["name"] for phase in record.phases] == ["one", "two"]
    (seen,) = record.layout["seen"]
    assert (seen["cpus"], seen["thread_cpus"]) == ([CPU], [])
    assert seen["host"] == os.uname().nodename
    assert record.toolchain["name"] == "fake"
    program = record.program or {}
    assert program["file"] == str(tmp_path / "named" / "theirs" / "program.toml")
    assert program["executable"] == str(tmp_path / "named" / "theirs" / "prints")
    assert (program["launcher"], program["verified"]) == ("Fake MPI 1.0", True)
    assert any(one.startswith("error ") for one in program["checked"])


def test_variables_and_an_equals_sign_in_a_path_are_passed_to_the_program(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    toml = 'environment = { SAID = "a b = {n}" }\n' + TOML
    script = SCRIPT.replace("#!/bin/sh\n", '#!/bin/sh\necho "$SAID" > "$0.said"\n')
    mine = put(tmp_path / "n=4", toml=toml, script=script)

    record = measured(haloscope, study_file, tmp_path, program=mine, n=4)

    assert (record.outcome, record.reason) == ("ok", None)
    assert (mine / "prints.said").read_text() == "a b = 4\n"


@pytest.mark.parametrize(
    ("fault", "outcome", "reason"),
    [
        ("crash", "failed", "exit code 3"),
        ("mute", "failed", "no time "),
        ("cut", "failed", "incomplete"),
        ("phase", "failed", "phase two"),
        ("alone", "misplaced", "1 rank, but 2 ranks"),
        ("wrong", "wrong", "error is 0.5"),
    ],
)
def test_a_failure_is_an_outcome_with_a_reason(
    haloscope: Run, study_file: Write, tmp_path: Path, fault: str, outcome: str, reason: str
) -> None:
    record = measured(haloscope, study_file, tmp_path, fault=fault, ranks=2)

    assert record.outcome == outcome and reason in str(record.reason)
    assert record.stderr is not None
    assert record.program is not None and not record.program["verified"]


def test_a_time_limit_is_enforced(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    record = measured(haloscope, study_file, tmp_path, fault="hang", timeout_s=0.5)

    assert (record.outcome, record.times_s) == ("timeout", [])


def test_the_rest_of_a_study_continues(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = put(tmp_path / "named", script=SCRIPT.replace("$2", "${2%4}"))  # n = 4 prints no time
    out = tmp_path / "out"

    assert haloscope("run", study_file(STUDY), "--program", mine, "--out", out) == 1

    found = sorted(
        (one.kernel, one.params["n"], one.outcome) for one in read(out / "records.jsonl")
    )
    assert found == [
        *[("fake", 8, "ok")] * 2,
        *[("theirs", 4, "failed")] * 2,
        *[("theirs", 8, "ok")] * 2,
    ]


def test_a_rank_on_a_wrong_processor_is_misplaced(
    haloscope: Run, study_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haloscope.host.machine.processors", lambda *_: [CPU + 1])

    record = measured(haloscope, study_file, tmp_path)

    assert record.outcome == "misplaced"
    assert f"processors {CPU}, not on {CPU + 1}" in str(record.reason)


def test_inputs_are_copied_to_a_folder_per_launch(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    inputs = """
[[inputs]]
file = "{folder}/data"
[[inputs]]
file = "deck.in"
name = "deck"
fill = true
[[inputs.replace]]
pattern = '^run\\s+\\d+'
by = "run {ranks}"
"""
    mine = put(
        tmp_path / "named", toml=TOML + inputs, script=SCRIPT.replace("pwd", "cat deck data")
    )
    (mine / "data").write_text("data\n")
    (mine / "deck.in").write_text("n = {n} {unknown} { }\nrun  100\n")

    record = measured(haloscope, study_file, tmp_path, program=mine, fault="where", n=3)

    assert record.outcome == "ok", record.reason
    where = (mine / "prints.where").read_text()
    assert where == "n = 3 {unknown} { }\nrun 1\ndata\ndata\ndeck\n"


def test_substitutions_in_an_input_keep_the_rest_unchanged(
    haloscope: Run, study_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haloscope.run.runners.external.OUTPUT_LIMIT", 100)
    deck = '[[inputs]]\nfile = "deck"\n[[inputs.replace]]\npattern = "^run 1$"\nby = "run 2"\n'
    mine = put(tmp_path / "named", toml=TOML + deck, script=SCRIPT.replace("pwd", "cat deck"))
    (mine / "deck").write_bytes(b"run 1\n\xe9\r\n" + b"# far longer than 100\n" * 100)

    record = measured(haloscope, study_file, tmp_path, program=mine, fault="where")

    assert record.outcome == "ok", record.reason
    expected = (mine / "deck").read_bytes().replace(b"run 1", b"run 2")
    assert (mine / "prints.where").read_bytes() == expected + b"deck\n"


def test_inputs_with_the_same_name_fail(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    inputs = '[[inputs]]\nfile = "prints"\n[[inputs]]\nfile = "program.toml"\nname = "prints"\n'
    mine = put(tmp_path / "named", toml=TOML + inputs)

    record = measured(haloscope, study_file, tmp_path, program=mine)

    assert record.outcome == "failed"
    assert "prints;" in str(record.reason)


def test_a_missing_input_fails_with_its_name(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "named", toml=TOML + '[[inputs]]\nfile = "lost"\n')

    record = measured(haloscope, study_file, tmp_path, program=mine)

    assert record.outcome == "failed" and str(mine / "lost") in str(record.reason)
    assert started(mine) == []


def test_a_non_executable_file_is_distinguished_from_a_missing_one(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "named")
    (program,) = (path for path in mine.iterdir() if path.name != "program.toml")
    program.chmod(0o644)

    record = measured(haloscope, study_file, tmp_path, program=mine)

    assert record.outcome == "absent"
    assert str(program) in str(record.reason) and "chmod +x" in str(record.reason)


NEEDS = """
[needs.tool]
kind = "executable"
variable = "THE_TOOL"
names = ["no-such-tool"]
get = "build it here"
ask = ["{tool}", "-h"]
version = 'version (\\S+)'
[[needs.tool.says]]
pattern = "KSPACE"
lacking = "built without KSPACE"
"""


def test_a_missing_program_is_absent_with_installation_instructions(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "named", toml=TOML + NEEDS)

    record = measured(haloscope, study_file, tmp_path, program=mine)

    assert record.outcome == "absent"
    assert str(record.reason).endswith(": build it here")
    assert started(mine) == []


@pytest.mark.parametrize(
    ("says", "outcome", "reason"),
    [
        ("version 7.1 KSPACE", "ok", None),
        ("version 7.1", "absent", "{tool}: built without KSPACE"),
    ],
)
def test_an_executable_is_queried_for_its_features(
    haloscope: Run,
    study_file: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: str,
    outcome: str,
    reason: str | None,
) -> None:
    tool = tmp_path / f"tool-{outcome}"
    tool.write_text(f"#!/bin/sh\necho {says}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("THE_TOOL", str(tool))
    mine = put(tmp_path / "named", toml=TOML + NEEDS)

    record = measured(haloscope, study_file, tmp_path, program=mine)

    assert (record.outcome, record.reason) == (outcome, reason and reason.format(tool=tool))
    if outcome == "ok":
        assert record.program is not None and record.program["version"] == "7.1"


def test_a_study_alone_runs_no_program(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    """Not one in the folder that haloscope is called in, nor beside the study."""
    here = put(tmp_path)
    below = put(tmp_path / "programs")

    with pytest.raises(UserError) as caught:
        haloscope("run", study_file(STUDY), "--out", tmp_path / "out")

    assert ["'theirs'" in one.what for one in caught.value.problems] == [True]
    assert "--program FOLDER" in caught.value.problems[0].remedy
    assert started(here) == started(below) == []


def test_programs_in_a_trusted_folder_run(
    haloscope: Run, study_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = put(tmp_path / "trusted")

    assert haloscope("run", study_file(STUDY), "--out", tmp_path / "out") == 0
    assert len(started(mine)) == 4


def test_a_folder_writable_by_others_is_not_trusted(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "trusted")
    mine.parent.chmod(0o777)

    with pytest.raises(UserError) as caught:
        haloscope("run", study_file(STUDY), "--out", tmp_path / "out")
    assert caught.value.problems[0].where == str(mine.parent)
    assert started(mine) == []


def test_a_plan_alone_runs_no_program(haloscope: Run, study_file: Write, tmp_path: Path) -> None:
    mine, out = put(tmp_path / "named"), tmp_path / "out"
    haloscope("run", study_file(STUDY), "--program", mine, "--out", out)
    before = len(started(mine))

    with pytest.raises(UserError, match="kernel 'theirs'"):
        haloscope("run", "--resume", out, "--launches", 3)
    assert len(started(mine)) == before

    assert haloscope("run", "--resume", out, "--launches", 3, "--program", mine) == 0
    assert len(started(mine)) == 6


def test_different_builds_of_a_program_are_not_mixed(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine, out = put(tmp_path / "named"), tmp_path / "out"
    haloscope("run", study_file(STUDY), "--program", mine, "--out", out)
    file = mine / "program.toml"
    file.write_text(file.read_text() + "# changed\n")

    with pytest.raises(UserError, match=r"theirs: \w{12} -> \w{12}"):
        haloscope("run", "--resume", out, "--launches", 3, "--program", mine)


def test_an_external_program_is_not_a_halobench_kernel(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "named", "fake")
    with pytest.raises(UserError) as caught:
        haloscope("once", "fake", "--program", mine)
    assert [one.where for one in caught.value.problems] == [str(mine)]


def test_an_invalid_parameter_is_refused_before_anything_runs(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    mine = put(tmp_path / "named")
    study = STUDY.replace("[4, 8]", "[0, 8]").replace('kernel = "fake"', 'kernel = "fake"\n')

    with pytest.raises(UserError, match=r"theirs n=0: .*\n.*at least 1"):
        haloscope("run", study_file(study), "--program", mine, "--out", tmp_path / "out")
    assert started(mine) == []


def test_a_program_can_be_described(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("describe", "theirs", "--program", put(tmp_path / "named")) == 0

    printed = capsys.readouterr().out
    assert "prints a time" in printed
    assert "integer from 1 to 100" in printed
    assert "external program" in printed


def test_once_runs_a_program(
    haloscope: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = put(tmp_path / "named")

    assert haloscope("once", "theirs", "n=5", "--program", mine) == 0
    assert "2.00 ms" in capsys.readouterr().out


def test_a_program_is_not_simulated(tmp_path: Path) -> None:
    program = load(Trusted(put(tmp_path) / "program.toml"))
    kernels = Kernels(lambda: iter(()), {"theirs": program}, {})

    why = kernels.unable("theirs", "simgrid", simulated=True)

    assert str(why).startswith("theirs ")
    assert kernels.unable("ring", "simgrid", simulated=True) is None


def test_an_unverified_result_is_reported(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    toml = TOML.partition("[[verify]]")[0]
    record = measured(haloscope, study_file, tmp_path, program=put(tmp_path / "named", toml=toml))

    assert record.outcome == "ok"
    assert record.program is not None and record.program["verified"] is False
    cases = group([record])
    (one,) = marked(cases, Context(all_cases=cases))
    assert one.caveats == (Caveat.UNVERIFIED,)
