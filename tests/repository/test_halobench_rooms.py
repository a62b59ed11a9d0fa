# SPDX-License-Identifier: BSD-3-Clause
"""The folders of halobench: which may include which, and how many files each has."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

HALOBENCH = Path(__file__).parents[2] / "halobench"

FLOORS = (
    {"base"},
    {"mpi", "numerics"},
    {"machine"},
    {"device", "platform"},
    {"star_forest"},
    {"."},
    {"kernels"},
)
"""Folders, the lowest first: each may include those below it, and none on its own floor. "." is
kernel.hpp and the program around it. Unit tests may include everything."""

SHARED = {"cg", "memory", "star_forest"}
"""Folders of kernels/ that several kernels use; a kernel includes no other kernel's folder."""

MOST = 12
"""Modules in a folder."""


def sources() -> list[str]:
    """Headers and sources, without unit tests."""
    paths = [path for ending in ("cpp", "hpp") for path in HALOBENCH.rglob(f"*.{ending}")]
    names = sorted(path.relative_to(HALOBENCH).as_posix() for path in paths)
    return [name for name in names if not name.startswith("tests/")]


def included(name: str) -> list[str]:
    """Return the headers of halobench that a file includes; others stand in SimGrid's folder."""
    text = (HALOBENCH / name).read_text(encoding="utf-8")
    headers = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
    return [header for header in headers if (HALOBENCH / header).exists()]


def room(name: str) -> str:
    """Return the folder below halobench/ that a file is in."""
    return PurePosixPath(name).parts[0] if "/" in name else "."


def kernel(name: str) -> str:
    """Return the folder below kernels/."""
    return PurePosixPath(name).parts[1]


ROOMS = sorted(set().union(*FLOORS))


def test_every_folder_has_a_layer() -> None:
    assert {room(name) for name in sources()} == set(ROOMS)


def test_every_include_path_starts_at_halobench() -> None:
    unknown = {
        f"{name} includes {header}"
        for name in sources()
        for header in re.findall(
            r'^#include "([^"]+)"', (HALOBENCH / name).read_text(encoding="utf-8"), re.MULTILINE
        )
        if not (HALOBENCH / header).exists() and not header.startswith("simgrid/")
    }

    assert not unknown


@pytest.mark.parametrize("folder", ROOMS)
def test_a_folder_includes_only_lower_layers(folder: str) -> None:
    floor = next(index for index, rooms in enumerate(FLOORS) if folder in rooms)
    allowed = {folder}.union(*FLOORS[:floor])
    names = [name for name in sources() if room(name) == folder]

    wrong = {
        f"{name} includes {header}"
        for name in names
        for header in included(name)
        if room(header) not in allowed
    }

    assert names
    assert not wrong


def test_a_kernel_includes_no_other_kernel() -> None:
    names = [name for name in sources() if room(name) == "kernels"]

    wrong = {
        f"{name} includes {header}"
        for name in names
        for header in included(name)
        if room(header) == "kernels" and kernel(header) not in SHARED | {kernel(name)}
    }

    assert names
    assert not wrong


def test_kernels_include_only_the_interface_of_the_program() -> None:
    headers = {
        header
        for name in sources()
        if room(name) == "kernels"
        for header in included(name)
        if room(header) == "."
    }

    assert headers == {"kernel.hpp"}


def test_no_header_includes_itself_indirectly() -> None:
    """Within a folder, too; TopologicalSorter raises CycleError with the circle."""
    headers = {name: included(name) for name in sources() if name.endswith(".hpp")}

    assert len(list(TopologicalSorter(headers).static_order())) == len(headers)


def test_a_folder_has_at_most_twelve_modules() -> None:
    """x.hpp and x.cpp are one module: they share a name, and are read and changed together."""
    modules: dict[str, set[str]] = defaultdict(set)
    for name in sources():
        path = PurePosixPath(name)
        modules[str(path.parent)].add(path.stem)

    assert {folder: sorted(found) for folder, found in modules.items() if len(found) > MOST} == {}
