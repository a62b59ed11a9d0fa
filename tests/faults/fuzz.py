# SPDX-License-Identifier: BSD-3-Clause
"""Feeds what people write with what nobody would: no traceback, no hang, nothing absurd accepted.

python tests/faults/fuzz.py --tries 400 --seed 1

Each target reads in this process and launches nothing: starting programs is disabled.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from campaigns import must
from figures import Slice, keep
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from recorded import (
    bad,
    case_id,
    collectives,
    fft,
    overheads,
    pingpong,
    poisson,
    ring,
    spmv,
    star_forest,
    stream,
    write_folder,
)

from haloscope.analysis.dossier import open_folder
from haloscope.cli import main as haloscope
from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import missing_for_simulation
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.clusters.simgrid.gpus import sockets_of_ranks
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.papers import file as papers
from haloscope.paths import share
from haloscope.report.composing import compose
from haloscope.run.prepare import matrix_header, matrix_market
from haloscope.study import file as study_file

HANG_S = 300
"""Seconds after which an input counts as one that hangs, however busy the machine is."""
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 1, 2, 2**31, 2**63, 10**400, 0.5, -0.0, 1e-320, 1e308]),
    st.floats(),
    st.sampled_from([math.nan, math.inf, -math.inf]),
    st.text(max_size=12),
    st.sampled_from(["", "\0", "cores", "all", "../x", "1e9", "nan", "\x1b[2J", "x" * 5000]),
    st.lists(st.integers(-1, 3), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)
"""What may stand where something else was meant."""


@dataclass(frozen=True)
class Target:
    """One kind of file or words: what is made of it, and what must hold of each."""

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any, Path], None]


@st.composite
def altered_text(draw: st.DrawFn, texts: Sequence[str]) -> bytes:
    """One of these texts with pieces cut out, doubled, exchanged or put in."""
    text = draw(st.sampled_from(list(texts))).encode()
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 40)))
        put = draw(st.one_of(st.binary(max_size=6), st.sampled_from(_PIECES)))
        text = text[:begin] + put + text[draw(st.sampled_from([begin, end, end])) :]
    return text


_PIECES = [b"nan", b"-1", b"0", b"1e400", b"inf", b"[", b"]", b"{", b"}", b'"', b"=", b"\n", b"\0"]
_PIECES += [b"99999999999999999999", b"true", b"\xff\xfe", b"'''", b"[[runs]]\n", b"x = 1\n", b","]


@st.composite
def altered_data(draw: st.DrawFn, data: Sequence[Any]) -> Any:
    """One of these trees of tables and lists, with odd values at some of its places."""
    tree = json.loads(draw(st.sampled_from([json.dumps(one) for one in data])))
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(list(_places(tree))))
        match draw(st.sampled_from(["change", "change", "change", "remove", "add"])):
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[draw(st.text(max_size=6))] = draw(ODD)
            case _:
                holder[key] = draw(ODD)
        if not tree:
            break
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list with each of its keys."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def study(text: bytes, folder: Path) -> None:
    """A study is refused, or what is left of it is what its schema means."""
    path = folder / "fuzzed.toml"
    path.write_bytes(text)
    draft = study_file.read(path)
    if draft.study is None:
        must(bool(draft.problems), "no study, and no problem")
        return
    found = draft.study
    must(0 < found.timeout_s < math.inf, f"timeout_s = {found.timeout_s}")
    must(found.launches >= 1, f"launches = {found.launches}")
    must(found.precision is None or 0 < found.precision < 1, f"precision = {found.precision}")
    for run in found.runs:
        must(all(nodes >= 1 for nodes in run.layout.nodes), f"nodes = {run.layout.nodes}")
        values = [one for several in run.params.values() for one in several]
        infinite = [one for one in values if isinstance(one, float) and not math.isfinite(one)]
        must(not infinite, f"params {infinite}")


def cluster(text: bytes, folder: Path) -> None:
    """A cluster file is refused, or all of its numbers are possible and SimGrid accepts them."""
    path = folder / "fuzzed.toml"
    path.write_bytes(text)
    found = cluster_file.load(path)
    for holder, key in _places(found.model_dump()):
        value = holder[key]
        if isinstance(value, int | float):
            must(math.isfinite(value) and value >= 0, f"{key} = {value}")
    if not missing_for_simulation(found):
        sockets = sockets_of_ranks(found.node, [0, 0], Layout(1, 2, bind="spread"))
        simgrid_files.platform(found, [0, 0], sockets)


def paper(given_: tuple[str, bytes, bytes], folder: Path) -> None:
    """A paper is refused, or each of its rows has a value of its column's type, and finite ones."""
    name, described, table = given_
    place = folder / name
    place.mkdir(exist_ok=True)
    (place / "paper.toml").write_bytes(described)
    found = papers.read_paper(place / "paper.toml")
    for one in found.tables:
        (place / Path(one.file).name).write_bytes(table)
        _, rows = papers.read_rows(place / Path(one.file).name, one, found.columns)
        values = [value for row in rows for value in row.values()]
        wrong = [one for one in values if isinstance(one, float) and not math.isfinite(one)]
        must(not wrong, f"values {wrong}")


def records(lines: list[Any], folder: Path) -> None:
    """Records are left out, or every number in a table is one that can be measured.

    A record's id follows what was altered, so that its settings are not what it is left out for.
    """
    lines = [_named(line) for line in lines]
    write_folder(folder, [poisson(64)])
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    whole = (folder / "records.jsonl").read_text() + text
    (folder / "records.jsonl").write_text(whole, errors="replace")
    document = compose(folder)
    for case in open_folder(folder).cases:
        for record in case.launches:
            times = [*record.times_s, *(time for one in record.points for time in one["times_s"])]
            wrong = [time for time in times if not 0 < time < math.inf]
            must(not wrong, f"times {wrong}")
    must(bool(document.title), "a report without a title")
    must(haloscope(["show", str(folder)]) in (0, 3), "show did not end well")


def _named(line: Any) -> Any:
    """A line whose settings are those of its id, where it still has any."""
    try:
        return {**line, "case": case_id(line)} if "case" in line else line
    except (TypeError, KeyError, AttributeError, ValueError, OverflowError):
        return line


def matrix(text: bytes, folder: Path) -> None:
    """A matrix is refused, or square, with finite values and columns inside it."""
    path = folder / "fuzzed.mtx"
    path.write_bytes(text)
    said = matrix_header.header(path)
    if said.rows > 10**6:
        return  # there would have to be room for it, which the caller asks
    found = matrix_market.read(path)
    must(found.shape == (said.rows, said.rows), f"shape {found.shape}")
    must(all(map(math.isfinite, found.data)), "values that are not finite")
    must(all(0 <= column < said.rows for column in found.indices), "a column outside")


def words(line: list[str], folder: Path) -> None:
    """Any command line ends with a documented code."""
    try:
        code = haloscope(line)
    except SystemExit as end:  # argparse's own
        code = int(end.code or 0)
    must(code in (0, 1, 2, 3), f"exit code {code}")


def _texts(folder: str, pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(share(folder).glob(pattern))]


def _papers() -> st.SearchStrategy[tuple[str, bytes, bytes]]:
    """A paper that came with haloscope, and one of its tables: one of both is altered."""

    def altered(name: str) -> st.SearchStrategy[tuple[str, bytes, bytes]]:
        described = (share("papers") / name / "paper.toml").read_text(encoding="utf-8")
        tables = _texts("papers", f"{name}/*.csv")
        right = st.just(described.encode())
        return st.one_of(
            st.tuples(st.just(name), altered_text([described]), st.just(tables[0].encode())),
            st.tuples(st.just(name), right, altered_text(tables)),
        )

    names = sorted(path.parent.name for path in share("papers").glob("*/paper.toml"))
    return st.sampled_from(names).flatmap(altered)


_MATRICES = [
    "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1.5\n2 2 -2e3\n3 3 1\n1 3 .5\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n\n3 3 3\n1 1\n2 1\n3 3\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 7\n3 1 -7\n",
    "%%MatrixMarket matrix array real general\n2 2\n1\n0\n+3\n4.25e-1\n",
    "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
]
_COMMANDS = ["run", "once", "report", "show", "compare", "describe", "paper", "cluster", "list"]
_VOCABULARY = [
    *_COMMANDS,
    "toolchain",
    "quick",
    "poisson_cg",
    "n=64",
    "n=",
    "=",
    "ring",
    "stampede2",
]
_VOCABULARY += [
    "--resume",
    "--out",
    "--on",
    "--launches",
    "--seed",
    "--dry-run",
    "--ranks",
    "--json",
]
_VOCABULARY += [
    "--threads",
    "--nodes",
    "--timeout",
    "--csv",
    "--format",
    "html",
    "--toolchain",
    ".",
]
_VOCABULARY += [
    "--placement",
    "--transport",
    "--keep",
    "--no-report",
    "--oversubscribe",
    "-h",
    "--",
]
_VOCABULARY += [
    "list",
    "add",
    "remove",
    "show",
    "4.1",
    "hpcf-2018-10",
    "/dev/null",
    "..",
    "nan",
    "inf",
]
_VOCABULARY += [
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "1e400",
    "\udcff",
    "x\ny",
    "\x1b[2J",
    "",
    "é",
]
_LINES = st.tuples(
    st.sampled_from(_COMMANDS),
    st.lists(st.one_of(st.sampled_from(_VOCABULARY), st.text(max_size=8)), max_size=6),
).map(lambda both: [both[0], *both[1]])

RECORDED = [
    *(poisson(32), poisson(64, launch=1, surface=3), bad(poisson(128), "failed", "x")),
    *(poisson(64, variant="textbook", ranks=2), stream(), pingpong(), overheads(0)),
    *(ring(1e-6, ranks=2), spmv(ranks=2), fft(), star_forest("sf_grid", ranks=2)),
    collectives({("bcast", 8): 1e-6, ("bcast", 1024): 2e-6, ("alltoall", 8): 3e-6}),
]
"""Of every kernel that tests make, one."""

TARGETS: Mapping[str, Target] = {
    "studies": Target(altered_text(_texts("studies", "*.toml")), study),
    "clusters": Target(altered_text(_texts("clusters", "*.toml")), cluster),
    "papers": Target(_papers(), paper),
    "records": Target(
        st.lists(
            st.one_of(
                altered_data(RECORDED),
                st.text(max_size=30).map(lambda text: text + "\n"),
            ),
            min_size=1,
            max_size=3,
        ),
        records,
    ),
    "matrices": Target(altered_text(_MATRICES), matrix),
    "command lines": Target(_LINES, words),
}
"""What is fuzzed, by its name."""


def fuzz(name: str, tries: int, number: int) -> int:
    """So many inputs for a target; how many there were. Its failure is that of the smallest."""
    target, count = TARGETS[name], 0

    @seed(number)
    @settings(
        max_examples=tries,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs)
    def one(value: Any) -> None:
        nonlocal count
        count += 1
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _quiet(Path(folder)):
            try:
                target.check(value, Path(folder))
            except UserError as error:
                must(bool(error.problems), "refused without a problem")

    one()
    return count


@contextmanager
def _quiet(folder: Path) -> Iterator[None]:
    """In a folder of its own, with nothing printed, nothing started, and an end to all patience."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"no end within {HANG_S} s")

    def none(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "no program is started here", "program")

    here = Path.cwd()
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(HANG_S)
    try:
        os.chdir(folder)
        ours = {"HALOSCOPE_CACHE": str(folder / "cache"), "HOME": str(folder)}
        with (
            patch.dict(os.environ, ours),
            patch.object(subprocess, "Popen", none),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
        ):
            yield
    finally:
        os.chdir(here)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _messages_of(error: BaseException) -> list[str]:
    """Each of the failures that were found, with the line that it came from."""
    if isinstance(error, BaseExceptionGroup):
        return [text for one in error.exceptions for text in _messages_of(one)]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/haloscope/" in frame.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return [f"{type(error).__name__}: {error} ({place})"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz all targets, and tell; 1 if one of them fell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=400, help="inputs for each target (400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=[*TARGETS])
    parser.add_argument("--keep", type=Path, help="a file to which the figures are added")
    asked = parser.parse_args(arguments)
    begin = time.monotonic()
    tried: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for name in asked.targets:
        try:
            tried[name] = fuzz(name, asked.tries, asked.seed)
        except BaseException as error:
            wrong[name] = "; ".join(_messages_of(error))[:4000]
            if isinstance(error, KeyboardInterrupt):
                raise
        print(f"{name}: {wrong.get(name, f'{tried.get(name)} ok')}", flush=True)
    errors = tuple(f"{name}: {what}" for name, what in wrong.items())
    tries, took_s = sum(tried.values()) + len(wrong), time.monotonic() - begin
    keep(asked.keep, Slice("fuzz", asked.seed, tries, errors, took_s, tried))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
