# SPDX-License-Identifier: BSD-3-Clause
"""Batch job scripts, from a template that a site can replace."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.resources import files
from pathlib import Path

from haloscope import paths
from haloscope.errors import Problem, UserError
from haloscope.sites.schedulers.scheduler import JobAsked, Scheduler
from haloscope.sites.schema import BatchSite

MOST_MINUTES = 1_000_000
"""MOST_MINUTES is the longest job that can be requested: two years."""
_PASSED_ON = ("HALOSCOPE_CACHE", "HALOSCOPE_PROGRAMS", "PYTHONPATH", "SIMGRID_ROOT")
"""_PASSED_ON are variables that let a job find what the submitting shell found."""

TEMPLATE_LIMIT = 2**16
"""TEMPLATE_LIMIT is the maximum size of a template in bytes; typical scripts have some hundreds."""


def script(scheduler: Scheduler, site: BatchSite, job: JobAsked, folder: Path) -> str:
    """Return a job script. folder: where haloscope was called.

    command: the arguments of haloscope, which is called with this installation's Python. Raise
    UserError for an invalid template.
    """
    # imported here because only submissions need it
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    passed_on = (*_PASSED_ON, *job.variables)
    variables = {name: os.environ[name] for name in passed_on if name in os.environ}
    variables |= site.environment
    if site.scratch:
        variables["TMPDIR"] = site.scratch
    # -P: do not import from the current folder
    words = [sys.executable, "-P", "-m", "haloscope", *job.command]
    try:
        sandbox = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, keep_trailing_newline=True
        )
        return sandbox.from_string(_template(site)).render(
            directive=scheduler.directive,
            options=scheduler.options(site, job),
            log=None if scheduler.logs else shlex.quote(str(job.log)),
            modules=site.modules,
            variables={name: shlex.quote(value) for name, value in variables.items()},
            folder=shlex.quote(str(folder)),
            command=[shlex.quote(word) for word in words],
        )
    except Exception as error:  # a user's template may raise anything
        remedy = "correct the template, or remove the key to use the default template"
        raise UserError(Problem(f"site {site.name}: template", str(error), remedy)) from error


def _template(site: BatchSite) -> str:
    if site.template:
        with paths.opened(Path(site.template)) as file:
            return file.read(TEMPLATE_LIMIT).decode()
    return (files("haloscope.sites") / "job.sh.jinja").read_text(encoding="utf-8")
