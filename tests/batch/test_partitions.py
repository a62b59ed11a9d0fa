"""What sinfo and scontrol say of partitions, and that no job is planned larger than they allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.batch import detect
from haloscope.batch.slurm import Slurm
from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.records.folder import Via
from haloscope.run import places
from haloscope.run.batched import BatchPlace
from haloscope.run.workbench import Workbench
from haloscope.sites import file as site_file
from haloscope.sites.schema import BatchSite, Partition

SINFO = """\
short*|30:00|6|2|8|1|64000
short*|30:00|2|2|16|2|32000
long|2-00:00:00|8|2|8|1|64000
any|infinite|8|2|8|1|64000+
"""
SCONTROL = """\
PartitionName=short AllowGroups=ALL Default=YES QoS=N/A MaxNodes=4 MaxTime=00:30:00 TotalNodes=8
PartitionName=long AllowGroups=ALL Default=NO QoS=N/A MaxNodes=UNLIMITED MaxTime=2-00:00:00
PartitionName=any AllowGroups=ALL Default=NO QoS=N/A MaxNodes=0 MaxTime=UNLIMITED
"""


class Says(Slurm):
    """A Slurm with these partitions."""

    def told(self, *words: str, **_: object) -> str:
        return {"sinfo": SINFO, "scontrol": SCONTROL}[words[0]]


def site(**changes: object) -> BatchSite:
    """With one partition of eight nodes, of which a job gets four."""
    used = {"name": "short", "nodes": 8, "cores": 4, "memory_mb": 1000, "max_nodes": 4, **changes}
    return BatchSite(
        name="far",
        source="a test",
        scheduler="slurm",
        partition="short",
        partitions=(Partition.model_validate(used),),
        launcher="srun",
        mpi="pmix",
    )


def test_partitions_have_their_nodes_times_and_most_nodes_of_a_job() -> None:
    found, default = detect._partitions(Says({}))

    assert default == "short"
    assert [(one.name, one.nodes, one.max_minutes, one.max_nodes) for one in found] == [
        ("short", 8, 30, 4),
        ("long", 8, 2880, None),
        ("any", 8, None, None),
    ]
    assert (found[0].cores, found[0].threads_per_core, found[0].memory_mb) == (16, 1, 32000)


def test_a_place_has_no_more_nodes_than_a_job_gets(tmp_path: Path) -> None:
    bench = Workbench({}, (), ())

    def there(**changes: object) -> tuple[int, str]:
        found = BatchPlace("far", site(**changes), tmp_path).site(bench, oversubscribe=False)
        return found.nodes, found.extent

    assert there() == (4, "far gives a job at most 4 nodes")
    assert there(max_nodes=None) == (8, "far has 8 nodes")
    assert there(max_nodes=16) == (8, "far has 8 nodes")
    assert there(max_nodes=1) == (1, "far gives a job at most 1 node")


def test_simulated_cases_get_no_more_nodes_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site_file.write(site(), tmp_path / "sites" / "far.toml")

    with pytest.raises(UserError, match="give a number from 1 to 4"):
        places.place("stampede2", via=Via("far", 5))


def test_what_a_site_file_says_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    more = {"account": "m17", "qos": "premium", "modules": ("gcc/12", "openmpi"), "scratch": "/l"}
    site_file.write(site().model_copy(update=more), tmp_path / "sites" / "far.toml")

    assert main(["site", "show", "far"]) == 0

    said = capsys.readouterr().out
    assert "far: slurm, ranks started by srun --mpi=pmix; sites/far.toml" in said
    (row,) = (line for line in said.splitlines() if "short (used)" in line)
    for words in ("8", "at most 4", "1,000 MiB", "no limit"):
        assert words in row
    for line in ("account: m17", "qos: premium", "scratch: /l", "modules: gcc/12 openmpi"):
        assert line in said.splitlines()
