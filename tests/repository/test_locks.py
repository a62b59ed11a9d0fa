# SPDX-License-Identifier: BSD-3-Clause
"""The lock files fit pyproject.toml: all that is needed, at versions it allows, by hashes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
EXTRAS = PROJECT["optional-dependencies"]
TOOLCHAINS = sorted((ROOT / "src/haloscope/toolchains/locks").glob("*.txt"))
LOCKS = {
    ROOT / "requirements.txt": [*PROJECT["dependencies"], *BUILDS, *EXTRAS["setup"]],
    ROOT / "requirements-dev.txt": [
        *PROJECT["dependencies"],
        *BUILDS,
        *EXTRAS["setup"],
        *EXTRAS["dev"],
    ],
}
INSTALLER = ROOT / "requirements.uv.txt"
"""INSTALLER pins uv, which installs the others: `./haloscope`."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def entries(lock: Path) -> Iterator[str]:
    """A lock file's requirements, each with all its hashes on one line."""
    text = lock.read_text().replace("\\\n", " ")
    yield from (line for line in text.splitlines() if line and not line.startswith("#"))


def pins(lock: Path, python: str) -> dict[str, str]:
    """The version of each package for a Python on Linux."""
    environment = {str(key): str(value) for key, value in default_environment().items()}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    requirements = [Requirement(entry.split(" --hash")[0].strip()) for entry in entries(lock)]
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in requirements
        if one.marker is None or one.marker.evaluate(environment)
    }


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_pins_the_requirements_of_pyproject(lock: Path, python: str) -> None:
    there = pins(lock, python)
    unmet = [
        asked
        for asked in LOCKS[lock]
        if (requirement := Requirement(asked))
        and (requirement.marker is None or requirement.marker.evaluate({"python_version": python}))
        and not requirement.specifier.contains(there.get(canonicalize_name(requirement.name), "0"))
    ]
    assert unmet == [], "CONTRIBUTING.md says how lock files are made"


@pytest.mark.parametrize("python", PYTHONS)
def test_both_locks_pin_the_same_versions(python: str) -> None:
    few, many = (pins(lock, python) for lock in LOCKS)
    assert few.items() <= many.items()


@pytest.mark.parametrize("lock", [*LOCKS, *TOOLCHAINS, INSTALLER], ids=lambda path: path.name)
def test_every_pin_has_hashes_and_no_lock_names_an_index(lock: Path) -> None:
    assert [
        one for one in entries(lock) if not re.search(r" --hash=sha256:[0-9a-f]{64}", one)
    ] == []
    assert all(re.match(r"[\w.-]+==\S+ ", entry) for entry in entries(lock))
    assert not re.search(r"://|index-url|find-links", lock.read_text())


def test_the_uv_lock_pins_only_uv_for_many_platforms() -> None:
    (entry,) = entries(INSTALLER)
    assert pins(INSTALLER, PYTHONS[0]).keys() == {"uv"}
    assert entry.count("--hash=sha256:") > 10
