# SPDX-License-Identifier: BSD-3-Clause
"""What a user tunes MPI libraries by: found, kept where it can be, and told where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.toolchains import tuning
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family
from haloscope.toolchains.tuning import Tuning

JOB = Job(2, cpus=(0, 1))


def launched(
    family: Family, inherited: dict[str, str], job: Job = JOB
) -> tuple[Tuning, dict[str, str]]:
    """How a launch is tuned, and the environment that it starts in."""
    toolchain = Toolchain("x", None, Path("/x/mpicxx"), Path("/x/mpirun"), family, "X MPI 1")
    command, environment = launch_command(toolchain, job, ["prog"], inherited)
    return tuning.of_launch(inherited, command, environment), environment


@pytest.mark.parametrize(
    "name",
    [
        *("OMPI_MCA_btl", "PRTE_MCA_plm", "PMIX_MCA_gds", "I_MPI_ADJUST_ALLREDUCE"),
        *("MPIR_CVAR_CH4_NETMOD", "MPICH_RANK_REORDER_METHOD", "UCX_TLS", "FI_PROVIDER"),
        *("MV2_ENABLE_AFFINITY", "PSM2_DEVICES", "HCOLL_ENABLE_MCAST_ALL", "NCCL_ALGO"),
    ],
)
def test_variables_of_mpi_libraries_are_tuning(name: str) -> None:
    assert tuning.given({name: "1", "HOME": "/nowhere", "PATH": "/bin"}) == {name: "1"}


@pytest.mark.parametrize("name", ["I_MPI_ROOT", "MPICH_DIR", "UCX_HOME", "OMP_NUM_THREADS", "FIX"])
def test_where_a_library_is_and_others_variables_are_not(name: str) -> None:
    assert tuning.given({name: "1"}) == {}


def test_a_users_files_of_open_mpi_are_read(tmp_path: Path) -> None:
    (tmp_path / ".openmpi").mkdir()
    (tmp_path / ".openmpi/mca-params.conf").write_text("# btl = sm\nbtl = tcp,self\n\npml=ob1\n")

    assert tuning.given({"HOME": str(tmp_path)}) == {
        "~/.openmpi/mca-params.conf: btl": "tcp,self",
        "~/.openmpi/mca-params.conf: pml": "ob1",
    }
    kept, _ = launched("openmpi", {"HOME": str(tmp_path)})
    assert kept.overridden == {}
    asked, _ = launched("openmpi", {"HOME": str(tmp_path)}, Job(2, cpus=(0, 1), transport="shm"))
    assert [*asked.overridden] == ["~/.openmpi/mca-params.conf: btl"]


@pytest.mark.parametrize(
    ("family", "name", "value"),
    [
        ("openmpi", "OMPI_MCA_btl", "tcp,self"),
        ("openmpi", "PRTE_MCA_plm", "ssh"),
        ("openmpi", "PMIX_MCA_gds", "hash"),
        ("impi", "I_MPI_FABRICS", "ofi"),
        ("mpich", "MPIR_CVAR_NOLOCAL", "1"),
        ("mpich", "UCX_TLS", "tcp"),
    ],
)
def test_a_users_own_choice_holds_where_no_transport_is_asked_for(
    family: Family, name: str, value: str
) -> None:
    found, environment = launched(family, {name: value})

    assert found == Tuning({name: value}, {})
    assert environment[name] == value


def test_of_open_mpi_no_word_on_the_command_line_comes_before_a_users_own() -> None:
    toolchain = Toolchain("x", None, Path("mpicxx"), Path("mpirun"), "openmpi", "X MPI 1")

    command, _ = launch_command(toolchain, JOB, ["prog"], {"OMPI_MCA_btl": "tcp,self"})

    assert "--mca" not in command


@pytest.mark.parametrize(
    ("family", "transport", "name", "value", "used"),
    [
        ("openmpi", "tcp", "OMPI_MCA_btl", "sm,self", "self,tcp"),
        ("impi", "tcp", "I_MPI_FABRICS", "shm", "ofi"),
        ("mpich", "shm", "MPIR_CVAR_NOLOCAL", "1", "0"),
        ("impi", None, "I_MPI_PIN", "1", "0"),
        ("impi", None, "I_MPI_PIN_DOMAIN", "core", None),
    ],
)
def test_what_a_launch_sets_itself_is_told(
    monkeypatch: pytest.MonkeyPatch,
    family: Family,
    transport: str | None,
    name: str,
    value: str,
    used: str | None,
) -> None:
    monkeypatch.setattr("haloscope.toolchains.libfabric.providers", lambda prefix: ("tcp",))

    found, _ = launched(family, {name: value}, Job(2, cpus=(0, 1), transport=transport))

    assert found == Tuning({name: value}, {name: used})


def test_an_outer_mpiruns_parameters_are_no_users() -> None:
    found, environment = launched("openmpi", {"PRTE_MCA_ess_base_vpid": "1", "PMIX_RANK": "0"})

    assert "PRTE_MCA_ess_base_vpid" not in environment
    assert found.overridden == {"PRTE_MCA_ess_base_vpid": None}


def test_what_was_set_is_told_in_short() -> None:
    assert tuning.in_words({"given": {"A": "1", "B": "2"}, "overridden": {}}) == "A=1, B=2"
    assert tuning.in_words({"given": {}, "overridden": {}}) == "none set"
