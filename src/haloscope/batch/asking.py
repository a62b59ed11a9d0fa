# SPDX-License-Identifier: BSD-3-Clause
"""A command of a batch system asked: what it said, that it said no, or that nobody answered."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import NoReturn

from haloscope.errors import Problem, UserError

ANSWER_S = 60.0
"""ANSWER_S is how long a command may take: a controller that is busy answers within half of it."""


class NoAnswerError(Exception):
    """The batch system did not answer: whether it did what was asked is not known."""


class RefusedError(Exception):
    """A command said no; its words."""


def environment(ours_to_say: re.Pattern[str], more: Mapping[str, str]) -> dict[str, str]:
    """What a command runs in: this process's own variables, but those that would change what it
    does (`ours_to_say`), and some more."""
    kept = {key: value for key, value in os.environ.items() if not ours_to_say.match(key)}
    return {**kept, **more}


def told(
    words: Sequence[str],
    variables: Mapping[str, str],
    away: re.Pattern[str],
    *,
    also_errors: bool = False,
) -> str:
    """What a command printed. also_errors: with what it wrote to standard error.

    variables: all that it runs in. away: how its words say that nobody answered.
    RefusedError with its words where it fails, NoAnswerError where the batch system is away,
    UserError where there is no such command.
    """
    require(words[0], variables)
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=variables,
            stdin=subprocess.DEVNULL,
            timeout=ANSWER_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(f"{words[0]} had no answer in {ANSWER_S:g} s") from error
    if done.returncode == 0:
        return done.stdout + (done.stderr if also_errors else "")
    refuse((done.stderr or done.stdout).strip(), away)


def refuse(said: str, away: re.Pattern[str]) -> NoReturn:
    """RefusedError with a command's words, or NoAnswerError where they say that nobody answered."""
    if away.search(said):
        raise NoAnswerError(said)
    raise RefusedError(said)


def require(command: str, variables: Mapping[str, str]) -> None:
    """UserError where there is no such command."""
    if shutil.which(command, path=variables.get("PATH")) is None:
        mend = "run haloscope where jobs are submitted, as on a login node"
        raise UserError(Problem(command, "there is no such command here", mend))
