# SPDX-License-Identifier: BSD-3-Clause
"""The best layouts and the default, measured in turn on a site whose batch system is faked."""

from __future__ import annotations

import json
import time
from collections import Counter
from functools import partial
from pathlib import Path

import far_site
import pytest
from lab_jobs import QUIET

from haloscope.advice import measuring
from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import Option
from haloscope.records.log import read
from haloscope.run.jobs import following
from haloscope.run.places.batched import BatchPlace
from haloscope.stats.estimates import Estimate

SITE = """
source = "a test"
scheduler = "flux"
partition = "short"
launcher = "mpirun"
toolchain = "{built}"
[[partitions]]
name = "short"
nodes = 2
cores = 2
memory_mb = 2000
"""


def test_layouts_that_differ_only_in_node_order_are_measured_once() -> None:
    def option(mapping: str, seconds: float = 1.0) -> Option:
        return Option(Candidate.of(4, 2, mapping=mapping), Estimate(seconds, None, None, 1, "none"))

    block, cyclic, swapped, apart = (
        option(mapping) for mapping in ("block", "round_robin", "1,0,1,0", "0,1,1,0")
    )
    slower = option("1,0,1,0", 2.0)
    assert measuring._unlike([block, cyclic, swapped, apart, slower]) == [
        block,
        cyclic,
        apart,
        slower,
    ]


@pytest.mark.toolchains
def test_layouts_are_measured_in_one_job_until_their_intervals_separate(
    built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "far.toml").write_text(SITE.format(built=built))
    monkeypatch.chdir(tmp_path)
    quick = partial(following.follow, wait=lambda _: time.sleep(0.2), poll_s=following.LOOK_S)
    monkeypatch.setattr(following, "follow", quick)
    far = BatchPlace.named("far")
    params = {"repetitions": 1}
    question = measuring.Question("ring", params, far, far, Path("out"), 6, (), None, 40)
    tried = [Candidate.of(ranks) for ranks in (1, 2)]

    for _ in far_site.commands(tmp_path, "flux", monkeypatch):
        found, failed = measuring._compared(question, "finals", tried, QUIET, until_parted=True)

    assert ([*found], failed) == (tried, [])
    records = read(Path("out/finals/records.jsonl"))
    plan = json.loads(Path("out/finals/plan.json").read_text())
    assert len({one.raw["allocation"]["job"] for one in records}) == 1
    each = {*Counter(one.case for one in records if one.outcome == "ok").values()}
    assert len(each) == 1 and each <= {6, 12, 18, 24, 30}, "both as often, in whole rounds of six"
    assert {case["stopped"] for case in plan["cases"]} == {None if each == {30} else "parted"}
    assert {case["timeout_s"] for case in plan["cases"]} == {800}, "three would fit in 40 minutes"
