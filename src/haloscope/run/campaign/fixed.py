# SPDX-License-Identifier: BSD-3-Clause
"""What a plan fixes for all its records (libraries, programs, machine), and changes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from haloscope.quantities import listed
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


@dataclass(frozen=True)
class PlanChanges:
    """The differences between a plan and what would be measured with now.

    differences: what has changed. unknown: what an older plan does not contain.
    """

    differences: tuple[str, ...]
    unknown: tuple[str, ...]


def libraries(built: Mapping[str, Build]) -> dict[str, dict[str, str]]:
    """Return each MPI library's version, compiler, and flags, as in a plan."""
    return {
        name: {"version": each.toolchain.version, "compiler": each.compiler, "flags": each.flags}
        for name, each in built.items()
    }


def compared(
    plan: SavedPlan,
    built: Mapping[str, Build],
    machine: Mapping[str, Any],
    programs: Mapping[str, Mapping[str, str]],
) -> PlanChanges:
    """Compare a plan with the current state. machine: identity of the place. programs: as in a
    plan.
    """
    unknown: dict[str, None] = {}
    differences = []
    for name, each in built.items():
        if each.source != plan.sources[name]:
            differences.append(f"halobench changed: {plan.sources[name]} -> {each.source}")
    now = libraries(built)
    differences += [
        f"{_OF_A_LIBRARY[key]}: {name}: {before} -> {now[name][key]}"
        for name, key, before in _known(now, plan.libraries, unknown)
        if before != now[name][key]
    ]
    differences += [
        f"{_OF_A_PROGRAM[key]}: {name}: {before} -> {programs[name][key]}"
        for name, key, before in _known(programs, plan.programs, unknown)
        if key in _OF_A_PROGRAM and before != programs[name][key]
    ]
    differences += [
        f"{_OF_A_MACHINE.get(key, f'machine changed: {key}')} {before} -> {machine[key]}"
        for _, key, before in _known({"": machine}, {"": plan.machine}, unknown)
        if before != machine[key]
    ]
    return PlanChanges(tuple(differences), tuple(unknown))


def _known(
    now: Mapping[str, Mapping[str, Any]],
    before: Mapping[str, Mapping[str, Any]],
    unknown: dict[str, None],
) -> Iterator[tuple[str, str, Any]]:
    for name, facts in now.items():
        for key in facts:
            if key in before.get(name, {}):
                yield name, key, before[name][key]
            else:
                unknown[key] = None


def not_compared(changes: PlanChanges) -> str | None:
    """Return a line on what could not be compared, or None if everything could."""
    if not changes.unknown:
        return None
    what = listed(changes.unknown)
    return f"not compared, because the plan of an older haloscope does not contain it: {what}"


def renewed(
    plan: SavedPlan,
    built: Mapping[str, Build],
    machine: Mapping[str, Any],
    programs: Mapping[str, Mapping[str, str]],
    changes: PlanChanges,
) -> SavedPlan:
    """Return the plan with the current state and with every accepted change."""
    return replace(
        plan,
        sources={**plan.sources, **{name: each.source for name, each in built.items()}},
        libraries={**plan.libraries, **libraries(built)},
        machine={**plan.machine, **machine},
        programs={**plan.programs, **programs},
        changes=(*plan.changes, *changes.differences),
    )
