# SPDX-License-Identifier: BSD-3-Clause
"""Hostile words in everything that somebody else may have written: they stay words.

A word in a carrier (records, a plan, a study, a cluster file, the name of a folder) is a hostile
file. Those of one carrier are reported together: a report takes seconds.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomli_w
from cluster_files import described
from hostile_words import CANARY, TOKEN, WORDS, token
from recorded import bad, poisson, write_folder
from watch import Outcome, obey, obeyed_by_a_terminal, state

from haloscope.study.plan import SavedPlan

PRECIOUS = ("thesis.tex", "records.jsonl", "report.html", "evil.tex")
"""Names of somebody's own files, above and beside the folder that was received."""


def records(place: Path) -> Path:
    """Every text of a record that its sender chooses."""
    raws = [poisson(n, launch=k) for n in (32, 64) for k in range(2)]
    machine = raws[0]["machine"]
    for k, word in enumerate(WORDS.values()):
        toolchain = {"name": word, "mpi": word, "compiler": word, "flags": word}
        here = {**machine, "host": word, "cpu": word, "os": word, "governor": word}
        made = poisson(64, ranks=1 + k, toolchain=toolchain, machine=here)
        raws.append(made | {"transport_seen": word, "study": word, "command": [word]})
        raws.append({**bad(poisson(32, ranks=1 + k), "failed", word), "stderr": word})
    said = {"title": "a study", "runs": RUNS, "figures": [{"kind": "scaling"}]}
    said["tables"] = [{"kind": kind} for kind in ("summary", "convergence", "libraries")]
    return write_folder(place, raws, tomli_w.dumps(said))


def plan(place: Path) -> Path:
    """What a plan says for people."""
    study = {"title": "x", "runs": RUNS, "figures": [{"kind": "scaling"}]}
    folder = write_folder(place, [poisson(64), poisson(64, launch=1)], tomli_w.dumps(study))
    words = tuple(word.encode("utf-8", "replace").decode() for word in WORDS.values())
    saved = SavedPlan("x", "x", 1, (), words, {}, {"host": "lark"}, changes=words)
    (folder / "plan.json").write_text(json.dumps(saved.as_dict()))
    return folder


def study(place: Path) -> Path:
    """What a study says for people. TOML has no lone surrogates."""
    words = [admitted(word) for word in WORDS.values()]
    tables = [{"kind": "convergence", "title": word} for word in words]
    figures = [{"kind": "scaling", "title": word} for word in words[::8]]
    said = {"title": words[0], "runs": RUNS, "tables": tables, "figures": figures}
    return write_folder(place, [poisson(64), poisson(64, launch=1)], tomli_w.dumps(said))


def admitted(word: str) -> str:
    """As TOML may have it, and no longer than a text may be; else the whole file is refused."""
    return word.encode("utf-8", "replace").decode().replace("\0", "")[:9000]


RUNS = [{"kernel": "poisson_cg"}]
CARRIERS: Mapping[str, Callable[[Path], Path]] = {"records": records, "plan": plan, "study": study}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where somebody has files of their own, in the current folder, at home and above both."""
    top = tmp_path_factory.mktemp("outside")
    for folder in (top, top / "home", top / "work"):
        folder.mkdir(exist_ok=True)
        for name in PRECIOUS:
            (folder / name).write_text(f"{CANARY}\n")
    return top


@pytest.fixture(scope="module", autouse=True)
def fonts() -> None:
    """Let matplotlib list the fonts, once for each cache: it runs fc-list for that."""
    importlib.import_module("matplotlib.font_manager")


@pytest.fixture(autouse=True)
def at_work(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(outside / "work")
    monkeypatch.setenv("HOME", str(outside / "home"))
    monkeypatch.setenv("HALOSCOPE_CACHE", str(outside / "home" / "cache"))


@dataclass
class Reported:
    """A folder with the words of one carrier, after what was done with it."""

    folder: Path
    outputs: list[Outcome]
    before: dict[str, str]
    after: dict[str, str]

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


_REPORTED: dict[str, Reported] = {}


@pytest.fixture
def reported(outside: Path, carrier: str, capsys: pytest.CaptureFixture[str]) -> Reported:
    """The folder of a carrier: reported, shown and compared, once for all its words."""
    if carrier not in _REPORTED:
        folder = CARRIERS[carrier](outside / f"received-{carrier}")
        other = CARRIERS[carrier](outside / f"received-{carrier}-again")
        before = _beside(outside)
        commands = (["report", folder], ["show", folder], ["compare", folder, other, "--details"])
        outputs = [obey([str(word) for word in command], capsys) for command in commands]
        _REPORTED[carrier] = Reported(folder, outputs, before, _beside(outside))
    return _REPORTED[carrier]


def _beside(outside: Path) -> dict[str, str]:
    return {name: text for name, text in state(outside).items() if not name.startswith("received")}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_received_folder_causes_no_access_outside_it(reported: Reported) -> None:
    for one in reported.outputs:
        _harmless(one, reported.folder)
    assert reported.after == reported.before
    for path in (path for path in reported.folder.rglob("*") if path.is_file()):
        assert CANARY.encode() not in path.read_bytes(), path


def _harmless(output: Outcome, folder: Path) -> None:
    """Runs nothing, writes nowhere else, asks nobody, says nothing that a terminal obeys."""
    assert output.code in (0, 1, 2, 3)
    assert output.seen.started == []
    assert output.seen.reached == []
    strange = [path for path in output.seen.written if not _ours(path, folder)]
    assert strange == []
    assert obeyed_by_a_terminal(output.out) == []
    assert CANARY not in output.out


def _ours(path: str, folder: Path) -> bool:
    """Whether a file that was written is the folder's, our scratch, or matplotlib's cache."""
    scratch = "/haloscope-scratch-" in path or path == "/dev/null"
    return path.startswith(f"{folder}/") or scratch or "matplotlib" in path


FILES = [(carrier, word) for carrier in CARRIERS for word in WORDS]
IDS = [f"{carrier}-{word}" for carrier, word in FILES]


@pytest.mark.parametrize(("carrier", "word"), FILES, ids=IDS)
def test_hostile_text_is_treated_as_text(reported: Reported, word: str) -> None:
    mine = token(word)
    html, markdown, latex = (reported.text(f"report.{kind}") for kind in ("html", "md", "tex"))
    if reported.folder.name != "received-study" or "surrogate" not in word:
        assert mine in html
    assert not re.search(rf"<(script|img|svg|b|iframe|meta)\b[^>]*{mine}|<b>{mine}", html)
    assert not re.search(rf"<script>{mine}|<!-- {mine}|<style>[^<]*{mine}", html)
    assert not [tag for tag in re.findall(r"<[a-z][^<>]*>", html) if f"={mine}" in tag]
    assert not re.search(rf"(?<!\\)\[{mine}|^# {mine}|^```\n{mine}", markdown, re.MULTILINE)
    assert not re.search(rf"(?<!\\)<[a-z!/][^>\n]*{mine}", markdown)
    assert not [line for line in latex.splitlines() if mine in line and _commands(line)]
    assert not [line for line in _lines_of(markdown, mine) if obeyed_by_a_terminal(line)]
    assert not [cell for cell in _cells(reported.folder) if mine in cell and _is_formula(cell)]


def _commands(line: str) -> list[str]:
    """What LaTeX would do for a word of theirs."""
    bare = line.replace("\\textbackslash{}", "")
    theirs = r"\\(?:input|immediate|write|catcode|end\{doc|begin\{file|undefined|frac)|\^\^5c"
    return re.findall(theirs, bare)


def _lines_of(text: str, mine: str) -> list[str]:
    return [line for line in text.split("\n") if mine in line]


def _cells(folder: Path) -> Iterator[str]:
    for table in (folder / "tables").glob("*.csv"):
        with table.open(encoding="utf-8", newline="") as lines:
            yield from (cell for row in csv.reader(lines) for cell in row)


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would evaluate the cell; a word is not a number."""
    return cell.startswith(("=", "+", "-", "@", "\t", "\r"))


NAMES = [name for name in WORDS if name not in ("long", "many-lines")]


@pytest.mark.parametrize("word", NAMES)
def test_a_hostile_folder_name_is_harmless(
    outside: Path, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As far as a file system has it: bytes, but no slash; lone surrogates are bytes there."""
    name = re.sub(r"[\0/\ud800]", "_", WORDS[word]).replace("\udfff", "\udcff")
    folder = write_folder(outside / f"received {name}"[:80], [poisson(64), poisson(64, launch=1)])
    before = _beside(outside)

    output = obey(["show", str(folder)], capsys)

    assert output.code == 0
    _harmless(output, folder)
    assert _beside(outside) == before


def test_a_folder_name_with_raw_bytes_and_escapes_is_reported(
    outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that is not UTF-8 caused a traceback where a report names the next step."""
    name = "received \udcff\x1b[2J"
    folder = write_folder(outside / name, [poisson(64), poisson(64, launch=1)])

    output = obey(["report", str(folder)], capsys)

    assert output.code == 0, output.out
    assert output.out.endswith("received \\udcff\\x1b[2J/report.html\n")
    _harmless(output, folder)
    assert "received \\udcff" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", WORDS)
def test_hostile_text_in_a_cluster_file_is_harmless(
    outside: Path, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = admitted(WORDS[word])
    found = described(source=text).model_dump(exclude_none=True)
    found["node"] |= {"cpu": text, "source": text}
    found["network"] |= {"name": text, "source": text}
    found["mpi"] |= {"library": text}
    (outside / "work" / "tiny.toml").write_text(tomli_w.dumps(found), encoding="utf-8")
    before = state(outside)

    output = obey(["cluster", "show", "tiny.toml"], capsys)

    _harmless(output, outside / "nowhere")
    assert TOKEN in output.out
    assert state(outside) == before
