"""The script of a batch job, from a template that a site may replace by its own."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from haloscope import paths
from haloscope.errors import Problem, UserError
from haloscope.sites.schema import BatchSite

WARNING_S = 120
"""WARNING_S is how long before its end a job is told of it, so that no launch begins in vain."""
MOST_MINUTES = 1_000_000
"""MOST_MINUTES is the longest job that can be asked for: two years."""
_PASSED_ON = ("HALOSCOPE_CACHE", "SIMGRID_ROOT")
"""_PASSED_ON are variables by which a job finds what the shell that submitted it found."""


@dataclass(frozen=True)
class JobAsked:
    """A job as it is asked for.

    name: the same for all jobs of a result folder, which run one after the other. comment: its own,
    by which it is found again. after: the id of a job that must have ended well before.
    """

    name: str
    comment: str
    nodes: int
    minutes: int
    log: Path
    command: Sequence[str]
    after: str | None = None


TEMPLATE_LIMIT = 2**16
"""TEMPLATE_LIMIT is how many bytes of a template are read: a job script has some hundreds."""


def asked_of_sbatch(site: BatchSite) -> list[str]:
    """The options of sbatch that a site file has."""
    keys = ("partition", "account", "qos", "constraint", "reservation")
    return [f"--{key}={value}" for key in keys if (value := getattr(site, key))]


def options(site: BatchSite, job: JobAsked) -> list[str]:
    """What sbatch is asked for, whatever the template."""
    warning = min(WARNING_S, 60 * job.minutes // 4)
    after = ["singleton", *([f"afterok:{job.after}"] if job.after else [])]
    return [
        f"--job-name={job.name}",
        f"--comment={job.comment}",
        f"--nodes={job.nodes}",
        f"--time={job.minutes}",
        "--exclusive",
        *asked_of_sbatch(site),
        f"--dependency={','.join(after)}",
        "--kill-on-invalid-dep=yes",
        "--requeue",
        "--open-mode=append",
        f"--output={job.log}",
        f"--signal=B:USR1@{warning}",
    ]


def script(site: BatchSite, job: JobAsked, folder: Path) -> str:
    """The job's script. folder: where haloscope was called. UserError for a template that is none.

    command is what haloscope is told; this very haloscope is called, by its own Python.
    """
    # of the commands that plan, none but those that submit need it
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    variables |= site.environment
    if site.scratch:
        variables["TMPDIR"] = site.scratch
    words = [sys.executable, "-m", "haloscope", *job.command]
    try:
        sandbox = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, keep_trailing_newline=True
        )
        return sandbox.from_string(_template(site)).render(
            options=options(site, job),
            modules=site.modules,
            variables={name: shlex.quote(value) for name, value in variables.items()},
            folder=shlex.quote(str(folder)),
            command=[shlex.quote(word) for word in words],
        )
    except Exception as error:  # whatever a template of somebody else does
        mend = "mend it, or leave it out: haloscope has one of its own"
        raise UserError(Problem(f"site {site.name}: template", str(error), mend)) from error


def _template(site: BatchSite) -> str:
    if site.template:
        with paths.opened(Path(site.template)) as file:
            return file.read(TEMPLATE_LIMIT).decode()
    return (files("haloscope.batch") / "job.sh.jinja").read_text(encoding="utf-8")
