# SPDX-License-Identifier: BSD-3-Clause
"""The list of steps, in the order in which they begin."""

from __future__ import annotations

import shutil
from typing import Any

from checking.builds import CROWDED, MPI, build, build_for, ctest, cuda, cxx_sources
from checking.selection import PYTHON_TESTS
from checking.step import Step
from checking.tools import PYTHON, ROOT, SIMGRID, mpicxx, needs, no_cluster

SOURCES = ["src", "tests", "bench", "packaging", "docs", "check"]
CXX = ("halobench",)
CODE = ("src", "tests", "bench", "packaging")
ROOT_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md")
SPHINX = ("--fail-on-warning", "--keep-going", "-q", "-E")
OWN_STEP = ("tests/test_simulated.py", "tests/faults/test_kill_and_disks.py")
"""OWN_STEP is files of Python tests that have a step of their own."""


def environment_step() -> Step:
    """The first step, which makes what all others run in, with FFTW."""
    provided = [str(PYTHON), "tests/support/checking/provided.py", "environment"]
    return Step("environment", lambda: [["./haloscope", "--version"], provided])


def steps(cores: int, *, whole: bool) -> list[Step]:
    """All others. whole: with C++ tests that have not changed since they passed."""
    return [
        Step(
            "build: MPI",
            build_for(MPI, "release", "test_kernels"),
            reached_from=CXX,
            when_reached=True,
        ),
        *_formats(),
        *_simulation(),
        Step("types: Python", lambda: [["mypy"]], reached_from=CODE, gives_way=True),
        python_tests(  # takes longest, and begins as soon as its programs are built
            "tests: a cluster in a box",
            *marked("lab", "minutes", "long"),
            skip=no_cluster,
            after=("build: MPI",),
            level="usual",
            waits=True,
        ),
        *_uses(cores),
        *_cxx(cores, whole),
        *_whole(),
    ]


def python_tests(name: str, *words: str, **more: Any) -> Step:
    """A part of the Python tests; -r names those that failed, were skipped, had a second try."""
    command = ["pytest", "-q", "-rfEsR", "--reruns", "1", "--durations", "15", *words]
    return Step(name, lambda: [command], tests=words, **more)


def marked(mark: str, *others: str) -> tuple[str, ...]:
    """Words that select the tests with a marker, and of the files only those that contain it."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    has = [path for path in files if f"pytest.mark.{mark}" in path.read_text(encoding="utf-8")]
    words = " and ".join((mark, *(f"not {one}" for one in others)))
    return ("-m", words, *(str(path.relative_to(ROOT)) for path in has))


def _formats() -> list[Step]:
    """What reads files alone."""
    return [
        Step(
            "format: C++",
            lambda: [["clang-format", "--dry-run", "-Werror", *cxx_sources()]],
            reached_from=("halobench", "profiler", "tests", "docs/examples", ".clang-format"),
            remedy=".venv/bin/clang-format -i FILE...",
        ),
        Step(
            "format: Python",
            lambda: [["ruff", "format", "--check", *SOURCES]],
            reached_from=CODE,
            remedy=f".venv/bin/ruff format {' '.join(SOURCES)}",
        ),
        Step("lint: Python", lambda: [["ruff", "check", *SOURCES]], reached_from=CODE),
        Step("spelling", lambda: [["codespell"]]),
        Step("schemas: ready files", _schemas),
        Step(
            "documentation: site",
            lambda: [["sphinx-build", *SPHINX, "docs", "build/site"]],
            reached_from=("docs", "src", *ROOT_PAGES),
            when_reached=True,
        ),
        Step(
            "mutants: the catalogue fits",
            lambda: [[str(PYTHON), "tests/mutants/run.py", "--check-stale"]],
        ),
    ]


def _schemas() -> list[list[str]]:
    """Every ready file is as the schema allows that `haloscope schema` prints for its kind."""
    kinds = {
        "study": ["studies/*.toml", "docs/examples/*.toml"],
        "cluster": ["clusters/*.toml", "docs/examples/*/cluster.toml"],
        "paper": ["papers/*/paper.toml"],
        "program": ["programs/*/program.toml", "docs/examples/*/program.toml"],
    }
    return [
        ["check-jsonschema", "--schemafile", f"docs/schemas/{kind}.json"]
        + [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        for kind, patterns in kinds.items()
    ]


def _simulation() -> list[Step]:
    """What needs SimGrid."""
    return [
        Step(
            "build: SMPI",
            build_for("simgrid", "smpi", "all"),
            skip=SIMGRID,
            level="usual",
            gives_way=True,
        ),
        python_tests(
            "tests: golden simulated times",
            "tests/test_simulated.py",
            skip=SIMGRID,
            after=("build: SMPI",),
            level="usual",
            reached_from=(*CXX, "tests", "src", "clusters"),
        ),
        Step(
            "end to end: a simulated study",
            _simulated_study,
            skip=SIMGRID,
            after=("build: SMPI",),
            level="usual",
        ),
    ]


def _study(cores: int) -> list[list[str]]:
    """A small study from its file to its report; compare's 3 says that two launches can't tell."""
    out = ROOT / "build" / "end-to-end"
    shutil.rmtree(out, ignore_errors=True)
    oversubscribe = ["--oversubscribe"] if cores < 2 else []
    return [
        ["./haloscope", "describe", "pingpong"],
        ["./haloscope", "run", "tests/data/tiny.toml", "--out", str(out), *oversubscribe],
        ["./haloscope", "run", "--resume", str(out)],
        ["./haloscope", "report", str(out)],
        ["./haloscope", "show", str(out)],
        ["sh", "-c", './haloscope compare "$1" "$1"; test $? -eq 2', "compare", str(out)],
    ]


def _simulated_study() -> list[list[str]]:
    """The same study on a simulated cluster."""
    out = ROOT / "build" / "end-to-end-simulated"
    shutil.rmtree(out, ignore_errors=True)
    return [["./haloscope", "run", "tests/data/tiny.toml", "--on", "stampede2", "--out", str(out)]]


def _uses(cores: int) -> list[Step]:
    """The Python tests, and haloscope as people use it."""
    parallel = ("-n", str(cores + 1), "--dist", "loadfile")  # a file prepares once
    marks = "not toolchains and not latex and not minutes and not long and not lab and not coverage"
    ignored = [word for name in OWN_STEP for word in ("--ignore", name)]
    return [
        python_tests(
            PYTHON_TESTS,
            *(*parallel, "-m", marks, *ignored),
            after=("build: MPI", "build: SMPI"),
        ),
        Step("end to end: a study", lambda: _study(cores), after=("build: MPI",), level="usual"),
        python_tests(
            "tests: kills and full disks",
            *(OWN_STEP[1], "-m", "not long"),
            after=("build: MPI",),
            level="usual",
        ),
    ]


def _cxx(cores: int, whole: bool) -> list[Step]:
    """The C++ tests, as they are measured and with sanitizers."""

    def tests(name: str, preset: str, *options: str, **more: Any) -> Step:
        def commands() -> list[list[str]]:
            return ctest(preset, *options, cores=cores, whole=whole)

        return Step(name, commands, reached_from=CXX, **{"level": "usual", **more})

    few, many = "tests: C++, kernels on 1 and 2 ranks", "tests: C++, kernels on 3 and 4 ranks"
    sanitized = "tests: C++ with sanitizers"
    parts = "tests: C++, parts as they are measured"
    return [
        tests(few, "release", "-L", "kernels", "-LE", CROWDED, after=("build: MPI",)),
        Step(
            "build: sanitizers",
            build("sanitize", mpicxx, "halobench_tests"),
            reached_from=CXX,
            level="usual",
            gives_way=True,
        ),
        tests(  # parts on 1, 2 and 3 ranks, kernels on 2 with 2 threads
            sanitized,
            "sanitize",
            *("-E", "(1|3|4)_ranks|2_ranks_1|_(4|8)$"),
            after=("build: sanitizers",),
        ),
        tests(  # after the others: ctest's files are the same
            many,
            "release",
            *("-L", "kernels", "-L", CROWDED),
            after=("build: MPI", few),
            level="all",
            alone=True,
        ),
        tests(
            f"{sanitized}, 4 ranks and more",
            "sanitize",
            *("-L", "part", "-L", "4 ranks|8 ranks"),
            after=(sanitized,),
            level="all",
            alone=True,
        ),
        Step(
            "build: parts as they are measured",
            build("release", mpicxx, "halobench_tests"),
            after=(many,),
            reached_from=CXX,
            level="all",
            gives_way=True,
        ),
        tests(
            parts,
            "release",
            *("-L", "part"),
            after=("build: parts as they are measured",),
            level="all",
            alone=True,
        ),
    ]


def _whole() -> list[Step]:
    """What CI adds."""
    return [
        Step(
            "mutants: a sample of the core",
            lambda: [[str(PYTHON), "tests/mutants/sample.py", "--number", "20"]],
            after=(PYTHON_TESTS,),
            reached_from=("src", "tests"),
            level="all",
        ),
        python_tests(
            "tests: long faults",
            *marked("long"),
            skip=no_cluster,
            after=("tests: a cluster in a box", "tests: kills and full disks"),
            level="all",
            waits=True,
        ),
        python_tests(
            "tests: MPI libraries from PyPI", *marked("toolchains", "minutes"), level="all"
        ),
        python_tests("tests: coverage of statistics", *marked("coverage"), level="all"),
        Step("build: CUDA, without a GPU", cuda, reached_from=CXX, level="all", gives_way=True),
        python_tests(
            "tests: LaTeX compiles",
            *marked("latex"),
            skip=needs("pdflatex", "texlive-latex-recommended"),
            level="all",
        ),
    ]
