# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of MPI libraries: variables and parameter files that affect every launch.

Records contain them, because differently tuned runs are not comparable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from haloscope.toolchains.launching import parameter_files
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import TransportSettings

_VARIABLE = re.compile(
    # MPI libraries, their launchers and communication layers, collective libraries, and libraries
    # that are loaded into every program
    r"(OMPI_MCA|PRTE_MCA|PMIX_MCA|MPIR_CVAR|MPICH|I_MPI|MV2|MVP|HYDRA|MPIEXEC|"
    r"UCX|UCC|FI|PSM2|PSM3|HFI|CXI|MLX[45]|HCOLL|SHARP|NCCL|RCCL)_\w+|LD_PRELOAD|ROMIO_HINTS"
)
_WHERE = re.compile(r"(?!UCX_CONFIG_DIR)\w+_(ROOT|DIR|HOME|CC|CXX|F77|FC|F90|VERSION|BASENAME)")
"""_WHERE are variables of modules with the location or version of a library."""
_PLACED = {
    "--map-by": re.compile(r"(OMPI|PRTE)_MCA_rmaps_(base|default)_mapping_policy"),
    "--bind-to": re.compile(r"(OMPI|PRTE)_MCA_hwloc_(base|default)_binding_policy"),
}
"""_PLACED are options of Open MPI's mpirun, and the parameters over which they take precedence."""


@dataclass(frozen=True)
class Tuning:
    """The tuning of a launch's library.

    given: settings by user and system, by name. overridden: those that the launch set itself, by
    name; None: the launch used the library's own choice.
    """

    given: Mapping[str, str]
    overridden: Mapping[str, str | None]

    def as_record(self) -> dict[str, dict[str, str | None]]:
        """Return the tuning as stored in records."""
        return {"given": dict(self.given), "overridden": dict(self.overridden)}


def given(environment: Mapping[str, str], toolchain: Toolchain | None = None) -> dict[str, str]:
    """Return what is set for a library, by name: variables, and parameters in files."""
    files = parameter_files.settings(environment, toolchain)
    found = {**_variables(environment), **{one.name: one.value for one in files}}
    return dict(sorted(found.items()))


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if _VARIABLE.fullmatch(name) and not _WHERE.fullmatch(name)
    }


def giving_way(
    usual: TransportSettings, toolchain: Toolchain, environment: Mapping[str, str]
) -> TransportSettings:
    """Return the default settings without those that the user or system has set."""
    if not usual:
        return usual
    files = parameter_files.settings(environment, toolchain)
    theirs = {*_variables(environment), *(one.variable for one in files)}
    own = "OMPI_MCA_{}" if toolchain.family == "openmpi" else "{}"
    return {key: value for key, value in usual.items() if own.format(key) not in theirs}


def of_launch(
    inherited: Mapping[str, str],
    toolchain: Toolchain,
    command: Sequence[str],
    environment: Mapping[str, str],
) -> Tuning:
    """Return the tuning of the library that a command starts in an environment."""
    parameters = {
        f"OMPI_MCA_{key}": value
        for word, key, value in zip(command, command[1:], command[2:], strict=False)
        if word == "--mca"
    }
    files = [*parameter_files.settings(inherited, toolchain)]
    variables = {name: name for name in _variables(inherited)}
    variables |= {one.name: one.variable for one in files}
    found = given(inherited, toolchain)
    overridden: dict[str, str | None] = {}
    for name in found.keys() - {one.name for one in files if one.final}:
        variable = variables[name]
        unless = found[name] if variable != name else None
        used = parameters.get(variable, environment.get(variable, unless))
        used = _placed(variable, command) or used
        if used != found[name]:
            overridden[name] = used
    return Tuning(found, dict(sorted(overridden.items())))


def _placed(variable: str, command: Sequence[str]) -> str | None:
    return next(
        (
            f"{word} {value}"
            for word, value in pairwise(command)
            if word in _PLACED and _PLACED[word].fullmatch(variable)
        ),
        None,
    )


def in_words(recorded: Mapping[str, Mapping[str, str | None]]) -> str:
    """Describe recorded settings briefly: each file's name once."""
    return "; ".join(_by_file(recorded["given"].items())) or "none set"


def _by_file(found: Iterable[tuple[str, str | None]]) -> Iterable[str]:
    parted = [(*name.rpartition(": "), value) for name, value in found]
    for file, group in groupby(sorted(parted, key=lambda one: one[0]), key=lambda one: one[0]):
        listed = ", ".join(f"{key}={value}" for _, _, key, value in group)
        yield f"{file}: {listed}" if file else listed
