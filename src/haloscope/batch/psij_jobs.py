# SPDX-License-Identifier: BSD-3-Clause
"""Jobs submitted and cancelled by PSI/J, which lies in an environment of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from haloscope.batch import asking
from haloscope.batch.asking import NoAnswerError
from haloscope.toolchains import extras, psij
from haloscope.verbosity import note

_NEVER = re.compile(r"(?!)")
"""_NEVER is in no text: what PSI/J's process itself says is no word of a batch system."""


def submitted(
    scheduler: str, script: str, variables: Mapping[str, str], away: re.Pattern[str]
) -> str:
    """The id of a job that is submitted now. away: how words say that nobody answered.

    RefusedError where it is refused, NoAnswerError where it is not known whether it was taken.
    """
    said = _said("submit", scheduler, script, variables, away)
    if isinstance(job := said.get("job"), str) and job:
        return job
    raise NoAnswerError(f"PSI/J returned no job id, but {said!r}")


def cancel(scheduler: str, job: str, variables: Mapping[str, str], away: re.Pattern[str]) -> None:
    """Cancel a job. RefusedError where it can't be, as one that has ended."""
    _said("cancel", scheduler, job, variables, away)


def _said(
    action: str, scheduler: str, what: str, variables: Mapping[str, str], away: re.Pattern[str]
) -> dict[str, object]:
    """What PSI/J says. It is added first where it is not there; UserError where it can't be."""
    python = extras.install(psij.NAME, say=note)
    helper = str(files("haloscope.batch") / "psij_helper.py")
    printed = asking.output_of(
        [str(python), "-I", helper, action, scheduler, what], variables, _NEVER
    )
    try:
        said: dict[str, object] = dict(json.loads(printed.splitlines()[-1]))
    except (TypeError, ValueError, IndexError) as error:
        raise NoAnswerError(f"PSI/J printed {printed[-200:]!r}") from error
    if "refused" in said:
        asking.refuse(str(said["refused"]).strip(), away)
    return said
