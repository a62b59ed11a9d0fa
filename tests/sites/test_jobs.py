# SPDX-License-Identifier: BSD-3-Clause
"""Whether a job still has its nodes, by what Slurm says of it."""

from __future__ import annotations

import pytest

from haloscope.errors import Problem, UserError
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.slurm import Slurm

ANSWERS = {
    "away": NoAnswerError("Socket timed out"),
    "no": RefusedError("Invalid job id specified"),
    "none": UserError(Problem("scontrol", "command not found", "")),
}


class Says(Slurm):
    """A Slurm with one answer about a job."""

    def output(self, *words: str, **_: object) -> str:
        assert words == ("scontrol", "--oneliner", "show", "job", "7")
        if "=" not in self.environment["says"]:
            raise ANSWERS[self.environment["says"]]
        return f"JobId=7 JobName=x {self.environment['says']} NodeList=n1\n"


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ("JobState=RUNNING Reason=None Restarts=1", True),
        ("JobState=SUSPENDED Reason=None Restarts=1", True),
        ("JobState=RUNNING Reason=None Restarts=2", False),  # begun anew, elsewhere
        ("JobState=PENDING Reason=BeginTime Restarts=2", False),
        ("JobState=COMPLETING Reason=NodeDown Restarts=1", False),
        ("JobState=TIMEOUT Reason=TimeLimit Restarts=1", False),
        ("no", False),
        ("none", True),
        ("away", True),  # a controller that is restarted ends no job
    ],
)
def test_an_active_job_has_its_nodes(said: str, has: bool) -> None:
    assert Batch(Says({"says": said})).has_its_nodes("7", 1) is has
