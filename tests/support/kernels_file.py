# SPDX-License-Identifier: BSD-3-Clause
"""What a halobench declares of its kernels, as src/haloscope/records/kernels.json keeps it.

python tests/support/kernels_file.py build/release/halobench
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from haloscope.records.kernels import FILE
from haloscope.run import halobench

PARAMETER = ("name", "type", "default", "minimum", "maximum", "choices")
RESULT = ("name", "type", "unit", "minimum", "maximum", "absent")
"""What is kept of each: the rest is for people, who ask `haloscope describe`."""


def declared(binary: Path) -> dict[str, Any]:
    """Of every kernel, its parameters and results."""
    return {name: _kernel(binary, name) for name in halobench.names()}


def _kernel(binary: Path, name: str) -> dict[str, Any]:
    said = subprocess.run([binary, "--describe", name], capture_output=True, check=True)
    kernel = json.loads(said.stdout)
    return {
        "sweeps": kernel["sweeps"],
        "parameters": [{key: one[key] for key in PARAMETER} for one in kernel["parameters"]],
        "results": [{key: one[key] for key in RESULT} for one in kernel["results"]],
        "point_results": [{key: one[key] for key in RESULT} for one in kernel["point_results"]],
    }


def text(kernels: dict[str, Any]) -> str:
    """One line for each parameter and result, so that a change is easy to read."""
    parts = []
    for name, kernel in kernels.items():
        lists = []
        for key, entries in kernel.items():
            if not isinstance(entries, list):
                lists.append(f'  "{key}": {json.dumps(entries)}')
                continue
            lines = ",\n".join(f"   {json.dumps(one)}" for one in entries)
            lists.append(f'  "{key}": [\n{lines}\n  ]' if entries else f'  "{key}": []')
        parts.append(f' "{name}": {{\n' + ",\n".join(lists) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(declared(Path(sys.argv[1]))), encoding="utf-8")
