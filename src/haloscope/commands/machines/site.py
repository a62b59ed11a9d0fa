# SPDX-License-Identifier: BSD-3-Clause
"""haloscope site: write, show, and check the description of a batch system."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from rich.table import Table

from haloscope.clusters import file as cluster_file
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.quantities import count
from haloscope.run.places.here import LOCAL
from haloscope.sites import detect
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import schedulers
from haloscope.sites.schema import BatchSite

_DESCRIPTION = """\
A site is a cluster with a batch system. The file sites/NAME.toml sets the partition, account, and
launcher, and lists the limits of the partitions. `detect` queries Slurm and writes this file. For
PBS, LSF, and Flux, write it by hand (see docs/sites.md). `check` compares a site file with the
batch system. The test cluster that `haloscope lab` starts is the site `lab`.
"""
_EPILOG = """\
examples:
  haloscope site detect                  write sites/NAME.toml
  haloscope site check lab
  haloscope run quick --on lab
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `site`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="detect|show|check", required=True)
    write = actions.add_parser("detect", help="query Slurm and write a site file")
    write.add_argument(
        "--name", metavar="NAME", help="name of the site (default: Slurm's cluster name)"
    )
    for action, text in (
        ("show", "show a site file"),
        ("check", "compare a site file with its batch system"),
    ):
        one = actions.add_parser(action, help=text)
        one.add_argument("name", metavar="NAME", help="name of a site, or a TOML file")


def execute(arguments: argparse.Namespace) -> int:
    """Execute the action; return 1 if a file and its batch system disagree, else 0."""
    out = Screen()
    if arguments.action == "detect":
        return _detect(arguments.name, out)
    path = site_file.found(arguments.name)
    site = site_file.load(path)
    if arguments.action == "show":
        _show(site, path, out)
        return 0
    problems = [*detect.disagreements(site)]
    out.lines(*problems)
    if not problems:
        out.lines(_agreed(site))
    return 1 if problems else 0


def _agreed(site: BatchSite) -> str:
    scheduler = schedulers.of(site)
    if scheduler.describes_nodes:
        return f"{site.name}: the file agrees with {scheduler.title}"
    rest = "nodes, cores, memory, and times were not checked"
    return f"{site.name}: {scheduler.title} has queue {site.partition}; {rest}"


def _detect(name: str | None, out: Screen) -> int:
    conf = os.environ.get("SLURM_CONF")
    site = detect.detected(name, {"SLURM_CONF": conf} if conf else {})
    if what := _unusable(site.name):
        raise UserError(
            Problem(f"site {site.name!r}", what, "choose another name with --name NAME")
        )
    path = site_file.OWN / f"{site.name}.toml"
    if path.exists():
        remedy = "move it, give another --name, or compare it: haloscope site check"
        raise UserError(Problem(str(path), "this file already exists", remedy))
    site_file.write(site, path)
    _show(site_file.load(path), path, out)
    out.lines(*detect.notes(site.environment))
    out.lines(f"written: {path}; add account, qos, and modules there if jobs need them")
    return 0


def _unusable(name: str) -> str | None:
    if not re.fullmatch(r"\w[\w.+-]*", name):
        return "a name may contain only letters, digits, '_', '.', '+', and '-'"
    if name == LOCAL or name in cluster_file.ready():
        return "this name is already used (haloscope list)"
    return None


def _show(site: BatchSite, path: Path, out: Screen) -> None:
    by = {"srun": f"srun --mpi={site.mpi}", "mpirun": "mpirun of the MPI library"}
    starts = by.get(site.launcher, site.launcher)
    out.lines(f"{site.name}: {site.scheduler}, launcher {starts}; {path}")
    columns = ("partition", "nodes", "nodes/job", "cores/node", "memory/node", "time limit")
    table = Table(*columns)
    for one in site.partitions:
        mark = " (used)" if one.name == site.partition else ""
        longest = "no limit" if one.max_minutes is None else count(one.max_minutes, "minute")
        threads = f" x {one.threads_per_core}" if one.threads_per_core > 1 else ""
        memory = f"{one.memory_mb:,} MiB"
        nodes = (str(one.nodes), f"at most {one.nodes_of_a_job}")
        table.add_row(one.name + mark, *nodes, f"{one.cores}{threads}", memory, longest)
    out.print(table)
    for key in (*schedulers.ASKABLE, "toolchain", "cluster", "scratch"):
        if (value := getattr(site, key)) is not None:
            out.lines(f"{key}: {value}")
    if site.modules:
        out.lines(f"modules: {' '.join(site.modules)}")
    if site.shared_cores:
        out.print(f"nodes share {count(site.shared_cores, 'core')} of one machine")
