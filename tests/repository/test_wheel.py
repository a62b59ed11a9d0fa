# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: what it contains, and that it works without the checkout, as pipx installs it."""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from haloscope import __version__

ROOT = Path(__file__).parents[2]
SHARED = ("halobench", "studies", "clusters", "papers", "profiler", "programs", "docs/schemas")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=600)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_contains_only_the_package_and_its_data(wheel: Path) -> None:
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    done = subprocess.run(
        [*asked, "src/haloscope", *SHARED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}
    expected = {
        name.removeprefix("src/") if name.startswith("src/") else f"haloscope/_share/{name}"
        for name in names
    }
    about = f"haloscope-{__version__}.dist-info"
    expected |= {f"{about}/{one}" for one in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}

    with zipfile.ZipFile(wheel) as archive:
        contents = set(archive.namelist())
        schemas = {
            posixpath.normpath(f"{posixpath.dirname(name)}/{line[1]}")
            for name in contents
            if name.endswith(".toml")
            for line in re.findall(r"(#:schema) (\S+)", archive.read(name).decode())
        }

    assert contents == expected | {f"{about}/licenses/LICENSE"}
    for name in (*SHARED, "toolchains/locks"):
        assert any(f"/{name}/" in one for one in contents), name
    assert schemas and schemas <= contents


@pytest.mark.toolchains
def test_an_installed_wheel_runs_quick_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "installed"
    venv.create(home, with_pip=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True, timeout=900)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str, may_end: tuple[int, ...] = (0,)) -> str:
        command = [str(home / "bin" / "haloscope"), *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode in may_end, done.stdout + done.stderr
        return done.stdout

    assert run("-V") == f"haloscope {__version__}\n"
    # 1: a busy machine may not end every launch in time
    run("run", "quick", "--out", "out", "--quiet", "--oversubscribe", may_end=(0, 1))

    plan = json.loads((folder / "out" / "plan.json").read_text())
    lines = (folder / "out" / "records.jsonl").read_text().splitlines()
    outcomes = [json.loads(line)["outcome"] for line in lines]
    assert len(outcomes) >= len(plan["cases"])
    assert {"ok"} <= set(outcomes) <= {"ok", "timeout"}
    assert (folder / "out" / "report.html").stat().st_size > 10_000
    assert not [path for path in folder.iterdir() if path.name != "out"]
