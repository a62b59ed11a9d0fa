# SPDX-License-Identifier: BSD-3-Clause
"""What sinfo and scontrol say of partitions, and that no job is planned larger than they allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.run.places import places
from haloscope.run.places.batched import BatchPlace
from haloscope.run.prepare.workbench import Workbench
from haloscope.sites import detect
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import srun_kinds
from haloscope.sites.schedulers.asking import NoAnswerError
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite, Partition
from haloscope.study.plan import Via

SINFO = """\
short*|30:00|6|2|8|1|64000
short*|30:00|2|2|16|2|32000
long|2-00:00:00|8|2|8|1|64000
any|infinite|8|2|8|1|64000+
cloud|infinite|0|0|0|0|0
"""
SCONTROL = """\
PartitionName=short AllowGroups=ALL Default=YES QoS=N/A MaxNodes=4 MaxTime=00:30:00 TotalNodes=8
PartitionName=long AllowGroups=ALL Default=NO QoS=N/A MaxNodes=UNLIMITED MaxTime=2-00:00:00
PartitionName=any AllowGroups=ALL Default=NO QoS=N/A MaxNodes=0 MaxTime=UNLIMITED
"""


class Says(Slurm):
    """A Slurm with these partitions."""

    def output(self, *words: str, **_: object) -> str:
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


def test_partitions_have_nodes_time_limits_and_maximum_job_size() -> None:
    found, default = detect._partitions(Says({}))

    assert default == "short"
    assert [(one.name, one.nodes, one.max_minutes, one.max_nodes) for one in found] == [
        ("short", 8, 30, 4),
        ("long", 8, 2880, None),
        ("any", 8, None, None),
    ]
    assert (found[0].cores, found[0].threads_per_core, found[0].memory_mb) == (16, 1, 32000)


SAYS = {
    "sinfo": SINFO,
    "srun": "MPI plugin types are...\n\tnone\n\tpmix\n",
    "config": "ClusterName             = stampede2\n",
    "partition": SCONTROL,
}


def answering(monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    """Slurm's commands, by their names or what they show; what none is known of is away."""

    def output(self: Slurm, *words: str, **_: object) -> str:
        said = SAYS | more
        try:
            return said[words[0]] if words[0] in said else said[words[-1]]
        except KeyError as error:
            raise NoAnswerError("Socket timed out on send/recv operation") from error

    monkeypatch.setattr(Slurm, "output", output)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../far", "'../far'"),
        ("a/b", "'a/b'"),
        ("-far", "'-far'"),
        ("local", "'local'"),
        (None, "'stampede2'"),  # Slurm's name of the cluster
    ],
)
def test_a_site_with_an_invalid_name_is_not_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str | None,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answering(monkeypatch)

    assert main(["site", "detect", *([f"--name={name}"] if name else [])]) == 2

    assert said in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_a_controller_lost_during_a_site_check_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering(monkeypatch)

    with pytest.raises(UserError, match="Slurm: Socket timed out"):
        [*detect.disagreements(site())]


def test_a_site_has_at_most_the_nodes_of_a_job(tmp_path: Path) -> None:
    bench = Workbench({}, (), ())

    def there(**changes: object) -> tuple[int, str]:
        found = BatchPlace("far", site(**changes), tmp_path).site(bench, oversubscribe=False)
        return found.nodes, found.extent

    number, extent = there()
    assert number == 4 and "4 nodes per job" in extent
    assert there(max_nodes=None) == (8, "far has 8 nodes")
    assert there(max_nodes=16) == (8, "far has 8 nodes")
    assert there(max_nodes=1)[0] == 1


def test_simulated_cases_have_the_same_node_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site_file.write(site(), tmp_path / "sites" / "far.toml")

    with pytest.raises(UserError, match="from 1 to 4"):
        places.place("stampede2", via=Via("far", 5))


def test_a_file_is_displayed_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("sites", "other"):
        site_file.write(site(), tmp_path / folder / "far.toml")

    assert main(["site", "show", "other/far.toml"]) == 0
    assert "; other/far.toml" in capsys.readouterr().out


def test_the_content_of_a_site_file_is_displayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    more = {"account": "m17", "qos": "premium", "modules": ("gcc/12", "openmpi"), "scratch": "/l"}
    site_file.write(site().model_copy(update={**more, "gpus": 4}), tmp_path / "sites/far.toml")

    assert main(["site", "show", "far"]) == 0

    said = capsys.readouterr().out
    assert all(words in said for words in ("slurm", "srun --mpi=pmix", "sites/far.toml"))
    (row,) = (line for line in said.splitlines() if "short (used)" in line)
    for words in ("8", "at most 4", "1,000 MiB", "no limit"):
        assert words in row
    for line in (
        "account: m17",
        "qos: premium",
        "gpus: 4",
        "scratch: /l",
        "modules: gcc/12 openmpi",
    ):
        assert line in said.splitlines()


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A cluster in a box, with nodes that share two cores, by its file; its Slurm's configuration.

    A Slurm answers, wherever it is asked.
    """
    conf = str(tmp_path / "slurm.conf")
    own = {"environment": {"SLURM_CONF": conf}, "shared_cores": 2}
    site_file.write(site().model_copy(update=own), tmp_path / "sites" / "lab.toml")
    monkeypatch.setattr(site_file, "OF_THE_LAB", tmp_path / "sites")
    monkeypatch.setattr(detect, "Slurm", Says)
    monkeypatch.setattr(srun_kinds, "asked", lambda *_: srun_kinds.Kinds(("pmix",), {}))
    monkeypatch.setattr(detect, "_would_not_start", lambda *_: iter(()))
    return conf


def test_a_site_detected_in_a_virtual_cluster_reports_shared_cores(
    box: str, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(tmp_path)
    by_another_way = str(tmp_path / "way" / "slurm.conf")

    for conf, shared in ((box, 2), (by_another_way, 2), ("/etc/slurm/slurm.conf", None)):
        assert detect.detected("mine", {"SLURM_CONF": conf}).shared_cores == shared
    assert detect.detected("mine", {}).shared_cores is None


@pytest.mark.parametrize(("shared", "said"), [(None, "no value"), (8, "8"), (2, None)])
def test_a_site_file_that_omits_shared_cores_is_reported(
    box: str, shared: int | None, said: str | None
) -> None:
    found = detect.detected("mine", {"SLURM_CONF": box})

    problems = [*detect.disagreements(found.model_copy(update={"shared_cores": shared}))]

    assert len(problems) == bool(said)
    for problem in problems:
        assert "shared_cores = 2" in problem.remedy and str(said) in problem.what
