# SPDX-License-Identifier: BSD-3-Clause
"""`haloscope watch`: a measurement from its records alone, in sixty columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from recorded import bad, poisson, write_folder
from rich.console import Console

from haloscope.cli import main
from haloscope.commands.measuring.watch import view
from haloscope.records.folder import ResultFolder
from haloscope.records.log import read
from haloscope.run.campaign.watching import CaseProgress, Watched, watched
from haloscope.stats.estimates import Estimate


def shown(now: Watched) -> str:
    """In a terminal that is wider than it needs."""
    out = Console(file=StringIO(), width=200)
    out.print(view(now, datetime(2026, 11, 21, 1, 3, tzinfo=UTC)))
    text = out.file
    assert isinstance(text, StringIO)
    return text.getvalue()


def seen_on(host: str) -> dict[str, object]:
    return {"seen": [{"rank": 0, "host": host, "cpus": [0], "thread_cpus": [[0]]}]}


def folder(path: Path) -> ResultFolder:
    """Eight launches of a case that scatter less and less, and a few of others, on two hosts."""
    times = [1.0, 1.5, 0.7, 1.2, 1.01, 1.02, 1.0, 1.01, 1.02, 1.0, 1.01, 1.0, 1.0, 1.01]
    raws = [
        poisson(64, time_s=time, launch=k, layout=seen_on("n2" if time > 1.01 else "n1"))
        for k, time in enumerate(times)
    ]
    raws += [poisson(128, time_s=4.0, launch=k) for k in range(2)]
    raws.append(bad(poisson(256, time_s=1.0), "failed", "exit code 1"))
    return ResultFolder(write_folder(path, raws))


def test_narrowing_intervals_and_slow_hosts_are_reported(tmp_path: Path) -> None:
    now = watched(folder(tmp_path))

    case = next(one for one in now.cases if one.done == 14)
    assert case.now is not None and case.before is not None
    assert case.now.relative_half_width < case.before.relative_half_width
    assert (now.done, now.planned, dict(now.not_good)) == (16, None, {"failed": 1})
    slowest, *others = now.hosts
    assert slowest.host == "n2" and slowest.excess > 0
    assert all(one.excess <= slowest.excess for one in others)
    assert now.last == datetime(2026, 11, 21, 1, 2, 6, 456000, tzinfo=UTC)
    assert not now.complete


def test_the_view_is_at_most_sixty_columns_wide(tmp_path: Path) -> None:
    lines = shown(watched(folder(tmp_path))).splitlines()

    assert max(len(line.rstrip()) for line in lines) <= 60
    text = "\n".join(lines)
    assert "n2" in text and "1 failed" in text and "54 s ago" in text


def test_rounds_and_remaining_time_come_from_the_plan(
    haloscope: Callable[..., int], study_file: Callable[[str], Path], tmp_path: Path
) -> None:
    study = 'title = "x"\nlaunches = 4\n[[runs]]\nkernel = "fake"\nparams = { n = [8, 16] }\n'
    out = ResultFolder(tmp_path / "out")
    assert haloscope("run", study_file(study), "--out", out.path, "--no-report") == 0
    whole = watched(out)
    assert (whole.done, whole.planned, whole.rounds, whole.left_s) == (8, 8, (4, 4), 0.0)
    assert whole.complete

    kept = read(out.records)[:5]
    lines = out.records.read_text(encoding="utf-8").splitlines(keepends=True)
    out.records.write_text("".join(lines[:5]), encoding="utf-8")
    part = watched(out)
    assert (part.done, part.planned, part.rounds) == (5, 8, (2, 4))
    walls = [record.wall_s or 0.0 for record in kept]
    assert part.left_s == pytest.approx(3 * sum(walls) / 5, rel=1)
    assert not part.complete
    lines = shown(part).splitlines()
    assert any(line.startswith("5 of 8 launches, 2 of 4 rounds") for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= 60


def test_a_case_with_fewer_launches_does_not_limit_the_rounds(
    haloscope: Callable[..., int], study_file: Callable[[str], Path], tmp_path: Path
) -> None:
    study = """title = "x"
launches = 4
[[runs]]
kernel = "fake"
params = { n = [8, 16] }
[[runs]]
kernel = "fake"
params = { n = [32] }
launches = 1
"""
    out = ResultFolder(tmp_path / "out")
    assert haloscope("run", study_file(study), "--out", out.path, "--no-report") == 0

    assert watched(out).rounds == (4, 4)


def test_measured_cases_come_first_sorted_by_interval_width(tmp_path: Path) -> None:
    def case(number: int, low: float = 0.0, high: float = 0.0) -> CaseProgress:
        estimate = Estimate(2.0, low, high, 2, "range") if high else None
        return CaseProgress(str(number), f"fake n={number}", "fake", 2, 2, estimate, None)

    cases = (*(case(number) for number in range(3, 20)), case(1, 1.9, 2.1), case(2, 1.0, 3.0))
    now = replace(watched(folder(tmp_path)), cases=cases)

    words = [word for word in shown(now).split() if word.startswith("n=")]

    assert words[:2] == ["n=2", "n=1"]


def test_cases_are_named_by_the_settings_that_differ(tmp_path: Path) -> None:
    def case(number: int, name: str) -> CaseProgress:
        return CaseProgress(str(number), name, name.split()[0], 1, 1, None, None)

    long = "sizes=32K,128K,512K,2M,8M,32M,256M repetitions=3"
    names = [f"stream {long}, 1 rank, openmpi", f"stream {long}, 2 ranks, openmpi", "ring n=1"]
    cases = tuple(case(number, name) for number, name in enumerate(names))
    now = replace(watched(folder(tmp_path)), cases=cases)

    lines = [line.split() for line in shown(now).splitlines()]

    assert [line[:3] for line in lines if line[:1] == ["stream"]] == [
        ["stream", "1", "rank"],
        ["stream", "2", "ranks"],
    ]
    assert any(line[:2] == ["ring", "n=1"] for line in lines)


def test_without_a_terminal_the_view_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(folder(tmp_path / "r").path)]) == 0
    assert "slowest hosts" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert main(["watch", str(tmp_path / "empty")]) == 2
