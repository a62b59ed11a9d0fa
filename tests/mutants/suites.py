# SPDX-License-Identifier: BSD-3-Clause
"""Running the tests of mutants, in copies of the checkout: those of pytest, and those of ctest."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

import pytest
from mutant import CAUGHT, FAILS, SURVIVED, UNFIT, Mutant, Verdict

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build" / "mutants"
LIMIT_S = 120
"""Seconds a test may take; all take a small part of it, so more is a test that waits for ever."""
BUILD_LIMIT_S = 1800
BROKEN = 70
"""Exit code of a process that could not import the mutated module; pytest has no such code."""
FAILED = re.compile(r"^FAILED (.*?)(?: - .*)?$", re.MULTILINE)
PRELOADED = ("matplotlib.figure", "numpy", "pydantic", "pytest", "rich.table", "scipy.stats")
"""Packages that take long to import, and are not part of haloscope."""


@dataclass(frozen=True)
class Ended:
    """A command's exit code, None where it was stopped at its time limit, and what it printed."""

    code: int | None
    output: str


def run(command: Sequence[str | Path], folder: Path, limit_s: float, **variables: str) -> Ended:
    """Run a command with all that it starts in a session of its own, which ends with it."""
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", start_new_session=True,
    )  # fmt: skip
    code: int | None = None
    try:
        output, _ = process.communicate(timeout=limit_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return Ended(code, output)


class Copy:
    """A copy of the checkout that mutants are applied to."""

    def __init__(self, folder: Path) -> None:
        """`folder`: what is there is brought up to date; files that are the same are left alone."""
        self.folder = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(
            listed, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        names = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
        for name in names:
            self._bring(name)
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            inside = path.relative_to(folder)
            made = inside.parts[0] == "build" or "__pycache__" in inside.parts
            if not made and str(inside) not in names:
                path.unlink()

    def _bring(self, name: str) -> None:
        source, target = ROOT / name, self.folder / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)  # its time is now: what is built of it is built anew

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """While a mutant is applied to it."""
        path = self.folder / mutant.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(whole, encoding="utf-8")


def pytest_in(folder: str, module: str, tests: Sequence[str], log: str) -> None:
    """Run tests of a copy, in a process of its own; exits as pytest does, or with BROKEN."""
    os.setsid()  # so that all that it starts can be ended with it
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    source = f"{folder}/src"
    sys.path.insert(0, source)
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        there = importlib.import_module(module).__file__ or ""
    except Exception as error:
        print(f"{module} can't be imported: {error!r}", flush=True)
        sys.exit(BROKEN)
    if not there.startswith(source):
        print(f"imported from {there}, not from the copy", flush=True)
        sys.exit(BROKEN)
    sys.exit(int(pytest.main(["-q", "-x", "--tb=line", "-p", "no:cacheprovider", *tests])))


class PythonTests:
    """Tests of pytest, in as many copies as run side by side.

    limit_s: what one may take. Tests that want halobench for SimGrid build it in their copy.
    """

    def __init__(self, jobs: int, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        # Each test runs in a fork of one process that has imported all but haloscope: seconds less.
        self._forks = multiprocessing.get_context("forkserver")
        self._forks.set_forkserver_preload([*PRELOADED])
        self._copies: SimpleQueue[Copy] = SimpleQueue()
        self._jobs = jobs
        for number in range(jobs):
            copy = Copy(SCRATCH / f"python-{number}")
            # Compiled files that are valid by content: a mutant may be as long and as old as what
            # it replaces.
            compiled = [sys.executable, "-m", "compileall", "-q"]
            compiled += ["--invalidation-mode", "checked-hash", "src"]
            run(compiled, copy.folder, LIMIT_S)
            self._copies.put(copy)

    def failing(self, mutants: Sequence[Mutant]) -> dict[str, str]:
        """Return those of their tests that fail, are skipped, or are missing without any mutant."""
        tests = list(dict.fromkeys(mutant.test for mutant in mutants))
        copy = self._copies.get()
        try:
            if _passes(self._run(copy, "haloscope", tests, self._limit_s * len(tests))):
                return {}
            each = {test: self._run(copy, "haloscope", [test]) for test in tests}
        finally:
            self._copies.put(copy)
        return {test: _end_of(ended.output) for test, ended in each.items() if not _passes(ended)}

    def verdicts(self, mutants: Sequence[Mutant]) -> Iterator[Verdict]:
        """What becomes of each mutant, in their order."""
        with ThreadPoolExecutor(self._jobs) as pool:
            yield from pool.map(self._verdict, mutants)

    def _verdict(self, mutant: Mutant) -> Verdict:
        copy = self._copies.get()
        try:
            with copy.mutated(mutant):
                ended = self._run(copy, _module(mutant.file), mutant.test.splitlines())
        finally:
            self._copies.put(copy)
        if ended.code is None:
            return Verdict(mutant, CAUGHT, f"its test did not end within {self._limit_s:.0f} s")
        if ended.code == 0:
            return Verdict(mutant, SURVIVED, f"{mutant.test} passes")
        if ended.code != 1:  # pytest: all but a test that failed
            return Verdict(mutant, UNFIT, _end_of(ended.output))
        return Verdict(mutant, CAUGHT, "; ".join(FAILED.findall(ended.output)))

    def _run(
        self, copy: Copy, module: str, tests: Sequence[str], limit_s: float | None = None
    ) -> Ended:
        log = copy.folder.with_suffix(".log")
        words = (str(copy.folder), module, tests, str(log))
        child = self._forks.Process(target=pytest_in, args=words)
        child.start()
        child.join(limit_s or self._limit_s)
        if child.is_alive():
            os.killpg(child.pid or 0, signal.SIGKILL)
            child.join()
            return Ended(None, "")
        return Ended(child.exitcode, log.read_text(encoding="utf-8", errors="replace"))


def _passes(ended: Ended) -> bool:
    return ended.code == 0 and " skipped" not in _end_of(ended.output)


def _module(file: str) -> str:
    """The module that a file is; the package itself for what is none."""
    path = Path(file)
    if path.suffix != ".py":
        return "haloscope"
    return ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(".__init__")


class CxxTests:
    """Tests of ctest, in one copy with a build of its own that is kept from run to run."""

    @cached_property
    def _copy(self) -> Copy:
        copy = Copy(SCRATCH / "cxx")
        code = "from haloscope.toolchains.library import ensure; "
        code += "print(ensure(say=lambda _: None).mpicxx)"
        compiler = run([sys.executable, "-c", code], ROOT, LIMIT_S).output.strip()
        options = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=None"]
        options += ["-DCMAKE_CXX_FLAGS=-O1", "-DHALOBENCH_TESTS=ON"]
        configure = ["cmake", "-G", "Ninja", "-S", "halobench", "-B", "build", *options]
        ended = run(configure, copy.folder, BUILD_LIMIT_S)
        if ended.code != 0:
            raise RuntimeError(ended.output)
        return copy

    def failing(self, mutants: Sequence[Mutant]) -> dict[str, str]:
        """Return those of their tests that fail or are missing without any mutant."""
        tests = list(dict.fromkeys(mutant.test for mutant in mutants))
        built = self._build(sorted({mutant.program for mutant in mutants}))
        if built.code != 0:
            return dict.fromkeys(tests, _end_of(built.output))
        each = {test: self._test(test) for test in tests}
        return {test: _end_of(ended.output) for test, ended in each.items() if ended.code != 0}

    def verdicts(self, mutants: Sequence[Mutant]) -> Iterator[Verdict]:
        """What becomes of each mutant, in their order."""
        for mutant in mutants:
            with self._copy.mutated(mutant):
                built = self._build([mutant.program])
                if built.code != 0:
                    yield Verdict(mutant, UNFIT, f"does not build: {_first_error(built.output)}")
                    continue
                ended = self._test(mutant.test)
            if ended.code == 0:
                yield Verdict(mutant, SURVIVED, f"{mutant.test} passes")
            else:
                late = ended.code is None or "***Timeout" in ended.output
                yield Verdict(mutant, CAUGHT, "its test did not end in time" if late else "")

    def _build(self, targets: Sequence[str]) -> Ended:
        command = ["cmake", "--build", "build", "--target", *targets]
        return run(command, self._copy.folder, BUILD_LIMIT_S)

    def _test(self, name: str) -> Ended:
        command = ["ctest", "--test-dir", "build", "--no-tests=error", "-R", f"^{name}$"]
        return run(command, self._copy.folder, LIMIT_S)


def _first_error(output: str) -> str:
    """What a compiler says is wrong."""
    errors = (line for line in output.splitlines() if "error" in line)
    return next(errors, _end_of(output))


def _end_of(output: str) -> str:
    """The last lines of what was printed, as one."""
    return " / ".join(line.strip() for line in output.strip().splitlines()[-3:])


def judged(mutants: Sequence[Mutant], suite: PythonTests | CxxTests) -> Iterator[Verdict]:
    """Verdicts on mutants whose tests pass without them; the others are only reported."""
    failing = suite.failing(mutants)
    for mutant in (one for one in mutants if one.test in failing):
        yield Verdict(mutant, FAILS, f"{mutant.test}: {failing[mutant.test]}")
    yield from suite.verdicts([mutant for mutant in mutants if mutant.test not in failing])


def all_judged(mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """The verdicts on mutants that can be applied, those of pytest first."""
    by_pytest = [mutant for mutant in mutants if not mutant.by_ctest and not mutant.is_built]
    built = [mutant for mutant in mutants if not mutant.by_ctest and mutant.is_built]
    by_ctest = [mutant for mutant in mutants if mutant.by_ctest]
    if by_pytest:
        yield from judged(by_pytest, PythonTests(min(jobs, len(by_pytest))))
    if built:
        yield from judged(built, PythonTests(1, BUILD_LIMIT_S))
    if by_ctest:
        yield from judged(by_ctest, CxxTests())
