# SPDX-License-Identifier: BSD-3-Clause
"""Runs campaigns on disks that are full, fail, or vanish; repairs the disk; continues them.

python tests/faults/full_disks.py

Needs root: disks are mounted in a mount namespace of this program's own, and are gone with it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns import (
    KINDS,
    LIMIT_S,
    OURS,
    SHARED,
    Disturbed,
    Ended,
    Ground,
    enclose,
    ground,
    must,
)
from figures import Slice, keep

from haloscope.paths import cache_path

ROOM = "size=64m,nr_inodes=10000"
"""A tmpfs that is no longer full."""
NO_SPACE = ("No space left on device",)


@dataclass
class Disk:
    """A disk on which a campaign fails.

    kind: of campaign. inside: where its result folder is, None for an ordinary disk. reasons: what
    it may say, one of them. during: what happens once the first record is there. remedy: then the
    campaign can continue. more: for the process. harmless: the campaign may also succeed.
    """

    kind: str
    inside: Path | None
    reasons: Sequence[str]
    remedy: Callable[[], object]
    during: Callable[[Disturbed], object] | None = None
    more: dict[str, Any] | None = None
    harmless: bool = False


def shell(*words: str | Path) -> None:
    """A command that must end well."""
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False)
    must(done.returncode == 0, f"{words}: {done.stderr.decode(errors='replace')}")


@contextmanager
def tmpfs(folder: Path, options: str) -> Iterator[Callable[[], None]]:
    """A disk in memory; what makes it large enough."""
    folder.mkdir(parents=True, exist_ok=True)
    shell("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)
    try:
        yield lambda: shell("mount", "-o", f"remount,rw,{ROOM}", folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


def small(size: str, kind: str = "real") -> Callable[[Ground], Iterator[Disk]]:
    """A tmpfs of so many KiB."""

    def set_up(place: Ground) -> Iterator[Disk]:
        with tmpfs(place.path / "disk", f"size={size}") as grow:
            yield Disk(kind, place.path / "disk", NO_SPACE, grow)

    return set_up


def no_inodes(place: Ground) -> Iterator[Disk]:
    """A disk with room, but for three more files."""
    with tmpfs(place.path / "disk", "size=64m,nr_inodes=4") as grow:
        yield Disk("real", place.path / "disk", NO_SPACE, grow)


@contextmanager
def ext4(place: Ground) -> Iterator[Path]:
    """An ext4 of 32 MiB in a file, whose errors make it read-only; where it is mounted."""
    image, folder = place.path / "image", place.path / "disk"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(32 << 20)
    shell("mkfs.ext4", "-q", "-m", "0", "-b", "1024", image)
    shell("mount", "-o", "loop,errors=remount-ro", image, folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


def full_ext4(place: Ground) -> Iterator[Disk]:
    """An ext4 filled but for 20 KiB."""
    with ext4(place) as folder:
        filler, reserve = folder / "filler", folder / "reserve"
        reserve.write_bytes(bytes(20 << 10))
        with filler.open("wb", buffering=0) as file:
            for piece in (1 << 16, 1 << 10):
                _fill(file, piece)
        reserve.unlink()
        yield Disk("real", folder, NO_SPACE, filler.unlink)


def _fill(file: Any, piece: int) -> None:
    try:
        while True:
            file.write(bytes(piece))
    except OSError:
        return


def quota(place: Ground) -> Iterator[Disk]:
    """No file may be longer than 12 KiB."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 10, 12 << 10))  # noqa: E731
    yield Disk("precise", None, ("File too large",), lambda: None, more={"preexec_fn": limit})


def vanishing(place: Ground) -> Iterator[Disk]:
    """The result folder is deleted while the campaign runs."""
    during = lambda one: shutil.rmtree(one.folder)  # noqa: E731
    yield Disk("real", None, ("No such file or directory",), lambda: None, during)


def read_only(place: Ground) -> Iterator[Disk]:
    """An ext4 has an error while the campaign runs, and goes read-only; then it is repaired."""
    with ext4(place) as folder:
        found = subprocess.run(
            ["findmnt", "-n", "-o", "SOURCE", str(folder)], capture_output=True, check=True
        )
        device = Path(found.stdout.decode().strip())
        trigger = Path("/sys/fs/ext4") / device.name / "trigger_fs_error"

        def remedy() -> None:
            shell("umount", folder)
            subprocess.run(["fsck.ext4", "-y", str(place.path / "image")], capture_output=True)
            shell("mount", "-o", "loop", place.path / "image", folder)

        during = lambda _: trigger.write_text("made by a test")  # noqa: E731
        yield Disk("real", folder, ("Read-only file system", "Input/output error"), remedy, during)


def unmounted(place: Ground) -> Iterator[Disk]:
    """The disk is taken away while the campaign runs, and comes back empty."""
    with tmpfs(place.path / "disk", ROOM):
        during = lambda _: shell("umount", "--lazy", place.path / "disk")  # noqa: E731
        reasons = ("No such file or directory",)
        yield Disk("real", place.path / "disk", reasons, lambda: None, during)


def dev_full(place: Ground) -> Iterator[Disk]:
    """A device stands where records are to go: every write to it fails."""
    folder = place.path / "real-0"
    records = folder / "records.jsonl"
    folder.mkdir()
    records.touch()
    shell("mount", "--bind", "/dev/full", records)

    def remedy() -> None:
        shell("umount", records)
        records.unlink()

    yield Disk("real", None, ("is not a regular file",), remedy)


def full_scratch(place: Ground) -> Iterator[Disk]:
    """The disk of temporary files is full."""
    with tmpfs(place.scratch, "size=4k,nr_inodes=6") as grow:
        reasons = (*NO_SPACE, "failed; to retry", "could not exchange messages")
        yield Disk("precise", None, reasons, grow)


def full_cache(place: Ground) -> Iterator[Disk]:
    """The disk of cached simulations is full."""
    with tmpfs(place.cache / "simulated", "size=4k") as grow:
        yield Disk("simulated", None, NO_SPACE, grow)


def full_shared_memory(place: Ground) -> Iterator[Disk]:
    """Ranks have nowhere to talk in, unless the library knows another way."""
    with tmpfs(SHARED, "size=4k") as grow:
        reasons = ("could not exchange messages", *NO_SPACE, "failed; to retry")
        yield Disk("real", None, reasons, grow, harmless=True)


DISKS: dict[str, Callable[[Ground], Iterator[Disk]]] = {
    "tmpfs of 8 KiB": small("8k"),
    "tmpfs of 24 KiB": small("24k"),
    "tmpfs of 40 KiB": small("40k"),
    "tmpfs of 16 KiB, precise": small("16k", "precise"),
    "tmpfs of 28 KiB, precise": small("28k", "precise"),
    "tmpfs of 36 KiB, precise": small("36k", "precise"),
    "tmpfs of 16 KiB, simulated": small("16k", "simulated"),
    "tmpfs without inodes": no_inodes,
    "full ext4": full_ext4,
    "limit on the length of files": quota,
    "folder that vanishes": vanishing,
    "disk that goes read-only": read_only,
    "disk that is taken away": unmounted,
    "/dev/full as the file of records": dev_full,
    "no room for temporary files": full_scratch,
    "no room in the cache": full_cache,
    "no room in /dev/shm": full_shared_memory,
}
"""Every kind of full or failing disk."""


def attempt(name: str, place: Ground) -> None:
    """Run a campaign on such a disk, repair it, continue. Raise AssertionError if it is wrong."""
    with contextmanager(DISKS[name])(place) as disk:
        one = Disturbed(place, KINDS[disk.kind], inside=disk.inside)
        ended = _run(one, disk)
        place.wait_until_gone()
        if not (disk.harmless and ended.code == 0):
            must(ended.code in (1, 2), f"ended with {ended.code}: {ended.output}")
            has_reason = any(reason in ended.output for reason in disk.reasons)
            must(has_reason, f"does not say {' or '.join(disk.reasons)}: {ended.output}")
        if disk.during is None:
            one.look()
        disk.remedy()
        one.finish()


def _run(one: Disturbed, disk: Disk) -> Ended:
    """The campaign, disturbed once its first record is there where it is to be."""
    process = one.ground.start(*one.words, **(disk.more or {}))
    if disk.during is not None:
        records, end = one.folder / "records.jsonl", time.monotonic() + LIMIT_S
        while not (records.exists() and b"\n" in records.read_bytes()):
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no record to disturb it at: {one.ground.ended(process)}")
            time.sleep(0.01)
        disk.during(one)
    return one.ground.ended(process)


def main(words: Sequence[str] | None = None) -> int:
    """Try all kinds; return 1 if something was lost or not reported."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--disks", nargs="+", choices=DISKS, default=[*DISKS], metavar="DISK")
    parser.add_argument("--builds", type=Path, default=cache_path() / "builds")
    parser.add_argument("--keep", type=Path, help="a file to which the figures are added")
    asked = parser.parse_args(words)
    begin, wrong = time.monotonic(), {}
    for name in asked.disks:
        place = ground(asked.builds)
        try:
            attempt(name, place)
        except AssertionError as error:
            wrong[name] = str(error)
        finally:
            shutil.rmtree(place.path, ignore_errors=True)
        print(f"{name}: {wrong.get(name, 'ok')}", flush=True)
    errors = tuple(f"{name}: {what}" for name, what in wrong.items())
    took_s = time.monotonic() - begin
    keep(asked.keep, Slice("disks", 0, len(asked.disks), errors, took_s, {"disks": asked.disks}))
    return 1 if wrong else 0


if __name__ == "__main__":
    enclose()
    if OURS not in os.environ:
        sys.exit("mounting disks takes root, and unshare (util-linux)")
    sys.exit(main())
