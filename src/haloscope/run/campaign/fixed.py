# SPDX-License-Identifier: BSD-3-Clause
"""What a plan fixes for all its records (libraries, programs, machine), and changes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from haloscope.study.plan import SavedPlan
from haloscope.toolchains.build import Build

_OF_A_LIBRARY = {
    "version": "MPI library changed",
    "compiler": "compiler changed",
    "flags": "compiler flags changed",
}
_OF_A_PROGRAM = {
    "hash": "program.toml changed",
    "version": "program version changed",
    "executable": "program executable changed",
}
_OF_A_MACHINE = {
    "cluster": "cluster file of the node model changed:",
    "platform": "cluster file changed:",
}


def libraries(built: Mapping[str, Build]) -> dict[str, dict[str, str]]:
    """Return each MPI library's version, compiler, and flags, as in a plan."""
    return {
        name: {"version": each.toolchain.version, "compiler": each.compiler, "flags": each.flags}
        for name, each in built.items()
    }


def changes(
    plan: SavedPlan,
    built: Mapping[str, Build],
    machine: Mapping[str, Any],
    programs: Mapping[str, Mapping[str, str]],
) -> Iterator[str]:
    """Yield the differences between a plan and what would be measured with now.

    machine: identity of the place. programs: as in a plan.
    """
    for name, each in built.items():
        if each.source != plan.sources[name]:
            yield f"halobench changed: {plan.sources[name]} -> {each.source}"
    for name, facts in libraries(built).items():
        for key, word in _OF_A_LIBRARY.items():
            if (before := plan.libraries.get(name, {}).get(key)) != facts[key]:
                yield f"{word}: {name}: {before} -> {facts[key]}"
    yield from _of_programs(plan, programs)
    for key, value in machine.items():
        if (before := plan.machine.get(key)) != value:
            yield f"{_OF_A_MACHINE.get(key, f'machine changed: {key}')} {before} -> {value}"


def _of_programs(plan: SavedPlan, programs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield changes of programs; a login node may not find an executable that the nodes have."""
    for name, now in programs.items():
        before = plan.programs.get(name, {})
        for key, word in _OF_A_PROGRAM.items():
            if key in before and key in now and before[key] != now[key]:
                yield f"{word}: {name}: {before[key]} -> {now[key]}"


def renewed(
    plan: SavedPlan,
    built: Mapping[str, Build],
    machine: Mapping[str, Any],
    programs: Mapping[str, Mapping[str, str]],
    accepted: Sequence[str],
) -> SavedPlan:
    """Return the plan with the current state and with every accepted change."""
    return replace(
        plan,
        sources={**plan.sources, **{name: each.source for name, each in built.items()}},
        libraries={**plan.libraries, **libraries(built)},
        machine={**plan.machine, **machine},
        programs={**plan.programs, **programs},
        changes=(*plan.changes, *accepted),
    )
