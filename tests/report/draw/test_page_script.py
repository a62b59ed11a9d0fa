# SPDX-License-Identifier: BSD-3-Clause
"""What a reader can do with a report in a browser: values of points, curves, and tables."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from statistics import linear_regression
from typing import Any

import pytest
from recorded import quick, write_folder

from haloscope.cli import main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE, PHONE = "1200,900", "390,844"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_folder(tmp_path_factory.mktemp("page"), quick(2))
    assert main(["report", str(folder), "--format", "html"]) == 0
    return (folder / "report.html").read_text(encoding="utf-8")


def done(page: str, folder: Path, script: str, size: str = WIDE) -> Any:
    """What a script returns that runs in a page after the page's own."""
    path = folder / "page.html"
    asked = (
        "<script>window.onerror = (what) => { document.body.dataset.wrong = what; };</script>"
        f"<script>{{ const pre = document.createElement('pre'); pre.id = 'returned';"
        f"pre.textContent = JSON.stringify((() => {{ {script} }})());"
        "document.body.append(pre); }</script></body>"
    )
    path.write_text(page.replace("</body>", asked), encoding="utf-8")
    words = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}"]
    ended = subprocess.run(
        [*words, f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = re.search(r'<pre id="returned">(.*?)</pre>', ended.stdout, re.S)
    assert found is not None, ended.stdout[-2000:]
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("kind", ["pointerenter", "click"])
def test_a_point_shows_its_value_on_the_page(
    page: str, tmp_path: Path, kind: str, size: str
) -> None:
    script = f"""
        const point = document.querySelector("#figure-stream .points circle");
        const at = {{ clientX: 30, clientY: 30, bubbles: true }};
        point.dispatchEvent(new PointerEvent("{kind}", at));
        const box = document.querySelector(".value"), place = box.getBoundingClientRect();
        return [box.hidden, box.textContent, place.left >= 0 && place.right <= innerWidth];"""

    hidden, text, inside = done(page, tmp_path, script, size)

    assert not hidden
    title, value, at = text.split("\n")
    assert title == "1 core"
    assert re.fullmatch(r"bandwidth: [\d.]+ GB/s \([\d.]+ to [\d.]+\)", value)
    assert at.endswith(": 32 KiB")
    assert inside


def test_a_legend_entry_toggles_its_curve(page: str, tmp_path: Path) -> None:
    script = """
        const svg = document.querySelector("#figure-stream svg");
        const shown = () => ["series-0", "series-1"].map((series) =>
            [...svg.querySelectorAll(`[id*="-${series}-"], [data-series="${series}"]`)]
                .filter((part) => part.style.display !== "none").length);
        const before = shown(), entry = svg.querySelector('[id$="legend-series-1"]');
        const click = () => entry.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        click();
        const between = shown();
        click();
        return [before, between, shown()];"""

    before, between, after = done(page, tmp_path, script)

    assert min(before) > 7
    assert between == [before[0], 0]
    assert after == before


POINTS_AND_TICKS = """
    const svg = document.querySelector("#figure-stream svg"), points = svg.querySelector(".points");
    const axis = JSON.parse(points.dataset.axes).y, [x, y] = [...svg.nextElementSibling.children];
    const middle = (one) => {
        const { y, height } = one.getBoundingClientRect();
        return y + height / 2;
    };
    const drawn = () => [...points.querySelectorAll('[data-series="series-0"]')].map((one) => [
        Number(one.getAttribute("aria-label").match(/bandwidth: (\\S+)/)[1]),
        Number(one.getAttribute("cx")), Number(one.getAttribute("cy")), middle(one)]);
    const marked = () => [...svg.querySelectorAll('[id*="stream-bandwidth-series-0-"] use')].map(
        (one) => [Number(one.getAttribute("x")), Number(one.getAttribute("y"))]);
    const ticks = () => [...svg.querySelectorAll('[id*="-ytick_"], .tick-y')]
        .filter((one) => one.style.display !== "none" && one.textContent.trim())
        .map((one) => [Number(one.textContent), middle(one.querySelector("use"))]);
    const moved = '[id*="-series-"] path, [id*="-placed-"] path';
    const paths = () => [...svg.querySelectorAll(moved)]
        .map((one) => one.getAttribute("d").match(/[-\\d.]+/g).map(Number));"""


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_an_axis_can_be_toggled_between_logarithmic_and_linear(
    page: str, tmp_path: Path, size: str
) -> None:
    script = f"""{POINTS_AND_TICKS}
        const seen = () => [y.getAttribute("aria-pressed"), drawn(), marked(), ticks(), paths()];
        const states = [seen()];
        for (let k = 0; k < 2; ++k) {{ y.click(); states.push(seen()); }}
        return [axis, x.textContent, y.textContent, states];"""

    axis, x, y, (before, between, after) = done(page, tmp_path, script, size)

    assert (axis["scale"], x, y) == ("log", "log x", "log y")
    assert [state[0] for state in (before, between, after)] == ["true", "false", "true"]
    for scaled, (_, points, marks, ticks, _) in ((math.log, before), (float, between)):
        of_values = [(scaled(value), at) for value, _, at, _ in points]
        assert residual(of_values) < 0.2  # of a coordinate with one digit behind the point
        assert len(ticks) > 1
        seen = [(value, at) for value, _, _, at in points] + [tuple(tick) for tick in ticks]
        assert residual([(scaled(value), at) for value, at in seen]) < 1
        places = {(round(across), round(at)) for across, at in marks}
        assert all(
            any(abs(a - across) <= 1 and abs(b - at) <= 1 for a, b in places)
            for _, across, at, _ in points
        )
    assert [one[2] for one in between[1]] != [one[2] for one in before[1]]
    assert after[1] == before[1] and after[3] == before[3]
    flat = [[number for path in state[4] for number in path] for state in (before, after)]
    assert min(flat[1]) == pytest.approx(min(flat[0]), abs=0.1)
    assert max(flat[1]) == pytest.approx(max(flat[0]), abs=0.1)


def residual(pairs: list[tuple[float, float]]) -> float:
    """How far the second numbers are from a straight line over the first, at most."""
    line = linear_regression(*zip(*pairs, strict=True))
    return max(abs(line.intercept + line.slope * a - b) for a, b in pairs)


def test_guides_move_only_with_their_axis(page: str, tmp_path: Path) -> None:
    script = f"""{POINTS_AND_TICKS}
        const guide = () => svg.querySelector('[id*="-placed-x-"] path').getAttribute("d")
            .match(/[-\\d.]+/g).map(Number);
        const states = [guide()];
        y.click(); states.push(guide()); x.click(); states.push(guide());
        return states.map((one) => [one[0], one.at(-2), one[1], one.at(-1)]);"""

    drawn, of_y, of_x = done(page, tmp_path, script)

    assert of_y == pytest.approx(drawn, abs=0.01)
    assert of_x[2:] == pytest.approx(drawn[2:], abs=0.01)
    assert of_x[0] == of_x[1] < drawn[0] - 10


def test_a_categorical_axis_or_one_with_zero_cannot_be_toggled(page: str, tmp_path: Path) -> None:
    script = """
        const axis = { scale: "linear", drawn: [1, 9], ticks: [[1, "1"], [9, "9"]] };
        return [axis, { ...axis, drawn: [0, 9] }, { ...axis, drawn: [2, 2] },
                { ...axis, ticks: [[1, "one"], [9, "9"]] }, { ...axis, scale: "symlog" },
                { ...axis, scale: "log" }].map(switchable);"""

    found = done(page, tmp_path, script)

    assert found == [True, False, False, False, False, True]


def test_a_table_is_sorted_by_exact_values_and_restored(page: str, tmp_path: Path) -> None:
    script = """
        const table = document.querySelector("#table-summary"), rows = () =>
            [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.value ?? null);
        const heads = headsOf(table);
        const column = heads.findIndex((head) => head.textContent === "step");
        const sorts = [rows()];
        for (let k = 0; k < 3; ++k) {
            heads[column].querySelector("button").click();
            sorts.push(rows());
        }
        return sorts;"""

    before, rising, falling, after = done(page, tmp_path, script)

    numbers = [float(one) for one in before if one is not None]
    assert len(set(numbers)) > 4
    assert [float(one) for one in rising if one is not None] == sorted(numbers)
    assert [float(one) for one in falling if one is not None] == sorted(numbers, reverse=True)
    assert after == before


def test_every_column_header_sorts_its_table(page: str, tmp_path: Path) -> None:
    script = """
        return [...document.querySelectorAll(".box table")].map((table) => [
            table.tHead.rows.length, headsOf(table).length, table.tBodies[0].rows[0].cells.length]);
        """

    tables = done(page, tmp_path, script)

    assert {rows for rows, _, _ in tables} == {1, 2}
    assert all(heads == columns for _, heads, columns in tables)


def test_rows_can_be_filtered_by_text(page: str, tmp_path: Path) -> None:
    script = """
        const table = document.querySelector("#table-summary");
        const filter = table.closest(".box").previousElementSibling.querySelector("input");
        filter.value = "POISSON 1024";
        filter.dispatchEvent(new Event("input"));
        return [...table.tBodies[0].rows].map((row) => [row.hidden, row.textContent]);"""

    rows = done(page, tmp_path, script)

    shown = [text for hidden, text in rows if not hidden]
    assert 0 < len(shown) < len(rows)
    assert all("poisson" in text and "1024" in text for text in shown)


def test_a_table_is_exported_with_exact_values(page: str, tmp_path: Path) -> None:
    script = """
        const table = document.querySelector("#table-scaling-time-1");
        return [csvOf(table), [...table.tBodies[0].rows].map((row) =>
            [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent.trim()))];"""

    text, cells = done(page, tmp_path, script)

    lines = text.splitlines()
    assert lines[0].startswith("n,p = 1")
    assert len(lines) == 1 + len(cells)
    assert float(lines[1].split(",")[1]) == float(cells[0][1])
    assert len(lines[1].split(",")[1]) > 6  # more digits than the page shows


def test_exported_text_is_not_a_formula_and_numbers_stay_numbers(page: str, tmp_path: Path) -> None:
    script = """
        return ["=1+1", "@SUM(A1)", "+x", "-x", "-7.44", "1e-05", "plain"].map(inert);"""

    assert done(page, tmp_path, script) == [
        *("'=1+1", "'@SUM(A1)", "'+x", "'-x", "-7.44", "1e-05", "plain"),
    ]


def test_a_link_to_a_table_expands_its_topic(page: str, tmp_path: Path) -> None:
    script = """
        const table = document.querySelector("#table-scaling-time-1");
        const topic = table.closest("details.topic"), before = topic.open;
        history.replaceState(null, "", "#table-scaling-time-1");
        window.dispatchEvent(new Event("hashchange"));
        return [before, topic.open];"""

    before, after = done(page, tmp_path, script)

    assert (before, after) == (False, True)


def test_every_figure_and_table_has_a_link(page: str, tmp_path: Path) -> None:
    script = """
        const link = (element) => element.querySelector('a[href^="#"]')?.getAttribute("href");
        return [...document.querySelectorAll("figure"), ...document.querySelectorAll(".box table")]
            .map((one) => [one.id, link(one.tagName === "FIGURE" ? one
                : one.closest(".box").previousElementSibling)]);"""

    links = done(page, tmp_path, script)

    assert {one.partition("-")[0] for one, _ in links} == {"figure", "table"}
    assert all(link == f"#{one}" for one, link in links)


def test_a_page_is_one_small_self_contained_file(page: str) -> None:
    assert len(page.encode()) < 600_000  # 0.43 MB
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page)


def test_all_values_are_visible_without_the_script(page: str) -> None:
    without = re.sub(r"<script>.*?</script>", "", page, flags=re.S)

    assert "<title>1 core\nbandwidth:" in without
    assert "16.7 ms" in without or re.search(r"<span>[\d.]+ ms</span>", without)
