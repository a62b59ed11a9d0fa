"""Golden simulated times: every kernel on four simulated ranks, the same time in every run.

The binary is that of ./check's SMPI build. After a change that is meant to move simulated times:
UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_simulated.py, and say in the commit why they moved.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BINARY = ROOT / "build" / "smpi" / "halobench"
GOLDEN = Path(__file__).parent / "golden"
TIMES = GOLDEN / "times.json"

# A line a case: a name, and what halobench is told.
CASES = {
    "empty": "empty",
    "stream": "stream sizes=1K,64K,4M repetitions=1",
    "pingpong": "pingpong sizes=0,8,1K,64K,1M repetitions=1",
    "poisson_cg": "poisson_cg n=64",
    "poisson_cg textbook": "poisson_cg n=64 variant=textbook exchange=blocking",
    "poisson_cg blocks": "poisson_cg n=65 decomposition=blocks exchange=persistent",
}

pytestmark = pytest.mark.skipif(
    shutil.which("smpirun") is None or not BINARY.exists(),
    reason="needs smpirun and build/smpi/halobench",
)


def simulate(arguments: str, tmp_path: Path, *options: str) -> dict[str, Any]:
    """One simulated case; its record."""
    out = tmp_path / "record.json"
    command = [
        "smpirun", "-np", "4", "-platform", str(GOLDEN / "platform.xml"),
        "--cfg=smpi/simulate-computation:no", "--log=root.thresh:warning",
        str(BINARY), "--out", str(out), "--machine", str(GOLDEN / "machine.txt"),
        *options, *arguments.split(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(out.read_text())
    return record


def test_every_kernel_has_a_golden_case() -> None:
    kernels = re.findall(r"^KERNEL\((\w+)\)", (ROOT / "halobench/kernels.def").read_text(), re.M)
    assert kernels
    assert set(kernels) <= {arguments.split()[0] for arguments in CASES.values()}


@pytest.mark.parametrize("name", CASES)
def test_simulated_time_is_golden(name: str, tmp_path: Path) -> None:
    record = simulate(CASES[name], tmp_path)
    assert record["clock"] == "simulated"
    assert record["outcome"] == "ok", record["reason"]
    golden = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    if os.environ.get("UPDATE_GOLDEN"):
        golden[name] = record["times_s"]
        TIMES.write_text(json.dumps(dict(sorted(golden.items())), indent=1) + "\n")
    assert record["times_s"] == pytest.approx(golden[name], rel=1e-9)


def test_leaving_out_the_arithmetic_keeps_the_time(tmp_path: Path) -> None:
    arguments = "poisson_cg n=64 iterations=20"
    executed = simulate(arguments, tmp_path)
    charged = simulate(arguments, tmp_path, "--execute", "no")
    assert charged["times_s"] == pytest.approx(executed["times_s"], rel=1e-9)
    assert charged["memory"]["allocated_bytes"] == executed["memory"]["allocated_bytes"]
