# SPDX-License-Identifier: BSD-3-Clause
"""Read the run reports of ReFrame 3 and 4: run-report-N.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from haloscope.outputs.printed import Output, PrintedRun, slug
from haloscope.study.case import Value

TOOL = "reframe"
_GOOD = ("pass", "success")
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_UNITS = {
    **{unit: ("s", factor) for unit, factor in _TIMES.items()},
    **{"B/s": ("B/s", 1.0), "MB/s": ("B/s", 1e6), "GB/s": ("B/s", 1e9), "TB/s": ("B/s", 1e12)},
    **{"MiB/s": ("B/s", 2.0**20), "GiB/s": ("B/s", 2.0**30)},
    **{
        f"{k}{name}": ("FLOP/s", f)
        for name in ("flops", "flop/s")
        for k, f in (("", 1.0), ("m", 1e6), ("g", 1e9), ("t", 1e12))
    },
}


def read(output: Output) -> list[PrintedRun]:
    """Return the test cases of a report that ran. Raise UserError with the line if it
    is invalid.
    """
    try:
        report = json.loads(output.text)
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}"
        raise output.error(error.lineno, what, "a complete run report of ReFrame") from error
    expected = "an object with session_info and runs (a run report of ReFrame)"
    if not (isinstance(report, dict) and isinstance(report.get("runs"), list)):
        raise output.error(1, "the JSON is not a run report", expected)
    session = report.get("session_info") or {}
    runs = [
        _run(output, case, session)
        for case in _cases(output, report["runs"])
        if case.get("result") != "skip" and not case.get("fixture")
    ]
    if not runs:
        raise output.error(1, "the report has no executed test case", "a test case with a result")
    return runs


def _cases(output: Output, runs: list[Any]) -> Iterator[Mapping[str, Any]]:
    for number, run in enumerate(runs):
        cases = run.get("testcases") if isinstance(run, dict) else None
        if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
            raise output.error(1, f"runs[{number}].testcases is not a list of objects", "one")
        yield from cases


def _run(output: Output, case: Mapping[str, Any], session: Mapping[str, Any]) -> PrintedRun:
    where = f"test case {case.get('name')}"
    if not isinstance(case.get("name"), str) or case.get("result") is None:
        raise output.error(1, f"{where} has no name or no result", "both")
    name, *parts = str(case["name"]).split(" %")
    params = dict(_param(part) for part in parts)
    results, units, time_s, statistic = {}, {}, None, "time of the stage 'run'"
    for key, value, unit in _performance(output, where, case):
        unit, factor = _UNITS.get(unit if unit in _UNITS else unit.lower(), (unit, 1.0))
        results[key], units[key] = factor * value, unit
        if time_s is None and unit == "s" and value > 0:
            time_s, statistic = factor * value, f"performance variable {key}"
    if time_s is None:
        time_s = next((case[k] for k in ("time_run", "time_total") if case.get(k)), None)
    good = case["result"] in _GOOD
    if good and not (isinstance(time_s, int | float) and time_s > 0):
        what = f"{where} has no time"
        raise output.error(1, what, "time_run, or a performance variable in seconds, above 0")
    place = [str(case[key]) for key in ("system", "partition") if case.get(key)]
    reason = case.get("fail_reason") or (case.get("fail_info") or {}).get("exc_value")
    return PrintedRun(
        TOOL,
        name,
        session.get("version"),
        1,
        statistic,
        params=params,
        ranks=_count(case.get("num_tasks")),
        threads=_count(case.get("num_cpus_per_task")),
        nodes=_nodes(case),
        time_s=time_s,
        results=results,
        units={key: unit for key, unit in units.items() if unit},
        failure=None if good else str(reason or case.get("fail_phase") or case["result"]),
        verified=good,
        host=":".join(place) or session.get("hostname"),
        toolchain=case.get("environ") or case.get("environment"),
        at=case.get("job_completion_time_unix") or session.get("time_end_unix"),
    )


def _param(part: str) -> tuple[str, Value]:
    """Parse a parameter in the name of a ReFrame test: "size=8"; nested ones keep their names."""
    key, _, value = part.partition("=")
    text = value.strip()
    number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
    return slug(key), text if number is None else number


def _performance(
    output: Output, where: str, case: Mapping[str, Any]
) -> Iterator[tuple[str, float, str]]:
    """Yield name, value, and unit of each performance variable, for both formats of reports."""
    newer = case.get("perfvalues") or {}
    older = [] if newer else case.get("perfvars") or []
    try:
        found = [(key.rpartition(":")[2], value[0], value[4]) for key, value in newer.items()]
        found += [(one["name"], one["value"], one.get("unit")) for one in older]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        what = f"invalid performance variables in {where}"
        raise output.error(1, what, "name, value, and unit of each") from error
    for key, value, unit in found:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise output.error(1, f"{where}: {key} is {value!r}", "a number")
        yield slug(key), float(value), str(unit or "")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _nodes(case: Mapping[str, Any]) -> int | None:
    listed = case.get("nodelist") or case.get("job_nodelist")
    if isinstance(listed, list) and listed:
        return len(listed)
    ranks, each = _count(case.get("num_tasks")), _count(case.get("num_tasks_per_node"))
    return -(-ranks // each) if ranks and each else None
