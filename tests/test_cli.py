# SPDX-License-Identifier: BSD-3-Clause
"""The command line itself: what it imports, and for which words."""

import os
import re
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from haloscope import __version__, cli
from haloscope.cli import main, parse
from haloscope.commands import COMMANDS, module_of
from haloscope.errors import UserError
from haloscope.verbosity import Verbosity

DRAWING = {"matplotlib", "scipy", "numpy", "jinja2", "pymetis", "psutil", "cmake"}
HEAVY = DRAWING | {"pydantic", "rich"}


def imported_by(*words: str, first: str = "", folder: Path | None = None) -> set[str]:
    """The modules that a process of its own has after these words. first: what it does before."""
    program = (
        f"{first}\n"
        "import sys; from haloscope.cli import main\n"
        "try: code = main(sys.argv[1:])\n"
        "except SystemExit: code = 0\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", program, *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "support" / "fake")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    assert done.returncode in (0, 2), done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["mistyped"], []], ids=" ".join)
def test_running_without_a_command_imports_no_command_or_heavy_module(words: list[str]) -> None:
    modules = imported_by(*words)

    assert not {name for name in modules if name.startswith("haloscope.commands.")}
    assert not HEAVY & modules
    assert "importlib.metadata" not in modules


LABORATORY = """
import os
import signal
from fakes import FAKE, FAKE_PROGRAMS, describe
from haloscope.run.prepare import halobench
from haloscope.run.runners import local
from haloscope.toolchains import build, library
environment = {**os.environ, "FAKE_RANKS": "1", "FAKE_THREADS": "1", "FAKE_MARK": "mark"}
local.launch_command = lambda toolchain, job, program, **_: (program, environment)
library.ensure = lambda *_, **__: FAKE
library.available = lambda: [FAKE]
library.names = halobench.names = lambda: ["fake"]
halobench.describe = describe
build.of = lambda toolchain: build.Build(toolchain, FAKE_PROGRAMS, "5eed", "fake++ 1.0")
"""
"""A fake toolchain and a fake halobench, for a separate process."""


def test_once_imports_only_the_modules_of_its_place(tmp_path: Path) -> None:
    modules = imported_by("once", "fake", "n=16", first=LABORATORY, folder=tmp_path)

    assert "haloscope.report.record_view" in modules
    assert not DRAWING & modules
    assert not {"filelock", "importlib.metadata", "rich.progress", "ClusterShell"} & modules
    files = {"clusters", "papers", "programs", "sites", "study", "records"}
    assert not {f"haloscope.{room}.file" for room in files} & modules
    assert not {f"haloscope.{room}.schema" for room in files - {"study"}} & modules
    assert not {name for name in modules if name.startswith("haloscope.sites.schedulers")}


def test_planning_does_not_import_fitting_or_plotting(tmp_path: Path) -> None:
    study = 'title = "x"\n[[runs]]\nkernel = "fake"\nlayout = { ppn = 1 }\n'
    (tmp_path / "x.toml").write_text(study, encoding="utf-8")

    modules = imported_by("run", "x.toml", "--dry-run", first=LABORATORY, folder=tmp_path)

    assert not DRAWING & modules


def test_only_the_named_command_is_imported() -> None:
    modules = imported_by("describe", "--help")

    commands = {name for name in COMMANDS if module_of(name) in modules}
    assert commands == {"describe"}


def test_help_lists_every_command_with_its_purpose(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    words = " ".join(capsys.readouterr().out.split())
    for name, summary in COMMANDS.items():
        assert f" {name} {summary}" in words


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: haloscope {name} ")
    assert {"--verbose", "--quiet"} <= set(re.findall(r"--[a-z]+", printed))


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("doctor", Verbosity.NORMAL),
        ("doctor --quiet", Verbosity.QUIET),
        ("--quiet doctor", Verbosity.QUIET),
        ("-q toolchain list", Verbosity.QUIET),
        ("toolchain list -v", Verbosity.VERBOSE),
        ("-q toolchain list --verbose", Verbosity.VERBOSE),
        ("once fake n=16 -q --ranks 2", Verbosity.QUIET),
        ("profile -q -- mpirun -v ./program", Verbosity.QUIET),
        ("profile mpirun -v ./program", Verbosity.NORMAL),
    ],
)
def test_every_command_accepts_verbosity_options(words: str, level: Verbosity) -> None:
    assert parse(words.split()).verbosity is level


@pytest.mark.parametrize("words", [["-q", "-v", "doctor"], ["doctor", "--quiet", "--verbose"]])
def test_quiet_and_verbose_exclude_each_other(words: list[str]) -> None:
    with pytest.raises(UserError):
        parse(words)


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_printed(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([option])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"haloscope {__version__}\n"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["rnu"], "'run'"),
        (["Report", "results/x"], "'report'"),
        (["quick", "--out", "a b"], "run quick --out 'a b'"),
        (["mine.toml"], "haloscope run mine.toml"),
        (["stampede2"], "haloscope cluster show stampede2"),
        (["hpcf-2018-10", "4.1"], "haloscope paper show hpcf-2018-10 4.1"),
    ],
)
def test_an_unknown_command_is_refused_with_a_suggestion(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "where", "expected"),
    [
        ("once ring --ranks 2.5", "haloscope once --ranks 2.5", "give an integer"),
        ("once ring --timeout soon", "haloscope once --timeout soon", "give a number"),
        ("once ring --bind clos", "haloscope once --bind clos", "did you mean 'close'?"),
        ("cluster ls", "haloscope cluster ls", "'list'? choose one of: list, show"),
        ("cluster shwo tara", "haloscope cluster shwo", "did you mean 'show'?"),
        ("toolchain rm mpich", "haloscope toolchain rm", "did you mean 'remove'?"),
        ("lab start", "haloscope lab start", "mean 'up'? choose one of: up, "),
        ("schema findings", "haloscope schema findings", "did you mean 'report'?"),
        ("lab stop", "haloscope lab stop", "did you mean 'down'?"),
        ("site frobnicate", "haloscope site frobnicate", "choose one of: detect, show, check"),
        ("show", "haloscope show", "--help"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_is_allowed(
    words: str, where: str, expected: str
) -> None:
    with pytest.raises(UserError) as refused:
        parse(words.split())
    (problem,) = refused.value.problems
    assert problem.where == where
    assert expected in problem.remedy


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(UserError, match="missing: DIR$|missing: DIR\n"):
        parse(["show"])


def test_without_arguments_a_short_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr().out
    assert "haloscope run quick" in said
    assert "haloscope --help" in said


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"profile"}))
def test_help_fits_sixty_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 60] == []


def test_a_wrapped_example_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    options = ["--on stampede2", "--nodes 4", "--ranks 192"]
    command = " ".join(["haloscope once poisson_cg n=4096", *options])
    text = cli.Help("haloscope").filled(f"examples:\n  {command}    simulated\n")
    *lines, last = text.splitlines()
    assert lines[0] == "examples:"
    assert last.strip() == "simulated"
    assert " ".join("\n".join(lines[1:]).replace("\\\n", " ").split()) == command
    assert not any(line.rstrip(" \\").endswith(("--on", "--nodes", "--ranks")) for line in lines)


def test_an_interrupt_during_an_import_is_delivered_after_it(tmp_path: Path) -> None:
    """A compiled library, broken off, is neither there nor gone."""
    (tmp_path / "slow.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\n"
        "time.sleep(0.1)\nwhole = True\n"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from haloscope import cli; cli._end_in_order()\n"
        "try:\n    import slow, time; time.sleep(600)\n"
        "except KeyboardInterrupt:\n    print('interrupted, whole:', slow.whole)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout == "interrupted, whole: True\n", done.stderr


def test_an_interrupt_where_python_drops_exceptions_is_delivered_later() -> None:
    """Its alarm is held back until a word is said, however long that takes."""
    code = (
        "import os, signal, time\n"
        "from haloscope import cli\n"
        "class Deleted:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(0)\n"
        "cli._end_in_order()\n"
        "one = Deleted()\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
        "try:\n    del one\n    print('deleted')\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])\n"
        "    time.sleep(600)\n    print('not interrupted')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600
    )

    assert (done.stdout, done.stderr) == ("deleted\ninterrupted\n", "")


def test_an_interrupt_wrapped_by_a_library_is_still_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def execute(_: object) -> int:
        try:
            cli._interrupt(signal.SIGTERM, None)
        except KeyboardInterrupt as error:
            raise RuntimeError("a validator can't be built") from error
        return 0

    monkeypatch.setattr(
        cli, "parse", lambda _: Namespace(execute=execute, verbosity=Verbosity.NORMAL)
    )
    monkeypatch.setattr(cli, "_end_in_order", lambda: None)
    monkeypatch.setattr(cli, "_interrupts", [])

    assert main(["list"]) == 130
    assert capsys.readouterr().err == "haloscope: interrupted\n"
    monkeypatch.setattr(cli, "_interrupt", lambda *_: 1 / 0)
    monkeypatch.setattr(cli, "_interrupts", [])
    with pytest.raises(ZeroDivisionError):
        main(["list"])


@pytest.mark.parametrize(
    ("words", "where", "named"),
    [
        ("once fake --dry-run", "haloscope once --dry-run", "run"),
        ("run quick --rank 2", "haloscope run --rank", "haloscope run --help"),
        ("once fake --np 2", "haloscope once --np", "--ranks"),
        ("once fake --launchs 2", "haloscope once --launchs", "--launches"),
        ("doctor now", "haloscope doctor now", "haloscope doctor --help"),
        ("history results", "haloscope history results", "--in"),
    ],
)
def test_an_unknown_argument_error_lists_the_valid_ones(words: str, where: str, named: str) -> None:
    with pytest.raises(UserError) as error:
        parse(words.split())
    problem = error.value.problems[0]
    assert problem.where == where
    assert named in problem.remedy
