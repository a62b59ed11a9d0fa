# SPDX-License-Identifier: BSD-3-Clause
"""What users tune MPI libraries by: variables and files of parameters that shape every launch.

Records hold them, since two runs that are tuned differently are not alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from haloscope.toolchains.transport import Family, TransportSettings

_VARIABLE = re.compile(
    # MPI libraries, what they send by, and the collectives that are loaded into them
    r"(OMPI_MCA|PRTE_MCA|PMIX_MCA|MPIR_CVAR|MPICH|I_MPI|MV2|MVP|"
    r"UCX|UCC|FI|PSM2|PSM3|HFI|CXI|MLX[45]|HCOLL|SHARP|NCCL|RCCL)_\w+"
)
_WHERE = re.compile(r"\w+_(ROOT|DIR|HOME|CC|CXX|F77|FC|F90|VERSION|BASENAME)")
"""_WHERE are variables that modules set to say where a library is, or of which version."""
_FILES = (".openmpi", ".prte", ".pmix")
"""_FILES are the folders in a home folder whose mca-params.conf Open MPI reads."""


@dataclass(frozen=True)
class Tuning:
    """How a launch's library was tuned.

    given: what its user set, by name. overridden: of these, what the launch set itself, by name;
    None where it left the library's own choice.
    """

    given: Mapping[str, str]
    overridden: Mapping[str, str | None]

    def as_record(self) -> dict[str, dict[str, str | None]]:
        """As it stands in records."""
        return {"given": dict(self.given), "overridden": dict(self.overridden)}


def given(environment: Mapping[str, str]) -> dict[str, str]:
    """What a user set, by name: variables, and parameters of Open MPI's files."""
    found = {
        name: value
        for name, value in environment.items()
        if _VARIABLE.fullmatch(name) and not _WHERE.fullmatch(name)
    }
    return dict(sorted({**found, **_parameters(environment)}.items()))


def _parameters(environment: Mapping[str, str]) -> dict[str, str]:
    """The parameters in the files of the user's home folder, as "~/.openmpi/...: btl"."""
    found = {}
    for folder in _FILES if "HOME" in environment else ():
        path = Path(environment["HOME"], folder, "mca-params.conf")
        with suppress(OSError):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                key, equals, value = line.partition("=")
                if equals and not key.lstrip().startswith("#"):
                    found[f"~/{folder}/{path.name}: {key.strip()}"] = value.strip()
    return found


def giving_way(
    usual: TransportSettings, family: Family, environment: Mapping[str, str]
) -> TransportSettings:
    """What a library is told that was asked for no transport, but for what its user says of it."""
    theirs = {_key(name) for name in given(environment)} if usual else set()
    own = "OMPI_MCA_{}" if family == "openmpi" else "{}"
    return {key: value for key, value in usual.items() if _key(own.format(key)) not in theirs}


def _key(name: str) -> str:
    """The parameter that a name is of: Open MPI's have variables, and stand in files."""
    _, in_a_file, key = name.partition("mca-params.conf: ")
    return f"OMPI_MCA_{key}" if in_a_file else name


def of_launch(
    inherited: Mapping[str, str], command: Sequence[str], environment: Mapping[str, str]
) -> Tuning:
    """How the library is tuned that a command starts in an environment.

    inherited: what that environment was made from.
    """
    told = {
        f"OMPI_MCA_{key}": value
        for word, key, value in zip(command, command[1:], command[2:], strict=False)
        if word == "--mca"
    }
    theirs = given(inherited)
    overridden: dict[str, str | None] = {}
    for name, value in theirs.items():
        key = _key(name)
        used = told.get(key, environment.get(key, value if key != name else None))
        if used != value:
            overridden[name] = used
    return Tuning(theirs, overridden)


def in_words(recorded: Mapping[str, Mapping[str, str | None]]) -> str:
    """What a record says that its user set, in short."""
    return ", ".join(f"{name}={value}" for name, value in recorded["given"].items()) or "none set"
