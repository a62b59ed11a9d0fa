# SPDX-License-Identifier: BSD-3-Clause
"""haloscope describe: describe the parameters and results of a kernel."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from haloscope.commands import options
from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.programs.file import ExternalProgram
from haloscope.records.kernels import declared
from haloscope.run.prepare import halobench, kernels
from haloscope.run.prepare.halobench import Kernel, KernelParameter, KernelResult

_DESCRIPTION = """\
Describe a kernel: its parameters with their defaults, allowed values, units, and meanings, and the
results that it reports besides times. To set parameters, write params = { key = value } in a study,
or KEY=VALUE after haloscope once KERNEL. The parameters listed last control the measurement and are
common to all kernels.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `describe`, and add its arguments."""
    parser.description = _DESCRIPTION
    parser.add_argument("kernel", metavar="KERNEL", help="name of a kernel (see haloscope list)")
    options.add_programs_to(parser)
    flag(parser, "--json", "print JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Print the description; return the exit code."""
    named = arguments.kernel
    kernels.require(f"describe {named}", named, arguments.programs)
    program = kernels.load([named], arguments.programs).get(named)
    kernel = halobench.describe(named) if program is None else kernels.described(program)
    if arguments.json:
        print(json.dumps(asdict(kernel), indent=1))
    else:
        _show(kernel, out := Screen())
        if program is not None:
            _show_program(program, out)
    return 0


def _show_program(program: ExternalProgram, out: Screen) -> None:
    said = program.said
    out.print(Text("\nexternal program", style="bold"))
    table = Table.grid(padding=(0, 2), pad_edge=True)
    checks = str(len(said.verify)) if said.verify else "none: results are not verified"
    ranks = "checked" if said.output.ranks else "not checked (output.ranks is not set)"
    for title, text in (
        ("file", str(program.trusted.file)),
        ("command", " ".join(said.command)),
        ("checks of results", checks),
        ("number of ranks", ranks),
        ("phases", ", ".join(said.phases.names) if said.phases else "none"),
    ):
        table.add_row(title, text)
    for name, need in said.needs.items():
        table.add_row(f"{{{name}}}", f"{need.kind}: {need.get}")
    out.print(table)


def _show(kernel: Kernel, out: Screen) -> None:
    out.print(Text(kernel.name, style="bold"), Text(kernel.summary))
    if kernel.paper:
        out.print(Text(f"source: {kernel.paper}"))
    for title, parameters in grouped(kernel.parameters).items():
        if parameters:
            out.print(Text(f"\n{title}", style="bold"))
            out.print(_listed(parameters))
    for title, results in (("results", kernel.results), ("results per size", kernel.point_results)):
        if results:
            out.print(Text(f"\n{title}", style="bold"))
            out.print(_found(results))


_DEVICES = ("memory", "mpi", "device_lag", "gpus_shared", "sync")


def grouped(parameters: Sequence[KernelParameter]) -> dict[str, list[KernelParameter]]:
    """Return a kernel's own parameters, those for devices, and those common to all kernels."""
    common = set.intersection(
        *({one["name"] for one in kernel["parameters"]} for kernel in declared().values())
    )
    groups: dict[str, list[KernelParameter]] = {
        "parameters": [],
        "parameters for devices": [],
        "parameters for the measurement (common to all kernels)": [],
    }
    own, devices, measurement = groups.values()
    for one in parameters:
        group = measurement if one.name in common else devices if one.name in _DEVICES else own
        group.append(one)
    return groups


def _listed(parameters: Sequence[KernelParameter]) -> Table:
    table = Table.grid(padding=(0, 2), pad_edge=True)
    for one in parameters:
        may_be = " ".join(part for part in (allowed(one), one.unit and f"({one.unit})") if part)
        name = Text.assemble((one.name, "bold"), f" = {one.default}")
        table.add_row(name, Text.assemble(one.help, (may_be and f"\n{may_be}", "dim")))
    return table


def _found(results: Sequence[KernelResult]) -> Table:
    table = Table.grid(padding=(0, 2), pad_edge=True)
    for one in results:
        unit = f" ({one.unit})" if one.unit else ""
        meaning = Text.assemble(one.help, (f"\n{one.absent}" if one.absent else "", "dim"))
        table.add_row(Text.assemble((one.name, "bold"), unit), meaning)
    return table


def allowed(parameter: KernelParameter) -> str:
    """Return the allowed values of a parameter: integer from 1 to 65; one | other; "" for text."""
    if parameter.choices:
        return " | ".join(parameter.choices)
    kinds = {
        "integer": "integer",
        "real": "number",
        "sizes": "sizes such as 8,64,1K or 8:4M, each",
        "text": "",  # described in its help
        "file": "",
    }
    limits = (("from", parameter.minimum), ("to", parameter.maximum))
    words = [f"{word} {_limit(value)}" for word, value in limits if value is not None]
    return " ".join([kinds[parameter.type], *words]).strip()


def _limit(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:g}"
