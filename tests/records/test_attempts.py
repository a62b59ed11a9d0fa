# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign has to know of its records to go on, and no more."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from recorded import changed, pingpong, poisson, quick

from haloscope.records.attempts import Attempt, attempts, attempts_of
from haloscope.records.log import Sharing, append, read, whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines of files that were parsed."""
    lines: list[bytes] = []
    really = Sharing.read

    def counted(self: Sharing, line: bytes) -> dict[str, Any]:
        lines.append(line)
        return really(self, line)

    monkeypatch.setattr(Sharing, "read", counted)
    return lines


def test_an_attempt_matches_its_record(file: Path) -> None:
    given = {"site": "s", "scheduler": "slurm", "job": "7", "partition": None, "nodes": ["a"]}
    in_job = changed(poisson(256), allocation={**given, "switches": None, "restarts": 1})
    sweep = pingpong()
    for raw in (in_job, sweep):
        append(file, raw)

    one, other = attempts(file)

    assert one.key == (in_job["case"], in_job["launch"])
    assert (one.outcome, one.wall_s, one.nodes) == ("ok", in_job["wall_s"], 1)
    assert (one.host, one.allocation) == (in_job["machine"]["host"], ("7", 1))
    assert one.times_s == (in_job["times_s"],)
    assert other.times_s == tuple(point["times_s"] for point in sweep["points"])
    assert other.allocation is None


def test_an_invalid_record_is_not_an_attempt(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its launch is tried again, as a report leaves it out."""
    good = poisson(256)
    append(file, good)
    append(file, changed(good, launch=1, times_s=[-1.0]))

    assert [one.launch for one in attempts(file)] == [one.launch for one in read(file)] == [0]
    assert f"{file}:2: skipped: times_s#1: invalid value -1.0" in caplog.text


def test_attempts_use_a_fraction_of_the_memory_of_json_objects(file: Path) -> None:
    raws = quick(launches=60)
    for raw in raws:
        append(file, raw)

    def held(reading: Any) -> int:
        tracemalloc.start()
        kept = reading(file)
        used = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(kept) == len(raws)
        return used

    assert held(attempts) < held(lambda path: [*whole(path)]) / 3
    assert held(read) < held(lambda path: [*whole(path)]) / 3


def test_other_cases_of_a_neighbouring_folder_are_not_parsed(
    file: Path, parsed: list[bytes]
) -> None:
    selected, other = poisson(256), poisson(512)
    for raw in (selected, other, changed(other, launch=1)):
        append(file, raw)

    assert attempts_of(file, {selected["case"]}) == [Attempt.of(selected)]
    assert len(parsed) == 1


def test_a_file_is_read_again_only_if_it_has_grown(file: Path, parsed: list[bytes]) -> None:
    """One command needs its attempts several times, and may have tens of thousands."""
    append(file, poisson(256))
    assert attempts(file) == attempts(file)
    assert len(parsed) == 1

    append(file, changed(poisson(256), launch=1))

    assert [one.launch for one in attempts(file)] == [0, 1]
