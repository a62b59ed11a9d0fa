# SPDX-License-Identifier: BSD-3-Clause
"""`haloscope completion`: what bash, zsh, and fish complete with its script."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from shlex import quote

import pytest

from haloscope.cli import main, parse
from haloscope.commands import COMMANDS
from haloscope.commands.reference.completion import SHELLS, arguments_of, completed_by
from haloscope.records import kernels
from haloscope.study import file as study_file

Complete = Callable[[str], Sequence[str]]
"""The candidates for the last word of a command line."""

FREE = {
    *(
        "N",
        "T",
        "S",
        "R",
        "SHARE",
        "A,B",
        "TABLE",
        "ID",
        "NAME",
        "COMMAND",
        "FORMAT",
        "NODE",
        "HOST",
        "CASE",
        "MACHINE",
        "MINUTES",
        "TIME",
    ),
}
"""FREE are the metavars of values that are numbers, new names, or lists of their own."""


@pytest.fixture(scope="module", params=SHELLS)
def complete(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """Completes in one of the shells, in a folder with results, a study, and a cluster file."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} in PATH: apt install {shell}")
    folder = tmp_path_factory.mktemp(shell)
    script = folder / f"haloscope.{shell}"
    with script.open("w", encoding="utf-8") as file, redirect_stdout(file):
        assert main(["completion", shell]) == 0
    here = folder / "here"
    for name in ("results/before", "results/after", "docs", "clusters"):
        (here / name).mkdir(parents=True)
    for name in ("results/before/records.jsonl", "results/after/plan.json", "docs/page.md"):
        (here / name).touch()
    for name in ("mine.toml", "notes.txt", "clusters/ours.toml"):
        (here / name).touch()
    return lambda line: _COMPLETE[shell](script, here, line)


def _in_bash(script: Path, here: Path, line: str) -> list[str]:
    """As readline calls it: words split at = and :, too."""
    words = [
        part
        for word in line.split(" ")
        for part in (word.replace("=", " = ").split(" ") if "=" in word else [word])
    ]
    while len(words) > 1 and words[-1] == "" and words[-2] == "=":
        words.pop()
    asked = f"""
source {quote(str(script))}
COMP_WORDS=({" ".join(map(quote, words))}) COMP_CWORD={len(words) - 1}
function=$(complete -p haloscope | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function haloscope {quote(words[-1])} {quote(words[-2])}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", asked], cwd=here, capture_output=True, text=True, check=True
    )
    return sorted(filter(None, done.stdout.splitlines()))


def _in_fish(script: Path, here: Path, line: str) -> list[str]:
    asked = f"source {quote(str(script))}; complete -C {quote(line)}"
    environment = {**os.environ, "HOME": str(script.parent)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    candidates = [one.split("\t")[0] for one in done.stdout.splitlines()]
    return sorted(one.rpartition("=")[2] or one for one in candidates)


_ZSH = """
PS1= PS2= RPS1=
fpath=({functions} $fpath)
autoload -Uz compinit && compinit -u -D
# What would be offered is written instead: the line is left as it is.
compadd() {{
  local -a offered; local IFS=$'\\n'
  if [[ ${{@[(I)-[OAD]]}} -gt 0 ]]; then builtin compadd "$@"; return; fi
  builtin compadd -O offered "$@"
  print -rl -- $offered >> {offers}
  builtin compadd "$@"
}}
ended() {{ : > {end}; zle kill-whole-line }}
zle -N ended; bindkey '^X' ended
: > {ready}
"""


def _in_zsh(script: Path, here: Path, line: str) -> list[str]:
    """In a terminal of its own: Tab, then a key whose widget says that Tab's has ended."""
    folder = script.parent
    functions = folder / "functions"
    functions.mkdir(exist_ok=True)
    shutil.copy(script, functions / "_haloscope")
    files = {name: folder / name for name in ("offers", "end", "ready")}
    for file in files.values():
        file.unlink(missing_ok=True)
    start = folder / "start.zsh"
    start.write_text(_ZSH.format(functions=functions, **files), encoding="utf-8")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(here)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
    try:
        os.write(terminal, f"source {quote(str(start))}\n".encode())
        _wait_for(files["ready"], terminal)
        os.write(terminal, f"{line}\t\x18".encode())
        _wait_for(files["end"], terminal)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    offers = files["offers"].read_text(encoding="utf-8") if files["offers"].exists() else ""
    return sorted({one for one in offers.splitlines() if one})


def _wait_for(file: Path, terminal: int) -> None:
    while not file.exists():
        os.read(terminal, 65536)


_COMPLETE = {"bash": _in_bash, "fish": _in_fish, "zsh": _in_zsh}


def test_commands_and_their_options_are_completed(complete: Complete) -> None:
    assert set(complete("haloscope comp")) >= {"compare", "completion"}
    assert "--fail-above" in complete("haloscope compare --f")
    assert {"list", "show"} <= set(complete("haloscope cluster "))


def test_kernels_their_parameters_and_values_are_completed(complete: Complete) -> None:
    names = {*kernels.declared()}
    assert names <= set(complete("haloscope once "))
    assert {"poisson_cg"} <= set(complete("haloscope describe poi"))
    keys = {one.rstrip("=") for one in complete("haloscope once poisson_cg ")}
    assert {one["name"] for one in kernels.declared()["poisson_cg"]["parameters"]} <= keys
    values = complete("haloscope once poisson_cg n=64 variant=")
    assert {"textbook", "fused", "pipelined"} <= set(values)
    assert complete("haloscope once poisson_cg --ranks 2 variant=tex") == ["textbook"]
    assert "rows" not in values


def test_studies_and_files_of_studies_are_completed(complete: Complete) -> None:
    found = set(complete("haloscope run "))
    assert {path.stem for path in study_file.ready()} | {"mine.toml"} <= found
    assert not {"notes.txt"} & found


def test_clusters_are_completed_with_those_of_this_folder(complete: Complete) -> None:
    assert {"stampede2", "ours"} <= set(complete("haloscope cluster show "))
    assert {"stampede2", "ours", "local"} <= set(complete("haloscope run quick --on "))


def test_folders_of_results_are_completed(complete: Complete) -> None:
    def plain(line: str) -> set[str]:
        return {one.rstrip("/") for one in complete(line)}

    assert plain("haloscope show ") == {"results"}
    inside = {one.rpartition("/")[2] for one in plain("haloscope compare results/before results/")}
    assert inside == {"before", "after"}


def test_every_argument_has_completion_or_accepts_anything() -> None:
    parsed = parse(["completion", "bash"])

    left = {
        f"{command}: {action.metavar or action.dest}"
        for command, action in arguments_of(parsed.top)
        if not (action.choices or action.nargs == 0 or completed_by(command, action))
        and action.metavar not in FREE
    }

    assert left == set()
    assert {command.split()[0] for command, _ in arguments_of(parsed.top) if command} == {*COMMANDS}
