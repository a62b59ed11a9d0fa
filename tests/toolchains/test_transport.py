# SPDX-License-Identifier: BSD-3-Clause
"""What MPI libraries say of the transport they use, as they said it once."""

import pytest

from haloscope.toolchains.transport import (
    TRANSPORTS,
    Family,
    complaint,
    names,
    settings,
    used_transport,
)

OPENMPI_4 = """\
[vm:17408] select: component ob1 selected
[vm:17408] mca: bml: Using self btl for send to [[12039,1],0] on node vm
[vm:17408] mca: bml: Using {} btl for send to [[12039,1],1] on node vm
[vm:17409] mca: base: close: component tcp closed
"""
_LINE = f"{74 * '-'}\n"
NO_COMPONENT = f"""\
{_LINE}A requested component was not found, or was unable to be opened.  This
means that this component is either not installed or is unable to be
used on your system (e.g., sometimes this means that shared libraries
that the component requires are unable to be found/loaded).  Note that
Open MPI stopped checking at the first component that it did not find.

Host:      vm
Framework: pml
Component: ucx
{_LINE}"""
NO_OPENFABRICS = f"""\
{_LINE}No OpenFabrics connection schemes reported that they were able to be
used on a specific port.  As such, the openib BTL (OpenFabrics
support) will be disabled for this port.

  Local host:           vm
  Local device:         mlx5_0
  Local port:           1
  CPCs attempted:       rdmacm, udcm
{_LINE}"""
UNREACHABLE = f"""\
{_LINE}At least one pair of MPI processes are unable to reach each other for
MPI communications.  This means that no Open MPI device has indicated
that it can be used to communicate between these processes.  This is
an error; Open MPI requires that all MPI processes be able to reach
each other.  This error can sometimes be the result of forgetting to
specify the "self" BTL.

  Process 1 ([[24756,1],1]) is on host: vm
  Process 2 ([[24756,1],0]) is on host: vm
  BTLs attempted: self

Your MPI job is now going to abort; sorry.
{_LINE}[vm:03155] *** An error occurred in MPI_Init_thread
[vm:03155] *** on a NULL communicator
[vm:03155] *** Unknown error
"""
ABSENT = "A requested component was not found, or was unable to be opened"
DISABLED = (
    "No OpenFabrics connection schemes reported that they were able to be used on a specific port"
)
APART = "At least one pair of MPI processes are unable to reach each other for MPI communications"
OPENMPI_4_UCX = """\
[vm:17436] selected ucx best priority 51
[vm:17436] select: component ucx selected
[vm:17436] mca: base: close: component vader closed
"""
OPENMPI_5 = """\
Connection summary: (pml)
  on-host:  all connections are {}
  off-host: all connections are n/a
"""
MPICH_UCX = "==== UCX netmod Capability ====\ntag_bits: 30\n"
MPICH_TCP = "==== Capability set configuration ====\nprovider: tcp;ofi_rxm, score = 5, pref = 0\n"
IMPI_SHM = '[0] MPI startup(): Load tuning file: "/x/opt/mpi/etc/tuning_generic_shm.dat"\n'
IMPI_TCP = """\
[0] MPI startup(): libfabric provider: tcp;ofi_rxm
[0] MPI startup(): Load tuning file: "/x/opt/mpi/etc/tuning_generic_ofi.dat"
"""


@pytest.mark.parametrize(
    ("family", "said", "used"),
    [
        ("openmpi", OPENMPI_4.format("vader"), "ob1 vader"),
        ("openmpi", OPENMPI_4.format("tcp"), "ob1 tcp"),
        ("openmpi", OPENMPI_4_UCX, "ucx"),
        ("openmpi", OPENMPI_5.format("sm"), "sm"),
        ("openmpi", OPENMPI_5.format("ucx=sysv;memory,cma;memory"), "ucx=sysv;memory,cma;memory"),
        ("mpich", MPICH_UCX, "UCX"),
        ("mpich", MPICH_TCP, "ofi tcp;ofi_rxm"),
        ("impi", IMPI_SHM, "shm"),
        ("impi", IMPI_TCP, "ofi tcp;ofi_rxm"),
        ("openmpi", "", None),
        ("mpich", "", None),
        ("impi", "", None),
    ],
)
def test_the_used_transport_is_reported_in_the_terms_of_the_library(
    family: Family, said: str, used: str | None
) -> None:
    assert used_transport(family, "tcp", said) == used


def test_between_two_hosts_libraries_report_their_network() -> None:
    summed_up = OPENMPI_5.replace("n/a", "tcp").format("vader")
    assert used_transport("openmpi", None, summed_up, apart=True) == "tcp"
    assert used_transport("openmpi", None, summed_up) == "vader"
    assert used_transport("mpich", None, MPICH_TCP, apart=True) == "ofi tcp;ofi_rxm"


def test_the_mpich_network_is_not_reported_for_one_host() -> None:
    assert used_transport("mpich", "shm", MPICH_UCX) is None
    assert used_transport("mpich", None, MPICH_UCX) is None


def test_every_library_has_shared_memory_and_libfabric_providers() -> None:
    providers = ["tcp", "verbs", "shm"]
    for family in TRANSPORTS:
        assert names(family, providers)[0] == "shm"
        assert {"shm", "tcp", "verbs"} <= set(names(family, providers))
        assert len(names(family, providers)) == len(set(names(family, providers)))
    assert "tcp" not in names("impi", [])
    assert names("simgrid", providers) == []


def test_a_provider_is_requested_unless_the_library_has_its_own_name() -> None:
    assert settings("openmpi", "tcp") == {"pml": "ob1", "btl": "self,tcp"}
    assert settings("openmpi", "verbs")["mtl_ofi_provider_include"] == "verbs"
    assert settings("mpich", "verbs")["FI_PROVIDER"] == "verbs"
    assert settings("impi", "psm3") == {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "psm3"}
    assert settings("impi", "shm") == {"I_MPI_FABRICS": "shm"}


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (NO_COMPONENT, ABSENT),
        (f"hello\n{NO_OPENFABRICS}more\n", DISABLED),
        (f"hello\n{NO_OPENFABRICS}{UNREACHABLE}", DISABLED),
        (f"hello\n{UNREACHABLE}", APART),
        (
            "Abort(1): Fatal error, error stack:\nMPID_Init(1778)...: \n"
            "find_provider(3064)..: failed\n",
            "failed",
        ),
        ("hello\n", "hello"),
        ("[node-1.x:4177] select: init failed", "select: init failed"),  # without its process
        (
            f"[vm:1] select: init of component openib returned failure\n{NO_COMPONENT}",
            ABSENT,
        ),
        ("", "no output"),
    ],
)
def test_the_line_that_explains_a_failed_launch_is_extracted(output: str, why: str) -> None:
    assert complaint(output) == why
