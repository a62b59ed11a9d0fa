# SPDX-License-Identifier: BSD-3-Clause
"""haloscope validate: simulate a paper's tables and compare them with the published values."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.padding import Padding
from rich.text import Text

from haloscope.analysis.dossier import open_folder
from haloscope.analysis.validation import residuals
from haloscope.analysis.validation.predictions import KeptError, KeptPredictions, PredictedCell
from haloscope.analysis.validation.published import called
from haloscope.analysis.validation.statements import scored
from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import assumed
from haloscope.clusters.checks.contradictions import FARTHEST_APART
from haloscope.clusters.schema import Cluster
from haloscope.commands.options import flag, number
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, outside, reject
from haloscope.papers.known_cells import KnownCell
from haloscope.papers.tables import PaperTable
from haloscope.papers.validated import ValidatedCell
from haloscope.paths import in_a_shell
from haloscope.predict import local_validation, paper_validation, planned_runs, validated_cells
from haloscope.predict.paper_validation import Replicates
from haloscope.predict.sensitivity import FACTOR, Moved, sensitivity
from haloscope.quantities import error
from haloscope.records.folder import ResultFolder
from haloscope.report import writing
from haloscope.report.draw import csv_files, terminal
from haloscope.report.predictions import predicted, prediction_errors, validating
from haloscope.report.predictions import statements as statement_tables
from haloscope.report.predictions.residuals import residual_tables
from haloscope.run.campaign import campaign
from haloscope.run.campaign.request import Request, start
from haloscope.run.progress import Teller
from haloscope.study.values import LAUNCHES_LIMIT
from haloscope.topics.common.table import Table
from haloscope.topics.mapping.plan_cells import plan_cells

_DESCRIPTION = """\
Simulate every readable cell of a paper's tables with the cluster file of its machine. The
difference between a simulated and a published value is reported as an error. Tables of wall
times, Jacobi updates per second, and times of GPU messages are supported, as well as comparisons of
jobs on few nodes with jobs on many. The
paper's statements are also checked against the simulated cells. For this purpose, runs that the
tables list without times are simulated too, unless --table or --from is given.

PAPER may also be `local`: the study validate-local then runs on this machine. Some of its launches
calibrate the model, and the others measure solves and messages, whose times the model then
predicts. The expected duration is printed before the first launch, or after one launch of each
case. To continue after an interruption, use run --resume. To evaluate only the completed launches,
use --from.

Values in cluster files come from data sheets, descriptions of machines, and cells of published
tables (see set_by in the file). The errors of cells that were used in this way are reported
separately from those of predicted cells. If a time computed from a paper's speedups is more precise
than the printed time, it is used instead. No error is computed for times with too few digits.

The error of a naive guess is listed beside each error. For times, the guess is the published time
on one node divided by the number of nodes. For rates, it is the rate of one rank multiplied by the
number of ranks. For GPU messages, it is latency + size / bandwidth. The skill is 1 - error / naive
error.

Papers that report wall times do not specify how processes were placed on a node. The processes are
assumed to be spread over the sockets of the node. On several nodes of tara, they are assumed to be
unbound, because tara's cluster file contains the cost of unbound processes. If bind = "close" were
assumed instead, predictions for partly filled nodes would be up to 2.2 times the published time
(table 4.1 of hpcf-2018-10, one node).

One assumption was made after results for several nodes were known: sums over all ranks use a tree
(key `collectives` in the cluster files). With other algorithms, the predictions of table 4.1 of
hpcf-2018-10 change little.
"""
_EPILOG = """\
examples:
  haloscope validate hpcf-2018-10                  all its tables (minutes, later from a cache)
  haloscope validate hpcf-2010-6 --table 5.1       one table
  haloscope validate orfeo-mpi-report              Jacobi on ORFEO's nodes
  haloscope validate hpcf-2018-10 --csv cells.csv  write all cells as CSV
  haloscope validate hpcf-2018-10 --out results/v  write a report
  haloscope validate hpcf-2018-10 --table 4.1 --sensitivity
                                                   find the assumed value that matters most
  haloscope validate hpcf-2018-10 --table 4.1 --replicates 7
                                                   ... with seven random sets of nodes
  haloscope validate hpcf-2010-6 --residuals       show where the errors are
  haloscope validate task-mapping-drop             jobs on few and on many nodes
  haloscope validate task-mapping-drop --from results/lammps-eagle --from results/fft-eagle
                                                   ... and score its statements on these runs
                                                   instead of simulating what they need
  haloscope validate hpcf-2010-6 --write-bands     keep the errors for reports
  haloscope validate local                         measure and predict this machine
  haloscope validate local --from results/DIR      predict earlier measurements, of this machine or
                                                   of run validate-local --on SITE
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `validate`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add(
        "paper",
        metavar="PAPER",
        help="id of a paper (see haloscope paper list), or local for this machine",
    )
    add("--table", metavar="ID", action="append", default=[], help="use this table (repeatable)")
    add("--csv", metavar="FILE", help="write all cells to FILE as CSV")
    add(
        "--from",
        metavar="DIR",
        dest="folders",
        action="append",
        default=[],
        help="with local, evaluate the measurements in DIR; with a paper, check its statements "
        "against the cases in DIR (repeatable)",
    )
    flag(
        parser,
        "--disturbed",
        "with local, accept a calibration that was disturbed by other processes",
    )
    add("--out", metavar="DIR", help="write a report to DIR")
    flag(
        parser,
        "--write-bands",
        "write papers/PAPER/predicted.csv, which reports use for the error bands of simulated "
        "times (requires a source checkout)",
    )
    flag(
        parser,
        "--sensitivity",
        "for each assumed value in the cluster file, report how the predictions change if "
        f"the value is multiplied by {FACTOR:g}",
    )
    flag(
        parser,
        "--residuals",
        "also list outliers, and show how errors depend on nodes, processes per node, points "
        "per node, and message size",
    )
    number(parser, "--replicates", "simulate each cell N times, with node speeds drawn at random")
    add(
        "--spread",
        metavar="SHARE",
        type=float,
        help="with --replicates, relative standard deviation of node speeds (default: the value in "
        "the cluster file)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Simulate and show; return 1 if a cell could not be simulated."""
    reject(_unusable(arguments))
    if arguments.paper == "local":
        return _local(arguments)
    tell, out = Teller(Screen(stderr=True)), Screen()
    number = arguments.replicates
    replicates = None if number is None else Replicates(number, arguments.spread)
    cells: list[PredictedCell] = []
    tables: list[Table] = []
    without: list[str] = []
    kept: list[ValidatedCell] = []
    chosen = paper_validation.tables_of(arguments.paper, arguments.table)
    for table in chosen:
        cells_of_table = paper_validation.validate(table, tell, replicates)
        shown = _show(table, cells_of_table, arguments, out)
        without += paper_validation.unreadable(table)
        kept += validated_cells.kept(table, cells_of_table)
        cells += cells_of_table
        machine = _machine(table)
        title = f"Published {', '.join([called(table.id), *machine])}"
        tables += [
            replace(one, id="-".join([one.id, *machine]), title=f"{title}: {one.title}")
            for one in shown
        ]
        if arguments.sensitivity:
            there = paper_validation.simulated_place(table).cluster
            _show_sensitivity(sensitivity(table, tell), there, out)
    if arguments.write_bands:
        out.lines(f"kept: {validated_cells.write(arguments.paper, kept)}")
    if not arguments.table:
        without += paper_validation.not_predicted(arguments.paper)
    for what in without:
        out.print(f"{what}\n")
    recorded = [cell for name in arguments.folders for cell in _recorded(arguments.paper, name)]
    if not (recorded or arguments.table):
        launches = replicates.number if replicates else 1
        planned = planned_runs.simulated_cells(arguments.paper, tell, launches)
        recorded = [*planned.cells]
        for note in planned.notes:
            out.print(f"{note}\n")
    clusters = {
        table.id: [str(one.facts["cluster_file"]) for one in chosen if one.id == table.id]
        for table in chosen
    }
    _conclude(arguments, cells, recorded, tables, without, clusters, out)
    return 1 if any(cell.problem for cell in cells) else 0


def _machine(table: PaperTable) -> list[str]:
    return [str(table.facts["cluster_file"])] if table.machines else []


def _show(
    table: PaperTable, cells: Sequence[PredictedCell], arguments: argparse.Namespace, out: Screen
) -> list[Table]:
    caption = ", ".join([table.caption, *_machine(table)])
    out.print(Text(f"{table.paper}, table {table.id}: {caption}", style="bold"))
    if own := cluster_file.of_the_user(str(table.facts["cluster_file"])):
        out.lines(f"simulated on {own}")
    out.print("predicted value; below it, the published value and the ratio of the two\n")
    shown = predicted.published_tables(cells, paper_validation.said(table))
    if arguments.residuals:
        shown += residual_tables(residuals.of_cells(cells), table.id)
    out.print(terminal.tables(shown))
    return shown


def _conclude(
    arguments: argparse.Namespace,
    cells: Sequence[PredictedCell],
    recorded: Sequence[KnownCell],
    tables: Sequence[Table],
    without: Sequence[str],
    clusters: Mapping[str, Sequence[str]],
    out: Screen,
) -> None:
    if len({cell.table for cell in cells}) > 1:
        out.print(Text("All tables", style="bold"))
        every = [
            *prediction_errors.errors(cells, "all"),
            *prediction_errors.beside_guesses(cells, "all"),
        ]
        out.print(terminal.tables(every))
    if judged := scored(arguments.paper, cells, recorded):
        shown = statement_tables.simulated(judged)
        out.print(Text("Statements of the paper", style="bold"))
        out.print(terminal.tables(shown))
        tables = [*tables, *shown]
    if arguments.csv:
        csv_files.write_table(predicted.every_cell(cells), Path(arguments.csv))
    if arguments.out:
        title = f"Predicted and published: {arguments.paper}"
        found = (
            ("paper", arguments.paper),
            ("tables", ", ".join(dict.fromkeys(one.table for one in cells))),
        )
        made = validating.of_paper(title, cells, tables, found, clusters, without)
        out.lines(f"report: {writing.write_apart(made, Path(arguments.out))}")


def _recorded(paper: str, name: str) -> list[KnownCell]:
    dossier = open_folder(Path(name))
    host = str((dossier.machine or {}).get("host"))
    if not (found := list(plan_cells(paper, dossier.cases, host))):
        remedy = (
            "give result folders of the paper's built-in studies (haloscope list) on its clusters"
        )
        raise UserError(
            Problem(f"--from {name}", f"no case of this folder is in a table of {paper}", remedy)
        )
    return found


def _show_sensitivity(found: Sequence[Moved], cluster: Cluster, out: Screen) -> None:
    if found:
        out.print(f"Change of the predictions if an assumed value of {cluster.name} is multiplied")
        out.print(f"by {FACTOR:g} (over cells with published values, if there are any):")
        out.print()
    else:
        out.print(f"{cluster.name} has no assumed values")
    for one in found:
        keys = ", ".join(f"{key} = {value}" for key, value in one.farthest.keys.items())
        median = error(one.median, sign="")
        assumption = one.assumption
        out.lines(f"  {assumption.where} = {assumption.value:g}")
        out.print(f"    median {median}, maximum {error(one.change)} at {keys}")
        out.print(Padding(Text(assumption.source, style="dim"), (0, 0, 0, 4)))
    for why, others in _untried(cluster).items():
        if others:
            out.print(f"Also assumed, but not varied ({why}): {', '.join(others)}")
    out.print()


def _untried(cluster: Cluster) -> dict[str, list[str]]:
    fixed = [one for one in assumed(cluster) if one.value is not None and not one.scalable]
    return {
        "not a number": [one.where for one in assumed(cluster) if one.value is None],
        "cannot be scaled by a factor": [f"{one.where} = {one.value:g}" for one in fixed],
    }


def _unusable(arguments: argparse.Namespace) -> Iterator[Problem]:
    if arguments.paper == "local":
        for option in ("sensitivity", "table"):
            if getattr(arguments, option):
                what = "supported only for published tables"
                yield Problem(f"--{option}", what, f"remove --{option}")
    if arguments.sensitivity and arguments.replicates is not None:
        what = "cannot be combined with --replicates"
        yield Problem("--sensitivity", what, "remove one of them")
    if arguments.write_bands:
        yield from _unusable_bands(arguments)
    yield from _not_a_paper(arguments.paper)
    yield from _unusable_replicates(arguments)
    if arguments.paper == "local" and len(arguments.folders) > 1:
        yield Problem("--from", "given more than once", "give one folder")
    if arguments.paper != "local" and arguments.disturbed:
        what = "supported only with haloscope validate local"
        yield Problem("--disturbed", what, "remove --disturbed")
    if arguments.csv:
        path = Path(arguments.csv)
        if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            remedy = "give a file in an existing, writable folder"
            yield Problem(f"--csv {path}", "cannot write this file", remedy)


def _not_a_paper(name: str) -> Iterator[Problem]:
    if name.endswith(".toml"):
        remedy = "give the id of a paper (haloscope paper list)\n"
        remedy += "    to check a study: haloscope run FILE --dry-run\n"
        remedy += "    to check a cluster file: haloscope cluster show FILE"
        yield Problem(name, "expected the id of a paper, got a file name", remedy)


def _unusable_bands(arguments: argparse.Namespace) -> Iterator[Problem]:
    what = "bands require all tables of a paper, with one simulation per cell"
    if arguments.paper == "local":
        yield Problem("--write-bands", what, "give the id of a paper (haloscope paper list)")
    for option in ("table", "replicates"):
        if getattr(arguments, option):
            yield Problem("--write-bands", what, f"remove --{option}")


def _unusable_replicates(arguments: argparse.Namespace) -> Iterator[Problem]:
    for option in ("replicates", "spread"):
        if arguments.paper == "local" and getattr(arguments, option) is not None:
            what = "supported only for published tables"
            yield Problem(f"--{option}", what, f"remove --{option}")
    yield from outside("--replicates", arguments.replicates, LAUNCHES_LIMIT, least=2)
    if arguments.spread is not None and arguments.replicates is None:
        yield Problem("--spread", "requires --replicates", "add --replicates N")
    if arguments.spread is not None and not 0 < arguments.spread <= FARTHEST_APART:
        remedy = f"give a number above 0 and at most {FARTHEST_APART:g}; 0.02 means 2 %"
        yield Problem(f"--spread {arguments.spread:g}", "out of range", remedy)


def _local(arguments: argparse.Namespace) -> int:
    tell, out = Teller(Screen(stderr=True)), Screen()
    given = arguments.folders
    folder, code = (Path(given[0]), 0) if given else _measure_local(tell)
    records = predicted.digest(folder)
    done = local_validation.validate(folder, tell, disturbed=arguments.disturbed)
    cluster_file.write(done.model, folder / "calibrated.toml")
    every = predicted.every_time(done.predictions)
    errors = [KeptError(one.kernel, one.what, one.error) for one in done.predictions]
    kept = KeptPredictions(records, tuple(errors), done.failures, tuple(done.model.disturbed))
    predicted.keep(kept, folder)
    shown = predicted.measured_tables(done.predictions)
    if arguments.residuals:
        for kernel in dict.fromkeys(one.kernel for one in done.predictions):
            own = [one for one in done.predictions if one.kernel == kernel]
            shown += residual_tables(residuals.of_times(own), kernel)
    out.print(terminal.tables(shown))
    out.lines(f"predicted from {folder / 'calibrated.toml'}")
    out.lines(*(f"not simulated: {failure}" for failure in done.failures))
    if arguments.csv:
        csv_files.write_table(every, Path(arguments.csv))
    if arguments.out:
        found = (("real runs", str(folder)), ("calibration", done.model.source))
        made = validating.of_machine(done.predictions, shown, kept, found)
        out.lines(f"report: {writing.write_apart(made, Path(arguments.out))}")
    elif ResultFolder(folder).records.is_file():
        writing.conclude(folder, out)
    return 1 if done.failures else code


def _measure_local(tell: Teller) -> tuple[Path, int]:
    """Run the study; return its folder, and 1 if some launch failed."""
    real = start(Request(local_validation.STUDY), tell).probed()
    path = real.folder.path
    tell.say(f"expected time: {real.expected()}")
    try:
        campaign.measure(real, tell)
    except KeyboardInterrupt:
        folder = in_a_shell(path)
        further = f"haloscope validate local --from {folder}"
        tell.warn(f"\nTo continue: haloscope run --resume {folder}; then: {further}")
        raise
    return path, 1 if real.launches_left()[0] else 0
