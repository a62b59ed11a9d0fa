# SPDX-License-Identifier: BSD-3-Clause
"""haloscope calibrate: measure this machine and write a cluster file for it."""

from __future__ import annotations

import argparse
import platform
import re
from dataclasses import replace
from pathlib import Path

from haloscope.analysis.dossier import open_folder
from haloscope.clusters import file as cluster_file
from haloscope.commands.options import number
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, printable
from haloscope.predict.calibration import SOURCE, calibrate, summary
from haloscope.report import writing
from haloscope.run.campaign import campaign
from haloscope.run.campaign.request import Request, start
from haloscope.run.progress import Teller

_DESCRIPTION = """\
Run the study `calibrate` on this machine, fit models to its results, and write clusters/NAME.toml.
The study measures the speed of arithmetic, the bandwidth of memory and caches, the latency and
bandwidth of messages, and the overheads of MPI and OpenMP. The file contains an interval and a
source for every number. The expected duration is printed at the start if the study has run on this
machine before, and otherwise after one launch of each case. If other processes disturbed the
measurement, the file is marked as disturbed, and haloscope validate rejects it.

With this file, 'haloscope run STUDY --on NAME' simulates this machine, and records of real runs
include the expected time of each phase.
"""
_EPILOG = """\
examples:
  haloscope calibrate                             measure and write clusters/HOST.toml
  haloscope calibrate --name laptop
  haloscope calibrate --from results/calibrate-20261121-010203     fit again without measuring

exit codes: 0 success; 1 a case failed; 2 usage error; 130 interrupted
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `calibrate`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("--name", metavar="NAME", help="name of the cluster file (default: the host name)")
    add(
        "--from",
        metavar="DIR",
        dest="folder",
        help="fit the models to the records of an earlier calibration, without measuring again",
    )
    number(parser, "--launches", "number of launches per case (default: the number in the study)")


def execute(arguments: argparse.Namespace) -> int:
    """Measure unless records are given, fit, and write; return the exit code."""
    name = arguments.name or platform.node() or "machine"
    path = _file_to_write(name)
    folder, code = Path(arguments.folder or ""), 0
    if arguments.folder is None:
        folder, code = _measure(arguments.launches)
    dossier = open_folder(folder)
    when = max(record.ended or "" for record in dossier.records)[:10]
    found = calibrate(name, dossier.cases, dossier.machine or {}, when)
    try:
        cluster_file.write(found, path)
    except UserError as error:  # noise has led to impossible values
        remedy = f"the measurement in {folder} was disturbed; repeat it on an idle machine"
        raise UserError([replace(problem, remedy=remedy) for problem in error.problems]) from error
    for line in summary(found):
        print(line)
    print(printable(f"cluster file: {path}"))
    return code


def _file_to_write(name: str) -> Path:
    if not re.fullmatch(r"\w[\w.-]*", name):
        remedy = "only letters, digits, dots, dashes, and underscores"
        raise UserError(
            Problem(f"--name {name}", "not a valid name of a cluster file", f"use {remedy}")
        )
    known = cluster_file.ready().get(name)
    if known and not cluster_file.load(known).source.startswith(SOURCE):
        what = f"{known} was not written by a calibration and would be overwritten"
        raise UserError(Problem(f"--name {name}", what, "choose another name"))
    return Path("clusters") / f"{name}.toml"


def _measure(launches: int | None) -> tuple[Path, int]:
    tell = Teller(Screen(stderr=True))
    started = start(Request("calibrate", launches=launches), tell).probed()
    tell.say(f"expected time: {started.expected()}")
    campaign.measure(started, tell)
    out = Screen()
    writing.conclude(started.folder.path, out)
    return started.folder.path, started.print_failures(out)
