# SPDX-License-Identifier: BSD-3-Clause
"""Find haloscope's data files and its cache; open files safely and write them atomically."""

from __future__ import annotations

import codecs
import errno
import os
import re
import shlex
import stat
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryFile

import platformdirs

from haloscope.errors import Problem, UserError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def share(name: str) -> Path:
    """Return the folder `name` (halobench, studies, papers) of this installation."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.exists() else _CHECKOUT / name


def cache_path() -> Path:
    """Return the folder for toolchains and builds: HALOSCOPE_CACHE, or the user's cache folder.

    Raise UserError if neither exists: HOME is not set, and the system does not know the user.
    """
    if given := os.environ.get("HALOSCOPE_CACHE"):
        return Path(given).absolute()
    try:
        return platformdirs.user_cache_path("haloscope")
    except RuntimeError as error:
        what = "is not set, and the system has no home folder for this user"
        remedy = "set HOME, or set HALOSCOPE_CACHE to a writable folder"
        raise UserError(Problem("HOME", what, remedy)) from error


def cache_folder(name: str) -> Path:
    """Return a folder in the cache; create it if needed. Raise UserError if it is not writable."""
    folder = cache_path() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        remedy = "set HALOSCOPE_CACHE to a writable folder"
        file = next((one for one in (folder, *folder.parents) if one.is_file()), None)
        what = (
            "is a file, not a folder" if file else f"cannot write to this folder: {error.strerror}"
        )
        raise UserError(Problem(str(file or folder), what, remedy)) from error
    return folder


def opened(path: Path, *, through_links: bool = True) -> BufferedReader:
    """Open a regular file for reading.

    Raise UserError for anything else: reading from a pipe or a device that somebody put there
    might never end. Raise OSError if there is no such file or it is unreadable.
    """
    try:
        file = os.open(path, _READ if through_links else _READ | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise _not_regular(path) from error
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _not_regular(path)
    return os.fdopen(file, "rb")


_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def _not_regular(path: Path) -> UserError:
    if path.is_dir():
        return UserError(Problem(str(path), "is a folder, not a file", "give a file in it"))
    return UserError(Problem(str(path), "is not a regular file", "replace it with a regular file"))


_MARKS = (
    *((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32")),
    *((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16")),
)
"""_MARKS are the byte-order marks of other encodings, and their names for iconv."""


def require_utf8(path: Path, start: bytes) -> None:
    """Raise UserError for text in UTF-16 or UTF-32, as written on Windows.

    start: its first bytes: a byte-order mark, or text in which every other byte is 0.
    """
    encoding = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if encoding is None and len(start) >= 2 and (start[0] == 0) != (start[1] == 0):
        encoding = "UTF-16BE" if start[0] == 0 else "UTF-16LE"
    if encoding is not None:
        what = f"the file is encoded in {encoding}, but must be UTF-8"
        raise UserError(Problem(str(path), what, conversion(path, encoding)))


def conversion(path: Path, encoding: str) -> str:
    """Return the remedy for a file in another encoding."""
    command = f"iconv -f {encoding} -t UTF-8 {in_a_shell(path)} > NEW"
    return f"save the file as UTF-8; from {encoding}: {command}"


def dated_folder(name: str) -> Path:
    """Return the default folder of new results: results/NAME-DATE-TIME."""
    return Path("results") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"


def in_a_shell(path: Path) -> str:
    """Quote a path for a shell."""
    return shlex.quote(str(path))


def drafts(folder: Path) -> list[Path]:
    """List the temporary files of `write_whole` in a folder, also those of killed processes."""
    return [path for path in folder.glob("*.new") if re.search(r"\.\d+\.new$", path.name)]


def write_asked(path: Path, text: str) -> None:
    """Write a file that a user named. Raise UserError if it is not writable."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        remedy = "give a file in an existing, writable folder"
        raise UserError(Problem(str(path), error.strerror or str(error), remedy)) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: to a temporary file beside it, which is synced and renamed.

    A link of that name is replaced; its target is not changed. A lone surrogate (from the name of
    a file that is not UTF-8) is written as \\udcff. Raise OSError with the file's name if writing
    fails; the previous file is then unchanged.
    """
    written = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)
