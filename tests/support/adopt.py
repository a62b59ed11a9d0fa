# SPDX-License-Identifier: BSD-3-Clause
"""Give a build tree's programs to haloscope, which else would build the same once more.

python tests/support/adopt.py TOOLCHAIN TREE; `usual` is the one taken where none is named.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from haloscope.toolchains import build, library, simgrid


def adopt(toolchain: library.Toolchain, tree: Path) -> list[str]:
    """Copy the programs of a tree to where that toolchain's are looked for; their names."""
    folder = build.of(toolchain).folder
    folder.mkdir(parents=True, exist_ok=True)
    programs = [*tree.glob("halobench_*"), *tree.glob("platform.so")]
    for program in programs:
        part = folder / f".{program.name}.part"
        shutil.copy2(program, part)
        part.replace(folder / program.name)  # a launch may run the one that is there
    return sorted(program.name for program in programs)


if __name__ == "__main__":
    name, tree = sys.argv[1:]
    found = (
        simgrid.smpi() if name == "simgrid" else library.ensure(None if name == "usual" else name)
    )
    print("\n".join(adopt(found, Path(tree))))
