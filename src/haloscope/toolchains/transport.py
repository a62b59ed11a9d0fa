# SPDX-License-Identifier: BSD-3-Clause
"""Transports between ranks: how each is requested, and which one was used.

A transport has the same name in every MPI library that supports it; each library has its own
settings for it. Open MPI's are MCA parameters, the others' are environment variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

Family = Literal["openmpi", "mpich", "impi", "simgrid"]
TransportSettings = Mapping[str, str]

TRANSPORTS: Mapping[Family, Mapping[str, TransportSettings]] = {
    "openmpi": {
        "shm": {"pml": "ob1", "btl": "^tcp,ofi,uct,openib,usnic"},
        "tcp": {"pml": "ob1", "btl": "self,tcp"},
        "ucx": {
            "pml": "ucx",
            "btl": "^ofi",
            "opal_common_ucx_tls": "any",  # otherwise refused without InfiniBand
            "opal_common_ucx_devices": "any",
        },
    },
    "mpich": {
        "shm": {"MPIR_CVAR_NOLOCAL": "0"},
        "ucx": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx"},
    },
    "impi": {"shm": {"I_MPI_FABRICS": "shm"}},
}
"""Each library's settings of a transport, by name."""

PROVIDER: Mapping[Family, Mapping[str, str]] = {
    "openmpi": {"pml": "cm", "mtl": "ofi", "btl": "^ofi", "mtl_ofi_provider_include": "{}"},
    "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "{}"},
    "impi": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "{}"},
}
"""Settings that request one of libfabric's providers, if the library has no name for it."""

# Open MPI 5 sleeps a second in MPI_Init to close its ofi byte transfer layer, one-sided only.
# Intel MPI 2021.18 uses shared memory by default for ranks of one host; other versions need this.
USUAL: Mapping[Family, TransportSettings] = {
    "openmpi": {"btl": "^ofi"},
    "mpich": {},
    "impi": {"I_MPI_FABRICS": "shm"},
}
"""Settings of a launch that requests no transport."""

TALKATIVE: Mapping[Family, TransportSettings] = {
    "openmpi": {
        "hook_comm_method_display": "mpi_init",
        "pml_base_verbose": "10",
        "btl_base_verbose": "20",
    },
    "mpich": {"MPIR_CVAR_DEBUG_SUMMARY": "1"},
    "impi": {"I_MPI_DEBUG": "5"},
}
"""Settings that make a library print which transport it uses."""


def names(family: Family, providers: Sequence[str]) -> list[str]:
    """Return the transports that a library with these libfabric providers supports."""
    own = TRANSPORTS.get(family, {})
    return list(dict.fromkeys([*own, *(providers if family in PROVIDER else ())]))


def settings(family: Family, transport: str) -> TransportSettings:
    """Return a library's settings for a transport: by its own name, or as a provider of
    libfabric.
    """
    own = TRANSPORTS[family].get(transport)
    return own or {key: word.format(transport) for key, word in PROVIDER[family].items()}


def used_transport(
    family: Family, transport: str | None, said: str, *, apart: bool = False
) -> str | None:
    """Return what a library with debug output used between two ranks, in its own words.

    apart: whether they were on two hosts. None if it does not print it: MPICH names its network,
    which ranks of one host use only if that is requested.
    """
    if family == "openmpi":
        return _openmpi(said, apart=apart)
    nolocal = transport is not None and settings(family, transport).get("MPIR_CVAR_NOLOCAL") == "1"
    if family == "mpich" and not (apart or nolocal):
        return None
    if family == "mpich":
        provider = _first(r"^provider: ([^\s,]+)", said)
        return f"ofi {provider}" if provider else _first(r"==== (\w+) netmod Capability", said)
    provider = _first(r"libfabric provider: (\S+)", said)
    return f"ofi {provider}" if provider else _first(r"tuning_\w*?(shm)\.dat", said)


def _openmpi(said: str, *, apart: bool) -> str | None:
    """Version 5 prints a summary; version 4 names the messaging layer and, below ob1,
    its modules.
    """
    where = "off" if apart else "on"
    if summary := _first(rf"{where}-host:\s+all connections are (.+)", said):
        return summary.strip()
    modules = sorted({*re.findall(r"Using (\w+) btl for send to", said)} - {"self"})
    layer = _first(r"select: component (\w+) selected", said)
    return " ".join([*([layer] if layer else []), *modules]) or None


def _first(pattern: str, said: str) -> str | None:
    found = re.search(pattern, said, re.MULTILINE)
    return found[1] if found else None


def complaint(said: str) -> str:
    """Return the line in the output of a failed launch that most likely contains the cause."""
    parts = re.split(r"^-{60,}\n", said, flags=re.MULTILINE)
    parts[1::2] = map(_first_sentence_alone, parts[1::2])
    lines = [line.strip() for line in "".join(parts).splitlines() if any(map(str.isalnum, line))]
    telling = [line for line in lines if re.search(_TELLING, line, re.IGNORECASE)]
    telling.sort(key=lambda line: bool(_LOGGED.match(line)))  # messages for people come first
    innermost = -1 if "error stack" in said else 0  # MPICH's and Intel's output ends with the cause
    line = (telling or lines or ["no output"])[innermost]
    return re.sub(r"^\w+\(\d+\)\.*: ", "", _LOGGED.sub("", line))[:200]


def _first_sentence_alone(banner: str) -> str:
    """Return a message of Open MPI with its first sentence, which is wrapped, on one line."""
    paragraph, _, rest = banner.partition("\n\n")
    sentence, _, more = " ".join(paragraph.split()).partition(". ")
    return f"{sentence}\n{more}\n{rest}"


_LOGGED = re.compile(r"^\[[\w.-]+:\d+\] ")
"""Prefix of Open MPI's log lines: host and process."""
_TELLING = (
    r"error|fail|unable|no .*(available|found|reported)"
    r"|not (found|available|supported)|cannot|can't"
)
