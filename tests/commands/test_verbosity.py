# SPDX-License-Identifier: BSD-3-Clause
"""What --quiet leaves out and --verbose adds, for any command."""

import subprocess
import sys
from pathlib import Path

import pytest
from fakes import STUDY
from laboratory import Run, Write
from noted import shows

from haloscope.commands.screen import Screen
from haloscope.host import process
from haloscope.run.progress import Teller
from haloscope.verbosity import Verbosity, note, shows_notes, verbosity

LEFT_OUT = ("skipped (", " node): ", ": fake on 2 nodes")
BAD = STUDY.replace("n = [8, 16]", 'fault = ["none", "wrong"]').replace("[1, 2]", "1")


def test_a_quiet_run_prints_only_results_and_warnings(
    haloscope: Run, study_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = study_file(STUDY)
    assert haloscope("run", study, "--out", "out") == 0
    usual = capsys.readouterr()
    assert haloscope("run", study, "--out", "two", "--quiet") == 0
    quiet = capsys.readouterr()

    assert quiet.out.replace("two", "out") == usual.out != ""
    (warned,) = quiet.err.splitlines()
    assert shows(warned, *LEFT_OUT)
    assert warned in usual.err.splitlines()
    assert len(usual.err.splitlines()) > 8  # of 8 launches one each
    assert shows_notes()


def test_a_quiet_run_prints_failed_launches(
    haloscope: Run, study_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("--quiet", "run", study_file(BAD), "--launches", 1) == 1

    (line,) = capsys.readouterr().err.splitlines()
    assert "wrong: fake fault=wrong" in line


def test_a_verbose_run_prints_each_command(
    haloscope: Run, study_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("run", study_file(STUDY), "--verbose") == 0
    lines = capsys.readouterr().err.splitlines()

    commands = [line for line in lines if line.startswith("$ ")]
    assert sum(Path(line.split()[1]).name == "halobench_fake" for line in commands) == 8
    assert not [line for line in commands if "supervise.py" in line]
    assert shows(lines, *LEFT_OUT)


def test_commands_are_printed_only_in_verbose_mode(
    capsys: pytest.CaptureFixture[str],
) -> None:
    process.show_commands()
    process.show_commands()
    subprocess.run(["true", "before"], check=True)
    with verbosity(Verbosity.VERBOSE):
        subprocess.run([Path("/bin/sh"), b"-c", "exit 0", "two words\x1b"], check=True)
    subprocess.run(["true", "after"], check=True)

    assert capsys.readouterr().err == "$ /bin/sh -c 'exit 0' 'two words\\x1b'\n"


def test_a_program_that_replaces_this_process_is_printed() -> None:
    code = (
        "import os; from haloscope.host import process\n"
        "from haloscope.verbosity import Verbosity, verbosity\n"
        "process.show_commands()\n"
        "with verbosity(Verbosity.VERBOSE): os.execvp('echo', ['echo', 'here'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr.splitlines()[-1]) == ("here\n", "$ echo here")


def test_notes_are_omitted_and_warnings_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for level in (Verbosity.QUIET, Verbosity.NORMAL):
        with verbosity(level):
            tell = Teller(Screen(stderr=True))
            tell.warn(f"{level} warning")
            tell.say(f"{level} note told")
            note(f"{level} note")

    assert capsys.readouterr().err.splitlines() == [
        "quiet warning",
        "normal warning",
        "normal note told",
        "normal note",
    ]
