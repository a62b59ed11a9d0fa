"""The command line itself: what it imports, and for which words."""

import subprocess
import sys

import pytest

from haloscope.cli import COMMANDS, main

HEAVY = {"matplotlib", "scipy", "numpy", "pydantic", "jinja2", "rich"}


def imported_by(*words: str) -> set[str]:
    """The modules that a process of its own has after running these words."""
    program = (
        "import sys; from haloscope.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["mistyped"], []], ids=" ".join)
def test_without_a_command_none_is_imported_and_nothing_heavy(words: list[str]) -> None:
    modules = imported_by(*words)

    assert not {name for name in modules if name.startswith("haloscope.commands")}
    assert not HEAVY & modules


def test_only_the_named_command_is_imported() -> None:
    modules = imported_by("describe", "--help")

    commands = {name for name in COMMANDS if f"haloscope.commands.{name}" in modules}
    assert commands == {"describe"}


def test_help_names_every_command_with_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    words = " ".join(capsys.readouterr().out.split())
    for name, summary in COMMANDS.items():
        assert f" {name} {summary}" in words


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: haloscope {name} ")


def test_a_mistyped_command_is_refused_with_all_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rnu"])

    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "invalid choice: 'rnu'" in said
    assert all(repr(name) in said for name in COMMANDS)
