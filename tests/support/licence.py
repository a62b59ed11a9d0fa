# SPDX-License-Identifier: BSD-3-Clause
"""Write the licence's line into each source file that lacks it: python tests/support/licence.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
PATTERNS = (
    "*.py",
    "*.[ch]",
    "*.[ch]pp",
    "*.cu",
    "*.sh",
    "*.cmake",
    "*CMakeLists.txt",
    ".ci/run",
    "check",
    "haloscope",
)


def sources() -> list[Path]:
    """The source files of the repository, and those that git would add."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    done = subprocess.run([*asked, *PATTERNS], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (ROOT / name for name in sorted(done.stdout.split("\0")) if name)
    return [path for path in paths if path.is_file()]


def has_licence(path: Path) -> bool:
    """Whether the first two lines, of which one may be #!, have it."""
    return any(LICENCE in line for line in path.read_text(encoding="utf-8").splitlines()[:2])


def add_licence(path: Path) -> None:
    """Write the line as the first one, or below #!."""
    text = path.read_text(encoding="utf-8")
    sign = "//" if path.suffix in (".c", ".h", ".cpp", ".hpp", ".cu") else "#"
    head, rest = text.split("\n", 1) if text.startswith("#!") else (None, text)
    first = "" if head is None else f"{head}\n"
    path.write_text(f"{first}{sign} {LICENCE}\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    for source in sources():
        if not has_licence(source):
            add_licence(source)
