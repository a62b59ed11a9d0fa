"""Slurm's commands: asked, and their answers as data."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haloscope.errors import Problem, UserError

_OURS_TO_SAY = re.compile(r"(SBATCH|SALLOC|SLURM|SQUEUE|SINFO|SCONTROL)_(?!CONF$)")
"""_OURS_TO_SAY are the variables by which a user's shell, or a job that we are in, would change
what these commands do."""
ANSWER_S = 60.0
"""ANSWER_S is how long a command may take: a controller that is busy answers within half of it."""


class NoAnswerError(Exception):
    """The controller did not answer: whether it did what was asked is not known."""


class RefusedError(Exception):
    """A command said no; its words."""


@dataclass(frozen=True)
class Slurm:
    """The Slurm of a site. environment: what its commands need besides this process's own."""

    environment: Mapping[str, str]

    def told(self, *words: str, also_errors: bool = False) -> str:
        """What a command printed. also_errors: with what it wrote to standard error.

        RefusedError with its words where it fails, NoAnswerError where the controller is away,
        UserError where there is no such command.
        """
        kept = {key: value for key, value in os.environ.items() if not _OURS_TO_SAY.match(key)}
        env = {**kept, **self.environment}
        if shutil.which(words[0], path=env.get("PATH")) is None:
            mend = "run haloscope where jobs are submitted, as on a login node"
            raise UserError(Problem(words[0], "there is no such command here", mend))
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=env,
                stdin=subprocess.DEVNULL,
                timeout=ANSWER_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NoAnswerError(f"{words[0]} had no answer in {ANSWER_S:g} s") from error
        if done.returncode == 0:
            return done.stdout + (done.stderr if also_errors else "")
        said = (done.stderr or done.stdout).strip()
        if _AWAY.search(said):
            raise NoAnswerError(said)
        raise RefusedError(said)


_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused|"
    r"Zero Bytes were transmitted|Transport endpoint|Message send failure|Communication connection"
)
"""_AWAY is how Slurm's commands say that the controller did not answer."""


def never_began(said: str) -> bool:
    """Whether srun or a launcher that calls it failed before any rank began, by what it printed.

    That is the batch system's doing, not the program's: a controller that is away, or busy.
    """
    lines = [line for line in said.splitlines() if line.startswith("srun: error:")]
    return any(_NO_STEP.search(line) or _AWAY.search(line) for line in lines)


_NO_STEP = re.compile(r"Unable to create step for job|Unable to confirm allocation for job")


def told_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables of a user's shell that would have changed what sbatch does."""
    return sorted(name for name in environment if name.startswith("SBATCH_"))


def settings(text: str) -> list[dict[str, str]]:
    """What `scontrol --oneliner show` printed: for each line, its Key=Value words."""
    found = []
    for line in text.splitlines():
        pairs = re.findall(r"(?:^|\s)([A-Za-z][\w:/-]*)=(.*?)(?=\s+[A-Za-z][\w:/-]*=|$)", line)
        if pairs:
            found.append(dict(pairs))
    return found


def minutes(text: str) -> int | None:
    """A time of Slurm, as 1-02:30:00, in whole minutes; None where it is infinite or not said."""
    if text.strip().lower() in ("infinite", "unlimited", "n/a", "none", "", "partition_limit"):
        return None
    days, _, clock = text.strip().rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if days:  # days-hours[:minutes[:seconds]]
        hours, mins, _ = (*parts, 0, 0)[:3]
        return int(days) * 24 * 60 + hours * 60 + mins
    if len(parts) == 3:
        return parts[0] * 60 + parts[1]
    return parts[0]  # minutes[:seconds]


def mpi_kinds(text: str) -> list[str]:
    """The kinds of `srun --mpi=list`."""
    return [line.strip() for line in text.splitlines() if line[:1].isspace() and line.strip()]


def whole(text: str) -> int:
    """A number of sinfo, whose "+" says that some nodes have more."""
    return int(text.rstrip("+"))


def rows(text: str, fields: int) -> list[Sequence[str]]:
    """What sinfo and squeue printed with a format of so many fields between "|".

    A line with another number of them is none of the answer: a warning, or a name with a "|".
    """
    split = (line.strip().split("|") for line in text.splitlines())
    return [row for row in split if len(row) == fields]
