# SPDX-License-Identifier: BSD-3-Clause
"""Run the C++ tests whose programs or inputs changed since they passed here.

python tests/support/changed_ctests.py TREE OPTIONS...: a build tree, and the options of ctest that
select tests. passed.json in the tree has, by test, a digest of all that its outcome depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

PASSED = "passed.json"
DATA = Path(__file__).parents[2] / "halobench" / "tests"
"""DATA is the folder with the inputs of tests: all but C++, which is in the programs."""
LOADER = Path("/etc/ld.so.cache")
"""LOADER is written anew whenever a system library is installed, one that is loaded by name too."""
READ = re.compile(r"HALOBENCH_|OMPI_|OMP_|PRTE_|PMIX_|MPI|LD_|ASAN_|UBSAN_|LSAN_")
"""READ is how the variables begin that programs and the launcher read."""


def tests_in(tree: Path, options: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the tests that ctest would run, by name."""
    words = ["ctest", "--test-dir", str(tree), "--show-only=json-v1", *options]
    said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {one["name"]: one for one in json.loads(said)["tests"]}


def digest(test: Mapping[str, Any], common: str) -> str:
    """Return the digest of a test: its command, properties, programs, and what all tests share."""
    command = test.get("command", [])  # none where the program was not built
    whole = hashlib.sha256(json.dumps([command, test["properties"]]).encode())
    whole.update(common.encode())
    for word in command:
        for path in re.findall(r"/[^\s;'\"]+", word):
            if Path(path).is_file():
                whole.update(f"{path} {content(path)} {libraries(path)}".encode())
    return whole.hexdigest()


@cache
def content(path: str) -> str:
    """Return the digest of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def libraries(program: str) -> str:
    """Return the libraries of a program as they are now; "" for a script."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return " ".join(stamp(Path(path)) for path in re.findall(r"(?:=> |^\t)(/\S+)", done.stdout))


def stamp(path: Path) -> str:
    """Return a file's name, size, and time."""
    if not path.exists():
        return f"{path} -"
    now = path.stat()
    return f"{path} {now.st_size} {now.st_mtime_ns}"


def shared() -> str:
    """Return what the outcome of every test depends on besides its program."""
    inputs = sorted(path for path in DATA.iterdir() if path.suffix not in (".cpp", ".hpp"))
    files = [f"{path.name} {content(str(path))}" for path in inputs if path.is_file()]
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if READ.match(name))
    return "\n".join([*files, *variables, stamp(LOADER)])


def passed_in(report: Path) -> set[str]:
    """Return the tests that passed, by ctest's report."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return {one.attrib["name"] for one in cases if one.attrib["status"] == "run"}


def main(tree: Path, options: list[str]) -> int:
    """Run them; the exit code of ctest."""
    common = shared()
    now = {name: digest(test, common) for name, test in tests_in(tree, options).items()}
    record = tree / PASSED
    before = json.loads(record.read_text()) if record.exists() else {}
    changed = [name for name, one in now.items() if before.get(name) != one]
    if unchanged := len(now) - len(changed):
        print(f"LEFT OUT [{unchanged}] have not changed since they passed", flush=True)
    if now and not changed:
        return 0
    report = tree.resolve() / "report.xml"
    report.unlink(missing_ok=True)
    if unchanged:
        options = [*options, "-R", f"^({'|'.join(re.escape(name) for name in changed)})$"]
    words = ["ctest", "--test-dir", str(tree), "--no-tests=error", "--output-on-failure"]
    code = subprocess.run([*words, "--output-junit", str(report), *options], check=False).returncode
    if report.exists():
        good = passed_in(report) & {*changed}
        part = record.with_suffix(".part")
        part.write_text(json.dumps({**before, **{name: now[name] for name in good}}))
        part.replace(record)
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
