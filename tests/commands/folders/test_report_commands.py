# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from noted import shows
from recorded import Raw, bad, cases, poisson, quick, stream, write_folder

from haloscope.analysis.comparison import UNDECIDED, UNTESTABLE
from haloscope.analysis.dossier import open_folder
from haloscope.cli import main
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.findings.finding import Verdict
from haloscope.findings.sentences import sentence
from haloscope.quantities import within
from haloscope.report import comparing
from haloscope.report.compared import compare_cases
from haloscope.topics.common.figure import Lines

SLOW = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]
FAST = [1.0, 1.05, 1.1, 1.15, 1.2, 1.25]


def launches(times: list[float], **changes: object) -> list[Raw]:
    return [
        poisson(64, launch=k, time_s=time, **changes)  # type: ignore[arg-type]
        for k, time in enumerate(times)
    ]


def test_report_writes_the_requested_formats_and_prints_their_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path, quick(1))

    assert main(["report", str(folder), "--format", "md", "csv"]) == 0

    assert capsys.readouterr().out.strip() == str(folder / "report.md")
    assert not (folder / "report.html").exists()
    assert (folder / "tables" / "summary.csv").exists()
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "report.html")


def test_report_refuses_a_folder_without_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path)]) == 2

    assert shows(capsys.readouterr().err, str(tmp_path), "no records.jsonl")


def test_show_prints_findings_and_all_or_the_named_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    folder = str(write_folder(tmp_path, quick(2)))

    assert main(["show", folder]) == 0
    everything = capsys.readouterr().out
    assert "Memory bandwidth (triad over " in everything
    assert "(summary)" in everything and "(exchange)" in everything

    assert main(["show", folder, "pingpong", "scaling-time-1"]) == 0
    chosen = capsys.readouterr().out
    assert "half round trip" in chosen and "(scaling-time-1)" in chosen
    assert "(summary)" not in chosen

    assert main(["show", folder, "--list"]) == 0
    (listed,) = re.findall("^exchange: (.*)", capsys.readouterr().out, re.MULTILINE)
    assert "Exchanges compared" in listed and "2 processes" in listed


def test_show_names_what_it_omits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haloscope.report.composing.LONG", 5)
    folder = str(write_folder(tmp_path, [poisson(64, ranks=p) for p in range(1, 7)]))

    assert main(["show", folder]) == 0
    assert "shown by name: " in (out := capsys.readouterr().out)
    assert "summary" in out and "(summary)" not in out

    assert main(["show", folder, "summary"]) == 0
    assert "(summary)" in capsys.readouterr().out


def test_show_suggests_a_similar_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(write_folder(tmp_path, quick(1))), "sumary"]) == 2  # codespell:ignore

    assert "did you mean 'summary'?" in capsys.readouterr().err


def test_compare_reports_speedups_and_other_differences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    before = write_folder(tmp_path / "before", launches(SLOW))
    after = write_folder(tmp_path / "after", launches(FAST, toolchain={"compiler": "g++ 13"}))

    assert main(["compare", str(before), str(after)]) == 0

    out = capsys.readouterr().out
    assert "faster" in out and "2.00" in out and "0.002" in out
    assert "compiler: g++ 12.2.0 (before) and g++ 13 (after)" in " ".join(out.split())
    assert main(["compare", str(after), str(before)]) == 1
    assert "slower" in capsys.readouterr().out


def test_compare_wraps_all_lines_at_the_terminal_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    before = write_folder(tmp_path / "a", launches(SLOW[:3]))
    after = write_folder(tmp_path / "b", launches(FAST[:3]))

    main(["compare", str(before), str(after)])

    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_compare_names_mpi_tuning_and_launch_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    none, tcp = ({"given": given, "overridden": {}} for given in ({}, {"OMPI_MCA_btl": "tcp,self"}))
    before = launches(SLOW, tuning=none, toolchain={"launcher": "mpirun"})
    after = launches(FAST, tuning=tcp, toolchain={"launcher": "srun --mpi=pmix"})
    folders = [write_folder(tmp_path / "before", before), write_folder(tmp_path / "after", after)]

    main(["compare", *map(str, folders)])

    out = capsys.readouterr().out
    out = " ".join(out.split())
    assert shows(out, "variables: ", " (before) and OMPI_MCA_btl=tcp,self (after)")
    assert shows(out, "mpirun (before) and", "srun --mpi=pmix")


def test_an_undecided_comparison_does_not_report_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = write_folder(tmp_path / "before", [*launches(SLOW[:2]), stream(), stream(launch=1)])
    after = write_folder(tmp_path / "after", [*launches(FAST[:2]), stream(), stream(launch=1)])

    assert main(["compare", str(before), str(after)]) == 3

    out = capsys.readouterr().out
    assert UNTESTABLE in out
    assert "pingpong" not in out  # of which there is none


def test_compare_reports_that_folders_were_measured_sequentially(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    early = [{"started": f"2026-11-21T01:0{k}:00Z", "ended": f"2026-11-21T01:0{k}:30Z"}
             for k in range(6)]  # fmt: skip
    late = [{key: time.replace("T01", "T02") for key, time in span.items()} for span in early]
    between = [{key: time.replace(":00Z", ":40Z").replace(":30Z", ":50Z")
                for key, time in span.items()} for span in early]  # fmt: skip
    folders = {
        name: write_folder(
            tmp_path / name,
            [{**raw, **span} for raw, span in zip(launches(SLOW), spans, strict=True)],
        )
        for name, spans in (("early", early), ("late", late), ("between", between))
    }

    for other, said in (("late", True), ("between", False)):
        main(["compare", str(folders["early"]), str(folders[other])])
        out = " ".join(capsys.readouterr().out.split())
        assert (EXPLAINED[Caveat.DRIFT].text in out) == said


def test_a_case_unmeasured_in_both_folders_does_not_fail_compare(tmp_path: Path) -> None:
    lost = [bad(poisson(128), "absent", "no second socket here")]
    both = [
        write_folder(tmp_path / name, [*launches(times), *lost])
        for name, times in (("before", FAST), ("after", FAST[::-1]))
    ]
    there = write_folder(tmp_path / "there", [*launches(FAST), poisson(128)])

    assert main(["compare", *map(str, both)]) == 0
    assert main(["compare", str(there), str(both[1])]) == 1


@pytest.mark.parametrize("more_in", [0, 1])
def test_a_case_missing_in_one_folder_is_not_an_agreement(tmp_path: Path, more_in: int) -> None:
    folders = [
        write_folder(tmp_path / str(k), [*launches(FAST), *[poisson(128)] * (k == more_in)])
        for k in range(2)
    ]
    xml = tmp_path / "compared.xml"

    assert main(["compare", *map(str, folders), "--junit", str(xml)]) == 1

    suite = ElementTree.parse(xml).getroot()[0]
    assert (suite.get("tests"), suite.get("errors")) == ("2", "1")


def test_compare_refuses_folders_with_nothing_in_common(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write_folder(tmp_path / "one", [poisson(64)])
    other = write_folder(tmp_path / "other", [poisson(128)])

    assert main(["compare", str(one), str(other)]) == 2

    assert shows(capsys.readouterr().err, "no cases in common")


def compare(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main(["compare", *map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_a_folder_is_not_compared_with_a_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, copy = (write_folder(tmp_path / name, launches(FAST)) for name in ("own", "copy"))

    for other in (own, copy):
        code, printed = compare(capsys, own, other)
        assert code == 2 and "the same records" in printed


def test_compare_fails_only_if_the_slowdown_exceeds_the_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = write_folder(tmp_path / "before", launches(FAST))
    after = write_folder(tmp_path / "after", launches([1.3 * time for time in FAST]))
    few, same = (
        write_folder(tmp_path / name, launches(times))
        for name, times in (("few", SLOW[:2]), ("same", SLOW[1::-1]))
    )

    for share, code in ((0, 1), (0.299, 1), (0.301, 0)):
        found, out = compare(capsys, before, after, "--fail-above", f"{100 * share}%")
        assert found == code and "slower" in out
    assert compare(capsys, before, after, "--fail-above", 0.301)[0] == 0
    assert compare(capsys, few, same, "--fail-above", "50%")[0] == 3
    for wrong in ("300%", "nan", "a few"):
        code, out = compare(capsys, before, after, "--fail-above", wrong)
        assert code == 2 and shows(out, wrong, "from 0 to 1")


def test_an_axis_of_small_ratios_has_no_ticks_at_half_and_twice(tmp_path: Path) -> None:
    before, slower, halved = (
        open_folder(
            write_folder(tmp_path / name, [*launches([factor * t for t in FAST]), *both(6)])
        )
        for name, factor in (("before", 1.0), ("slower", 1.04), ("halved", 2.0))
    )

    for second, scale in ((slower, "linear"), (halved, "log2")):
        compared = compare_cases(before.cases, second.cases)
        report = comparing.document(before, second, compared, [])
        (panel,) = report.figures[0].panels
        assert isinstance(panel, Lines) and panel.y.scale == scale
        assert all(t.endswith("s") for _, t in panel.x.ticks)
        labels = panel.x.label + panel.y.label
        assert not any(name in labels for name in compared.names)  # paths may be long
        times = [mark.x for curve in panel.curves for mark in curve.marks]
        near = [at for at, _ in panel.x.ticks if min(times) / 2 < at < 2 * max(times)]
        assert len(near) > 1  # one alone tells no scale
        ends = [end for curve in panel.curves for mark in curve.marks if (end := mark.low)]
        assert ends
        if scale == "log2":  # bars have ticks beside their ends, too
            assert min(at for at, _ in panel.y.ticks) < min(ends)


def test_compare_writes_verdicts_a_summary_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = bad(poisson(128), "failed", "no room")
    slow = write_folder(tmp_path / "a", [*launches(FAST), poisson(128), *both(2), *both(6, 256)])
    fast = write_folder(tmp_path / "b", [*launches(SLOW), lost, *both(2), *both(6, 256)])
    xml, summary, out = (tmp_path / name for name in ("c.xml", "c.md", "report"))

    found, printed = compare(
        capsys, slow, fast, "--junit", xml, "--markdown", summary, "--out", out
    )

    assert found == 1
    (suite,) = ElementTree.parse(xml).getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        **{"tests": "4", "failures": "1", "errors": "1", "skipped": "1"},
    }
    (failed,) = (case for case in suite if case.find("failure") is not None)
    assert shows(str(failed[0].get("message")), "b is slower: 2.00x ", ", 100 % longer")
    text = summary.read_text(encoding="utf-8")
    assert "in 1 of 4 settings" in text and "| slower |" in text
    assert f"report: {out / 'report.html'}" in printed
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Speedup of b" in page and "<svg" in page
    assert "undecided in 1 of 4 settings" in page
    assert shows(page, " 2.00x ", " 1 of 4 settings", "poisson_cg: n = 64")
    for name in ("report.md", "report.tex", "tables/comparisons.csv", "figures/compared-ratio.svg"):
        assert (out / name).exists(), name


def test_a_separate_report_does_not_overwrite_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = write_folder(tmp_path / "own", launches(FAST))
    other = write_folder(tmp_path / "other", launches(FAST[::-1]))

    code, printed = compare(capsys, own, other, "--out", own)

    assert code == 2 and shows(printed, str(own), " report")
    assert compare(capsys, own, other, "--out", tmp_path / "new")[0] == 0
    assert compare(capsys, own, other, "--out", tmp_path / "new")[0] == 0


def both(number: int, n: int = 512) -> list[Raw]:
    """The same in either folder."""
    return [poisson(n, launch=k, time_s=1 + k / 100) for k in range(number)]


def test_compare_of_single_allocations_has_the_undecided_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("site", "scheduler", "job", "partition", "nodes", "switches", "restarts")
    given = dict(zip(names, ("lab", "slurm", "1", "all", ["n1", "n2"], None, 0), strict=True))
    spans = [
        {"started": f"2026-11-21T0{hour}:00:00Z", "ended": f"2026-11-21T0{hour}:00:30Z"}
        for hour in (1, 2)
    ]
    folders = [
        write_folder(
            tmp_path / name, [{**raw, **span} for raw in launches(times, allocation=given)]
        )
        for name, times, span in zip(("wired", "throttled"), (SLOW, FAST), spans, strict=True)
    ]
    file, xml = tmp_path / "compared.csv", tmp_path / "compared.xml"

    code, printed = compare(capsys, *folders, "--csv", file, "--junit", xml)

    assert code == 3
    assert EXPLAINED[Caveat.DRIFT].text not in " ".join(printed.split())
    header, row = csv.reader(file.read_text(encoding="utf-8").splitlines())
    shown = dict(zip(header, row, strict=True))
    assert shown["verdict"] == UNDECIDED
    assert ElementTree.parse(xml).getroot()[0].get("skipped") == "1"


def test_a_tie_is_reported_with_its_ratio_and_the_simulation_error() -> None:
    simulation: Raw = {"clock": "simulated", "simulation": {"cluster": "stampede2"}}
    first, second = ([poisson(512, time_s=time, **simulation)] for time in (1.0, 0.99))

    (result,) = comparing.findings(compare_cases(cases(first), cases(second)))

    (part,) = result.parts
    assert (part.verdict, part.count) == (Verdict.NO_DIFFERENCE, 1)
    assert part.ratio and part.ratio.estimate.value == pytest.approx(1 / 0.99)
    assert part.band and within(part.band) in sentence(result)


def test_columns_and_captions_are_named_after_the_folders(tmp_path: Path) -> None:
    before, after = (
        open_folder(write_folder(tmp_path / name, [*launches(times), *both(6)]))
        for name, times in (("before", SLOW), ("after", FAST))
    )
    found = compare_cases(before.cases, after.cases, names=("before", "after"))

    report = comparing.document(before, after, found, [])

    assert [column.title for column in found.tables[0].columns][1:3] == ["before", "after"]
    assert {"before", "after"} <= set(report.figures[0].title.split())
