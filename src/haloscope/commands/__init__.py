# SPDX-License-Identifier: BSD-3-Clause
"""The subcommands, one module each, by what they are for; they share the modules beside the rooms.

A command has `set_up(parser)`, which describes it and adds its arguments, and `execute(arguments)`,
which returns the exit code. Its line in `haloscope --help` is in `COMMANDS`.
"""

from __future__ import annotations

COMMANDS = {
    "run": "run all cases of a study and write a report",
    "once": "run one case and print its result",
    "advise": "find the best layout of nodes, ranks, and threads for a kernel",
    "status": "show the batch jobs of a result folder",
    "collect": "write a report on the launches that batch jobs have completed",
    "cancel": "cancel the batch jobs of a result folder",
    "drive": "run launches inside a batch job (called by job scripts)",
    "watch": "show the progress of a measurement",
    "report": "write the report of a result folder",
    "show": "print the tables of a result folder",
    "compare": "compare two result folders case by case",
    "history": "show how times changed across all result folders",
    "export": "write the records of a result folder as CSV, JSON, or Parquet",
    "import": "import the output of OSU, IMB, HPCG, or ReFrame as a result folder",
    "list": "list studies, kernels, papers, clusters, and toolchains",
    "describe": "describe the parameters and results of a kernel",
    "profile": "count messages and bytes between ranks of any MPI program",
    "calibrate": "measure this machine and write a cluster file for it",
    "doctor": "check this machine for sources of noise and suggest fixes",
    "toolchain": "list, add, and remove MPI libraries, and build kernels with them",
    "paper": "show published tables, and check a paper's statements against them",
    "validate": "simulate published results and report how far the simulation is off",
    "cluster": "list and show cluster files",
    "site": "write, show, and check the file that describes a batch system",
    "schema": "print the JSON Schema of a file format",
    "completion": "print a completion script for bash, zsh, or fish",
    "lab": "start a test cluster with Slurm on this machine",
}
"""COMMANDS has the help of each command."""
ROOMS = {
    "measuring": "run once status collect cancel drive watch",
    "folders": "report show compare history export import",
    "predictions": "advise paper validate",
    "machines": "calibrate doctor toolchain cluster site lab profile",
    "reference": "list describe schema completion",
}
"""ROOMS has the commands of each room of `commands`, whose modules are imported on demand."""


def module_of(command: str) -> str:
    """Return the full name of a command's module."""
    room = next(room for room, names in ROOMS.items() if command in names.split())
    return f"haloscope.commands.{room}.{command}"
