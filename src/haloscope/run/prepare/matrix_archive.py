# SPDX-License-Identifier: BSD-3-Clause
"""Find the Matrix Market file in a tar archive, as offered by the SuiteSparse collection.

Nothing is unpacked to disk: the file is read within the archive.
"""

from __future__ import annotations

import gzip
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell

ENDINGS = (".tar", ".tar.gz", ".tgz")
MEMBERS_LIMIT = 1000
"""MEMBERS_LIMIT is the maximum number of files in an archive, because each is kept in memory."""
READ_LIMIT = 16 * 2**20
"""READ_LIMIT bounds what an archive's header can request, such as a long file name."""


def is_archive(path: Path, file: BinaryIO) -> bool:
    """Return whether an opened file is an archive, by its name or its contents."""
    if path.name.lower().endswith(ENDINGS):
        return True
    start = _unpacked(file).read(len(_MAGIC) + _MAGIC_AT)
    file.seek(0)
    return start[_MAGIC_AT:] == _MAGIC


_MAGIC, _MAGIC_AT = b"ustar", 257
"""_MAGIC is at this offset in the header of each file of a tar archive."""


def _unpacked(file: BinaryIO) -> BinaryIO:
    packed = file.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file


@contextmanager
def matrix(path: Path, file: BinaryIO) -> Iterator[tuple[BinaryIO, int]]:
    """Yield the Matrix Market file in an opened archive, and its length in bytes.

    It is the only one, or the one with the archive's name: SuiteSparse's NAME.tar.gz has
    NAME/NAME.mtx, and may contain right-hand sides. Raise UserError without such a file.
    """
    inside = _Bounded(path, _unpacked(file))
    try:
        with tarfile.open(fileobj=cast("BinaryIO", inside), mode="r:") as archive:
            found = _found(path, _members(path, archive))
            content = archive.extractfile(found)
            assert content is not None  # a regular file
            yield cast("BinaryIO", content), found.size
    except tarfile.TarError as error:
        what = f"not a valid tar archive: {error}"
        remedy = "give a complete tar archive, or a .mtx file"
        raise UserError(Problem(str(path), what, remedy)) from error


def _members(path: Path, archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    members = []
    for number, member in enumerate(archive):
        if number == MEMBERS_LIMIT:
            what = f"the archive contains more than {MEMBERS_LIMIT:,} files"
            raise UserError(Problem(str(path), what, _unpack(path, "NAME.mtx")))
        if member.isreg() and not member.issparse() and member.name.lower().endswith(".mtx"):
            members.append(member)
    return members


def _found(path: Path, members: list[tarfile.TarInfo]) -> tarfile.TarInfo:
    stem = re.sub(r"(\.mtx|\.tar)?(\.gz)?$|\.tgz$", "", path.name, flags=re.IGNORECASE)
    named = [one for one in members if Path(one.name).name.lower() == f"{stem}.mtx".lower()]
    for several in (members, named):
        if len(several) == 1:
            return several[0]
    if not members:
        what = "the archive contains no .mtx file"
        raise UserError(Problem(str(path), what, "give an archive with a Matrix Market file"))
    what = f"the archive contains several matrices: {', '.join(one.name for one in members[:10])}"
    raise UserError(Problem(str(path), what, _unpack(path, members[0].name)))


def _unpack(path: Path, name: str) -> str:
    return f"extract one of them and give that file: tar -xf {in_a_shell(path)} " + in_a_shell(
        Path(name)
    )


class _Bounded(RawIOBase):
    """An archive whose reads are limited to READ_LIMIT bytes each."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= READ_LIMIT:
            what = f"the archive contains a file name longer than {READ_LIMIT:,} bytes"
            raise UserError(Problem(str(self._path), what, "give another archive"))
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()
