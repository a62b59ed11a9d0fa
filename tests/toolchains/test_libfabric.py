# SPDX-License-Identifier: BSD-3-Clause
"""Which providers a libfabric has: what it says itself, and the files beside it."""

import subprocess
from pathlib import Path

import pytest

from haloscope.toolchains.libfabric import providers

SOURCE = """
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
struct fabric { void *fid; char *name; char *prov_name; };
struct info {
  struct info *next; uint64_t caps, mode; uint32_t addr_format; size_t src_addrlen, dest_addrlen;
  void *src_addr, *dest_addr, *handle, *tx, *rx, *ep, *domain; struct fabric *fabric;
};
static struct fabric fabrics[] = {{0, "a", "tcp"}, {0, "b", "ofi_rxm"}, {0, "c", "verbs"}};
static struct info infos[] = {
  {.next = infos + 1, .fabric = fabrics}, {.next = infos + 2, .fabric = fabrics + 1},
  {.fabric = fabrics + 2}};
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct info *hints, struct info **found) {
  if (!getenv("FI_PROVIDER_PATH") || flags != 1ull << 54) return -1;
  *found = infos;
  return 0;
}
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An installed MPI library with providers as files, of which some are layers or versions."""
    folder = tmp_path / "lib" / "mpi" / "libfabric"
    folder.mkdir(parents=True)
    for name in ("verbs-1.12", "verbs-1.1", "psmx2", "rxm", "efa"):
        (folder / f"lib{name}-fi.so").touch()
    return tmp_path


def test_registered_providers_precede_those_in_files(prefix: Path) -> None:
    library = prefix / "lib" / "mpi" / "libfabric.so.1"
    source = prefix / "fabric.c"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    assert providers(prefix) == ("tcp", "verbs", "efa", "psm2")


def test_an_unloadable_libfabric_still_has_its_provider_files(prefix: Path) -> None:
    (prefix / "lib" / "mpi" / "libfabric.so.1").touch()
    assert providers(prefix) == ("efa", "psm2", "verbs")


def test_nothing_in_the_current_folder_is_imported(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "collections.py").write_text("open('imported', 'w').close()\n")
    (prefix / "lib" / "mpi" / "libfabric.so.1").touch()
    monkeypatch.chdir(tmp_path)

    providers(prefix)

    assert not (tmp_path / "imported").exists()


def test_without_libfabric_there_are_no_providers(tmp_path: Path) -> None:
    assert providers(tmp_path) == ()
