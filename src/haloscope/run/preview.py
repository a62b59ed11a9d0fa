# SPDX-License-Identifier: BSD-3-Clause
"""What a study can be planned with as things are: nothing is fetched and nothing is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from haloscope.errors import UserError
from haloscope.run import workbench
from haloscope.run.place import Place, Wanted
from haloscope.run.runners.local import Built
from haloscope.run.workbench import Workbench
from haloscope.toolchains import build, library
from haloscope.toolchains.library import Toolchain

Prepare = Callable[[Place, Wanted], Workbench]
"""How a place's workbench is come by."""


class UnplannedError(Exception):
    """There is no halobench yet to plan with."""


@dataclass(frozen=True)
class Preview:
    """Prepares a workbench of what is there; `lines` are what would be fetched and built first."""

    lines: list[str] = field(default_factory=list)

    def __call__(self, place: Place, wanted: Wanted) -> Workbench:
        """The workbench. UnplannedError where no halobench is there that could plan."""
        bench, lines = place.preview(wanted)
        self.lines.extend(lines)
        if bench is None:
            raise UnplannedError
        return bench


def complete(wanted: Wanted) -> bool:
    """Whether every toolchain that is wanted is there, and halobench built with each."""
    usual = [one.name for one in library.available()][:1]
    named = {name for names in wanted.values() for name in names or usual}
    there = _there(named)
    needed = {*filter(library.is_known, named)} or usual  # one to plan with, if nothing else
    return bool(there) and all(name in there and build.built(there[name]) for name in needed)


def of_libraries(wanted: Wanted) -> tuple[Workbench | None, tuple[str, ...]]:
    """A workbench of the MPI libraries that are there, and what the others still take."""
    usual = next((one.name for one in library.available()), library.DEFAULT)
    names = [name for asked in wanted.values() for name in asked or [usual]]
    named = [name for name in dict.fromkeys(names) if library.is_known(name)]
    there = _there(named)
    fetched = [
        name for name in named if name not in there and library.parted(name)[0] in library.PYPI
    ]
    programs = {name: build.built(there[name]) for name in named if name in there}
    lines = [*map(_to_fetch, fetched)]
    lines += [_to_build(there[name]) for name, program in programs.items() if program is None]
    every = [*programs.values(), *map(build.built, there.values())]
    planner = next((program for program in every if program is not None), None)
    if planner is None:
        return None, tuple(lines)
    own = programs or {usual: planner}
    built = {
        name: Built(
            there[name],
            program or planner,
            build.source_hash(),
            build.wrapped_compiler(there[name]),
            build.flags(),
        )
        for name, program in own.items()
    }
    missing = dict(_missing([one for one in named if one not in (*there, *fetched)]))
    bench = Workbench(
        built,
        (usual,) if None in wanted.values() else (),
        tuple(workbench.unknown_toolchains(wanted)),
        missing,
        tuple(fetched),
    )
    return bench, tuple(lines)


def _there(named: Iterable[str]) -> dict[str, Toolchain]:
    """The MPI libraries that are there, by name, and so for the devices among those named."""
    there = {one.name: one for one in library.available()}
    for name in named:
        base, device = library.parted(name)
        if device is not None and base in there:
            there[name] = replace(there[base], name=name, device=device)
    return there


def of_one(toolchain: Toolchain) -> tuple[Workbench | None, tuple[str, ...]]:
    """A workbench of one library, which is there."""
    program = build.built(toolchain)
    if program is None:
        return None, (_to_build(toolchain),)
    compiler = build.wrapped_compiler(toolchain)
    built = Built(toolchain, program, build.source_hash(), compiler, build.flags())
    return Workbench({toolchain.name: built}, (toolchain.name,), ()), ()


def _to_fetch(name: str) -> str:
    prefix = library.prefix_of(library.parted(name)[0])
    return (
        f"first: {name} from PyPI, into {prefix}, and halobench built with it; "
        "which transports it has, and so the number of its cases, is known when it is there"
    )


def _to_build(toolchain: Toolchain) -> str:
    return f"first: halobench built for {toolchain.name}: {toolchain.version}"


def _missing(names: list[str]) -> Iterator[tuple[str, str]]:
    """Why libraries that no one can fetch are not there."""
    for name in names:
        try:
            library.find(name)
        except UserError as error:
            yield name, error.problems[0].what
