# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a job, by the variables that Slurm gives its processes."""

from __future__ import annotations

import pytest

from haloscope.errors import UserError
from haloscope.sites.schedulers import allocation
from haloscope.sites.schedulers.asking import NoAnswerError
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite, Partition

SITE = BatchSite(
    name="taki", source="a test", scheduler="slurm", partition="short",
    partitions=(Partition(name="short", nodes=8, cores=4, memory_mb=1000),),
    launcher="srun", mpi="pmix",
)  # fmt: skip
TOPOLOGY = """\
SwitchName=switch1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=switch2 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=trunk Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=switch[1-2]
"""


class SlurmWithSwitches(Slurm):
    """A Slurm with a description of its switches."""

    def output(self, *words: str, **_: object) -> str:
        assert words == ("scontrol", "show", "topology")
        return TOPOLOGY


class Away(Slurm):
    """A Slurm that does not answer."""

    def output(self, *words: str, **_: object) -> str:
        raise NoAnswerError


def test_a_job_has_nodes_switches_and_restarts() -> None:
    variables = {
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_NODELIST": "n[2-3]",
        "SLURM_JOB_PARTITION": "short",
        "SLURM_RESTART_COUNT": "2",
    }

    found = SlurmWithSwitches({}).allocation(SITE, variables)

    assert found is not None
    assert found.as_record() == {
        "site": "taki",
        "scheduler": "slurm",
        "job": "17",
        "partition": "short",
        "nodes": ["n2", "n3"],
        "switches": "switch1,switch2",
        "restarts": 2,
    }


def test_outside_a_job_there_is_no_allocation() -> None:
    assert SlurmWithSwitches({}).allocation(SITE, {}) is None


@pytest.mark.parametrize(
    "wrong",
    [{"SLURM_JOB_NODELIST": ""}, {"SLURM_RESTART_COUNT": "x"}, {"SLURM_RESTART_COUNT": "-1"}],
)
def test_impossible_job_variables_are_refused_by_name(wrong: dict[str, str]) -> None:
    variables = {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n1", **wrong}

    with pytest.raises(UserError, match=next(iter(wrong))):
        Away({}).allocation(SITE, variables)


def test_unreported_switches_are_unknown() -> None:
    found = Away({}).allocation(SITE, {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n1"})

    assert found is not None
    assert found.switches is None


def test_node_lists_are_expanded() -> None:
    assert allocation.names_of("n[01-03],m", "a test") == ("m", "n01", "n02", "n03")


@pytest.mark.parametrize(
    "text",
    [
        "n[1-99999999]",
        "a,n[1-500]x[1-500]",
        "n[000000001-999999999/2]",
        f"n[1-{'9' * 400}]",
        ",".join(f"n[{i}-{i + 99999}]" for i in range(3)),
    ],
)
def test_a_list_of_millions_of_nodes_is_not_expanded(text: str) -> None:
    with pytest.raises(UserError, match="more than 200,000 nodes"):
        allocation.names_of(text, "a test")


def test_a_plausible_long_node_list_is_accepted() -> None:
    assert len(allocation.names_of("n[1-9000/3],rack[1-10]-[01-20],m[3,5-6]", "a test")) == 3203


def test_an_invalid_node_list_is_refused() -> None:
    with pytest.raises(UserError, match="a test"):
        allocation.names_of("n[1-", "a test")
