# SPDX-License-Identifier: BSD-3-Clause
"""Records from a batch system's nodes are as the local runner's but for what an allocation adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_jobs import LIMIT, QUIET, followed, submitted

from haloscope.cli import main
from haloscope.lab.cluster import RunningLab
from haloscope.records.log import read
from haloscope.records.record import Record
from haloscope.run.campaign.campaign import measure
from haloscope.run.campaign.request import Request, start

pytestmark = [pytest.mark.lab, LIMIT, pytest.mark.usefixtures("whole")]

STUDY = """
title = "Of every kind one, reduced: quick, poisson-scaling, pingpong, ring"
launches = 1
timeout_s = 600
[[runs]]
kernel = "stream"
params = { sizes = "32K,2M", repetitions = 3 }
layout = { nodes = NODES, ppn = 1 }
[[runs]]
kernel = "poisson_cg"
params = { n = 128, exchange = ["blocking", "nonblocking"] }
layout = { nodes = NODES, ppn = 1, bind = "spread" }
[[runs]]
kernel = "pingpong"
params = { sizes = "64K,1M", repetitions = 3, steps = 4 }
layout = { ppn = 2 }
[[runs]]
kernel = "ring"
params = { repetitions = 3 }
layout = { nodes = NODES, ppn = 2 }
[[tables]]
kind = "scaling"
[[tables]]
kind = "pingpong"
[[tables]]
kind = "ring"
[[figures]]
kind = "scaling"
"""
BETWEEN = """
[[runs]]
kernel = "pingpong"
params = { sizes = "64K,1M", repetitions = 3, steps = 4 }
layout = { nodes = 2, ppn = 1 }
"""


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Every key of a record with those above it and its value's type; of lists, of all entries."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from keys(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from keys(one, f"{path}[]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{path}: number"  # JSON writes 1000.0 as it likes
    else:
        yield f"{path}: {type(value).__name__}"


ADDED = {
    ".allocation.site: str",
    ".allocation.scheduler: str",
    ".allocation.job: str",
    ".allocation.partition: str",
    ".allocation.nodes[]: str",
    ".allocation.switches: str",
    ".allocation.restarts: number",
}
"""ADDED is what records of a batch job have besides."""


def by_case(records: list[Record]) -> dict[str, set[str]]:
    """What keys the records of each case have."""
    return {record.case: {*keys(record.raw)} for record in records}


def test_records_have_the_same_keys_as_local_runs(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = submitted(STUDY.replace("NODES", "[1, 2, 4]") + BETWEEN, tmp_path, built)
    followed(jobs)
    (tmp_path / "here.toml").write_text(STUDY.replace("NODES", "1"))
    here = Request("here.toml", tmp_path / "here", toolchain=built, oversubscribe=True)
    local = start(here, QUIET).probed()
    measure(local, QUIET)

    of_jobs, of_here = (read(tmp_path / name / "records.jsonl") for name in ("out", "here"))

    counted = Counter((one.kernel, one.layout["nodes"]) for one in of_jobs if one.outcome == "ok")
    assert counted == {
        **{("stream", nodes): 1 for nodes in (1, 2, 4)},
        **{("poisson_cg", nodes): 2 for nodes in (1, 2, 4)},
        **{("ring", nodes): 1 for nodes in (1, 2, 4)},
        ("pingpong", 1): 1,
        ("pingpong", 2): 1,
    }
    between = {one.transport_seen for one in of_jobs if int(one.layout["nodes"]) > 1}
    assert all("tcp" in str(said) for said in between), between  # nodes share no memory
    there = by_case([one for one in of_jobs if one.outcome == "ok"])
    alone = by_case([one for one in of_here if one.outcome == "ok"])
    assert len(alone) == 5
    for case, told_there in alone.items():
        assert there[case] - told_there == ADDED
        assert told_there <= there[case]
    of_one_node = {one.kernel: there[one.case] for one in of_jobs if one.case in alone}
    for record in of_jobs:
        more = there[record.case] - of_one_node[record.kernel]
        assert more <= {".phases[].by_rank_s[]: number"}, record.layout  # where there are ranks
        assert of_one_node[record.kernel] <= there[record.case], record.layout
    assert main(["collect", "out"]) == 0
    assert (tmp_path / "out" / "report.html").exists()
