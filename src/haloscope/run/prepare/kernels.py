# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that a study can name: those of halobench, and trusted external programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haloscope.errors import UserError
from haloscope.programs import trust
from haloscope.run.prepare import halobench
from haloscope.run.prepare.halobench import Kernel, KernelParameter, KernelResult
from haloscope.study.plan import no_kernel
from haloscope.toolchains.library import Toolchain

if TYPE_CHECKING:
    from haloscope.programs.file import ExternalProgram


def kernel_of(name: str, programs: Mapping[str, ExternalProgram]) -> Kernel:
    """Return a kernel's description: of an external program, or as halobench declares it."""
    return described(programs[name]) if name in programs else halobench.describe(name)


def names(named: Sequence[Path]) -> list[str]:
    """Return the names of all kernels: halobench's, and those of programs that may be run."""
    ours = halobench.names()
    return [*ours, *trust.trusted(named, ours)]


def load(requested: Iterable[str], named: Sequence[Path]) -> dict[str, ExternalProgram]:
    """Return the requested kernels that are external programs, by name. Raise UserError
    if damaged.
    """
    there = trust.trusted(named, halobench.names())
    every = dict.fromkeys([*requested, *(name for name, one in there.items() if one.named)])
    if not (found := [name for name in every if name in there]):
        return {}
    from haloscope.programs import file  # with pydantic's models of its keys

    return {name: file.load(there[name]) for name in found}


def described(program: ExternalProgram) -> Kernel:
    """Return the description of an external program in the form of halobench's kernels."""
    parameters = tuple(
        KernelParameter(
            name=name,
            type=one.type,
            default=one.default,
            minimum=one.minimum,
            maximum=one.maximum,
            choices=tuple(one.choices),
            unit=one.unit,
            help=one.help,
        )
        for name, one in program.said.parameters.items()
    )
    results = tuple(
        KernelResult(name, one.type, one.unit, one.absent, one.help)
        for name, one in program.said.results.items()
    )
    said = program.said
    return Kernel(program.name, said.summary, said.paper, parameters, results, ())


def require(where: str, kernel: str, named: Sequence[Path] = ()) -> None:
    """Raise UserError, with the nearest name, for an unknown kernel. named: as in `names`."""
    if kernel not in (known := names(named)):
        raise UserError(no_kernel(where, kernel, known))


def fixed(
    programs: Mapping[str, ExternalProgram], toolchains: Mapping[str, Toolchain]
) -> dict[str, dict[str, str]]:
    """Return the facts about each program in a plan: hash of its file, executable, and version.

    The version is the one reported with the first MPI library with which it runs.
    """
    from haloscope.programs import needs

    facts: dict[str, dict[str, str]] = {}
    for name, program in programs.items():
        found: dict[str, Any] = {"hash": program.hash, "file": str(program.trusted.file)}
        ready = [needs.ready(program, one) for one in toolchains.values()]
        for one in (each for each in ready if each.lacking is None):
            found |= {"executable": needs.hash_of(one.executable)} if one.executable else {}
            found |= {"version": one.version} if one.version else {}
            break
        facts[name] = found
    return facts
