# SPDX-License-Identifier: BSD-3-Clause
"""The command line: find the subcommand, and convert a UserError to a message and an exit code.

Exit codes: 0 success, 1 a case failed or was wrong, 2 usage error, 130 interrupted.
"""

from __future__ import annotations

import argparse
import atexit
import codecs
import contextlib
import gc
import io
import logging
import re
import shlex
import shutil
import signal
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from haloscope import __version__
from haloscope.commands import COMMANDS, module_of
from haloscope.errors import Problem, UserError, among, guess, nearest, printable
from haloscope.host import scratch
from haloscope.paths import share
from haloscope.verbosity import Verbosity, verbosity

_OF_ALL = "completion"
_DESCRIPTION = "A laboratory for the communication performance of parallel (MPI) programs."
_EPILOG = """\
first steps:
  haloscope run quick             measure this machine for half a minute
  haloscope list                  list studies, kernels, papers, and clusters
  haloscope doctor                check this machine for sources of noise
  haloscope once poisson_cg n=512 --ranks 2
"""
_SHORT = f"""\
{_DESCRIPTION}

{_EPILOG}
haloscope --help lists the commands, haloscope COMMAND --help describes one.
"""


class _Parser(argparse.ArgumentParser):
    """A parser with --verbose and --quiet; argparse also uses it for subcommands."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Create a parser without abbreviations; the level given before a subcommand stays."""
        super().__init__(*args, **{"allow_abbrev": False, **options})
        either = self.add_mutually_exclusive_group()
        for letter, name, level, text in (
            ("-v", "--verbose", Verbosity.VERBOSE, "also print the commands that are run"),
            ("-q", "--quiet", Verbosity.QUIET, "print results, warnings, and errors only"),
        ):
            either.add_argument(
                letter,
                name,
                action="store_const",
                const=level,
                dest="verbosity",
                default=argparse.SUPPRESS,
                help=text,
            )

    def error(self, message: str) -> NoReturn:
        """Raise argparse's error as a UserError."""
        message = message.replace("the following arguments are required: ", "missing: ")
        where, what = self.prog, message
        if message.startswith("argument "):
            option, _, what = message.removeprefix("argument ").partition(": ")
            where = f"{self.prog} {option}"
        raise UserError(Problem(where, what, f"see {self.prog} --help"))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            allowed = _ALLOWED.get(action.type)
            if allowed is None:
                raise
            where = f"{self.prog} {_named(action)}{arg_string}"
            raise UserError(Problem(where, "invalid value", f"give {allowed}")) from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(one) for one in action.choices]
        meant = next((one for one in _ACTIONS.get(value, ()) if one in known), None)
        hint = f"did you mean '{meant}'? " if meant else guess(str(value), known)
        what = "unknown action" if action.dest == "action" else "invalid value"
        where = f"{self.prog} {_named(action)}{value}"
        raise UserError(Problem(where, what, f"{hint}{among(known)}"))


def _named(action: argparse.Action) -> str:
    """Return the option that a value belongs to; "" for a positional argument."""
    return f"{action.option_strings[-1]} " if action.option_strings else ""


_ALLOWED: dict[object, str] = {int: "an integer", float: "a number"}
_ACTIONS = {
    **dict.fromkeys(("ls", "all"), ("list",)),
    **dict.fromkeys(("cat", "print", "info", "describe"), ("show",)),
    **dict.fromkeys(("rm", "delete", "uninstall"), ("remove", "down")),
    **dict.fromkeys(("start", "create"), ("up",)),
    **dict.fromkeys(("stop", "remove"), ("down",)),
    "install": ("add",),
    "ps": ("status",),
    "findings": ("report",),
}


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; `execute` is the function of its command.

    For a command about all commands, `top` is the parser with every one set up. Raise UserError if
    the line names no command.
    """
    top = _Parser(prog="haloscope", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=Help)
    top.set_defaults(verbosity=Verbosity.NORMAL)
    top.add_argument("-V", "--version", action="version", version=f"haloscope {__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    named = next((word for word in words if not word.startswith("-")), None)
    if named is not None and named not in COMMANDS:
        raise UserError(_no_command(named, words))
    for name, summary in COMMANDS.items():
        parser = subparsers.add_parser(name, help=summary, formatter_class=Help)
        if named in (name, _OF_ALL):
            command = import_module(module_of(name))
            command.set_up(parser)
            parser.set_defaults(execute=command.execute)
    if named == _OF_ALL:
        top.set_defaults(top=top)
    found, unknown = top.parse_known_args(words)
    if unknown:
        options = [word for word in unknown if word.startswith("-")]  # others may be their values
        raise UserError([_unknown(word, named) for word in options or unknown])
    return found


def _unknown(word: str, command: str | None) -> Problem:
    option = word.partition("=")[0]
    where = f"haloscope {command or ''} {word}".replace("  ", " ")
    own = f"see haloscope {command} --help" if command else "see haloscope --help"
    if not option.startswith("-"):
        of_folders = sorted({"--in", "--from"} & _options(command)) if command else []
        hint = f"give a folder with {of_folders[0]}; " if of_folders else ""
        return Problem(where, "unexpected argument", f"{hint}{own}")
    others = {name: _options(name) for name in COMMANDS if name != command}
    having = [name for name, options in others.items() if option in options]
    if having:
        hint = f"{option} is an option of haloscope {', '.join(having)}"
        return Problem(where, "unknown option", f"{hint}; {own}")
    own_options = _options(command) if command else set()
    meant = _USUAL.get(option)
    hint = f"did you mean {meant}? " if meant in own_options else guess(option, sorted(own_options))
    return Problem(where, "unknown option", f"{hint}{own}")


_USUAL = {
    **dict.fromkeys(("-n", "-np", "--np", "--procs", "--ntasks", "--tasks"), "--ranks"),
    "-N": "--nodes",
    "--ntasks-per-node": "--ppn",
    **dict.fromkeys(("-o", "--output"), "--out"),
}


def _options(command: str) -> set[str]:
    """Return the options of a command, without those of its actions."""
    parser = _Parser(add_help=False)
    import_module(module_of(command)).set_up(parser)
    return {option for action in parser._actions for option in action.option_strings}


def _no_command(named: str, words: Sequence[str]) -> Problem:
    rest = shlex.join(words[words.index(named) :])
    for command, kind, folder, names in (
        ("run", "study", "studies", "*.toml"),
        ("cluster show", "cluster", "clusters", "*.toml"),
        ("paper show", "paper", "papers", "*/paper.toml"),
    ):
        files = share(folder).glob(names)
        if named in {file.parent.name if "/" in names else file.stem for file in files}:
            remedy = f"this is the name of a {kind}: haloscope {command} {rest}"
            return Problem(named, "unknown command", remedy)
    if named.endswith(".toml"):
        remedy = f"to run a study: haloscope run {rest}"
    else:
        remedy = f"{nearest(named, [*COMMANDS])}\n    {_OTHERS}"
    return Problem(named, "unknown command", remedy)


_OTHERS = "to list all commands: haloscope --help; to run a kernel: haloscope once KERNEL"


class Help(argparse.RawDescriptionHelpFormatter):
    """Help text as wide as the terminal, at least 60 columns; paragraphs are filled,
    examples kept.
    """

    def __init__(self, prog: str) -> None:
        """prog: the words before the arguments."""
        columns = shutil.get_terminal_size().columns
        super().__init__(prog, width=max(_NARROWEST, columns) - 2)

    def filled(self, text: str) -> str:
        """Fill a separate text to the width of the terminal."""
        return self._fill_text(text, self._width, "")

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        width = min(width, _WIDEST)
        lines: list[str] = []
        paragraph: list[str] = []
        for line in [*text.splitlines(), ""]:
            if line and not line.startswith(" "):
                paragraph.append(line)
                continue
            lines += textwrap.wrap(" ".join(paragraph), width, break_on_hyphens=False)
            paragraph = []
            lines += _example(line, width)
        return "\n".join(indent + line for line in lines[:-1]) + "\n"


_NARROWEST = 60
"""_NARROWEST is the minimum number of columns to which lines are fitted."""
_WIDEST = 98
"""_WIDEST is the maximum length of a line, because longer ones are hard to read."""


def _example(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    command, _, text = line.strip().partition("  ")
    command = re.sub(r"( --?[\w-]+) (?!-)", r"\1\0", command)  # keep an option with its value
    wrapped = textwrap.wrap(command, width - 6, break_long_words=False, break_on_hyphens=False)
    first, *rest = (one.replace("\0", " ") for one in wrapped)
    lines = [f"  {first}", *(f"    {one}" for one in rest)]
    lines = [*(f"{one} \\" for one in lines[:-1]), lines[-1]]
    return [*lines, *(f"      {one}" for one in textwrap.wrap(text.strip(), width - 6))]


def perform(arguments: argparse.Namespace) -> int:
    """Execute a command with the verbosity in its arguments; return the exit code."""
    if arguments.verbosity is Verbosity.VERBOSE:
        from haloscope.host import process  # imported here because few command lines need it

        process.show_commands()
    with verbosity(arguments.verbosity):
        return int(arguments.execute(arguments))


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process; return the exit code."""
    _end_in_order()
    _say_what_can_be_said()
    if words is None:
        _collect_seldom()
    try:
        if not (words := sys.argv[1:] if words is None else words):
            print(Help("haloscope").filled(_SHORT), end="")
            return 2
        arguments = parse(words)
        scratch.sweep()
        return perform(arguments)
    except UserError as error:
        for problem in error.problems:
            _complain(str(problem))
        return 2
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    # an error of this machine's files or programs: a full disk, missing permissions
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        _complain(f"{about}{error.strerror or error}")
        return 1
    except Exception:
        if not _interrupts:
            raise
        _complain("interrupted")  # inside a compiled library, which raised its own error
        return 130
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # no further interrupt while Python ends


def _collect_seldom() -> None:
    """Search for garbage seldom, and not at the end: imports create many objects, and they remain.

    This is a third of the processor time of a short command.
    """
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)


_OBJECTS = 100_000
"""_OBJECTS is the number of new objects after which Python searches for garbage."""


def _end_in_order() -> None:
    """Handle other termination signals like Ctrl-C, except ignored ones, as under nohup."""
    sys.unraisablehook = _interrupt_again
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    for one in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, _interrupt)


def _interrupt(signal_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but only after an import in progress.

    A compiled library whose initialisation is interrupted reports that it cannot be imported, which
    may be caught and forgotten, and it can abort the interpreter at its end.
    """
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
            return
        frame = frame.f_back
    _interrupts.append(signal_)
    raise KeyboardInterrupt


def _interrupt_again(ignored: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python drops exceptions, such as during a deletion."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        sys.__unraisablehook__(ignored)


_interrupts: list[int] = []
_IMPORTING = "<frozen importlib._bootstrap>"
"""_IMPORTING is the file name of Python's import system in tracebacks."""
_AGAIN_S = 0.02
"""_AGAIN_S is the delay in seconds after which a lost interrupt is repeated."""


def _complain(what: str) -> None:
    what = what.removeprefix("haloscope ")
    with contextlib.suppress(OSError):  # the terminal may be gone
        print(f"haloscope: {printable(what)}", file=sys.stderr)


_ALIKE = {
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "x",
    "·": ".",
    "µ": "u",
    "μ": "u",
    "…": "...",
    "•": "*",
}
"""Replacements of characters that the terminal's encoding lacks."""


def _say_what_can_be_said() -> None:
    """Let output in other encodings than UTF-8 replace missing characters by similar
    ones or "?".
    """

    def alike(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        missing = error.object[error.start : error.end]
        return "".join(_ALIKE.get(sign, "?") for sign in missing), error.end

    codecs.register_error("alike", alike)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="alike")
    if logging.lastResort is not None:  # it may print parts of a file from anybody
        logging.lastResort.setFormatter(_Plain())


class _Plain(logging.Formatter):
    """Format warnings like our own messages."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record without control characters."""
        return printable(super().format(record))
