# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest
from fakes import MACHINE, FakeProgram, Laboratory
from noted import shows

from haloscope.layout import Layout
from haloscope.records.record import Record
from haloscope.run.runners.local import LocalRunner
from haloscope.study.case import Launch
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.schema import Study
from haloscope.toolchains.launching import Job, tuning
from haloscope.toolchains.launching.tuning import Tuning


def run(
    lab: Laboratory,
    layout: dict[str, Any] | None = None,
    *,
    oversubscribe: bool = False,
    timeout_s: float = 600.0,
    **params: Any,
) -> dict[str, Any]:
    runs = [{"kernel": "fake", "params": params, "layout": layout or {"ppn": 2}}]
    study = Study.model_validate({"title": "t", "timeout_s": timeout_s, "runs": runs})
    site = Site(1, 4, 4, 2**30, oversubscribe, ("fake",))
    (case,) = expand(study, site, FakeProgram()).cases
    (record,) = LocalRunner(lab.facts, lab.built).run([Launch(case, 3)])
    Record.of(record)
    assert record["case"] == case.id
    return record


def test_a_good_record_is_complete(laboratory: Laboratory) -> None:
    record = run(laboratory, n=16)
    assert (record["outcome"], record["reason"], record["launch"]) == ("ok", None, 3)
    assert (record["times_s"], record["result"]) == ([0.25, 0.5], {"answer": 42})
    assert record["params"]["n"] == 16
    layout = {key: value for key, value in record["layout"].items() if key != "seen"}
    assert layout == {
        "nodes": 1,
        "ppn": 2,
        "ranks": 2,
        "threads": 1,
        "places": "cores",
        "bind": "close",
        "placement": None,
        "mapping": "block",
        "mapping_seed": None,
        "oversubscribed": False,
    }
    assert [rank["cpus"] for rank in record["layout"]["seen"]] == [[0], [1]]
    assert record["toolchain"] == {
        "name": "fake",
        "mpi": "Fake MPI 1.0",
        "compiler": "none",
        "flags": "-O0",
        "source": "5eed",
        "library": "Fake MPI 1.0",
        "launcher": "mpirun",
    }
    assert (record["runner"], record["clock"], record["transport"]) == ("local", "wall", None)
    assert (record["study"], record["run"], record["seed"]) == ("a-study", 0, 7)
    assert (record["machine"], record["haloscope"], record["git"]) == (MACHINE, "0.1.0", None)
    assert record["command"][-2:] == ["fake", "n=16"]
    assert record["started"].endswith("Z") and record["started"] <= record["ended"]
    assert record["wall_s"] > 0
    assert "stderr" not in record


def test_library_tuning_is_recorded_and_overrides_are_reported(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = {"FI_PROVIDER": "tcp", "I_MPI_PIN": "1"}
    found = Tuning(theirs, {"FI_PROVIDER": None, "I_MPI_PIN": "0"})
    monkeypatch.setattr(tuning, "of_launch", lambda *_: found)

    record = run(laboratory)

    assert record["tuning"] == {"given": theirs, "overridden": found.overridden}
    assert any("I_MPI_PIN=1 is overridden" in line for line in caplog.messages)


def test_the_layout_is_requested_explicitly(laboratory: Laboratory) -> None:
    run(laboratory, {"ppn": 2, "threads": 2, "places": "threads", "bind": "spread"})
    assert laboratory.launches == [
        Job(Layout(ppn=2, threads=2, places="threads", bind="spread"), oversubscribe=False)
    ]


@pytest.mark.parametrize(
    ("fault", "outcome", "reason"),
    [
        ("wrong", "wrong", ("error is 0.5", "allowed are 0.1")),
        ("crash", "failed", ("exit code 139: ", "killed by SIGSEGV")),
        ("late", "failed", ("exit code 3",)),
        ("refuse", "failed", ("n=16: not today",)),
        ("silent", "failed", ("no record",)),
        ("cut", "failed", ("no record",)),
        ("misplaced", "misplaced", ("rank 0 and rank 1 ", "shared processor 0")),
    ],
)
def test_outcomes(
    laboratory: Laboratory, fault: str, outcome: str, reason: tuple[str, ...]
) -> None:
    record = run(laboratory, fault=fault)
    assert record["outcome"] == outcome and shows(record["reason"], *reason)
    assert "stderr" in record


def test_a_failed_case_is_a_record_without_measurements(laboratory: Laboratory) -> None:
    record = run(laboratory, fault="crash", n=16)
    assert record["stderr"] == "boom\n"
    assert (record["times_s"], record["points"], record["phases"]) == ([], [], [])
    assert (record["result"], record["memory"], record["work"]) == ({}, None, None)
    assert (record["layout"]["ranks"], record["layout"]["seen"]) == (2, [])
    assert record["params"]["n"] == 16
    assert record["toolchain"] == {
        "name": "fake",
        "source": "5eed",
        "library": "Fake MPI 1.0",
        "launcher": "mpirun",
    }


def test_a_time_limit_is_an_outcome(laboratory: Laboratory) -> None:
    record = run(laboratory, fault="hang", timeout_s=0.5)
    assert record["outcome"] == "timeout"
    assert " 0.5 s " in record["reason"] and "timeout_s" in record["reason"]
    assert record["times_s"] == []


def test_oversubscribed_cases_are_marked_and_never_misplaced(laboratory: Laboratory) -> None:
    record = run(laboratory, {"ppn": 8}, oversubscribe=True, fault="misplaced", n=16)
    assert record["outcome"] == "ok"
    assert record["layout"]["oversubscribed"] is True
    assert laboratory.launches[0].oversubscribe is True
