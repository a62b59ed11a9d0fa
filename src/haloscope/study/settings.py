# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a case as a flat mapping: which of them vary, and their display names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haloscope.layout import CORES, LAYOUT, PROCESSES, Layout
from haloscope.quantities import count, size

Setting = str | int | float | bool | None
Settings = Mapping[str, Setting]
SETTINGS = ("kernel", *LAYOUT, "toolchain", "transport", "runner", "clock")
"""Settings that every case has, besides the parameters of its kernel."""
PROTOCOL = ("repetitions", "warmup", "steps")
OUTPUT = ("surface", "timeline", "parts")
"""Parameters that request more output outside the timed part; they do not distinguish cases."""
SIZES = "sizes"
MODE = "mode"
"""Selects a kernel's operation, which determines the meaning of its other parameters."""
_LIST = re.compile(r"[^,]*,|\d+[KMG]?:\d")
"""Several sizes: 8,64 or 8:4M."""
OF_A_DEVICE = ("mpi", "sync", "device_lag", "gpus_shared")
"""OF_A_DEVICE are parameters that have a meaning only with memory = device, in any kernel."""
_ONLY_WITH = {
    ("jacobi3d", "L"): ("size", "cubes"),
    ("poisson_cg", "s"): ("variant", "sstep"),
    ("poisson_cg", "reorthogonalise"): ("variant", "sstep"),
}
"""(kernel, parameter): the only parameter and value with which it has a meaning."""
OF_BYTES = (("launches", "size"),)
"""OF_BYTES are the parameters of our kernels that are sizes in bytes: (kernel, parameter)."""
UNSAID = (
    "thread_bind",
    "placement",
    "tasks",
    "mapping_seed",
    "allocation_seed",
    *(name for _, name in _ONLY_WITH),
    *OF_A_DEVICE,
)
"""Settings that only some cases have; the names of others omit them."""
OF_A_MATRIX = ("bandwidth", "row_length")
"""Settings of some generated matrices whose names are unique without these."""
FOLLOWING = ("s", "reorthogonalise", "chunks", "topology")
"""They often follow from others; names omit them if they remain unique."""
BY_VALUE = (
    *("variant", "exchange", "clock", "placement", "mapping"),
    *("kernel", "toolchain", "transport", "mode", "matrix"),
)
"""Settings whose values need no name."""
_TITLED = ("matrix", "n", "variant", *CORES)
_FIRST = (
    *("kernel", "matrix", "n", "variant", "exchange", "decomposition"),
    *("toolchain", "transport", *LAYOUT),
)


class Bytes(int):
    """A size in bytes among settings: it equals the number, and is displayed with a unit."""


def _in_bytes(name: str, raw: Mapping[str, Any]) -> bool:
    """Return whether a parameter is a size in bytes, by its kernel or by a program's file."""
    units = (raw.get("program") or {}).get("units") or {}
    return (raw["kernel"], name) in OF_BYTES or units.get(name) == "B"


def _scalar(value: Any) -> Setting:
    return ",".join(str(item) for item in value) if isinstance(value, list) else value


def settings_of(raw: Mapping[str, Any]) -> dict[str, Setting]:
    """Return all settings that identify a case, flat: parameters, layout, toolchain, clock."""
    toolchain = raw.get("toolchain") or {}
    layout = Layout.recorded(raw.get("layout") or {})
    return {
        "kernel": raw["kernel"],
        **{
            key: Bytes(value) if type(value) is int and _in_bytes(key, raw) else _scalar(value)
            for key, value in raw["params"].items()
            if not _plays_no_part(key, raw["kernel"], raw["params"])
        },
        **vars(layout),
        "thread_bind": layout.threads_bound,
        "toolchain": toolchain.get("name") if isinstance(toolchain, Mapping) else toolchain,
        "transport": raw.get("transport"),
        "runner": raw.get("runner"),
        "clock": raw.get("clock", "wall"),
    }


def _shared_out(settings: Settings) -> str:
    each = _in_words("ppn", settings["ppn"])
    return each if Layout.recorded(settings).even else f"at most {each}"


def _plays_no_part(name: str, kernel: str, params: Mapping[str, Any]) -> bool:
    if name == "gpus_shared" and params[name] == 1:  # each rank has its own GPU
        return True
    return lacking(name, kernel, params) is not None


def lacking(name: str, kernel: str, params: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the parameter, and its value, without which another has no effect; None if it has."""
    if name in OF_A_DEVICE:
        return ("memory", "device") if params.get("memory") == "host" else None
    other, value = needs = _ONLY_WITH.get((kernel, name), ("", ""))
    return needs if other in params and params[other] != value else None


def apart(one: Settings, among: Sequence[Settings]) -> list[str]:
    """Return the settings that distinguish one part: its mode, and what varies within that mode."""
    mode = one.get(MODE)
    alike = [other for other in among if other.get(MODE) == mode]
    return [MODE] * (len(alike) < len(among)) + varying(alike)


def varying(settings: Sequence[Settings]) -> list[str]:
    """Return the names of settings that vary.

    Lists of sizes (every point of a sweep names its size), numbers of repetitions, settings of some
    matrices only, and each of FOLLOWING are included only if nothing else distinguishes the
    settings.
    """
    names = {name for one in settings for name in one if name not in OUTPUT}
    differ = {name for name in names if len({one.get(name) for one in settings}) > 1}
    if len({one.get("thread_bind") for one in settings} - {None}) < 2:  # irrelevant with one thread
        differ -= {"thread_bind"}
    lists = {
        SIZES,
        *PROTOCOL,
        *OF_A_MATRIX,
        *(n for n in differ if any(_LIST.match(str(one.get(n))) for one in settings)),
    }
    distinct = _distinct(settings, differ)
    for idle in (lists, *({name} for name in FOLLOWING)):
        if differ & idle and _distinct(settings, differ - idle) == distinct:
            differ -= idle
    return sorted(differ, key=_rank)


def _distinct(settings: Sequence[Settings], names: Iterable[str]) -> int:
    order = sorted(names)
    return len({tuple(one.get(name) for name in order) for one in settings})


def describe(settings: Settings, names: Sequence[str]) -> str:
    """Describe some settings: "n = 1024, nonblocking, 2 processes"."""
    nodes = settings.get("nodes")
    # it contains the places of both ranks; otherwise two ranks are implied
    if "placement" in names:
        names = [name for name in names if name not in (*PROCESSES, "places")]
    words = []
    for name in names:
        if name == "ppn" and not {"nodes", "tasks"} & set(names) and isinstance(nodes, int):
            words.append(count(Layout.recorded(settings).ranks, "process", "processes"))
        elif name == "ppn" and settings.get("tasks"):
            words.append("" if "tasks" in names else _shared_out(settings))
        elif name == "threads" and "ppn" in names and settings.get(name) == 1:
            continue
        else:
            words.append(_in_words(name, settings.get(name)))
    return ", ".join(word for word in words if word)


def with_nodes(names: Iterable[str]) -> list[str]:
    """Return names of settings; processes per node mean nothing without the nodes."""
    every = dict.fromkeys(names)
    return [*dict.fromkeys((*every, "nodes"))] if "ppn" in every else [*every]


def titled(settings: Sequence[Settings]) -> list[str]:
    """Return the names of settings that all have in common and that belong into a title."""
    differ = varying(settings)
    names = [name for name in _TITLED if name in settings[0] and name not in differ]
    if "nodes" in differ or "ppn" in differ:
        names = [name for name in names if name not in ("ppn", "threads")]
    return names


def common(settings: Sequence[Settings]) -> str:
    """Describe the common settings that belong into a title: solver, mesh, processes."""
    names = titled(settings)
    if settings[0].get("nodes") == 1:
        names = [name for name in names if name != "nodes"]  # processes imply it
    return describe(settings[0], names)


def _in_words(name: str, value: Setting) -> str:
    if value is None:
        return "" if name in UNSAID else f"default {name}"
    if name in _COUNTED and type(value) is int:
        return f"{count(value, *_COUNTED[name])}{_PER.get(name, '')}"
    if name in _BOUND and value == "none":
        return f"{_BOUND[name]} not bound"
    if isinstance(value, Bytes):
        return f"{name} = {size(value)}"
    if name == "n" and isinstance(value, int):
        return f"n = {value}"  # as in the papers and in all tables
    if name in BY_VALUE:
        return str(value)
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


_COUNTED = {
    "ppn": ("process", "processes"),
    "gpus_shared": ("process", "processes"),
    "tasks": ("task", "tasks"),
    "nodes": ("node", "nodes"),
    "threads": ("thread", "threads"),
}
_PER = {"ppn": " per node", "gpus_shared": " per GPU"}
_BOUND = {"bind": "processes", "thread_bind": "threads"}


def _rank(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def order(settings: Settings) -> list[tuple[str, float, str]]:
    """Return a sort key for settings: numbers by value, texts alphabetically."""
    key = []
    for name in sorted(settings, key=_rank):
        value = settings[name]
        numeric = isinstance(value, int | float)
        key.append((name, float(value) if numeric else 0.0, "" if numeric else str(value)))  # type: ignore[arg-type]
    return key
