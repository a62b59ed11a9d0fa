# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the documentation can be given; those that take seconds are run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from recorded import quick, write_folder

from haloscope.cli import main, parse
from haloscope.clusters import file as cluster_file
from haloscope.commands import COMMANDS
from haloscope.host import machine
from haloscope.papers import tables as papers
from haloscope.study import file as study_file

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
PAGES += sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("docs/bench/*.md"))
PLACEHOLDERS = {"DIR", "FILE", "NAME", "STUDY", "CLUSTER", "PAPER", "SITE", "KERNEL", "ID", "TABLE"}
STANDS_FOR = {
    "describe NAME": "describe ring",
    "describe KERNEL": "describe ring",
    "cluster show NAME": "cluster show stampede2",
    "paper show ID TABLE": "paper show hpcf-2018-10 4.1",
    "compare DIR DIR --json": "compare before after --json",
    "run FILE --dry-run": "run my.toml --dry-run",
    "run NAME --dry-run": "run ring --dry-run",
}
NOT_RUN = {
    "advise": "simulates or measures; tests/advice runs it",
    "compare --with-last": "needs folders with dates; tests/history runs it",
    "calibrate": "measures; tests/predict runs it",
    "cancel": "needs jobs of a batch system; tests/run runs it in the lab",
    "collect": "needs jobs of a batch system; tests/run runs it in the lab",
    "describe heat1d": "needs a compiled example; tests/run/runners/test_external_for_real runs it",
    "history --of": "its case and machine are of that example",
    "history": "reads all results of this user; tests/history runs it",
    "import": "reads output of other programs; tests/data runs it on such output",
    "lab": "needs root; tests/lab runs it",
    "once": "measures; the check measures with it",
    "profile": "runs a program; tests/profiling runs it",
    "run": "measures or simulates; the check runs studies of both kinds",
    "site": "needs a batch system; tests/sites runs it",
    "status": "needs jobs of a batch system; tests/run runs it in the lab",
    "toolchain add": "loads packages; the tests marked toolchains run it",
    "validate": "simulates for minutes; tests/papers runs it",
}
"""NOT_RUN has the beginnings of commands that are parsed only, with the reason."""


def commands_of(page: Path) -> Iterator[str]:
    """The command lines of haloscope on a page, without its name.

    They are in blocks of code, in code that begins with `haloscope`, and in the last column of
    tables whose head is "command", where those after the first may be studies: `run jacobi`, `fft`.
    """
    studies = {path.stem for path in study_file.ready()} - {"launches"}
    in_block = in_table = False
    for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        in_table = line.startswith("|") and (in_table or line.endswith("| command |"))
        if line.startswith("```"):
            in_block = not in_block
        elif in_block and (found := re.match(r"\s*(?:\$ )?(?:\./)?haloscope ([a-z-].*)", line)):
            yield re.split(r"  |#|\||>", found[1])[0].strip()
        elif in_table:
            for code in re.findall(r"`([^`]+)`", line.rsplit("|", 2)[-2]):
                code = re.sub(r"^(\./)?haloscope ", "", code)
                if code in studies:
                    yield f"run {code}"
                elif code.split()[0] in COMMANDS:
                    yield code
        elif not in_block:
            for code in re.findall(r"`(?:\./)?haloscope ([a-z-][^`]*)`", line):
                yield re.split(r"\||>", code)[0].strip()


MENTIONED = {*COMMANDS, "toolchain add", "--help", "COMMAND --help", "quick"}
"""MENTIONED are names of commands, and a mistake that the page on faults has."""
COMMAND_LINES = sorted({line for page in PAGES for line in commands_of(page)} - MENTIONED)


def not_run(line: str) -> bool:
    """Whether a command is parsed only."""
    if "--dry-run" in line and not PLACEHOLDERS & {*line.split()}:
        return False
    line = re.sub(r"^(-\S+ )+", "", line)  # options of all commands
    return any(line == words or line.startswith(f"{words} ") for words in NOT_RUN)


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_documented_command_parses(line: str) -> None:
    arguments = parse(shlex.split(line.removesuffix(" ...")))

    study = getattr(arguments, "study", None)
    if study and study not in PLACEHOLDERS and not study.endswith(".toml"):
        assert study in {path.stem for path in study_file.ready()}
    place = getattr(arguments, "on", None)
    if place not in (None, "local", "lab", *PLACEHOLDERS):
        assert place in cluster_file.ready()
    paper = getattr(arguments, "paper", None)
    if arguments.command in ("validate", "paper") and paper and paper not in PLACEHOLDERS:
        assert paper in {"local"} | {one.id for one in papers.list_papers()}


def test_the_documentation_contains_commands() -> None:
    assert len(COMMAND_LINES) > 100


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples name, in the current folder."""
    results = ("results/before", "results/after", "results/today")
    for name in (*results, "before", "after", "DIR", "DIR/layouts"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_folder(tmp_path / name, quick(1)[:: -1 if name.endswith("after") else 1])
    page = (ROOT / "docs/first-steps.md").read_text(encoding="utf-8")
    (study,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    (tmp_path / "my.toml").write_text(study)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine, "processors", lambda *_: [0, 1])  # as many as examples ask


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if not not_run(line)])
def test_a_documented_command_works(line: str) -> None:
    undecided = line.startswith("compare")  # a launch on each side decides nothing
    assert main(shlex.split(STANDS_FOR.get(line, line))) == (3 if undecided else 0)
