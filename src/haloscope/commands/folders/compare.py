# SPDX-License-Identifier: BSD-3-Clause
"""haloscope compare: compare two result folders, case by case."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.comparison import OPEN, Contrast
from haloscope.analysis.dossier import Dossier, open_folder
from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding
from haloscope.history.index import last_before
from haloscope.quantities import quantity
from haloscope.report import comparing, writing
from haloscope.report.compared import Compared, compare_cases
from haloscope.report.document import Document
from haloscope.report.draw import csv_files, json_document, junit, markdown, terminal
from haloscope.study.settings import OUTPUT, PROTOCOL, SIZES
from haloscope.toolchains.launching.tuning import in_words
from haloscope.topics.common.making import warning
from haloscope.topics.programs import UNPAIRED, ResultContrast, number_of, scale, texts_of

_DESCRIPTION = """\
Compare two result folders case by case, for example from before and after a change, or from two MPI
libraries.

Cases are matched by kernel, parameters, and layout. If the folders were measured with different MPI
libraries, one each, cases are matched across the two libraries. The times of all launches are
compared with a two-sided Mann-Whitney test, with Holm correction for the number of comparisons. The
ratio of two medians is printed with a confidence interval if there are at least 6 launches. If a
case measures several sizes, collective operations, or LogGP parameters, each is compared. For the
kernel stream, only the triad is compared. The table has one line per series of sizes; --details and
--csv list every size. The number of launches limits how many comparisons the test can decide.
With 3 launches per folder, it is none; with 5 launches, up to 6; with 8 launches, up to 300.

On a batch system, the test compares allocations instead of launches. Each allocation is represented
by the median over its launches. One comparison needs at least 4 allocations per folder, because the
smallest exact p-value of m and n allocations is 2 / C(m + n, m). With fewer allocations, the
verdict is "undecided". To measure in N jobs, use run --allocations N. To add jobs to a result
folder until it has N, use run --resume DIR --allocations N. If some cases run on several nodes, the
output lists the cases that a change in the network cannot affect.

The speed of the machine may drift between the two measurements. To rule this out, measure both
folders alternately, in several steps, with run --resume DIR --launches N. The page
docs/bench/aa_real.md reports how often the test finds a difference where there is none.
"""
_EPILOG = """\
examples:
  haloscope compare results/before results/after
  haloscope compare results/before results/after --details --csv compared.csv
  haloscope compare --with-last results/today --fail-above 5%       with the previous folder
  haloscope compare before after --fail-above 3% --junit compared.xml --markdown summary.md
  haloscope compare before after --out results/compared           a report like that of run

exit codes: 0 nothing is slower; 1 a case is slower (with --fail-above: by more than SHARE), or a
case, a point of a sweep, or a result is in one folder only; 2 usage error; 3 nothing is slower, but
some comparison is undecided: too few launches, or too few allocations of a batch system
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `compare`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    both = "the baseline folder, followed by the folder to compare with it"
    parser.add_argument("folders", metavar="DIR", nargs="+", type=Path, help=both)
    flag(
        parser,
        "--with-last",
        "compare DIR with the most recent earlier folder that contains some of the same cases",
    )
    flag(parser, "--details", "show every point of each sweep")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="write all comparisons to FILE as CSV, including the results of external programs",
    )
    parser.add_argument(
        "--fail-above",
        metavar="SHARE",
        type=_share,
        default=0.0,
        help="count a case as slower only if it is slower by more than SHARE (for example 3%%) and "
        "the difference is significant",
    )
    parser.add_argument(
        "--junit", metavar="FILE", help="write the verdict on each case to FILE as JUnit XML"
    )
    parser.add_argument("--markdown", metavar="FILE", help="write a summary to FILE as Markdown")
    parser.add_argument("--out", metavar="DIR", help="write a report to DIR")
    flag(parser, "--json", "print findings and tables as JSON (see docs/findings.md)")


def execute(arguments: argparse.Namespace) -> int:
    """Print the table; return 1 if the second is slower or lacks a time, 3 if undecided."""
    first, second = map(open_folder, _folders(arguments.folders, with_last=arguments.with_last))
    if first.records and first.records == second.records:
        where = f"{first.path} and {second.path}"
        remedy = "compare the folders of two measurements (haloscope run STUDY --out DIR)"
        raise UserError(Problem(where, "both folders contain the same records", remedy))
    names = _names(first.path, second.path)
    own = _beside(first.cases, second.cases)
    compared = compare_cases(own, _beside(second.cases, own), first.seed, names)
    if compared.details is None:
        what = "no cases in common"
        remedy = (
            "compare folders of the same study; to list the cases of a folder: haloscope show DIR"
        )
        if compared.refused:
            what = compared.refused
            remedy = (
                "timings of an emulated device are not representative: compare folders "
                "with the same kind of device"
            )
        raise UserError(Problem(f"{first.path} and {second.path}", what, remedy))
    console = Screen()
    shown = [compared.details] if arguments.details else compared.tables
    found = comparing.findings(compared, list(_differences(first, second, names)))
    report = comparing.document(first, second, compared, found)
    if arguments.json:
        print(json_document.text(report))
        _write(arguments, compared, report)
        return _exit_code(compared, arguments.fail_above)
    console.print(terminal.tables(shown))
    console.print(terminal.found(report))
    for line in (*report.legend, *compared.notes):
        console.print(line)
    _write(arguments, compared, report)
    if arguments.out:
        written = writing.write_apart(report, Path(arguments.out))
        console.lines(f"report: {written}")
    return _exit_code(compared, arguments.fail_above)


def _folders(named: Sequence[Path], *, with_last: bool) -> tuple[Path, Path]:
    if len(named) != 2 - with_last:
        option, number = (" --with-last", "one folder") if with_last else ("", "two folders")
        remedy = "remove one folder" if with_last else "give two folders, or one and --with-last"
        raise UserError(
            Problem(f"haloscope compare{option}", f"expected {number}, got {len(named)}", remedy)
        )
    return (last_before(named[0]), named[0]) if with_last else (named[0], named[1])


def _write(arguments: argparse.Namespace, compared: Compared, report: Document) -> None:
    if arguments.csv and (every := compared.every):
        both = [one.case for pair in compared.contrasts for one in (pair.first, pair.second)]
        settings = {case.id: case.settings for case in both}
        csv_files.write_table(every, Path(arguments.csv), settings)
    if arguments.junit:
        cases = [one.first.case for one in compared.contrasts]
        second = compared.names[1]
        verdicts = [
            _verdict(one, cases, arguments.fail_above, second) for one in compared.contrasts
        ]
        verdicts += [_verdict_on_result(one, cases, second) for one in compared.results]
        verdicts += [
            junit.TestedCase(name, "step", "error", f"only in {which}")
            for name, which in compared.alone
        ]
        junit.write("haloscope compare", verdicts, Path(arguments.junit))
    if arguments.markdown:
        lines = [*map(report.said, report.findings), *report.legend, *compared.notes]
        markdown.write_summary(report.title, lines, compared.tables, Path(arguments.markdown))


_NOT_PRINTED = {
    *(SIZES, *PROTOCOL, *OUTPUT, "synchronisation", "operation"),
    *("toolchain", "transport", "runner", "places", "bind", "thread_bind", "datatype"),
}


def _beside(cases: Sequence[MeasuredCase], others: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases; imported ones get the settings of the other side's case with the same
    timing.

    A case with equal settings on the other side keeps them, and is nobody else's counterpart.
    """
    if not any(map(_is_imported, cases)):
        return [*cases]
    known = [case.settings for case in cases]
    alike = [one.settings for one in others if one.settings in known]
    free = [one for one in others if one.settings not in alike]
    found = []
    for case in cases:
        counterpart = None
        if _is_imported(case) and case.settings not in alike:
            counterpart = next((one for one in free if _times_the_same(case, one)), None)
        found.append(replace(case, settings=counterpart.settings) if counterpart else case)
    return found


def _is_imported(case: MeasuredCase) -> bool:
    return any(record.imported for record in case.launches)


def _times_the_same(case: MeasuredCase, other: MeasuredCase) -> bool:
    one, two = (
        {name: value for name, value in each.settings.items() if name not in _NOT_PRINTED}
        for each in (case, other)
    )
    operations = {each.settings.get("operation") for each in (case, other)}
    return one == two and (len(operations) == 1 or "all" in operations)


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = nan
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(
            f"expected a share from 0 to 1, such as 3% or 0.03, got {text}"
        )
    return share


def _exit_code(compared: Compared, above: float) -> int:
    """Return 1 if a case is slower or lacks a time, 3 if too few measurements exclude that."""
    contrasts = compared.contrasts
    unpaired = compared.alone or any(one.verdict in UNPAIRED for one in compared.results)
    if unpaired or any(_is_slower(one, above) or _is_lost(one) for one in contrasts):
        return 1
    return 3 if any(one.verdict in OPEN for one in contrasts) else 0


def _is_slower(one: Contrast, above: float) -> bool:
    return one.verdict == "slower" and comparing.larger(one, above)


def _is_lost(one: Contrast) -> bool:
    return one.verdict == "not measured" and bool(one.first.time or one.second.time)


def _verdict(
    one: Contrast, among: Sequence[MeasuredCase], above: float, second: str
) -> junit.TestedCase:
    """Convert a comparison for continuous integration: an undecided one is skipped."""
    outcome: junit.Outcome = "passed"
    if _is_slower(one, above):
        outcome = "failure"
    elif _is_lost(one):
        outcome = "error"
    elif one.verdict in (*OPEN, "not measured"):
        outcome = "skipped"
    name = one.first.what or "step"
    return junit.TestedCase(
        name_of(one.first.case, among), name, outcome, comparing.describe(one, second)
    )


def _verdict_on_result(
    one: ResultContrast, among: Sequence[MeasuredCase], second: str
) -> junit.TestedCase:
    outcome: junit.Outcome = "passed"
    if one.verdict in UNPAIRED:
        outcome = "error"
    elif one.verdict in ("too few launches", *OPEN):
        outcome = "skipped"
    theirs, own = (_printed(case, one.name) for case in (one.second, one.first))
    verdict = f"{second} is {one.verdict}" if one.verdict in ("higher", "lower") else one.verdict
    message = f"{verdict}: {theirs} against {own}"
    return junit.TestedCase(name_of(one.first, among), one.name, outcome, message)


def _printed(case: MeasuredCase, name: str) -> str:
    if sample := number_of(case, name):
        return quantity(median(sample), scale(case, name))
    return "; ".join(texts_of(case, name)) or "nothing"


def _names(first: Path, second: Path) -> tuple[str, str]:
    """Return the names of two folders: their last parts, or as given if these are equal."""
    one, other = first.resolve().name, second.resolve().name
    return (one, other) if one != other else (str(first), str(second))


def _differences(first: Dossier, second: Dossier, names: tuple[str, str]) -> Iterator[Finding]:
    for name, folder in zip(names, (first, second), strict=True):
        if tools := {record.imported["tool"] for record in folder.records if record.imported}:
            parts = [Claim({"tool": tool}) for tool in sorted(tools)]
            yield warning(Caveat.IMPORTED, (), parts, common={"folder": name})
    if _one_after_the_other(first, second):
        yield warning(Caveat.DRIFT)
    theirs = _identity(second)
    for name, one in _identity(first).items():
        if one != (other := theirs[name]):
            own, its = ({name: one, "folder": names[0]}, {name: other, "folder": names[1]})
            yield warning(Caveat.DIFFERENT_CONDITIONS, (), [Claim(own, also=(its,))])


def _one_after_the_other(first: Dossier, second: Dossier) -> bool:
    """Return whether one ended before the other began; False for unknown or simulated times."""
    if any(record.allocation for record in (*first.records, *second.records)):
        return False
    spans = [
        (min(one.started or "" for one in own), max(one.ended or "" for one in own))
        for own in (first.records, second.records)
    ]
    simulated = any(case.simulated for case in (*first.cases, *second.cases))
    (begin, end), (later_begin, later_end) = sorted(spans)
    return not simulated and bool(begin) and end <= later_begin and later_end > end


def _identity(dossier: Dossier) -> dict[str, str]:
    """Return what should be equal in all records, by name, in words."""
    records = dossier.records
    machines = [record.machine or {} for record in records]
    libraries = [record.toolchain for record in records]
    found: dict[str, list[Any]] = {
        "host": [one.get("host") for one in machines],
        "processor": [one.get("cpu") for one in machines],
        "device": [record.device for record in records],
        "MPI": [one.get("mpi") for one in libraries],
        "compiler": [one.get("compiler") for one in libraries],
        "flags": [one.get("flags") for one in libraries],
        "launcher": [one.get("launcher") for one in libraries],
        "MPI variables": [in_words(record.tuning) for record in records if record.tuning],
        "halobench sources": [one.get("source") for one in libraries],
        "haloscope": [record.haloscope for record in records],
    }
    known = {
        name: sorted({str(value).splitlines()[0] for value in values if value})
        for name, values in found.items()
    }
    return {name: "; ".join(values) or "not known" for name, values in known.items()}
