# SPDX-License-Identifier: BSD-3-Clause
"""What halobench's kernels declare, as src/haloscope/records/kernels.json keeps it.

python tests/support/kernels_file.py [KERNEL...] builds these, or all, and writes what they declare.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haloscope.records.kernels import FILE
from haloscope.run.prepare import halobench
from haloscope.toolchains import build, library
from haloscope.toolchains.build import KernelProgram


def declared(programs: Path, kernels: Sequence[str]) -> dict[str, Any]:
    """Of each of these, all that its program describes. programs: the folder of these."""
    return {
        name: _kernel(build.asked(programs / KernelProgram(name).file), name) for name in kernels
    }


def _kernel(program: Path, name: str) -> dict[str, Any]:
    said = subprocess.run([program, "--describe", name], capture_output=True, check=False)
    if said.returncode != 0:
        raise SystemExit(said.stderr.decode(errors="replace").strip() or f"{program} failed")
    kernel: dict[str, Any] = json.loads(said.stdout)
    del kernel["name"]
    return kernel


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


def written(kernels: Sequence[str]) -> dict[str, Any]:
    """Build these; what the file says with what they declare now, in the order of kernels.def."""
    programs = [KernelProgram(name) for name in kernels]
    folder = build.build(build.of(library.ensure()), programs).folder
    known = json.loads(FILE.read_text(encoding="utf-8")) | declared(folder, kernels)
    return {name: known[name] for name in halobench.names() if name in known}


if __name__ == "__main__":
    if unknown := {*sys.argv[1:]} - {*halobench.names()}:
        raise SystemExit(f"halobench/kernels.def has no {', '.join(sorted(unknown))}")
    FILE.write_text(text(written(sys.argv[1:] or halobench.names())), encoding="utf-8")
