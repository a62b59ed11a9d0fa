# SPDX-License-Identifier: BSD-3-Clause
"""One launch of an external program: the command of its ranks, and its result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from haloscope.errors import UserError
from haloscope.host.process import Ended
from haloscope.paths import opened
from haloscope.programs import needs
from haloscope.programs.file import ExternalProgram, filled, of_a_launch
from haloscope.programs.output import Answer, Asked, UnreadableError, answer
from haloscope.programs.schema import InputFile
from haloscope.programs.values import SIZES
from haloscope.quantities import parse_cpu_list
from haloscope.study.case import Case
from haloscope.toolchains.library import Toolchain

OUTPUT_LIMIT = 1 << 24
"""OUTPUT_LIMIT is the maximum number of characters read from an output's end; logs have about
10,000.
"""


@dataclass(frozen=True)
class ExternalLaunch:
    """A launch of a case. folder: its own, visible on all of its nodes."""

    program: ExternalProgram
    toolchain: Toolchain
    case: Case
    folder: Path

    @cached_property
    def ready(self) -> needs.Ready:
        """The requirements it runs with here."""
        return needs.ready(self.program, self.toolchain)

    @property
    def run(self) -> Path:
        """The folder that ranks run in."""
        return self.folder / "run"

    @cached_property
    def values(self) -> dict[str, object]:
        """Return the values of all names in braces."""
        own = {"folder": self.program.folder, "run": self.run}
        return {**of_a_launch(self.case.layout), **self.case.params, **self.ready.needs, **own}

    def words(self) -> list[str]:
        """Return the command of each rank, with inputs in place. Raise UnreadableError without an
        input.
        """
        command = self.prepared()
        given = [f"{key}={text}" for key, text in self.variables().items()]
        script = str(files("haloscope.toolchains.launching") / "seen_rank.sh")
        return ["sh", script, str(self.folder), *given, "--", *command]

    def prepared(self) -> list[str]:
        """Return the program's own command, with inputs in place. Raise UnreadableError without
        one.
        """
        if self.ready.lacking:
            raise UnreadableError(self.ready.lacking)
        self.run.mkdir()
        for one in self.program.said.inputs:
            self._put(one)
        words = [filled(word, self.values) for word in self.program.said.command]
        if self.ready.executable is not None:
            words[0] = str(self.ready.executable)
        return words

    def variables(self) -> dict[str, str]:
        """Return additional variables: for its MPI library, and its own."""
        own = self.program.said.environment
        return needs.environment(self.toolchain) | {
            key: filled(text, self.values) for key, text in own.items()
        }

    def _put(self, one: InputFile) -> None:
        """Put an input into the launch's folder: a link to it, or the modified text."""
        path = self.program.folder / filled(one.file, self.values)
        there = self.run / (one.name or path.name)
        if not path.is_file():
            raise UnreadableError(f"input file not found: {path}")
        if there.is_symlink() or there.exists():
            what = (
                f"two input files are named {there.name}; set 'name' in [[inputs]] for one of them"
            )
            raise UnreadableError(what)
        if not one.fill and not one.replace:
            there.symlink_to(path)
            return
        text = _content(path).decode(errors="surrogateescape")  # bytes that are not text are kept
        for each in one.replace:
            by = filled(each.by, self.values).replace("\\", r"\\")  # no group references
            text, count = re.subn(each.pattern, by, text, flags=re.MULTILINE)
            if count == 0:
                what = f"the pattern '{each.pattern}' matches nothing in the input file {path}"
                raise UnreadableError(what)
        text = filled(text, self.values, known_alone=True) if one.fill else text
        there.write_bytes(text.encode(errors="surrogateescape"))

    def answer(self, ended: Ended) -> Answer:
        """Return the interpreted output."""
        asked = Asked(
            self.case.params, self.case.layout.ranks, self.case.layout.threads, self._references()
        )
        name = self.program.said.output.file
        if name is None:
            return answer(self.program.said, ended.output, asked)
        if not (path := self.run / name).is_file():
            return Answer("failed", f"the program did not write {name}")
        return answer(self.program.said, _end(path), asked)

    def _references(self) -> dict[int, str]:
        """Return the text of each check's reference."""
        found = {}
        for index, check in enumerate(self.program.said.verify):
            if check.reference is None:
                continue
            path = self.program.folder / filled(check.reference, self.values)
            fitting = sorted(path.parent.glob(path.name))
            if not fitting:
                raise UnreadableError(f"reference file not found: {path}")
            found[index] = _end(fitting[-1])
        return found

    def seen(self) -> list[dict[str, Any]]:
        """Return the place of each rank when it became the program, by rank."""
        found = []
        for file in self.folder.glob("seen.*"):
            words = file.read_text(encoding="utf-8").split()
            if len(words) == 3:  # a killed rank may have written none
                cpus = parse_cpu_list(words[2])
                one = {"rank": int(words[0]), "host": words[1], "cpus": cpus, "thread_cpus": []}
                found.append(one)
        return sorted(found, key=lambda one: int(one["rank"]))

    def as_record(self, said: Answer | None = None) -> Mapping[str, Any]:
        """Return the facts about the program for a record."""
        executable = self.ready.executable
        return {
            "file": str(self.program.trusted.file),
            "hash": self.program.hash,
            "executable": str(executable) if executable else None,
            "version": self.ready.version,
            "launcher": self.toolchain.version,
            "verified": bool(self.program.said.verify)
            and said is not None
            and said.outcome == "ok",
            "checked": list(said.checked) if said else [],
            "units": self.program.said.units,
            **self._size_unit(),
            **({"untimed": [*said.untimed]} if said and said.untimed else {}),
        }

    def _size_unit(self) -> Mapping[str, str]:
        """Return the unit of a sweep's sizes, if it is not bytes."""
        points = self.program.said.points
        unit = points.size_unit if points else "B"
        return {} if unit in SIZES else {"size_unit": unit}


def _end(path: Path) -> str:
    """Return the text of an output, or its end. Raise UnreadableError if it is missing."""
    return _content(path, OUTPUT_LIMIT).decode(errors="replace")


def _content(path: Path, most: int | None = None) -> bytes:
    """Return a file, or its last `most` bytes. Raise UnreadableError if it is missing."""
    try:
        with opened(path) as file:
            size = file.seek(0, 2)
            file.seek(0 if most is None else max(0, size - most))
            return file.read()
    except (OSError, UserError) as error:
        raise UnreadableError(f"cannot read {path}: {error}") from error
