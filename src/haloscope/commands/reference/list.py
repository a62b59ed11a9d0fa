# SPDX-License-Identifier: BSD-3-Clause
"""haloscope list: list studies, kernels, papers, clusters, and toolchains."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from haloscope.clusters import file as cluster_file
from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.papers import tables as papers
from haloscope.programs import file
from haloscope.programs.trust import Trusted, trusted
from haloscope.run.places.here import Here
from haloscope.run.prepare import halobench, kernels, workbench
from haloscope.run.prepare.workbench import Workbench
from haloscope.study import file as study_file
from haloscope.study.expansion import expand
from haloscope.toolchains import library

_DESCRIPTION = """\
List built-in studies, kernels, external programs, papers, clusters, and MPI libraries. Each study
is listed with the number of cases that it has on this machine. If its kernels have not been built
yet, cases that need too much memory or too many ranks are counted too. Nothing is downloaded or
built.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `list`, and add its arguments."""
    parser.description = _DESCRIPTION


def execute(arguments: argparse.Namespace) -> int:
    """Print the lists; return the exit code."""
    out = Screen()
    bench, _ = workbench.preview({"": None})

    def show(title: str, rows: Iterable[tuple[str, ...]]) -> None:
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        table.add_column(style="bold", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        out.print(table, "")

    show("studies", (_study(path, bench) for path in study_file.ready()))
    show("kernels", _kernels())
    show("external programs", _programs())
    show("papers", ((paper.id, paper.title) for paper in papers.list_papers()))
    show("clusters", _clusters())
    show("toolchains", ((one.name, one.version) for one in library.available()))
    return 0


def _kernels() -> list[tuple[str, str]]:
    def described(name: str) -> str:
        try:
            return halobench.describe(name).summary
        except UserError as error:  # a new kernel
            return "\n".join(f"{problem.what}: {problem.remedy}" for problem in error.problems)

    return [(name, described(name)) for name in halobench.names()]


def _programs() -> list[tuple[str, str]]:
    def described(one: Trusted) -> str:
        try:
            return file.load(one).said.summary
        except UserError:
            return f"invalid program.toml; for details: haloscope describe {one.name}"

    return [(name, described(one)) for name, one in trusted((), halobench.names()).items()]


def _clusters() -> list[tuple[str, str]]:
    def described(name: str, path: Path) -> str:
        try:
            source = cluster_file.load(path).source
        except UserError:
            source = f"invalid file; for details: haloscope cluster show {name}"
        return "\n".join(filter(None, (source, cluster_file.of_the_user(name))))

    return [(name, described(name, path)) for name, path in cluster_file.ready().items()]


def _study(path: Path, bench: Workbench) -> tuple[str, str, str]:
    study = study_file.load(path)
    bench = replace(bench, programs=kernels.load([run.kernel for run in study.runs], ()))
    plan = expand(study, Here().site(bench, oversubscribe=False), bench.program)
    most = "at most " if plan.unchecked else ""
    return path.stem, study.title, f"{most}{len(plan.cases)} cases"
