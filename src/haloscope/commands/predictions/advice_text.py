# SPDX-License-Identifier: BSD-3-Clause
"""The output of `advise`: the layout to request, its certainty, and tables of layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haloscope.advice import requests
from haloscope.advice.judging import Advice, Goal, Option, Sureness
from haloscope.advice.measuring import Question
from haloscope.analysis.validation.bands import COVERAGE, Basis
from haloscope.commands.screen import Screen
from haloscope.paths import in_a_shell
from haloscope.quantities import count, listed, node_time, number, percent, seconds
from haloscope.report.draw import terminal
from haloscope.run.places.here import LOCAL
from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.topics.common.table import NODE_TIME, Cell, Table, plain

_SHOWN = 5
_PRINTED = ("nodes", "ppn", "threads", "mapping", "time_s", NODE_TIME.key, "is")
"""_PRINTED are the columns of layouts on screen: they fit 80 characters."""


def what(question: Question) -> str:
    """Return the kernel and its parameters."""
    given = " ".join(f"{key}={value}" for key, value in question.params.items())
    return f"{question.kernel} {given}".strip()


def how(question: Question) -> str:
    """Return where times are from."""
    if question.final is None:
        return f"simulated on {question.cluster}"
    if question.cluster is None:
        return "measured on this machine"
    return f"measured on {question.final.name}, the best of those simulated on {question.cluster}"


def show(
    question: Question, result: Advice, failed: Sequence[str], layouts: Table, out: Screen
) -> None:
    """Print advice. failed: why some layouts have no time. layouts: all, as on the page."""
    advised, usual = result.advised, result.default
    tasks = count(advised.candidate.ranks, "task")
    goal = ", for the fewest node-hours" if result.goal is Goal.NODE_HOURS else ""
    out.lines(f"{what(question)}, {tasks}, {how(question)}{goal}")
    out.print(f"request: {_line(advised)}", style="bold", soft_wrap=True)
    if advised is not usual:
        out.lines(f"default: {_line(usual)}")
    elif len(result.options) > 1:
        better = "faster" if result.goal is Goal.TIME else "cheaper in node-hours"
        out.lines(f"This is the default layout. No other layout is shown to be {better}.")
    out.lines(sureness(result))
    out.print(terminal.tables([_shown(result, layouts)]))
    one = advised.candidate
    launchers = requests.launchers(one, question.sockets)
    lines = [requests.sbatch_line(one), requests.environment(one), launchers["Slurm"]]
    if question.on.name == LOCAL:
        lines = [requests.environment(one), launchers["Open MPI"]]
    out.lines(*lines, *(f"not compared: {line}" for line in failed))
    files = (
        "report.html (page), advice.json (other launchers), check.toml (haloscope run, on a site)"
    )
    out.lines(f"{in_a_shell(question.out)}: {files}, layout.toml (haloscope run STUDY --layout)")


def _line(one: Option) -> str:
    hours = node_time(one.node_seconds)
    return f"{one.candidate}: {seconds(one.seconds)} per step, {hours}"


def sureness(result: Advice) -> str:
    """Return the gain, and its error or interval."""
    band = result.band
    word = "faster" if result.goal is Goal.TIME else "cheaper"
    gain = result.gain
    ends = "" if gain.low is None else f" ({gain.low:.3g} to {gain.high:.3g})"
    better = f"{gain.value:.3g}x{ends} {word}"
    if len(result.options) == 1:
        return "This is the default layout. No other layout fits, so nothing was compared."
    if band is None:
        if result.verdict is Sureness.NO_DIFFERENCE:
            rounds = min(len(one.rounds_s) for one in result.options)
            few = rounds < FEWEST_FOR_INTERVAL
            needed = f" This requires at least {FEWEST_FOR_INTERVAL} rounds." if few else ""
            return f"The rounds do not show that any layout is {word} than the default.{needed}"
        shown = "the interval of the ratios per round is above 1"
        return f"The best layout is {better} than the default, and {shown}."
    of_all = percent(COVERAGE)
    known = f"{of_all} of the published ratios of this kernel and cluster are within it"
    known += f" ({_by_paper(band.tables)})"
    if not band.compared:
        what = "variant" if band.basis is Basis.VARIANT else "kernel and cluster"
        of = band.of if band.of.startswith("published") else "the published ratios of " + band.of
        known = f"{of_all} of {of} are within it; it is not validated for this {what}"
    elif result.beyond:
        known += f"; none of them has {result.beyond}, so it is not validated for this case"
    error = f"The simulation error of a ratio is a factor of {number(band.factor)}: {known}."
    if result.verdict is Sureness.NO_DIFFERENCE:
        return error
    possible = result.verdict is Sureness.POSSIBLE
    side = "is smaller than" if possible else "exceeds"
    return (
        f"The best layout is {better} than the default. The difference {side} the simulation "
        f"error. {error}"
    )


def _by_paper(tables: Sequence[str]) -> str:
    """Return "hpcf-2018-10, tables 3.1 and 4.1", with each paper once."""
    papers: dict[str, list[str]] = {}
    for one in tables:
        paper, _, table = one.partition(", table ")
        papers.setdefault(paper, []).append(table)
    return "; ".join(
        f"{paper}, {'tables' if len(own) > 1 else 'table'} {listed(own)}"
        for paper, own in papers.items()
    )


def _shown(result: Advice, layouts: Table) -> Table:
    """Return the advised and the default layout, the Pareto front, and the other mappings.

    All columns, with traffic, are shown if the advised mapping is not the default one.
    """
    alike = _mapped_alike(result)
    shown = {result.advised, result.default, *result.front[:_SHOWN], *alike}
    at = {column.key: index for index, column in enumerate(layouts.columns)}
    kept = [at[key] for key in (*_PRINTED, *(key for key in at if alike and key not in _PRINTED))]
    columns = [layouts.columns[index] for index in kept]
    front = count(len(result.front), "layout")
    return replace(
        layouts,
        columns=tuple(replace(one, title="ppn") if one.key == "ppn" else one for one in columns),
        rows=tuple(
            tuple(_mark(result, one) if index == at["is"] else row[index] for index in kept)
            for one, row in zip(result.options, layouts.rows, strict=True)
            if one in shown
        ),
        notes=(f"Pareto: no other layout is both faster and cheaper ({front}).",),
    )


def _mark(result: Advice, one: Option) -> Cell:
    """Return the words for a layout, one below the other: they fit beside the other columns."""
    pareto = "Pareto" if one in result.front else ""
    if one not in (result.advised, result.default):
        return plain(pareto)
    word = "advised" if one is result.advised else "default"
    return replace(plain(word), spread=pareto)


def _mapped_alike(result: Advice) -> Sequence[Option]:
    """Return the layouts with counted traffic that differ from the advised one only in mapping."""
    one = result.advised.candidate
    return [
        other
        for other in result.options
        if other.load
        and one.mapping != "block"
        and one.nodes > 1
        and (other.candidate.nodes, other.candidate.threads) == (one.nodes, one.threads)
    ]
