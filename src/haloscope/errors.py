# SPDX-License-Identifier: BSD-3-Clause
"""Errors that a user can correct: place, problem, and remedy; and text that is safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain


@dataclass(frozen=True)
class Problem:
    """One thing that the user must correct.

    where: the file and key, or the command-line argument.
    what: what is wrong, with the value that was found.
    remedy: what to do, as a command: "give an integer from 1 to 9", "remove --keep".
        "expected ..." is for the contents of files that other programs write.
    """

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return the text that the command line prints."""
        return f"{self.where}: {self.what}\n    {self.remedy}"


class UserError(Exception):
    """Invalid input, found before anything is launched; the command line exits with 2."""

    def __init__(self, problems: Problem | Sequence[Problem]) -> None:
        """Take all problems that were found; they are printed together."""
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def reject(*several: Iterable[Problem]) -> None:
    """Raise UserError with all problems, if there are any."""
    if problems := [*chain(*several)]:
        raise UserError(problems)


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters of a terminal, changes of text direction, and lone surrogates."""


def printable(text: str) -> str:
    """Return untrusted text with control characters written as \\x1b."""
    return _OBEYED.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint for an unknown name: the nearest known name, and all unless it suffices.

    It suffices if there are many names, or only one.
    """
    hint = guess(word, known)
    enough = hint and not 1 < len(known) <= _MANY
    return hint.rstrip() if enough else f"{hint}{among(sorted(known))}"


_MANY = 20


def among(known: Sequence[str]) -> str:
    """Return the remedy that lists the allowed names."""
    if len(known) == 1:
        return f"the only known name is '{known[0]}'"
    return f"choose one of: {', '.join(known)}" if known else "no names are available"


def guess(word: str, known: Sequence[str]) -> str:
    """Return "did you mean 'NAME'? " with the nearest known name, or "" if none is near."""
    near = closest(word, known)
    return f"did you mean '{near}'? " if near else ""


def closest(word: str, known: Sequence[str]) -> str | None:
    """Return the nearest known name, or None if none is near.

    Case, hyphens, underscores, and blanks are ignored: N matches n, roundrobin round_robin.
    """
    plain = {_plain(one): one for one in reversed(known)}
    close = get_close_matches(_plain(word), plain, n=1)
    return plain[close[0]] if close else None


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).lower()


def no_such(where: str, kind: str, name: str, known: Sequence[str]) -> Problem:
    """Return the problem of an unknown name, with the nearest known name."""
    return Problem(where, f"unknown {kind} '{name}'", nearest(name, known))


def outside(where: str, number: float | None, most: int, least: int = 1) -> list[Problem]:
    """Return the problem of an integer that is not from `least` to `most`; [] for None."""
    if number is None or least <= number <= most:
        return []
    return [Problem(f"{where} {number}", "out of range", an_integer(least, most))]


def an_integer(least: int, most: int) -> str:
    """Return the remedy for an integer out of range."""
    return f"give an integer from {least:,} to {most:,}"


def dotted(location: Sequence[int | str]) -> str:
    """Format a location in a TOML file; list items are numbered from 1: runs#1.params.n."""
    parts = (f"#{part + 1}" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
