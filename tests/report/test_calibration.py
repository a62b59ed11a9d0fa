"""Cluster files: what calibration finds, written, read again, and refused where it is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import tomli_w
from recorded import MACHINE, Raw, cases, pingpong, stream
from test_network_tables import overheads

from haloscope import cluster
from haloscope.calibration import calibrate
from haloscope.cluster import Cluster
from haloscope.errors import UserError


def measured() -> list[Raw]:
    raws = [stream(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(6)]
    raws += [pingpong(launch=k, layout={"placement": "same-cache"}) for k in range(6)]
    return raws + [overheads(k) for k in range(6)]


def calibrated(raws: list[Raw]) -> Cluster:
    return calibrate("mine", cases(raws), MACHINE, "2026-11-21")


def test_bandwidths_latencies_and_overheads_are_there_with_interval_and_source() -> None:
    found = calibrated(measured())

    core, node = (one.bandwidth_bytes_per_s for one in found.node.memory)
    assert core.value < node.value
    assert core.low is not None and core.low < core.value
    assert "stream triad" in core.source and "over 6 launches" in core.source
    assert [cache.level for cache in found.node.caches] == [
        cache["level"] for cache in MACHINE["caches"]
    ]
    (messages,) = found.messages
    assert messages.placement == "same-cache"
    assert messages.latency_s.value == pytest.approx(0.45e-6, rel=0.05)
    assert messages.bandwidth_bytes_per_s.value == pytest.approx(9e9, rel=0.2)
    assert messages.protocols[0].first_bytes == 0
    assert messages.protocols[-1].last_bytes == 2**22
    assert found.overheads is not None and found.overheads.gap_s is not None
    assert found.overheads.gap_s.value == pytest.approx(0.5e-6)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = calibrated(measured())
    path = tmp_path / "clusters" / "mine.toml"
    cluster.write(found, path)
    assert cluster.load(path) == found


def test_without_memory_nothing_is_written() -> None:
    with pytest.raises(UserError, match="memory's bandwidth"):
        calibrated([pingpong()])


def test_all_that_is_wrong_in_a_file_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    cluster.write(calibrated(measured()), path)
    data = tomllib.loads(path.read_text())
    data["node"]["memory"][0]["bandwidth_bytes_per_s"]["value"] = -1.0
    del data["node"]["sockets"]
    data["node"]["core"] = 3
    path.write_text(tomli_w.dumps(data))

    with pytest.raises(UserError) as caught:
        cluster.load(path)

    assert {problem.where.removeprefix(f"{path}: ") for problem in caught.value.problems} == {
        "node.memory.0.bandwidth_bytes_per_s.value",
        "node.sockets",
        "node.core",
    }
    assert any("did you mean 'cores'" in problem.mend for problem in caught.value.problems)


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        cluster.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(UserError, match="not TOML"):
        cluster.load(tmp_path / "bad.toml")
