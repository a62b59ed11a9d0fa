# SPDX-License-Identifier: BSD-3-Clause
"""Run by the Python that has PSI/J: submits one job script or cancels one job, and prints JSON.

usage: psij_helper.py submit|cancel pbs|lsf SCRIPT|JOB

It prints {"job": ID}, {"cancelled": ID} or {"refused": WORDS}. The script is ours, as it is: that
of PSI/J names no job, asks every LSF for -nnodes, which few have, and quotes some values twice.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from psij import Job, JobAttributes, JobSpec, SubmitException
from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutor
from psij.executors.batch.lsf import LsfExecutorConfig, LsfJobExecutor
from psij.executors.batch.pbs import PBSExecutorConfig, PBSJobExecutor


class GivenToPbs(PBSJobExecutor):
    """PBS Pro and OpenPBS, given the script that is there."""

    _NAME_ = "pbs"

    def generate_submit_script(
        self, job: Job, context: dict[str, object], submit_file: IO[str]
    ) -> None:
        """The script that the job's first argument names."""
        submit_file.write(Path(job.spec.arguments[0]).read_text(encoding="utf-8"))


class GivenToLsf(LsfJobExecutor):
    """LSF, given the script that is there, on standard input: bsub reads its #BSUB lines there
    whatever LSB_BSUB_PARSE_SCRIPT says."""

    _NAME_ = "lsf"

    def generate_submit_script(
        self, job: Job, context: dict[str, object], submit_file: IO[str]
    ) -> None:
        """The script that the job's first argument names."""
        submit_file.write(Path(job.spec.arguments[0]).read_text(encoding="utf-8"))

    def get_submit_command(self, job: Job, submit_file_path: Path) -> list[str]:
        """A command line that has bsub read it."""
        return ["sh", "-c", 'exec bsub <"$1"', "bsub", str(submit_file_path)]


def executor(scheduler: str, folder: Path) -> BatchSchedulerExecutor:
    """What submits and cancels. folder: where it writes meanwhile."""
    if scheduler == "pbs":
        return GivenToPbs(config=PBSExecutorConfig(work_directory=folder))
    return GivenToLsf(url=None, config=LsfExecutorConfig(work_directory=folder))


def submitted(executor: BatchSchedulerExecutor, script: str) -> dict[str, str]:
    """The id of a job that is submitted now. SubmitException where it is refused."""
    spec = JobSpec("/bin/bash", [script], launcher="single", attributes=JobAttributes())
    job = Job(spec)
    executor.submit(job)
    return {"job": job.native_id}


def cancelled(executor: BatchSchedulerExecutor, job: str) -> dict[str, str]:
    """A job is cancelled. SubmitException where it can't be."""
    attached = Job(JobSpec("/bin/bash", launcher="single"))
    executor.attach(attached, job)
    executor.cancel(attached)
    return {"cancelled": job}


def main(action: str, scheduler: str, what: str) -> None:
    """Do what was asked, and print what came of it."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked = executor(scheduler, Path(folder))
        try:
            said = submitted(asked, what) if action == "submit" else cancelled(asked, what)
        except SubmitException as error:
            said = {"refused": str(error)}
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
