# SPDX-License-Identifier: BSD-3-Clause
"""The small cases of a kernel, as `check` runs them: on 1 to 4 ranks, each with its answer.

python tests/support/small_cases.py KERNEL builds what is needed and runs them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from haloscope.run.prepare import halobench
from haloscope.toolchains import library

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def commands(kernel: str, mpicxx: Path) -> list[list[str]]:
    """What configures, builds, and runs the kernel's small cases."""
    compiler = f"-DCMAKE_CXX_COMPILER={mpicxx}"
    return [
        ["cmake", "-S", "halobench", "--preset", "release", compiler],
        ["cmake", "--build", "build/release", "--target", "test_kernels"],
        [
            *("ctest", "--test-dir", "build/release", "--output-on-failure", "--no-tests=error"),
            *("-R", f"^({kernel}|all)_[0-9]_ranks"),
        ],
    ]


def main(words: list[str]) -> int:
    """Run them; the exit code of the first command that fails, or 0."""
    known = halobench.names()
    if len(words) != 1 or words[0] not in known:
        print(f"give one kernel: {', '.join(known)}", file=sys.stderr)
        return 2
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HALOBENCH_KERNEL": words[0]}
    for command in commands(words[0], library.ensure().mpicxx):
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
