# SPDX-License-Identifier: BSD-3-Clause
"""A mutant: one small deliberate breakage of the code, and the test that must fail with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CAUGHT, SURVIVED, STALE, UNFIT, FAILS = "caught", "SURVIVED", "STALE", "UNFIT", "FAILS BEFORE"
"""Its test fails or passes; the change or the test cannot be applied; the test fails without it."""


@dataclass(frozen=True)
class Mutant:
    """One deliberate breakage; its topic is the name of its file."""

    topic: str
    id: str
    file: str
    old: str
    new: str
    why: str
    test: str

    @property
    def by_ctest(self) -> bool:
        """Whether its test is one of ctest's."""
        return not self.test.startswith("tests/")

    @property
    def is_built(self) -> bool:
        """Whether it is in halobench, which is built anew with it."""
        return self.file.startswith("halobench/")

    @property
    def program(self) -> str:
        """What its test of ctest runs, as halobench/tests/CMakeLists.txt names it."""
        return re.sub(r"_\d+$", "", self.test) if self.test.startswith("test_") else "test_kernels"

    @property
    def test_file(self) -> str:
        """Where its test stands."""
        if self.by_ctest:
            return f"halobench/tests/{self.program}.cpp"
        return self.test.partition("::")[0]

    def stale(self, root: Path) -> str | None:
        """Return why it cannot be applied; None if it can."""
        path = root / self.file
        if not path.is_file():
            return f"there is no {self.file}: name the file that this moved to"
        times = path.read_text(encoding="utf-8").count(self.old)
        if times > 1:
            return f"its old text occurs {times} times in {self.file}: take more around it"
        if times == 0:
            return f"its old text is not in {self.file}: {self._moved_to(root)}"
        if not self._has_test(root):
            return f"there is no test {self.test}: name what it is called, or where it is, now"
        return None

    def _moved_to(self, root: Path) -> str:
        """What to do, by where the old text is now."""
        top, suffix = Path(self.file).parts[0], Path(self.file).suffix
        files = (root / top).rglob(f"*{suffix}")
        there = [path for path in files if self.old in path.read_text(encoding="utf-8")]
        if not there:
            return "take the text as it is now, or leave this out where there is no such thing"
        return f"it is in {', '.join(str(path.relative_to(root)) for path in sorted(there))}"

    def _has_test(self, root: Path) -> bool:
        """Whether its test is there, as far as names tell."""
        path = root / self.test_file
        if self.by_ctest:
            return path.is_file()
        name = self.test.partition("::")[2].partition("[")[0]
        return path.is_file() and f"def {name}(" in path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant, and how, where there is more to say."""

    mutant: Mutant
    word: str
    note: str = ""

    def __str__(self) -> str:
        line = f"{self.word:12}  {self.mutant.topic}: {self.mutant.id}"
        return f"{line}  ({self.note})" if self.note else line


def read(folder: Path) -> list[Mutant]:
    """All mutants, file by file. ValueError where two have one id, or one changes nothing."""
    mutants = [
        Mutant(path.stem, **table)
        for path in sorted(folder.glob("*.toml"))
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    ids = [mutant.id for mutant in mutants]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise ValueError(f"more than once: {', '.join(sorted(twice))}")
    if same := [mutant.id for mutant in mutants if mutant.old == mutant.new]:
        raise ValueError(f"nothing is changed by {', '.join(same)}")
    return mutants


def chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    """Those of these topics and ids; all where none is named. ValueError for unknown names."""
    known = {name for mutant in mutants for name in (mutant.topic, mutant.id)}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no topic or id: {', '.join(unknown)}; --list shows them")
    return [one for one in mutants if not names or {one.topic, one.id} & {*names}]
