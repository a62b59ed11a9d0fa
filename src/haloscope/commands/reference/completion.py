# SPDX-License-Identifier: BSD-3-Clause
"""haloscope completion: print a script that completes command lines in bash, zsh, or fish."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join, quote

import shtab

from haloscope.clusters import file as cluster_file
from haloscope.host.machine import PLACEMENTS
from haloscope.papers import tables as papers
from haloscope.run.prepare import halobench, kernels
from haloscope.sites import file as site_file
from haloscope.study import file as study_file
from haloscope.toolchains import library
from haloscope.toolchains.added.extras import EXTRAS
from haloscope.toolchains.transport import TRANSPORTS

_DESCRIPTION = """\
Print a shell script for tab completion of haloscope's commands and options. The script also
completes the names of kernels, parameters, studies, clusters, papers, toolchains, and result
folders.

The script contains the names known when it was generated, and looks up folders and files itself.
Completion does not start Python. Generate the script again after updating haloscope.
"""
_EPILOG = """\
examples:
  source <(haloscope completion bash)                                           for this shell
  haloscope completion bash > ~/.local/share/bash-completion/completions/haloscope
  haloscope completion zsh > ~/.zfunc/_haloscope                    with ~/.zfunc in $fpath
  haloscope completion fish > ~/.config/fish/completions/haloscope.fish
"""
SHELLS = ("bash", "zsh", "fish")


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `completion`, and add its argument."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def execute(arguments: argparse.Namespace) -> int:
    """Print the script; return 0."""
    print(script(arguments.top, arguments.shell))
    return 0


def script(top: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of a shell. top: parser of whole command lines, with every
    command set up.
    """
    for command, action in arguments_of(top):
        name = completed_by(command, action) or ""
        if name in NAMES:
            action.choices = NAMES[name]()
        elif name in FUNCTIONS:
            function = FUNCTIONS[name]
            calls = {"bash": function, "zsh": function, "fish": f"({function})"}
            action.complete = calls  # type: ignore[attr-defined]
        elif name in _OF_SHTAB:
            action.complete = _OF_SHTAB[name]  # type: ignore[attr-defined]
        elif action.choices:
            action.choices = [*action.choices]  # shtab treats a mapping as subcommands
    generated: str = shtab.complete(top, shell, preamble=_preamble(shell))
    if shell == "zsh":  # shtab completes only the first of several words of one argument
        generated = re.sub(r'"\(\*\)::?', '"*:', generated)
    return f"{generated}\n{_WITHOUT_A_BLANK if shell == 'bash' else ''}"


def arguments_of(
    parser: argparse.ArgumentParser, command: str = ""
) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every argument and option with the words of its command, such as "cluster show"."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, own in action.choices.items():
                yield from arguments_of(own, f"{command} {name}".strip())
        else:
            yield command, action


def completed_by(command: str, action: argparse.Action) -> str | None:
    """Return the list or function that completes an argument's value.

    None if it has no value, has choices, or may be anything.
    """
    if action.choices or action.nargs == 0:
        return None
    keys = (f"{command} {action.dest}", action.dest, str(action.metavar))
    return next((_COMPLETED_BY[key] for key in keys if key in _COMPLETED_BY), None)


def _papers() -> list[str]:
    return [one.id for one in papers.list_papers()]


NAMES: Mapping[str, Callable[[], Sequence[str]]] = {
    "kernel": lambda: kernels.names(()),
    "paper": _papers,
    "paper or local": lambda: ["local", *_papers()],
    "placement": lambda: PLACEMENTS,
    "site": lambda: [*site_file.ready()],
    "toolchain": library.names,
    "installable": lambda: [*library.PYPI, *EXTRAS],
    "transport": lambda: sorted({name for family in TRANSPORTS.values() for name in family}),
}
FUNCTIONS = {
    "results": "_haloscope_dir_results",
    "study": "_haloscope_file_studies",
    "cluster": "_haloscope_file_clusters",
    "place": "_haloscope_places",
    "params": "_haloscope_params",
}
"""FUNCTIONS are those of completion.bash, .zsh, and .fish, by what they complete. shtab makes bash
treat words as files if "file" or "dir" is in the function's name.
"""
_OF_SHTAB = {"file": shtab.FILE, "folder": shtab.DIRECTORY}
_COMPLETED_BY = {
    **{"DIR": "results", "FILE": "file", "FOLDER": "folder", "KERNEL": "kernel"},
    **{"STUDY": "study", "PLACE": "place", "SITE": "site", "key=value": "params"},
    **{"out": "folder", "keep": "folder", "toolchain": "toolchain", "transport": "transport"},
    **{"placement": "placement", "cluster show name": "cluster", "site show name": "site"},
    **{"site check name": "site", "toolchain build name": "toolchain"},
    **{"toolchain add name": "installable", "toolchain remove name": "toolchain"},
    **{"paper show id": "paper", "paper check id": "paper", "validate paper": "paper or local"},
}


def _preamble(shell: str) -> str:
    names = {
        "studies": [path.stem for path in study_file.ready()],
        "clusters": [*cluster_file.ready()],
        "sites": [*site_file.ready()],
    }
    case = _fish_case if shell == "fish" else _posix_case
    variables = (_variable(name, words, shell) for name, words in names.items())
    functions = (line for name, table in _tables().items() for line in case(name, table))
    own = Path(__file__).with_suffix(f".{shell}").read_text(encoding="utf-8")
    return "\n".join([*variables, *functions, own])


def _tables() -> dict[str, dict[str, list[str]]]:
    """Return each kernel's parameters, and the values or the default of each "KERNEL PARAMETER"."""
    kernels_ = {name: halobench.describe(name).parameters for name in halobench.names()}
    return {
        "parameters": {name: [one.name for one in every] for name, every in kernels_.items()},
        "values": {
            f"{name} {one.name}": [str(value) for value in one.choices or [one.default]]
            for name, every in kernels_.items()
            for one in every
        },
    }


def _variable(name: str, words: Sequence[str], shell: str) -> str:
    if shell == "fish":
        return f"set -g _haloscope_{name} {join(words)}"
    return f"_haloscope_{name}={quote(' '.join(words))}"


def _posix_case(name: str, table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f'_haloscope_{name}() {{\n  case "$*" in'
    yield from (f"    {quote(key)}) echo {quote(' '.join(own))} ;;" for key, own in table.items())
    yield "  esac\n}"


def _fish_case(name: str, table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f'function _haloscope_{name}\n  switch "$argv"'
    for key, own in table.items():
        yield f"    case {quote(key)}\n      printf '%s\\n' {join(own)}"
    yield "  end\nend"


_WITHOUT_A_BLANK = """
# A parameter's name is followed by its value, without a blank.
_haloscope() {
  _shtab_haloscope "$@"
  [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o bashdefault -F _haloscope haloscope
"""
