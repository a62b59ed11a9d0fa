# SPDX-License-Identifier: BSD-3-Clause
"""haloscope drive: run launches inside a batch job, on its nodes."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.commands import options
from haloscope.commands.options import flag, number
from haloscope.commands.screen import Screen
from haloscope.errors import outside, reject
from haloscope.run.jobs import driving
from haloscope.run.progress import Teller
from haloscope.sites.schema import COUNT_LIMIT
from haloscope.sites.script import MOST_MINUTES

_DESCRIPTION = """\
Run the remaining launches of DIR inside a batch job, in random order, until none is left or the job
reaches its time limit. Job scripts written by haloscope call this command. Each record is written
before the next launch starts.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `drive`, and add its arguments."""
    parser.description = _DESCRIPTION
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")
    what = parser.add_mutually_exclusive_group(required=True)
    number(what, "--nodes", "run only the cases that use N nodes")
    flag(what, "--check", "only check that the nodes can run the cases")
    options.add_programs_to(parser)
    number(parser, "--minutes", "time limit of the job, in minutes", default=60)


def execute(arguments: argparse.Namespace) -> int:
    """Drive the job; return 0. Raise UserError for invalid numbers."""
    reject(
        outside("--nodes", arguments.nodes, COUNT_LIMIT),
        outside("--minutes", arguments.minutes, MOST_MINUTES),
    )
    tell = Teller(Screen())
    if arguments.check:
        driving.check(arguments.directory, tell, arguments.programs)
    else:
        job = (arguments.directory, arguments.nodes, arguments.minutes)
        driving.drive(*job, tell, arguments.programs)
    return 0
