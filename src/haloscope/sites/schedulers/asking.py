# SPDX-License-Identifier: BSD-3-Clause
"""Run a command of a batch system: return its output, or raise that it refused or is away."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import NoReturn

from haloscope.errors import Problem, UserError
from haloscope.host.supervise import reason

ANSWER_S = 60.0
"""ANSWER_S is the time limit of a command: a busy controller answers within half of it."""


class NoAnswerError(Exception):
    """The batch system did not answer; whether it executed the request is unknown."""


class RefusedError(Exception):
    """A command failed; the text is its output."""


def output_of(
    words: Sequence[str],
    variables: Mapping[str, str],
    away: re.Pattern[str],
    *,
    also_errors: bool = False,
    given: str = "",
) -> str:
    """Return the output of a command. also_errors: with its standard error. given: its input.

    variables: its whole environment. away: matches messages that the batch system does not answer.
    Raise RefusedError with its output if it fails, NoAnswerError if the batch system does not
    answer, and UserError if there is no such command.
    """
    found = require(words[0], variables)
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=variables,
            input=given,
            timeout=ANSWER_S,
            check=False,
        )
    except OSError as error:
        raise RefusedError(f"{words[0]} {reason(found, error)}") from error
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(f"{words[0]} did not answer within {ANSWER_S:g} s") from error
    if done.returncode == 0:
        return done.stdout + (done.stderr if also_errors else "")
    refuse((done.stderr or done.stdout).strip(), away)


def refuse(said: str, away: re.Pattern[str]) -> NoReturn:
    """Raise RefusedError with a command's output, or NoAnswerError if nobody answered."""
    if away.search(said):
        raise NoAnswerError(said)
    raise RefusedError(said)


def require(command: str, variables: Mapping[str, str]) -> str:
    """Return the path of a command. Raise UserError if there is no such command."""
    found = shutil.which(command, path=variables.get("PATH"))
    if found is None:
        remedy = "run haloscope on a node where jobs can be submitted, such as a login node"
        raise UserError(Problem(command, "command not found", remedy))
    return found
