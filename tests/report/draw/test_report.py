# SPDX-License-Identifier: BSD-3-Clause
"""The written report: one HTML file that needs nothing else, LaTeX that compiles, CSV, Markdown."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from noted import shows
from recorded import (
    bad,
    changed,
    of_case,
    overheads,
    pingpong,
    poisson,
    quick,
    star_forest,
    stream,
    write_folder,
)
from rich.console import Console

from haloscope.findings.caveats import Caveat
from haloscope.report.composing import compose
from haloscope.report.draw.figures.bars import WIDTH_IN
from haloscope.report.draw.figures.palette import INK, SERIES, dark_style
from haloscope.report.draw.html import together
from haloscope.report.draw.latex import escape
from haloscope.report.draw.terminal import summary
from haloscope.report.writing import write_report

AWKWARD = 'A & B <script>alert("1")</script> 100 % of $x_1$ {tilde~} \\ "quoted" # 雪'


class Page(HTMLParser):
    """What a test wants to know of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.append((tag, dict(attrs)))

    def all(self, tag: str, name: str) -> list[str | None]:
        return [own.get(name) for one, own in self.attributes if one == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    raws = [*quick(6), poisson(32, surface=9)]
    path = write_folder(tmp_path_factory.mktemp("results"), raws, _study())
    assert write_report(path) == path / "report.html"
    return path


def _study() -> str:
    title = AWKWARD.replace("\\", "\\\\").replace('"', '\\"')
    return f'title = "{title}"\npaper = "hpcf-2018-10"\n[[runs]]\nkernel = "poisson_cg"\n'


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def test_text_in_adjacent_panels_is_as_large_as_on_a_phone(folder: Path) -> None:
    """Three across took ten points down to less than ten pixels, seven panels of collectives."""
    text = (folder / "report.html").read_text(encoding="utf-8")

    rule = re.search(r"\.panels {[^}]*minmax\(min\(100%, ([\d.]+)rem\), 1fr\)", text)
    assert rule is not None
    narrowest = 16 * float(rule.group(1))
    assert narrowest >= 390 - 2 * 16  # a phone's page less its margins
    assert 10 * narrowest / (72 * WIDTH_IN) > 10.5


def test_the_page_loads_nothing_external(folder: Path, page: Page) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    links = [
        value
        for _, own in page.attributes
        for name, value in own.items()
        if name in ("src", "href", "xlink:href", "srcset", "data", "action") and value
    ]

    assert links
    assert all(link.startswith(("#", "data:")) for link in links), links
    assert page.tags["script"] == 1  # its own, in the page
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|import\(", text)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_every_internal_link_has_a_target_and_ids_are_unique(page: Page) -> None:
    ids = [own["id"] for _, own in page.attributes if own.get("id")]
    targets = [
        str(value)[1:]
        for _, own in page.attributes
        for name, value in own.items()
        if name in ("href", "xlink:href", "aria-labelledby") and str(value).startswith("#")
    ]

    assert [id for id, number in Counter(ids).items() if number > 1] == []
    assert set(targets) <= set(ids)
    assert "summary" in targets


def test_the_page_is_accessible_to_screen_readers(page: Page) -> None:
    assert set(page.all("th", "scope")) == {"col", "colgroup", "row"}
    assert page.all("html", "lang") == ["en"]
    labels = page.all("svg", "aria-label")
    assert len(labels) == len(page.all("svg", "role")) > 0
    assert all(label and len(label) > 40 for label in labels)
    assert set(page.all("svg", "role")) == {"img"}
    assert page.tags["h1"] == 1
    boxes = [own for tag, own in page.attributes if tag == "div" and own.get("class") == "box"]
    assert all(own.get("tabindex") == "0" and own.get("aria-labelledby") for own in boxes)
    assert len(boxes) == page.tags["table"]


def test_the_page_supports_phones_print_and_dark_mode(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")

    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "overflow-x: auto" in text


def test_user_text_is_escaped_on_the_page(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")

    assert "<h1>A &amp; B &lt;script&gt;alert(" in text


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    said = together("1.01 (4 MiB) to 12 % of 24 Bytes in 3 s, 4.1 GB/s with 2 ranks")

    joined = re.findall(r"\d\S*\xa0[\w%/]+", said)
    assert [one.replace("\xa0", " ") for one in joined] == ["4 MiB", "12 %", "3 s", "4.1 GB/s"]


def test_omitted_items_are_on_the_page(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")

    missing = compose(folder).warnings[0]
    assert missing.caveats == (Caveat.INCOMPLETE,)
    total, *reasons = missing.parts
    assert (total.subject, missing.of) == ({"launches": 2}, 103)
    assert [part.count for part in reasons] == [1, 1]
    assert shows(text, "1 of 6 launches", " time: ", "600 s")


def test_every_figure_colour_has_a_dark_mode_counterpart(folder: Path) -> None:
    style = dark_style()
    for colour in (INK, *SERIES):
        assert f'"stroke: {colour}"' in style
    drawn = (folder / "figures" / "stream-bandwidth.svg").read_text(encoding="utf-8")
    assert style in drawn
    colours = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawn.split("</style>")[-1]))
    unknown = {colour for colour in colours if f": {colour}" not in style}
    assert unknown == set()


def test_figures_are_reproducible_as_svg_and_pdf(folder: Path, tmp_path: Path) -> None:
    again = write_folder(tmp_path, [*quick(6), poisson(32, surface=9)], _study())
    (again / "figures").mkdir()
    (again / "figures" / "old.svg").write_text("from an earlier report")
    write_report(again, ["csv"])

    names = sorted(path.name for path in (folder / "figures").iterdir())
    assert names == sorted(path.name for path in (again / "figures").iterdir())
    assert "surfaces-error.pdf" in names
    for name in names:
        same = (folder / "figures" / name).read_bytes() == (again / "figures" / name).read_bytes()
        assert same, name


def test_csv_has_exact_values_with_intervals_and_names_missing_ones(tmp_path: Path) -> None:
    raws = [poisson(1024, launch=k, time_s=2.0 + k / 3) for k in range(6)]
    raws += [bad(poisson(2048), "timeout", "not done after 600 s")]
    write_report(write_folder(tmp_path, raws, _study()), ["csv"])

    with (tmp_path / "tables" / "convergence.csv").open(newline="") as file:
        good, missing = csv.DictReader(file)

    assert float(good["time_s"]) == pytest.approx(2.0 + 2.5 / 3, rel=1e-15)
    assert (float(good["time_s_low"]), float(good["time_s_high"])) == (2.0, 2.0 + 5 / 3)
    assert good["time_s_published"] == "6.65"
    assert good["iterations"] == "1581"
    assert (missing["time_s"], missing["time_s_note"]) == ("", "timeout")


def test_on_paper_a_collapsed_table_states_where_it_is(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")

    heads = re.findall(r'"folded"><summary>(.*?)</summary>', page, flags=re.DOTALL)
    assert len(heads) == page.count('<details class="folded">') > 0
    for head in heads:
        (name,) = re.findall(r'<h3 id="title-([^"]*)"', head)
        assert f'<span class="printed">: see tables/{name}.csv.</span>' in head
        assert (folder / "tables" / f"{name}.csv").is_file()


def test_panels_of_a_figure_are_distinguished_in_text(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")

    said = re.findall(r'aria-label="([^"]*)"', page)
    assert len(set(said)) == len(said) > 5


def test_details_are_collapsed_and_the_page_is_well_formed(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")

    assert page.count('"folded"') == 2  # the fits' predictions, seconds by phase
    assert page.count('<details class="topic">') == len(compose(folder).sections)
    assert "&lt;/d" not in page
    for element in ("div", "details", "summary", "table", "section"):
        assert page.count(f"<{element}") - page.count(f"</{element}>") == 0, element


def test_markdown_contains_every_table(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")

    tables = re.findall(r"^\|.*\|\n\|[:\-| ]+\|$", text, flags=re.M)
    page = (folder / "report.html").read_text(encoding="utf-8")
    shown = page.count("<table ") - page.count('"folded"')
    assert len([one for one in tables if "| | |" not in one]) == shown
    for row in re.findall(r"^\|.*\|$", text, flags=re.M):
        assert row.count("<br>") < 30
    for link in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (folder / link).exists()


def test_markdown_rows_have_as_many_cells_as_the_header(folder: Path) -> None:
    widths: set[int] = set()
    for line in (folder / "report.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            widths = set()
            continue
        widths.add(len(re.findall(r"(?<!\\)\|", line)))
        assert len(widths) == 1, line


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_the_latex_report_compiles(folder: Path, tmp_path: Path) -> None:
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run(
        [*command, f"-output-directory={tmp_path}", "report.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
    )

    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "report.pdf").stat().st_size > 100_000


def test_latex_supports_every_character() -> None:
    assert escape("a_b & 5 % ≤ 3 µs … × † ¶ 雪").split() == [
        *(r"a\_b", r"\&", "5", r"\%", r"$\le$", "3", r"$\mu$s"),
        *(r"\ldots{}", r"$\times$", r"$\dagger$", r"\P{}", "?"),
    ]


def test_latex_prints_options_literally_and_breaks_long_ones() -> None:
    assert escape("--launches 5, 3–4") == "-{}-launches 5, 3--4"
    assert r"\allowbreak" not in escape("short/path MLUP/s")
    path = "/usr/local/share/toolchains/openmpi/bin/mpirun"
    assert escape(f"x {path}").count(r"\allowbreak{}") == path.count("/")


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_a_long_command_fits_the_page(tmp_path: Path) -> None:
    long = "/tmp/some/rather/long/folder/names/" * 4
    raws = [changed(raw, command=["mpirun", "-n", "2", long, f"a={long}"]) for raw in quick(2)]
    write_report(write_folder(tmp_path, raws, _study()), ["tex"])
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=600
    )

    wide = re.findall(r"Overfull .hbox .([\d.]+)pt", done.stdout)
    assert done.returncode == 0
    assert all(float(points) < 10 for points in wide), wide


def test_long_column_names_use_several_lines(tmp_path: Path) -> None:
    """Else a table of halos on several layouts shows two of them on a page, and none on a phone."""
    layouts = [(2, 1, "gpu_aware"), (8, 2, "gpu_aware"), (8, 2, "staged")]
    raws = [
        star_forest("sf_grid", ranks=p, nodes=n, memory="device", mpi=mpi) for p, n, mpi in layouts
    ]
    page = write_report(write_folder(tmp_path, raws)).read_text(encoding="utf-8")

    found = re.findall(r'<th scope="col" class="([^"]*)">([^<]*)<', page)
    assert [kind for kind, name in found if "4 processes per node" in name][:2] == [
        "right long"
    ] * 2
    assert [kind for kind, name in found if name == "n"] == ["left"]
    assert "thead th.long { white-space: normal;" in page


def test_the_terminal_summary_prints_the_findings(folder: Path) -> None:
    out = StringIO()
    report = compose(folder)
    Console(width=100, file=out).print(summary(report))
    lines = out.getvalue().splitlines()

    assert lines[0].startswith("A & B <script>")
    assert report.answer and any(report.said(report.answer).startswith(line) for line in lines)
    assert any(figure.label[:40] in line for figure in report.key_figures for line in lines)


def test_a_report_with_only_failures_is_written(tmp_path: Path) -> None:
    nothing = changed(bad(poisson(64), "failed", AWKWARD), machine=None, timer=None)
    write_report(write_folder(tmp_path, [nothing]))

    assert "&lt;script&gt;" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_every_table_row_has_its_case_and_settings(tmp_path: Path) -> None:
    raws = [poisson(64, time_s=t, ranks=p, launch=k) for k, t in enumerate((1, 2)) for p in (1, 2)]
    raws += [pingpong(launch=k, mode=mode) for k in (0, 1) for mode in ("imb", "stream")]
    raws += [loose for k in range(6) for loose in (stream(launch=k), overheads(launch=k))]
    raws = [of_case(raw, transport="tcp") for raw in raws]
    write_report(write_folder(tmp_path, raws), ["csv"])

    ids = {raw["case"] for raw in raws}
    files = sorted((tmp_path / "tables").glob("*.csv"))
    assert {"pingpong-1", "pingpong-2", "summary", "phases", "fits-1"} <= {
        file.stem for file in files
    }
    for path in files:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                assert {*row["case_id"].split()} and {*row["case_id"].split()} <= ids, path.name
                assert (row["transport"], row["toolchain"]) == ("tcp", "system"), path.name
    with (tmp_path / "tables" / "scaling-time.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert len({row[key] for key in row if key.endswith("_case_id")}) == 2
    assert row["ppn"] == ""  # the two differ in it


@pytest.fixture(scope="module")
def in_latex(tmp_path_factory: pytest.TempPathFactory) -> Path:
    raws = [*quick(), *(pingpong(launch=k) for k in range(2))]
    folder = write_folder(tmp_path_factory.mktemp("latex") / "results", raws)
    write_report(folder, ["tex"])
    return folder


def test_each_table_and_figure_is_a_latex_file_with_a_label(in_latex: Path) -> None:
    folder, document = in_latex, compose(in_latex)

    floats = {f"table-{one.id}": f"tab:{one.id}" for one in document.tables}
    floats |= {f"figure-{one.id}": f"fig:{one.id}" for one in document.figures}
    assert {path.stem for path in (folder / "latex").glob("*.tex")} == {
        *floats,
        "preamble",
        "notes",
    }
    whole = (folder / "report.tex").read_text(encoding="utf-8")
    for name, label in floats.items():
        text = (folder / "latex" / f"{name}.tex").read_text(encoding="utf-8")
        assert text.count(rf"\label{{{label}}}") == 1, name
        assert "setcounter" not in text
    folded = {f"table-{one.id}" for one in document.tables if one.folded}
    for name in floats.keys() - folded:
        assert whole.count(rf"\label{{{floats[name]}}}") == 1, name


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_latex_files_can_be_included_in_another_document(
    in_latex: Path, tmp_path: Path
) -> None:
    (tmp_path / "results").symlink_to(in_latex)
    files = sorted(path.stem for path in (in_latex / "latex").glob("*-*.tex"))
    lines = [
        r"\documentclass{article}\usepackage[utf8]{inputenc}",
        r"\input{results/latex/preamble}\graphicspath{{results/}}\begin{document}",
        r"Table~\ref{tab:summary}",
        *(rf"\input{{results/latex/{name}}}\clearpage" for name in files),
        r"\end{document}",
    ]
    (tmp_path / "paper.tex").write_text("\n".join(lines), encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:]
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert "undefined references" not in log
    assert "multiply defined" not in log


def test_figures_have_no_type_3_fonts(in_latex: Path) -> None:
    files = [*(in_latex / "figures").glob("*.pdf")]
    fonts = rb"/Subtype /(Type3|Type0|CIDFontType2|TrueType)"
    found = {kind for one in files for kind in re.findall(fonts, one.read_bytes())}
    assert found == {b"Type0", b"CIDFontType2"}
