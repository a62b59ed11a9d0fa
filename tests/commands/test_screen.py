# SPDX-License-Identifier: BSD-3-Clause
"""Words that may be anyone's: shown in a terminal, never obeyed by it, whatever its encoding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w
from recorded import bad, poisson, write_folder
from rich.table import Table
from rich.text import Text

import haloscope
from haloscope.commands.screen import Screen
from haloscope.errors import printable

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m [red]red[/red] [/] \u202eabc\r :boom:"
COMMANDS = Path(haloscope.__file__).parent / "commands"


def obeyed(text: str) -> set[str]:
    return {sign for sign in text if sign != "\n" and printable(sign) != sign}


@pytest.mark.parametrize("drawn", [EVIL, Text(EVIL, "bold"), Table(EVIL, title=EVIL, caption=EVIL)])
def test_control_sequences_in_text_are_not_executed(
    drawn: str | Text | Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    if isinstance(drawn, Table):
        drawn.add_row(EVIL)
    Screen().print(drawn)
    out = capsys.readouterr().out
    assert not obeyed(out)
    assert "\\x1b]0;owned\\x1b[2J\\x9b31m" in out  # rich itself leaves out the bell
    assert "[red]red[/red] [/] \\u202eabc" in out
    assert ":boom:" in out


def test_haloscope_styles_still_reach_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    Screen().print(Text("word", "bold"))
    assert capsys.readouterr().out == "\x1b[1mword\x1b[0m\n"


def test_every_command_uses_the_safe_terminal() -> None:
    others = [path.name for path in COMMANDS.rglob("*.py") if " Console(" in path.read_text()]
    assert others == []


@pytest.fixture
def received(tmp_path: Path) -> Path:
    raws = [poisson(64), bad(poisson(32), "failed", EVIL)]
    raws.append({**poisson(128), "schema": EVIL})
    study = tomli_w.dumps({"title": EVIL, "runs": [{"kernel": "poisson_cg"}]})
    return write_folder(tmp_path / "received", raws, study)


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "haloscope", *words]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, check=False
    )


def test_titles_reasons_and_warnings_of_a_received_folder_are_harmless(received: Path) -> None:
    shown = run("show", str(received))
    assert shown.returncode == 0, shown.stderr
    assert "owned" in shown.stdout.decode() and "owned" in shown.stderr.decode()
    assert not obeyed(shown.stdout.decode()) and not obeyed(shown.stderr.decode())


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
@pytest.mark.parametrize(
    "words", [("paper", "show", "hpcf-2018-10", "4.1"), ("list",), ("--help",)]
)
def test_output_in_a_limited_encoding_prints_what_it_can(
    words: tuple[str, ...], environment: dict[str, str]
) -> None:
    done = run(*words, **environment)
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 2), done.stderr  # 2: list, where no MPI is there


def test_unencodable_characters_are_replaced_by_similar_ones() -> None:
    command = (
        "import sys; from haloscope import cli; cli._say_what_can_be_said(); print('1–2 × µ雪')"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, check=True
    )
    assert done.stdout == b"1-2 x u?\n"
