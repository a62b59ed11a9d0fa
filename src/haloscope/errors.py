# SPDX-License-Identifier: BSD-3-Clause
"""Errors that a user can mend: what is wrong, where, what to do; and text fit to be shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Problem:
    """One thing to mend before anything can run.

    where: the file and key, or the command-line argument, it was found in.
    what:  what is wrong there, with the value that was found.
    mend:  what is allowed, or what to do.
    """

    where: str
    what: str
    mend: str

    def __str__(self) -> str:
        """Where, what and the mend, as the command line prints it."""
        return f"{self.where}: {self.what}\n    {self.mend}"


class UserError(Exception):
    """Bad input, found before anything was launched; the command line exits with 2."""

    def __init__(self, problems: Problem | Sequence[Problem]) -> None:
        """`problems`: everything that was found, to be printed together."""
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal obeys and does not show: escapes, changes of direction, no text."""


def printable(text: str) -> str:
    """Text that may be anyone's, as it can be shown: what a terminal obeys stands as \\x1b."""
    return _OBEYED.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint for a name that does not exist: the nearest one, and all there are."""
    return f"{guess(word, known)}known: {', '.join(sorted(known)) or 'none'}"


def guess(word: str, known: Sequence[str]) -> str:
    """The nearest of some names as a question, with a blank behind it; "" where none is near.

    Case, hyphens, underscores, and blanks make no difference: N is n, roundrobin is round_robin.
    """
    plain = {_plain(one): one for one in reversed(known)}
    close = get_close_matches(_plain(word), plain, n=1)
    return f"did you mean '{plain[close[0]]}'? " if close else ""


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).lower()


def no_such(where: str, kind: str, name: str, known: Sequence[str]) -> Problem:
    """A name that nothing of its kind has."""
    return Problem(where, f"there is no {kind} '{name}'", nearest(name, known))


def out_of(number: float, least: float, most: float) -> str | None:
    """What is wrong with a number that has bounds; None where it is within them."""
    if least <= number <= most:
        return None
    return "too large" if number > most else "too small" if number < least else "no number"


def dotted(location: Sequence[int | str]) -> str:
    """A place in a TOML file as people say it; what is in a list by its number: runs#1.params.n."""
    parts = (f"#{part + 1}" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
