# SPDX-License-Identifier: BSD-3-Clause
"""Words that may be anyone's, in every format of a report: they are text, and nothing else."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import tomli_w
from recorded import bad, of_case, poisson, quick, write_folder

from haloscope.report.draw.latex import escape
from haloscope.report.writing import write_report

EVIL = (
    "<img src=x onerror=alert(1)> \\<b> [here](javascript:alert(1)) ![](http://x.invalid/p) "
    "<!-- a --> | b\n# c \x1b[2J \n\n\\input{/etc/passwd} \\write18{id} ^^5cinput $x$ %"
)
FORMULAS = ("=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a folder where every text is hostile that a sender can choose."""
    raws = quick(2) + [
        poisson(32, launch=k, toolchain={"name": EVIL, "mpi": EVIL, "compiler": EVIL})
        for k in range(2)
    ]
    raws += [bad(poisson(64, ranks=2 + k), "failed", f"{f}{EVIL}") for k, f in enumerate(FORMULAS)]
    raws += [of_case(poisson(128, launch=k), transport=f, kernel=f) for k, f in enumerate(FORMULAS)]
    study = {"title": f"[x] {EVIL}", "runs": [{"kernel": "poisson_cg"}]}
    elements = [{"kind": kind, "title": EVIL} for kind in ("summary", "scaling")]
    study |= {"tables": elements, "figures": [{"kind": "scaling", "title": EVIL}]}
    folder = write_folder(tmp_path_factory.mktemp("received"), raws, tomli_w.dumps(study))
    write_report(folder)
    return folder


def test_markdown_contains_no_injected_html_link_or_image(report: Path) -> None:
    text = (report / "report.md").read_text(encoding="utf-8")
    bare = re.sub(r"\\\\", "", text.replace("<br>", ""))
    ours = re.sub(r"!\[(\\.|[^]\\])*\]\(figures/[\w.-]+\)", "", bare)
    assert "javascript" in ours and "onerror" in ours
    assert not re.search(r"(?<!\\)[<\[]", ours)
    assert "\x1b" not in text
    assert not re.search(r"^# c", text, re.M)


def test_no_cell_is_a_formula(report: Path) -> None:
    cells = [
        cell
        for path in (report / "tables").glob("*.csv")
        for row in csv.reader(path.open(encoding="utf-8", newline=""))
        for cell in row
    ]
    formulas = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [cell for cell in formulas if not re.fullmatch(r"-\d[\d.e+-]*", cell)] == []
    assert any(cell.startswith("'=") for cell in cells)


def test_html_contains_no_injected_element(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    assert "onerror" in text
    assert not re.search(r"<(img|b)\b|<!-- a", text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[3in] x", "{}[3in] x"),
        (" *x", "{} *x"),
        ("a\n\nb", "a  b"),
        ("\x1b\x07\x9b", "???"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("^^5c", r"\textasciicircum{}\textasciicircum{}5c"),
        ("2 * 3", "2 * 3"),
    ],
)
def test_latex_treats_no_text_as_a_command(text: str, written: str) -> None:
    assert escape(text) == written


@pytest.mark.latex
def test_latex_with_hostile_text_compiles(report: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=report, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"/etc/passwd" not in done.stdout
