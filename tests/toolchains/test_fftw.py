# SPDX-License-Identifier: BSD-3-Clause
"""FFTW from PyPI: where it is searched, and what is passed to ranks and to planning."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.toolchains import fftw
from haloscope.toolchains.added import extras, pypi
from haloscope.toolchains.added.wheels import FFTW
from haloscope.toolchains.library import prefix_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path))
    monkeypatch.delenv("HALOBENCH_FFTW", raising=False)
    return tmp_path


def wheel(prefix: Path) -> Path:
    """What the wheel of pyfftw leaves in a virtual environment."""
    folder = prefix / "lib/python3.12/site-packages/pyfftw.libs"
    folder.mkdir(parents=True)
    for name in ("libfftw3f-b4465a35.so.3.5.5", "libfftw3-6b983104.so.3.5.5"):
        (folder / name).touch()
    return folder / "libfftw3-6b983104.so.3.5.5"


def test_without_an_added_library_no_variable_is_set() -> None:
    assert fftw.library() is None
    assert fftw.environment() == {}
    with pytest.raises(UserError, match="haloscope toolchain add fftw"):
        extras.remove(FFTW.name)


def test_the_double_precision_library_is_set_unless_the_user_named_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    double = wheel(prefix_of(FFTW.name))
    assert fftw.environment() == {"HALOBENCH_FFTW": str(double)}
    monkeypatch.setenv("HALOBENCH_FFTW", "/opt/mine.so")
    assert fftw.environment() == {}


def test_it_is_added_once_and_removed_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def install(package: str, prefix: Path, *, alone: bool) -> None:
        assert alone
        asked.append(package)
        wheel(prefix)

    monkeypatch.setattr(pypi, "install", install)
    said: list[str] = []
    first = extras.install(FFTW.name, say=said.append)
    assert extras.install(FFTW.name, say=said.append) == first
    assert (asked, len(said)) == (["pyfftw"], 1)
    extras.remove(FFTW.name)
    assert fftw.library() is None


def test_a_wheel_without_the_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypi, "install", lambda package, prefix, *, alone: None)
    with pytest.raises(UserError, match="libfftw3-double3"):
        extras.install(FFTW.name, say=lambda line: None)


@pytest.mark.toolchains
def test_the_wheel_works_here(cache: Path) -> None:
    library = ctypes.CDLL(str(extras.install(FFTW.name, say=lambda line: None)))
    assert ctypes.c_char.in_dll(library, "fftw_version").value == b"f"
