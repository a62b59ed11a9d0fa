# SPDX-License-Identifier: BSD-3-Clause
"""Where haloscope's data files lie and its cache; how a file is opened, and comes to lie whole."""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryFile

import platformdirs

from haloscope.errors import Problem, UserError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def share(name: str) -> Path:
    """The folder `name` (halobench, studies, papers) that came with this haloscope."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.exists() else _CHECKOUT / name


def cache_path() -> Path:
    """Where toolchains and builds are kept: HALOSCOPE_CACHE, or the user's cache folder.

    UserError where there is neither: no HOME, and a user whom the system does not know.
    """
    if given := os.environ.get("HALOSCOPE_CACHE"):
        return Path(given).absolute()
    try:
        return platformdirs.user_cache_path("haloscope")
    except RuntimeError as error:
        what = "is not set, and the system knows no home folder of this user"
        mend = "set it; or set HALOSCOPE_CACHE to a folder that you may write to"
        raise UserError(Problem("HOME", what, mend)) from error


def cache_folder(name: str) -> Path:
    """A folder in the cache, made where it is not there. UserError where one can't write to it."""
    folder = cache_path() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        mend = "set HALOSCOPE_CACHE to a folder that you may write to"
        raise UserError(
            Problem(str(folder), f"can't be written to: {error.strerror}", mend)
        ) from error
    return folder


def opened(path: Path, *, through_links: bool = True) -> BufferedReader:
    """An ordinary file, to be read.

    UserError for all else: one that others made may be a pipe, which never ends, or a device, which
    never ends either. OSError where there is none, or it can't be read.
    """
    try:
        file = os.open(path, _READ if through_links else _READ | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ENXIO:  # of a socket
            raise _out_of_the_ordinary(path) from error
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _out_of_the_ordinary(path)
    return os.fdopen(file, "rb")


_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def _out_of_the_ordinary(path: Path) -> UserError:
    return UserError(Problem(str(path), "it is no ordinary file", "put the file there"))


def in_a_shell(path: Path) -> str:
    """A path as a word of a command line that somebody may copy."""
    return shlex.quote(str(path))


def drafts(folder: Path) -> list[Path]:
    """What `write_whole` left in a folder where it was killed; also what it is writing just now."""
    return [path for path in folder.glob("*.new") if re.search(r"\.\d+\.new$", path.name)]


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: beside it, to the disk, and then under its name.

    A link of that name is replaced, and what it leads to stays as it is. What of a text is no
    character (half a pair, as in the name of a file that is not UTF-8) stands as \\udcff. OSError,
    which names the file, where it can't be written; what was there before stays.
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
